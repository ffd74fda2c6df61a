//! The files and the database of a store. Only this crate knows the layout of the root, the frames
//! of a raw file and our SQL. The part of it that is a contract with other programs is in
//! `docs/formats/store.md`.
//!
//! A [`Store`] is a folder. The bytes of each source are in an [`Archive`], and the facts about a
//! session in its [`SessionFile`]: these are truth. The [`Index`], normalized and rendered files
//! can be made again from them.
//!
//! **Invariants.** A captured byte is never changed. Every write except SQLite's own goes through
//! one [`Disk`], and after a stop between any two of them, or in the middle of one, the store is
//! good: [`Store::verify`] finds no problem, and repeating the work gives the same contents. A
//! session file exists on disk only if the raw files that it names do. No id, path or link in a
//! store leads out of its root. This crate knows no agents, no meaning of events, and no clock.
#![deny(missing_docs)]

mod archive;
mod derived;
mod documents;
mod error;
mod evict;
mod exports;
mod files;
mod forget;
mod head;
mod index;
mod journal;
pub mod kept;
mod layout;
mod ledger;
mod lines;
mod lock;
mod marks;
mod masks;
mod memories;
mod mined;
pub mod names;
mod part;
mod patterns;
pub mod pieces;
mod queue;
mod raw_look;
mod scratch;
mod sealed;
mod sections;
mod session_file;
mod sizes;
mod spool;
mod store;
mod takeover;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod tombstones;
mod verify;

pub use archive::{Archive, ArchiveReader, Commit, Comparison};
pub use derived::{NormalizedEvents, NormalizedWriter};
pub use documents::{DIGESTS, FACTS, Kind, LEDGER, REMAINS, SESSIONS};
pub use error::Error;
pub use evict::{RawRoom, SWEEPS};
pub use exports::Export;
pub use forget::Holds;
pub use index::{
    BodyRow, Changes, FailureRow, Follow, Index, KnownPassages, Made, Mark, MemoryTables, NameRow, OpenerRow,
    PackedPassage, PassageRow, PlaceRef, PlaceRow, RepairRow, Responses, SessionRow, Snapshot, SourceRow,
    Stamps, TouchRow, TurnKey, TurnRow, Writer,
};
pub use journal::{BadLine, Journal, Lines};
pub use layout::{Slot, copies_folder};
pub use ledger::LedgerWriter;
pub use lock::Lock;
pub use marks::Marks;
pub use masks::{Covered, Form as MaskForm, MASKS, Mask, MaskedReader, Masks};
pub use memories::{EVENTS, EXPOSURES, ITEMS, Note, SPENT};
pub use patterns::{CatalogFile, DECISION_QUEUE, REVIEW_LOG};
pub use queue::{Job, JobId};
pub use raw_look::RawLook;
pub use retro_disk::{Disk, RealDisk};
pub use scratch::Scratch;
pub use session_file::{SessionFile, SourceEntry};
pub use spool::Spool;
pub use store::Store;
pub use tombstones::{Event as TombstoneEvent, TOMBSTONES, Tombstone, Tombstones};
pub use verify::{Problem, Report};
