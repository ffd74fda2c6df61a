//! One folder per coding agent: where its logs lie, how its records become
//! events, how those events settle, how to resume it.
//!
//! The way of a log line: an [`Agent`] sees files ([`Sightings`], [`Found`]); a [`Reader`]
//! cuts their bytes into records and hands each to the agent's [`Parse`], which
//! turns it into [`Draft`]s; when all sources of a session are read, [`settle`]
//! folds the drafts into the one settled stream.
//!
//! **Invariants.** Parsing never fails: what is not understood becomes an
//! `unknown` event or a gap. Parsing does no I/O, and its state can be saved
//! between any two records. Settling is a function of the drafts alone, given
//! in source order, and reads no text; so the pieces and the order in which a
//! session arrived do not show.

mod agent;
mod claude;
mod codex;
mod command;
mod database;
mod draft;
pub mod fold;
mod giant;
mod grok;
mod json;
mod lines;
mod patch;
mod reader;
mod registry;
mod regular;
pub mod script;
mod sightings;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod walk;

pub use agent::{Agent, Deletion, Encoding, Format, Found, Held, Kindred, Migrated, Owner, Places, Row};
pub use database::{Database, DatabaseError, remove_left_copies};
pub use draft::{Draft, Hint, Out, Record};
pub use fold::{Settled, settle, settle_each};
pub use json::{Json, Object, field};
pub use reader::{Cursor, Parse, Parsed, Part, Reader};
pub use registry::{AGENTS, UNSUPPORTED, Unsupported, by_name};
pub use regular::open_regular;
pub use retro_model::{RowsStamp, Stamp, Stat};
pub use sightings::{DatabaseSeen, RowsSeen, Sight, Sightings, Whose};
pub use stream::{Folding, Limits, Shelf, Shelved, Told};
