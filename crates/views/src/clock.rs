//! Clocks that are wrong.

use retro_model::Timestamp;

/// How far ahead of ours another clock may be. A session that claims to be later is
/// not the newest, or it would be on top for ever.
const AHEAD_MS_MAX: i64 = 86_400_000;

/// The first of these times that a right clock can have shown.
pub(crate) fn plausible(
    times: impl IntoIterator<Item = Option<Timestamp>>,
    now: Timestamp,
) -> Option<Timestamp> {
    let latest = now.as_millis().saturating_add(AHEAD_MS_MAX);
    times.into_iter().flatten().find(|ts| ts.as_millis() <= latest)
}
