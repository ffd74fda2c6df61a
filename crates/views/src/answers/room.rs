//! Answers about the room that a store takes, and about letting go of sessions.

use retro_engine::forget::Forgotten;
use retro_engine::retain::{Explained, Retained};
use retro_model::{SessionKey, Timestamp};
use retro_store::{Tombstone, TombstoneEvent};
use serde::Serialize;

use super::Schema;

impl Schema for Forgotten {
    const NAME: &'static str = "retro.forget/1";
}

/// What was forgotten.
#[derive(Debug, Clone, Serialize)]
pub struct Tombstones {
    /// Each session, by a hash.
    pub tombstones: Vec<TombstoneRow>,
}

impl Schema for Tombstones {
    const NAME: &'static str = "retro.forget.list/1";
}

/// A session that was forgotten.
#[derive(Debug, Clone, Serialize)]
pub struct TombstoneRow {
    /// What `--undo` takes.
    pub id: String,
    /// Our name of the agent.
    pub agent: String,
    /// When.
    pub at: Timestamp,
    /// Whether its ledger was kept.
    pub keep_costs: bool,
    /// Whether everything is removed. If not, the next command does it.
    pub done: bool,
}

impl From<&Tombstone> for TombstoneRow {
    fn from(stone: &Tombstone) -> TombstoneRow {
        TombstoneRow {
            id: stone.id.clone(),
            agent: stone.agent.clone(),
            at: stone.at,
            keep_costs: stone.keep_costs,
            done: stone.event != TombstoneEvent::Forgotten,
        }
    }
}

/// What `retro retain` did, or would do.
#[derive(Debug, Serialize)]
pub struct Retention<'a> {
    /// What went.
    #[serde(flatten)]
    pub retained: &'a Retained,
    /// What takes the space, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
}

impl Schema for Retention<'_> {
    const NAME: &'static str = "retro.retain/1";
}

/// What `retro pin` or `retro unpin` did.
#[derive(Debug, Clone, Serialize)]
pub struct Pinned {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// Whether it is pinned now.
    pub pinned: bool,
    /// Whether that is new.
    pub changed: bool,
}

impl Pinned {
    /// Of one session.
    pub fn of(key: &SessionKey, pinned: bool, changed: bool) -> Pinned {
        Pinned { agent: key.agent.clone(), session_id: key.id.clone(), pinned, changed }
    }
}

impl Schema for Pinned {
    const NAME: &'static str = "retro.pin/1";
}
