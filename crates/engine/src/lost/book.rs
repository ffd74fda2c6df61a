//! Remembers the raw files between two syncs: the length and the end of each.
//!
//! It is a value of the index. If it is lost or outdated, the ends of all raw files are read once.

use retro_store::{Index, RawLook, Slot, Store};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

use crate::Error;

/// Key of the value in the index.
const NAME: &str = "raw_book";

/// Up to this many raw files are listed in every sync: 2,000 cost about two milliseconds.
const FILES_FEW: usize = 4000;

/// Interval between listings of a larger number.
const LISTED_EVERY_MS: i64 = 10 * 60 * 1000;

/// Interval between two readings of the ends of all files, changed or not.
const READ_EVERY_MS: i64 = 24 * 60 * 60 * 1000;

/// State of a raw file after the last sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Entry {
    /// Bytes of the file.
    pub bytes: u64,
    /// The first bytes of the chain value of its last commit, or zero if that was not read.
    pub chain: u64,
}

/// State of a shared raw file after the last sync.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shared {
    pub agent: String,
    pub name: String,
    pub revision: u32,
    /// Bytes of the source in it.
    pub end: u64,
    pub chain: u64,
}

impl Shared {
    pub fn slot(&self) -> Slot {
        Slot::Shared { agent: self.agent.clone(), name: self.name.clone(), revision: self.revision }
    }
}

/// State of all raw files, by the numbers of their places.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Book {
    listed_ms: i64,
    read_ms: i64,
    pub(super) entries: HashMap<u64, Entry>,
    pub(super) shared: Vec<Shared>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    listed_ms: i64,
    read_ms: i64,
    shared: Vec<Shared>,
}

impl Book {
    /// Reads the book of an index. Empty if the index has none or it is invalid.
    pub(crate) fn read(index: &Index) -> Result<Book, Error> {
        Ok(index.meta(NAME)?.and_then(|text| Book::decode(&text)).unwrap_or_default())
    }

    /// Stores it without waiting for the disk.
    pub(super) fn put(&self, index: &Index) -> Result<(), Error> {
        Ok(index.set_meta(NAME, &self.encode())?)
    }

    /// Clears it, so that it is made again after raw files were changed on purpose.
    pub(crate) fn clear(index: &retro_store::Writer<'_>) -> Result<(), retro_store::Error> {
        index.set_meta(NAME, "")
    }

    /// Whether raw files must be listed now.
    pub(super) fn is_due(&self, now_ms: i64) -> bool {
        self.entries.len() <= FILES_FEW || is_past(self.listed_ms, LISTED_EVERY_MS, now_ms)
    }

    /// Whether the ends of all files must be read.
    pub(super) fn is_all_due(&self, now_ms: i64) -> bool {
        is_past(self.read_ms, READ_EVERY_MS, now_ms)
    }

    /// The numbers of files that are gone, new, or of a different size.
    pub(super) fn changed(&self, look: &RawLook) -> HashSet<u64> {
        let gone = self.entries.keys().filter(|number| !look.contains_key(number));
        let other = look
            .iter()
            .filter(|(number, bytes)| self.entries.get(number).is_none_or(|entry| entry.bytes != **bytes));
        gone.copied().chain(other.map(|(number, _)| *number)).collect()
    }

    /// The book of files in this listing. Reads the ends of the changed ones.
    pub(super) fn of(
        self,
        store: &Store,
        index: &Index,
        look: &RawLook,
        lost: &HashSet<Slot>,
    ) -> Result<Book, Error> {
        let changed = self.changed(look);
        let old = self.entries;
        let kept = |number: &u64| old.get(number).filter(|_| !changed.contains(number)).copied();
        let mut entries: HashMap<u64, Entry> = look
            .iter()
            .map(|(number, bytes)| (*number, kept(number).unwrap_or(Entry { bytes: *bytes, chain: 0 })))
            .collect();
        if !changed.is_empty() {
            for (slot, _) in index.source_ends()? {
                let number = store.raw_number(&slot);
                if changed.contains(&number)
                    && let Some(entry) = entries.get_mut(&number)
                    && let Some((_, chain)) = end_of(store, &slot)?
                {
                    entry.chain = chain;
                }
            }
        }
        // Permanently lost files stay in the book, so that they are still reported.
        let mut shared: Vec<Shared> =
            self.shared.into_iter().filter(|shared| lost.contains(&shared.slot())).collect();
        for slot in store.all_shared_slots()? {
            if let (false, Some((end, chain))) = (lost.contains(&slot), end_of(store, &slot)?)
                && let Slot::Shared { agent, name, revision } = slot
            {
                shared.push(Shared { agent, name, revision, end, chain });
            }
        }
        Ok(Book { listed_ms: self.listed_ms, read_ms: self.read_ms, entries, shared })
    }

