//! # What
//! How many sub-agents the session started, and their share of its cost.
//! # Why
//! Sub-agents work out of sight; their cost is easily overlooked.
//! # How
//! `subagent_count` counts the threads and child sessions below this one, at any depth that
//! was captured, and calls that started one of which nothing else is known.
//! `subagent_cost_share` is their cost over the cost of the whole tree.
//! # Limits
//! The share needs prices: it is computed when asked for, and null (`price_unknown`) where a
//! price is missing, or (`no_cost`) where nothing was used.

use retro_model::{Kind, ToolClass};

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("subagents.rs");

pub(crate) fn subagent_count(looked: &Looked<'_>) -> Reading {
    let calls = looked.ids(|call| call.class == ToolClass::Subagent && call.edits.is_empty()).count();
    let threads = looked.trace.threads().len().saturating_sub(1);
    let known = looked.trace.children.len().max(threads);
    // A review inside the session has neither a name nor a call.
    let inside = usize::from(looked.trace.kinds.contains_key(&Kind::Subagent));
    let count = if known > 0 { known } else { calls.max(inside) };
    Reading::of(count).because(looked.ids(|call| call.class == ToolClass::Subagent))
}

pub(crate) fn subagent_cost_share(looked: &Looked<'_>) -> Reading {
    match looked.prices {
        None => Reading::none("price_unknown"),
        Some(prices) => match (prices.total_usd, prices.below_usd) {
            (Some(total), Some(below)) if total > 0.0 => Reading::ratio(below / total),
            (Some(_), Some(_)) => Reading::none("no_cost"),
            _ => Reading::none("price_unknown"),
        },
    }
}
