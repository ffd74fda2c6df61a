//! The core types of retro. They are all plain values: no I/O, no clock, no store.
//!
//! **Invariant:** an [`Event`] contains only redacted text. The types of its fields guarantee it.
#![deny(missing_docs)]

mod address;
mod coverage;
mod days;
mod event;
mod ledger;
mod limit;
mod passage;
mod request;
mod session;
mod stamp;
mod time;
mod title;
mod tool;
mod turn;
mod usage;

pub use address::{Address, BadAddress, EventId, Part, SessionKey, SourceKey};
pub use coverage::{Coverage, Gap, GapReason};
pub use days::Days;
pub use event::{Event, Kind, Native, Origin, RawRef, Thread};
pub use ledger::{LedgerRow, RowKind};
pub use limit::LimitReading;
pub use passage::{Passage, Piece, PieceKind};
pub use request::{Asked, Request, is_proven, request, typed};
pub use session::{Facts, Format, Link, LinkKind, SourceKind, Title};
pub use stamp::{RowsStamp, Stamp, Stat};
pub use time::Timestamp;
pub use title::TitleRank;
pub use tool::{Access, Edit, EditKind, Outcome, PathUse, ToolCall, ToolClass, ToolResult};
pub use turn::{Turn, turns};
pub use usage::{Exactness, Tokens, Usage};
