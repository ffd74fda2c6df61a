//! `rate_limits` of a token count: how much of the subscription's windows is used.
//!
//! The figures come from the headers of a response and are a state, not a sum: the newest of each
//! window counts. `primary` is the short window (300 minutes in all logs so far), `secondary` the
//! long one (10,080). If an account has several allowances, each has its own `limit_id`. 0.42 and
//! 0.80 have none.

use retro_model::{LimitReading, Timestamp};

use super::line::Line;
use crate::words::id;
use crate::{Json, Out, field};

/// The allowance of logs that have no id.
const MAIN: &str = "codex";

pub(super) fn read(line: &Line<'_>, limits: &Json<'_>, out: &mut Out) {
    let Some(ts) = line.ts else { return };
    let allowance = field::some(limits, "limit_id").unwrap_or(MAIN);
    for window in ["primary", "secondary"] {
        let Some(told) = limits.get(window).filter(|told| told.is_object()) else { continue };
        let used = told.get("used_percent").and_then(Json::as_f64).and_then(LimitReading::basis_points);
        let Some(used_basis_points) = used else { continue };
        let name = id(&format!("{allowance}/{window}"));
        let reading = LimitReading {
            ts,
            at: line.record.address.clone(),
            used_basis_points,
            window_minutes: field::count(told, "window_minutes"),
            resets_at: resets_at(told, ts),
            plan: field::some(limits, "plan_type").map(id),
        };
        out.facts.limit(&name, &reading);
    }
}

/// The reset time. 0.42 has the seconds from the record on.
fn resets_at(told: &Json<'_>, ts: Timestamp) -> Option<Timestamp> {
    let millis = |name| field::count(told, name).and_then(|s| i64::try_from(s).ok()?.checked_mul(1000));
    let at = millis("resets_at").or_else(|| ts.as_millis().checked_add(millis("resets_in_seconds")?))?;
    Timestamp::from_millis(at)
}
