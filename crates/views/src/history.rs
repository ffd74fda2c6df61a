//! The history of a fork that another session holds.
//!
//! Some agents do not copy the events before a fork. The fork's first event names the session that
//! has them, and where they end. Events stay where they were logged; only a reader of the fork sees
//! both.

use retro_agents::{Settled, by_name};
use retro_engine::read;
use retro_model::{Event, Gap, GapReason, Kind, LinkKind, SessionKey, SourceKey};
use retro_store::Store;
use serde_json::Value;

use crate::Error;

/// The events before a fork.
#[derive(Debug, Clone)]
pub struct History {
    /// The session that holds the history.
    pub session: SessionKey,
    /// Its events up to the fork, including those of older forks.
    pub events: Vec<Event>,
}

/// Follow at most this many forks of forks.
const DEPTH_MAX: usize = 16;

/// The history in another session, or the gap if it is missing.
pub(crate) fn history(
    store: &Store,
    key: &SessionKey,
    settled: &Settled,
) -> Result<(Option<History>, Option<Gap>), Error> {
    follow(store, key, settled, DEPTH_MAX)
}

fn follow(
    store: &Store,
    key: &SessionKey,
    settled: &Settled,
    depth: usize,
) -> Result<(Option<History>, Option<Gap>), Error> {
    let Some(end_byte_offset) = base(&settled.events) else { return Ok((None, None)) };
    let link = settled.facts.links.iter().find(|link| link.kind == LinkKind::ForkedFrom);
    let Some(parent) = link.map(|link| SessionKey::new(key.agent.clone(), link.session_id.clone())) else {
        return Ok((None, None));
    };
    let agent = by_name(&parent.agent).filter(|_| depth > 0 && parent != *key);
    let (Some(agent), Some(_)) = (agent, store.session(&parent)?) else {
        let detail = format!("its history is in {parent}, which was never captured");
        let gap = Gap {
            source: SourceKey::main(),
            revision: 1,
            line: None,
            offset: None,
            reason: GapReason::Missing,
            detail: Some(detail),
        };
        return Ok((None, Some(gap)));
    };
    let above = read::legible(store, agent, &parent)?.settled;
    let (older, gap) = follow(store, &parent, &above, depth - 1)?;
    let mut events = older.map_or(Vec::new(), |older| older.events);
    let before = |event: &Event| event.raw.source.is_main() && event.raw.offset < end_byte_offset;
    events.extend(above.events.into_iter().filter(before));
    Ok((Some(History { session: parent, events }), gap))
}

/// Where the borrowed history ends in the other session's log.
fn base(events: &[Event]) -> Option<u64> {
    let first = events.iter().find(|event| event.kind == Kind::Session)?;
    first.data.as_ref()?.get("history_base")?.get("end_byte_offset").and_then(Value::as_u64)
}
