//! Prices and ledger arithmetic: the cost of model responses, and its derivation.
//!
//! How rows are processed: [`decide`] takes the rows of all sessions and selects those that count,
//! so that a response that was copied into five files is paid once; [`report`] adds them up for a
//! query; [`cost`] prices one response with a row of the [`Prices`] table. The other modules serve
//! these three.
//!
//! ```
//! use retro_model::{LedgerRow, SessionKey, Thread, Tokens, Usage};
//! use retro_usage::{Prices, Query, decide, report};
//!
//! let usage = Usage { tokens: Tokens { input: 1_000, output: 200, ..Tokens::default() }, ..Usage::default() };
//! let event = "m:7.usage".parse()?;
//! let mut row = LedgerRow::of("claude:msg_1".into(), event, Thread::main(), &usage);
//! row.model = Some("claude-sonnet-4-6".into());
//!
//! let counted = decide(vec![(SessionKey::new("claude", "s1"), row)]);
//! let report = report(&counted, &Prices::embedded()?, &Query::default());
//! assert_eq!(report.totals.cost_usd, Some(0.006));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariant
//!
//! Values in, values out: no I/O, no clock, no environment. The order of rows does not affect any
//! result, and no row counts twice. An unknown cost is `None`, never zero, and every sum has a flag
//! for completeness. Money is whole billionths of a dollar until it is shown.
#![deny(missing_docs)]

mod answer;
mod billing;
mod blocks;
mod calendar;
mod cells;
mod cost;
mod count;
mod error;
pub mod estimate;
mod figures;
mod import;
mod layers;
mod money;
mod names;
mod own;
mod query;
mod report;
mod switches;
mod table;
#[cfg(test)]
mod testing;

pub use answer::{
    Estimated, ModelPart, Report, ReportRow, SessionPart, SideCalls, Undated, UnloggedPart, UnpricedModel,
};
pub use billing::Billing;
pub use blocks::{BLOCK_MS, Block, BurnRate, Projection, block_start};
pub use cells::{CELLS_VERSION, CellView, Cells, Grain};
pub use cost::{Cost, CostSource, Mode, Parts, Pricer, SYNTHETIC, cost};
pub use count::{Counted, CountedRow, DISPUTED, Duplicate, Incomplete, Place, SharedRow, Unlogged, decide};
pub use error::UsageError;
pub use figures::{Bounds, Figures, SumSource};
pub use import::{Change, Import, Tally};
pub use layers::Layer;
pub use money::NanoUsd;
pub use names::Resolved;
pub use own::OwnPrice;
pub use query::{By, Order, Query, SessionFacts, TokenLimit};
pub use report::{report, report_cells};
pub use retro_model::Tokens;
pub use switches::{REPLAY_PAUSE_MS, Switch, Told, decide_as, prices_as};
pub use table::{Peak, PriceRow, Prices, Rates, Step, Tier};