    pub(super) fn at(self, listed_ms: i64, is_all: bool) -> Book {
        Book { listed_ms, read_ms: if is_all { listed_ms } else { self.read_ms }, ..self }
    }

    fn encode(&self) -> String {
        let head = Head { listed_ms: self.listed_ms, read_ms: self.read_ms, shared: self.shared.clone() };
        let mut text = serde_json::to_string(&head).unwrap_or_default();
        let mut numbers: Vec<_> = self.entries.iter().collect();
        numbers.sort_by_key(|(number, _)| **number);
        for (number, Entry { bytes, chain }) in numbers {
            text.push_str(&format!("\n{number:x} {bytes:x} {chain:x}"));
        }
        text
    }

    fn decode(text: &str) -> Option<Book> {
        let mut lines = text.lines();
        let Head { listed_ms, read_ms, shared } = serde_json::from_str(lines.next()?).ok()?;
        let hex = |word: Option<&str>| u64::from_str_radix(word?, 16).ok();
        let entries = lines.map(|line| {
            let mut words = line.split(' ');
            let number = hex(words.next())?;
            Some((number, Entry { bytes: hex(words.next())?, chain: hex(words.next())? }))
        });
        Some(Book { listed_ms, read_ms, shared, entries: entries.collect::<Option<_>>()? })
    }
}

/// Whether this time has passed. If the clock was set back, it counts as passed.
fn is_past(since_ms: i64, every_ms: i64, now_ms: i64) -> bool {
    now_ms < since_ms || now_ms.saturating_sub(since_ms) >= every_ms
}

/// The end of a raw file, and the first bytes of its last chain value. `None` if no commit of it is
/// valid.
pub(super) fn end_of(store: &Store, slot: &Slot) -> Result<Option<(u64, u64)>, Error> {
    match store.archive(slot).tail() {
        Ok(commit) => Ok(commit.map(|commit| (commit.end, chain_of(&commit.hash)))),
        Err(retro_store::Error::Damaged { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn chain_of(hash: &[u8; 32]) -> u64 {
    let (first, _) = hash.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    // Zero is reserved for an end that was not read.
    u64::from_le_bytes(*first).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> Book {
        let shared = Shared { agent: "claude".into(), name: "history".into(), revision: 2, end: 9, chain: 7 };
        let entries = [(1, Entry { bytes: 10, chain: 3 }), (u64::MAX, Entry { bytes: 20, chain: u64::MAX })];
        Book { listed_ms: 5, read_ms: 4, entries: entries.into(), shared: vec![shared] }
    }

    #[test]
    fn a_book_comes_back_and_a_torn_one_does_not() {
        let text = book().encode();
        assert_eq!(Book::decode(&text), Some(book()));
        assert_eq!(Book::decode(&text[..text.len() / 3]), None);
        assert_eq!(Book::decode(&text.replace(" a ", " z ")), None);
    }

    #[test]
    fn files_that_are_gone_new_or_of_another_size_are_noticed() {
        let look: RawLook = [(1, 10), (u64::MAX, 20)].into();
        assert_eq!(book().changed(&look), HashSet::new());
        let look: RawLook = [(1, 11), (2, 5)].into();
        assert_eq!(book().changed(&look), [1, 2, u64::MAX].into());
    }

    #[test]
    fn every_file_is_read_once_a_day_whatever_the_clock_did() {
        let book = Book { read_ms: READ_EVERY_MS, ..book() };
        assert!(!book.is_all_due(READ_EVERY_MS));
        assert!(book.is_all_due(2 * READ_EVERY_MS));
        assert!(book.is_all_due(0), "the clock was set back");
    }
}
