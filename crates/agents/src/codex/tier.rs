//! The service tier of a thread.
//!
//! `thread_settings_applied` (0.144 on) has all settings from there on, so one without a tier means
//! the standard one. If a record of a turn or of a response names a tier itself, that tier counts.

use super::line::Line;
use super::state::State;
use crate::words::clean;
use crate::{Json, field};

/// Takes the new settings of the thread. Those of another thread, which a review has in its
/// parent's log, change nothing.
pub(super) fn applied(line: &Line<'_>, state: &mut State) {
    let is_known = |thread: &str| state.chain.is_empty() || state.chain.iter().any(|known| known == thread);
    if field::some(line.payload, "thread_id").is_none_or(is_known) {
        let settings = line.payload.get("thread_settings").filter(|settings| settings.is_object());
        state.tier = said(settings.unwrap_or(line.payload)).flatten();
    }
}

/// The tier that an object names, if any: `Some(None)` is the standard one.
pub(super) fn said(json: &Json<'_>) -> Option<Option<String>> {
    let tier = field::some(json, "service_tier")?;
    Some(match tier {
        "default" | "standard" | "auto" => None,
        // The configuration's name for the service's priority tier.
        "fast" => Some("priority".to_owned()),
        tier => Some(clean(tier)),
    })
}
