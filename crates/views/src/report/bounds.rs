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

impl CostBounds {
    /// Collects the reasons for these sessions.
    pub(super) fn of<'s>(sessions: impl Iterator<Item = &'s SessionView>, undigested: u64) -> CostBounds {
        let mut bounds = CostBounds { undigested_sessions: undigested, ..CostBounds::default() };
        let mut estimated = 0.0;
        for session in sessions {
            bounds.grown_sessions += u64::from(!session.up_to_date);
            let Some(figures) = &session.figures else {
                bounds.uncosted_sessions += 1;
                continue;
            };
            bounds.unfinished_responses += figures.lower_bound_responses;
            bounds.unpriced_responses += figures.bounds.unpriced_responses;
            bounds.undecided_responses += figures.bounds.undecided_responses;
            bounds.sessions_with_unlogged_answers += u64::from(figures.bounds.has_unlogged_answers);
            estimated += figures.estimated_cost_usd.or(figures.cost_usd).unwrap_or(0.0);
        }
        bounds.estimated_cost_usd = (bounds.unfinished_responses > 0).then_some(estimated);
        bounds
    }
}
