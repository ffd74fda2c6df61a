//! Sync: from the agents' folders to the store, stage by stage.
//!
//! Follow the data: [`mod@discover`] finds files, [`mod@sync`] compares them with the stamps in the
//! store, [`capture`] keeps their new bytes and reads them in the same pass, `derive` runs the due
//! [`stages`], all in batches under the store's lock. [`news`] reads new sessions for a question
//! without the lock, and [`ask`] answers from them. [`hook`] and [`mod@watch`] also capture
//! sessions, and [`mod@read`] reads them back.
//!
//! **Invariants.** Sources are only read. A failed session does not stop the others. The contents
//! of the store after a sync depend on the bytes, the configuration and the version, never on the
//! order or the chunks of their arrival.

pub mod ask;
mod budget;
pub mod capture;
mod catalog;
pub mod cells;
pub mod config;
pub mod consumers;
pub mod damage;
mod derive;
mod digest_words;
pub mod discover;
pub mod door;
mod error;
pub mod events;
pub mod evict;
pub mod exclude;
mod facts;
mod family;
pub mod findings;
pub mod forget;
pub mod headless;
pub mod hook;
pub mod import;
mod lost;
pub mod memory;
pub mod mined;
pub mod news;
pub mod patterns;
pub mod platform;
pub mod prices;
mod progress;
pub mod read;
pub mod rebuild;
mod recapture;
pub mod reconcile;
mod remains;
mod remask;
pub mod report;
pub mod repository;
pub mod retain;
mod retained;
pub mod secrets;
mod session_row;
mod shared_titles;
pub mod signals;
mod stage;
pub mod stages;
pub mod stamp;
mod sweep;
pub mod sync;
pub mod verify;
pub mod watch;
mod world;

use retro_agents::{Agent, by_name};
use retro_model::{SessionKey, Timestamp};

pub use config::Config;
pub use error::Error;
pub use progress::Progress;
pub use report::{Failure, SyncReport};
pub use sweep::sync;
pub use sync::SyncOptions;
pub use world::{Clock, Env, World};

/// The agent of a session in the store.
pub(crate) fn agent_of(key: &SessionKey) -> Option<&'static dyn Agent> {
    by_name(&key.agent)
}

/// Whether a session has not changed for long enough to be settled for good.
pub fn is_quiet(mtime_ns: i64, now: Timestamp) -> bool {
    now.as_millis().saturating_sub(mtime_ns / 1_000_000) >= stages::QUIET_MINUTES * 60_000
}
