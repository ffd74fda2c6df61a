//! The signals: one file each, or one for a family whose members differ by a word.
//!
//! The comment at the top of each file is the user's reference: `retro signal explain` prints it,
//! and `docs/reference/signals.md` is generated from it.

pub(crate) mod activity;
pub(crate) mod capture;
pub(crate) mod commits;
pub(crate) mod context;
pub(crate) mod correction;
pub(crate) mod cost;
pub(crate) mod danger;
pub(crate) mod external;
pub(crate) mod failures;
pub(crate) mod files;
pub(crate) mod interruptions;
pub(crate) mod masked;
pub(crate) mod messages;
pub(crate) mod recovery;
pub(crate) mod rework;
pub(crate) mod satisfaction;
pub(crate) mod secrets;
pub(crate) mod subagents;
pub(crate) mod survival;
pub(crate) mod time;
pub(crate) mod tool_errors;
pub(crate) mod trajectory_balance;
pub(crate) mod trajectory_categories;
pub(crate) mod trajectory_ngrams;
pub(crate) mod trajectory_repetition;
pub(crate) mod trajectory_results;
pub(crate) mod trajectory_shape;
pub(crate) mod trajectory_validation;
pub(crate) mod validation;

use crate::Correction;
use crate::prices::Prices;
use crate::trace::{Call, Trace};
use crate::trajectory::Step;

/// The input of a signal.
pub(crate) struct Looked<'a> {
    pub trace: &'a Trace,
    pub steps: &'a [Step],
    pub corrections: &'a [Correction],
    pub prices: Option<&'a Prices>,
}

impl<'a> Looked<'a> {
    /// Ids of the calls that `wanted` selects.
    pub(crate) fn ids(&self, wanted: impl Fn(&Call) -> bool + 'a) -> impl Iterator<Item = &'a str> {
        let trace = self.trace;
        trace.calls().filter(move |(_, call)| wanted(call)).map(|(beat, _)| beat.id.as_str())
    }

    /// Consecutive steps of one thread.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&'a Step, &'a Step)> {
        let steps = self.steps;
        steps.windows(2).filter_map(|pair| match pair {
            [a, b] if a.thread == b.thread => Some((a, b)),
            _ => None,
        })
    }
}
