//! Transcripts that their agent will soon delete.

use retro_agents::{AGENTS, Agent};
use retro_engine::World;
use retro_engine::discover::{Discovery, SessionFiles};

/// Warn this many days before a transcript is deleted.
const WARN_DAYS_BEFORE: u32 = 5;

/// Warnings about transcripts that their agent will soon delete.
pub(crate) fn deletion_warnings(world: &World, found: &Discovery) -> Vec<String> {
    let now_ms = world.now().as_millis();
    AGENTS.iter().filter_map(|agent| deletion_warning(*agent, found, now_ms)).collect()
}

fn deletion_warning(agent: &dyn Agent, found: &Discovery, now_ms: i64) -> Option<String> {
    let deletion = agent.deletion()?;
    let age_days = |session: &SessionFiles| (now_ms - session.mtime_ns() / 1_000_000) / 86_400_000;
    let near = |session: &&SessionFiles| {
        age_days(session) > i64::from(deletion.after_days.saturating_sub(WARN_DAYS_BEFORE))
    };
    let old: Vec<&SessionFiles> =
        found.sessions.iter().filter(|session| session.key.agent == agent.name()).filter(near).collect();
    // Transcripts that are in the store are safe and need no warning.
    let lost: Vec<&SessionFiles> = old.into_iter().filter(|session| session.news).collect();
    let oldest = lost.iter().map(|session| age_days(session)).max()?;
    let (sessions, are) = if lost.len() == 1 { ("session", "is") } else { ("sessions", "are") };
    Some(format!(
        "{} deletes transcripts after {} days ({}). {} {sessions} of that age {are} not, or not wholly, in the store, \
         the oldest {oldest} days old: run `retro sync` now",
        agent.title(),
        deletion.after_days,
        deletion.setting,
        lost.len(),
    ))
}
