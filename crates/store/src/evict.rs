//! Giving up the raw bytes of a session: what the register says goes, the rest stays.
//!
//! First the session file says that it was evicted, and its remains hold what the index
//! knew; both are on the medium before anything is removed. A stop in between leaves raw
//! bytes that are never read, and the next sync removes them.

use retro_model::SessionKey;
use std::time::UNIX_EPOCH;

use crate::files::{at_once, entries};
use crate::kept::{Evict, Place, REGISTER, Standing};
use crate::layout::{RAW, shared_folder};
use crate::{Error, REMAINS, Store, Writer};

/// One sweep: when raw bytes were given up, and how much. It names no session.
pub const SWEEPS: &str = "retention.jsonl";

/// What the raw files of a session take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RawRoom {
    /// Their bytes.
    pub bytes: u64,
    /// When the newest of them was written, in milliseconds since 1970.
    pub written_ms: i64,
}

impl Store {
    /// Removes the files of an evicted session that go.
    pub fn remove_evicted(&self, key: &SessionKey) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.evict == Evict::Remove) {
            match line.place {
                Place::Folder(RAW) => self.remove_raw(key)?,
                Place::Document(kind) => drop(self.remove_document(kind, key)?),
                // Rows go with `Writer::evict_session`.
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes what can be made again of a session before its raw bytes go: on a full disk this
    /// makes the room that everything else needs.
    pub fn remove_caches(&self, key: &SessionKey) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.standing == Standing::Cache) {
            if let Place::Document(kind) = line.place {
                self.remove_document(kind, key)?;
            }
        }
        Ok(())
    }

    /// What the raw files of these sessions take, in the same order.
    pub fn raw_rooms(&self, keys: &[SessionKey]) -> Result<Vec<RawRoom>, Error> {
        at_once(keys, |key| {
            let mut room = RawRoom::default();
            for slot in self.raw_slots(key)? {
                // Gone between listing and looking.
                let Ok(meta) = self.slot_path(&slot).symlink_metadata() else { continue };
                room.bytes += meta.len();
                let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let written_ms = since.and_then(|since| i64::try_from(since.as_millis()).ok());
                room.written_ms = room.written_ms.max(written_ms.unwrap_or(0));
            }
            Ok(room)
        })
    }

    /// Bytes of raw files that serve many sessions, or none.
    pub fn shared_raw_bytes(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for (agent, _) in self.agents(RAW)? {
            bytes +=
                entries(&shared_folder(self.root(), &agent))?.iter().map(|entry| entry.size).sum::<u64>();
        }
        Ok(bytes)
    }

    /// Bytes of everything that stays when raw bytes are given up and cannot be made again.
    pub fn distilled_bytes(&self) -> Result<u64, Error> {
        let is_kept =
            |line: &&crate::kept::Kept| line.evict == Evict::Keep && line.standing == Standing::Truth;
        let tops: Vec<&str> = REGISTER.iter().filter(is_kept).filter_map(crate::kept::Kept::top).collect();
        Ok(self.sizes()?.into_iter().filter(|(top, _)| tops.contains(top)).map(|(_, bytes)| bytes).sum())
    }

    /// Whether a session that was evicted still has raw files: the eviction was stopped.
    pub fn is_half_evicted(&self, key: &SessionKey) -> bool {
        self.has_raw(key)
    }

    /// Every session that has remains, sorted.
    pub fn remains_keys(&self) -> Result<Vec<SessionKey>, Error> {
        self.document_keys(&REMAINS)
    }

    /// Removes the remains of a session that was captured again.
    pub fn remove_remains(&self, key: &SessionKey) -> Result<bool, Error> {
        self.remove_document(&REMAINS, key)
    }
}

impl Writer<'_> {
    /// Drops the rows of a session that go when it is evicted. Its own row stays.
    pub fn evict_session(&self, key: &SessionKey) -> Result<(), Error> {
        self.clear_passages(key)?;
        for (line, table, rows) in crate::kept::tables() {
            if line.evict == Evict::Remove {
                self.clear_rows(table, rows, key)?;
            }
        }
        Ok(())
    }
}
