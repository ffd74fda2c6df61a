//! How calls ended, for everything that shows a session: the judgement that signals count by.
//!
//! What a log says of a call is its exit state. Signals look at the output as well: a search
//! that found nothing did not fail, a test run that failed under `| tail` did.

use retro_model::{Event, Outcome, SessionKey};
use retro_text::calls::Verdict;

use crate::trace::Trace;

/// A call that counts: no program that only ran other calls, and none that only asks how
/// another one goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedCall {
    /// Its event.
    pub event: String,
    /// The event of its result.
    pub result: Option<String>,
    /// How it ended; nothing while no result is there.
    pub outcome: Option<Outcome>,
}

/// The calls of settled events, each as signals judge it.
pub fn judged_calls(key: &SessionKey, events: &[Event]) -> Vec<JudgedCall> {
    let trace = Trace::of(key.clone(), events);
    let calls = trace.calls().map(|(beat, call)| JudgedCall {
        event: beat.id.clone(),
        result: call.result_id.clone(),
        outcome: call.outcome.map(|logged| match (logged, call.verdict) {
            (Outcome::Denied | Outcome::Interrupted, _) => logged,
            (_, Verdict::Failed) => Outcome::Failed,
            (_, Verdict::Passed) => Outcome::Ok,
            // It looked for something that is not there, or nothing says how it ended.
            (Outcome::Failed, _) => Outcome::Unknown,
            (logged, _) => logged,
        }),
    });
    calls.collect()
}
