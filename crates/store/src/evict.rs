//! Evicts the raw bytes of a session: the register decides which files go and which stay.
//!
//! First the session file records the eviction, and the session's remains receive its rows of the
//! index. Both are on the medium before any file is removed. A stop in between leaves raw bytes
//! that are never read, and the next sync removes them.

use retro_model::SessionKey;
use std::time::UNIX_EPOCH;

use crate::files::{at_once, entries};
use crate::kept::{Evict, Place, REGISTER, Standing};
use crate::layout::{RAW, shared_folder};
use crate::{Error, REMAINS, Store, Writer};

/// The journal of sweeps: the time of each and the number of evicted bytes. It names no session.
pub const SWEEPS: &str = "retention.jsonl";

/// Size and age of the raw files of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RawRoom {
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// Time of the newest write, in milliseconds since 1970.
    pub written_ms: i64,
}

impl Store {
    /// Removes the files that an evicted session loses.
    pub fn remove_evicted(&self, key: &SessionKey) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.evict == Evict::Remove) {
            match line.place {
                Place::Folder(RAW) => self.remove_raw(key)?,
                Place::Document(kind) => drop(self.remove_document(kind, key)?),
                // `Writer::evict_session` removes rows.
                _ => {}
            }
        }
        Ok(())
    }

    /// Removes the caches of a session before its raw bytes. On a full disk this frees the space
    /// that everything else needs.
    pub fn remove_caches(&self, key: &SessionKey) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.standing == Standing::Cache) {
            if let Place::Document(kind) = line.place {
                self.remove_document(kind, key)?;
            }
        }
        Ok(())
    }

    /// Sizes and ages of the raw files of these sessions, in the same order.
    pub fn raw_rooms(&self, keys: &[SessionKey]) -> Result<Vec<RawRoom>, Error> {
        at_once(keys, |key| {
            let mut room = RawRoom::default();
            for slot in self.raw_slots(key)? {
                // The file was removed after it was listed.
                let Ok(meta) = self.slot_path(&slot).symlink_metadata() else { continue };
                room.bytes += meta.len();
                let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
                let written_ms = since.and_then(|since| i64::try_from(since.as_millis()).ok());
                room.written_ms = room.written_ms.max(written_ms.unwrap_or(0));
            }
            Ok(room)
        })
    }

    /// Bytes of raw files that serve many sessions.
    pub fn shared_raw_bytes(&self) -> Result<u64, Error> {
        let mut bytes = 0;
        for (agent, _) in self.agents(RAW)? {
            bytes +=
                entries(&shared_folder(self.root(), &agent))?.iter().map(|entry| entry.size).sum::<u64>();
        }
        Ok(bytes)
    }

    /// Bytes of all files that stay after an eviction and cannot be made again.
    pub fn distilled_bytes(&self) -> Result<u64, Error> {
        let is_kept =
            |line: &&crate::kept::Kept| line.evict == Evict::Keep && line.standing == Standing::Truth;
        let tops: Vec<&str> = REGISTER.iter().filter(is_kept).filter_map(crate::kept::Kept::top).collect();
        Ok(self.sizes()?.into_iter().filter(|(top, _)| tops.contains(top)).map(|(_, bytes)| bytes).sum())
    }

    /// Whether an evicted session still has raw files, because the eviction was interrupted.
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
    /// Removes the rows that an evicted session loses. Its session row stays.
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
