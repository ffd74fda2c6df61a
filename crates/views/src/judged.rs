//! Calls as signals judge them, so that every view counts the same failures.

use retro_insight::judged_calls;
use retro_model::{Event, Outcome, SessionKey};
use std::collections::{HashMap, HashSet};

/// Puts the judgement of signals in the place of the exit state that the log has. Returns the
/// events of the calls that count: neither wrappers of others nor those that only ask how
/// another one goes on.
pub(crate) fn judge(key: &SessionKey, events: &mut [Event]) -> HashSet<String> {
    let mut outcomes: HashMap<String, Outcome> = HashMap::new();
    let mut counted = HashSet::new();
    for call in judged_calls(key, events) {
        if let (Some(result), Some(outcome)) = (call.result, call.outcome) {
            outcomes.insert(result, outcome);
        }
        counted.insert(call.event);
    }
    for event in events.iter_mut() {
        let Some(result) = &mut event.result else { continue };
        if let Some(outcome) = outcomes.get(&event.id.to_string()) {
            result.outcome = *outcome;
        }
    }
    counted
}
