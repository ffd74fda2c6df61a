//! One folder per coding agent: where its logs are, how its records become
//! events, how those events settle, how to resume it.
//!
//! How a log line is processed: an [`Agent`] finds files ([`Sightings`], [`Found`]); a [`Reader`]
//! cuts their bytes into records and hands each to the agent's [`Parse`], which turns it into
//! [`Draft`]s; when all sources of a session are read, [`settle`] folds the drafts into the one
//! settled stream.
//!
//! **Invariants.** Parsing never fails: anything that is not understood becomes an `unknown` event
//! or a gap. Parsing does no I/O, and its state can be saved between any two records. Settling is a
//! function of the drafts alone, given in source order, and reads no text. The result does not
//! depend on the order or the pieces in which a session arrives.

mod agent;
mod claude;
mod codex;
mod command;
mod counters;
mod database;
mod draft;
pub mod fold;
mod folder;
mod grok;
mod identity;
pub mod integration;
mod javascript;
mod json;
mod lines;
mod mapping;
mod oversized;
mod parse;
mod patch;
mod reader;
mod registry;
mod regular;
pub mod script;
mod shelf;
mod sightings;
mod state;
mod stream;
#[cfg(feature = "testing")]
pub mod testing;
mod walk;
mod words;

pub use agent::{Agent, Deletion, Encoding, Found, Held, Kindred, Migrated, Owner, Places, TitleOf};
pub use database::{Database, DatabaseError, remove_left_copies};
pub use draft::{Draft, Hint, Out, Record};
pub use folder::{FolderFile, FolderSeen, FolderStamp, files_of};
pub use json::{Json, Object, field};
pub use mapping::Row;
pub use parse::{Parse, Part};
pub use reader::{Cursor, Parsed, Reader};
pub use registry::{AGENTS, UNSUPPORTED, Unsupported, by_name};
pub use regular::open_regular;
pub use retro_model::{Format, RowsStamp, Stamp, Stat};
pub use shelf::{Shelf, Shelved};
pub use sightings::{DatabaseSeen, RowsSeen, Sight, Sightings, Whose};
pub use stream::{Folding, Limits, Settled, Told, settle, settle_each};
pub use walk::Unreadable;
