//! The service tier of a thread.
//!
//! `thread_settings_applied` (0.144 on) has all settings as they are from there on, so one
//! without a tier means the standard one. Where a record of a turn or of a response names a
//! tier itself, that counts.

use super::line::Line;
use super::state::State;
use crate::words::clean;
use crate::{Json, field};

/// The settings of the thread from here on. Those of another thread, as a review has them
/// in its parent's log, change nothing.
pub(super) fn applied(line: &Line<'_>, state: &mut State) {
    let is_known = |thread: &str| state.chain.is_empty() || state.chain.iter().any(|known| known == thread);
    if field::some(line.payload, "thread_id").is_none_or(is_known) {
        let settings = line.payload.get("thread_settings").filter(|settings| settings.is_object());
        state.tier = said(settings.unwrap_or(line.payload)).flatten();
    }
}

/// The tier that an object names, if it does: `Some(None)` is the standard one.
pub(super) fn said(json: &Json<'_>) -> Option<Option<String>> {
    let tier = field::some(json, "service_tier")?;
    Some(match tier {
        "default" | "standard" | "auto" => None,
        // The name in the configuration of what the service calls priority.
        "fast" => Some("priority".to_owned()),
        tier => Some(clean(tier)),
    })
}
