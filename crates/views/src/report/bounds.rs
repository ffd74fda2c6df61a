//! Why the cost of several sessions is only a lower bound.

use serde::Serialize;

use crate::SessionView;

/// The reasons, each with a count. A session may have several.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct CostBounds {
    /// Responses logged before they ended.
    pub unfinished_responses: u64,
    /// The total cost if the output of these is estimated.
    pub estimated_cost_usd: Option<f64>,
    /// Responses without a known price.
    pub unpriced_responses: u64,
    /// Responses whose price depends on facts that the log lacks.
    pub undecided_responses: u64,
    /// Sessions with responses for which the log has no figures.
    pub sessions_with_unlogged_answers: u64,
    /// Sessions that have grown since they were last read.
    pub grown_sessions: u64,
    /// Sessions whose cost the store does not know.
    pub uncosted_sessions: u64,
    /// Sessions left out because they have no digest yet.
    pub undigested_sessions: u64,
}

/// The reasons, as far as sessions were looked at.
#[derive(Debug)]
pub(super) struct Bounding {
    bounds: CostBounds,
    estimated: f64,
    /// Whether the cost of all of them is known and whole.
    pub is_complete: bool,
}

impl Default for Bounding {
    fn default() -> Bounding {
        Bounding { bounds: CostBounds::default(), estimated: 0.0, is_complete: true }
    }
}

impl Bounding {
    /// Adds the reasons of a session.
    pub(super) fn add(&mut self, session: &SessionView) {
        self.is_complete &= session.cost_usd.is_some() && session.cost_complete;
        let bounds = &mut self.bounds;
        bounds.grown_sessions += u64::from(!session.up_to_date);
        let Some(figures) = &session.figures else {
            bounds.uncosted_sessions += 1;
            return;
        };
        bounds.unfinished_responses += figures.lower_bound_responses;
        bounds.unpriced_responses += figures.bounds.unpriced_responses;
        bounds.undecided_responses += figures.bounds.undecided_responses;
        bounds.sessions_with_unlogged_answers += u64::from(figures.bounds.has_unlogged_answers);
        self.estimated += figures.estimated_cost_usd.or(figures.cost_usd).unwrap_or(0.0);
    }

    /// The reasons, with sessions that have no digest.
    pub(super) fn finish(self, undigested: u64) -> CostBounds {
        let Bounding { bounds, estimated, .. } = self;
        let estimated_cost_usd = (bounds.unfinished_responses > 0).then_some(estimated);
        CostBounds { undigested_sessions: undigested, estimated_cost_usd, ..bounds }
    }
}
