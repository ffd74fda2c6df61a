//! How calls ended, for every view of a session. Signals use the same judgement.
//!
//! The log only has the exit status of a call. Signals look at the output as well: a search without
//! a match did not fail, a failed test run under `| tail` did.

use retro_model::{Event, Outcome, SessionKey};
use retro_text::calls::Verdict;

use crate::trace::Trace;

/// A call that counts. Programs that only ran other calls do not, and neither do calls that only
/// poll another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedCall {
    /// The event of the call.
    pub event: String,
    /// The event of its result.
    pub result: Option<String>,
    /// How it ended. `None` without a result.
    pub outcome: Option<Outcome>,
}

/// The calls of settled events, as signals judge them.
pub fn judged_calls(key: &SessionKey, events: &[Event]) -> Vec<JudgedCall> {
    let trace = Trace::of(key.clone(), events);
    let calls = trace.calls().map(|(beat, call)| JudgedCall {
        event: beat.id.clone(),
        result: call.result_id.clone(),
        outcome: call.outcome.map(|logged| match (logged, call.verdict) {
            (Outcome::Denied | Outcome::Interrupted, _) => logged,
            (_, Verdict::Failed) => Outcome::Failed,
            (_, Verdict::Passed) => Outcome::Ok,
            // A search without a match, or a call with an unknown ending.
            (Outcome::Failed, _) => Outcome::Unknown,
            (logged, _) => logged,
        }),
    });
    calls.collect()
}
