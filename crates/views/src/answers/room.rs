//! Answers about the room that a store takes, and about letting go of sessions.

use retro_engine::retain::{Explained, Retained};
use retro_model::SessionKey;
use serde::Serialize;

use super::Schema;

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
