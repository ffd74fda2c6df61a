//! Sync: from the agents' folders to the store, stage by stage.
//!
//! Follow the data: [`mod@discover`] finds files, [`mod@sync`] compares them with what
//! the store has seen, [`capture`] keeps their new bytes and reads them in the same
//! pass, [`cold`] settles sessions that have gone quiet; all in batches under the
//! store's lock. [`hook`] and [`mod@watch`] are other ways in, [`mod@read`] the way back.
//!
//! **Invariants.** Sources are only read. One session that fails stops no other.
//! What the store holds after a sync depends on the bytes, the configuration and the
//! version, never on the order or the pieces in which they came.

pub mod capture;
pub mod cells;
pub mod cold;
pub mod config;
pub mod discover;
mod error;
pub mod exclude;
pub mod from;
pub mod hook;
pub mod import;
mod large;
pub mod ledger;
pub mod platform;
pub mod prices;
pub mod quick;
pub mod read;
pub mod rebuild;
pub mod secrets;
pub mod stages;
pub mod sync;
mod upkeep;
pub mod verify;
pub mod watch;
mod world;

pub use config::Config;
pub use error::Error;
pub use sync::{Progress, SyncOptions, SyncReport, sync};
pub use world::{Clock, Env, World};
