//! When there is nothing to do, knowing it without looking.
//!
//! After a full sync the index remembers with which versions everything was made
//! and when the next session will have been quiet for long enough. Until then, and
//! as long as nothing was captured, later stages need not be looked at.

use retro_agents::AGENTS;
use retro_model::Timestamp;
use retro_store::Index;

use crate::Error;
use crate::stages::{PACK_HOURS, QUIET_MINUTES, STAGES, ledger_input, stamp};
use crate::sync::agent_of;

/// Under which name the index remembers it.
pub(crate) const KEY: &str = "upkeep";

/// Everything whose change makes derived data stale.
fn versions() -> String {
    let stages: Vec<String> = STAGES.iter().map(|stage| format!("{}{}", stage.name, stage.version)).collect();
    let agents: Vec<String> =
        AGENTS.iter().map(|agent| format!("{}{}", agent.name(), agent.parser_version())).collect();
    format!("{} {} {}", stages.join(","), agents.join(","), retro_text::secrets::RULES_VERSION)
}

/// Whether later stages may have something to do now.
pub(crate) fn is_due(index: &Index, now: Timestamp) -> Result<bool, Error> {
    let Some(note) = index.meta(KEY)? else { return Ok(true) };
    let (next, made_with) = note.split_once(' ').unwrap_or((&note, ""));
    Ok(made_with != versions() || next.parse::<i64>().is_ok_and(|next| now.as_millis() >= next))
}

/// Something was captured: look again next time.
pub(crate) fn forget(index: &Index) -> Result<(), Error> {
    Ok(index.set_meta(KEY, "0")?)
}

/// Everything was brought up to date: notes when the next session is due.
pub(crate) fn note(index: &Index) -> Result<(), Error> {
    let captured = index.stage_rows("capture")?;
    let normalized = index.stage_rows("normalized")?;
    let ledgers = index.stage_rows("ledger")?;
    let packed = index.stage_rows("repack")?;
    let mut next = i64::MAX;
    for row in index.session_rows()? {
        let key = row.key();
        let (Some(agent), Some((_, content))) = (agent_of(&key), captured.get(&key)) else { continue };
        let changed_ms = row.mtime_ns / 1_000_000;
        let is = |rows: &std::collections::HashMap<_, (u32, String)>, wanted: &str| {
            rows.get(&key).is_some_and(|(_, input)| input == wanted)
        };
        if !is(&normalized, &stamp(agent, content)) || !is(&ledgers, &ledger_input(agent, content)) {
            next = next.min(changed_ms + QUIET_MINUTES * 60_000);
        } else if !is(&packed, content) {
            next = next.min(changed_ms + PACK_HOURS * 3_600_000);
        }
    }
    Ok(index.set_meta(KEY, &format!("{next} {}", versions()))?)
}
