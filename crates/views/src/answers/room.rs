//! Results of commands that show or reduce the space a store takes.

use retro_engine::forget::Forgotten;
use retro_engine::retain::{Explained, Retained};
use retro_model::{SessionKey, Timestamp};
use retro_store::{Mask, Tombstone, TombstoneEvent};
use serde::Serialize;

use super::Schema;

impl Schema for Forgotten {
    const NAME: &'static str = "retro.forget/1";
}

/// The result of `retro forget --list`.
#[derive(Debug, Clone, Serialize)]
pub struct Tombstones {
    /// Every forgotten session and text, by a hash.
    pub tombstones: Vec<TombstoneRow>,
}

impl Schema for Tombstones {
    const NAME: &'static str = "retro.forget.list/1";
}

/// A forgotten session or text.
#[derive(Debug, Clone, Serialize)]
pub struct TombstoneRow {
    /// The id that `--undo` accepts.
    pub id: String,
    /// `session` or `text`.
    pub kind: &'static str,
    /// retro's name for the agent; empty for a text.
    pub agent: String,
    /// When it was forgotten.
    pub at: Timestamp,
    /// True if its ledger was kept.
    pub keep_costs: bool,
    /// True if everything is removed. If false, the next command completes the removal.
    pub done: bool,
}

impl From<&Tombstone> for TombstoneRow {
    fn from(stone: &Tombstone) -> TombstoneRow {
        TombstoneRow {
            id: stone.id.clone(),
            kind: "session",
            agent: stone.agent.clone(),
            at: stone.at,
            keep_costs: stone.keep_costs,
            done: stone.event != TombstoneEvent::Forgotten,
        }
    }
}

impl From<&Mask> for TombstoneRow {
    fn from(mask: &Mask) -> TombstoneRow {
        TombstoneRow {
            id: mask.id.clone(),
            kind: "text",
            agent: String::new(),
            at: mask.at,
            keep_costs: false,
            done: mask.event != TombstoneEvent::Forgotten,
        }
    }
}

/// The result of `retro retain`.
#[derive(Debug, Serialize)]
pub struct Retention<'a> {
    /// The sessions that were, or would be, reduced.
    #[serde(flatten)]
    pub retained: &'a Retained,
    /// The space that each part of the store takes, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained: Option<Explained>,
}

impl Schema for Retention<'_> {
    const NAME: &'static str = "retro.retain/1";
}

/// The result of `retro pin` or `retro unpin`.
#[derive(Debug, Clone, Serialize)]
pub struct Pinned {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// True if the session is pinned now.
    pub pinned: bool,
    /// True if the command changed that.
    pub changed: bool,
}

impl Pinned {
    /// Describes one session.
    pub fn of(key: &SessionKey, pinned: bool, changed: bool) -> Pinned {
        Pinned { agent: key.agent.clone(), session_id: key.id.clone(), pinned, changed }
    }
}

impl Schema for Pinned {
    const NAME: &'static str = "retro.pin/1";
}
