//! Caches the pieces of recent words, because most words of a text recur.
//!
//! A table of fixed size, in which each word has one slot. A new word evicts the old one. Words
//! that do not fit into an entry are not cached.

use xxhash_rust::xxh3::xxh3_64;

/// Number of entries, a power of two. The table has 512 KiB, and the system allocates only the
/// pages in use.
const ENTRIES: usize = 1 << 14;

/// Maximum bytes of a cached word.
const BYTES_MAX: usize = 21;

/// Maximum pieces of a cached word.
const ROWS_MAX: usize = 4;

/// The cache of recent words.
#[derive(Debug)]
pub(super) struct WordCache {
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    length: u8,
    count: u8,
    word: [u8; BYTES_MAX],
    rows: [u16; ROWS_MAX],
}

impl WordCache {
    /// An empty cache.
    pub(super) fn new() -> WordCache {
        WordCache { entries: vec![Entry::default(); ENTRIES] }
    }

    /// Appends the rows of a word. Calls `cut` if they are not cached.
    pub(super) fn rows(&mut self, word: &str, rows: &mut Vec<u16>, cut: impl FnOnce(&mut Vec<u16>)) {
        let bytes = word.as_bytes();
        let place = (xxh3_64(bytes) as usize) % ENTRIES;
        let Some(entry) = self.entries.get_mut(place).filter(|_| bytes.len() <= BYTES_MAX) else {
            return cut(rows);
        };
        if let Some(known) = entry.known(bytes) {
            return rows.extend_from_slice(known);
        }
        let before = rows.len();
        cut(rows);
        if let Some(new) = rows.get(before..) {
            entry.remember(bytes, new);
        }
    }
}

impl Entry {
    fn known(&self, word: &[u8]) -> Option<&[u16]> {
        let same = self.word.get(..usize::from(self.length)).is_some_and(|known| known == word);
        self.rows.get(..usize::from(self.count)).filter(|_| same)
    }

    fn remember(&mut self, word: &[u8], rows: &[u16]) {
        let (Some(text), Some(numbers)) = (self.word.get_mut(..word.len()), self.rows.get_mut(..rows.len()))
        else {
            return;
        };
        text.copy_from_slice(word);
        numbers.copy_from_slice(rows);
        (self.length, self.count) = (word.len() as u8, rows.len() as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_cut_once_and_gives_the_same_rows_again() {
        let mut cache = WordCache::new();
        let mut cuts = 0;
        for (word, expected) in [("one", vec![1, 2]), ("none", vec![]), ("many", vec![1, 2, 3, 4, 5])] {
            for _ in 0..2 {
                let mut rows = vec![7];
                cache.rows(word, &mut rows, |rows| {
                    cuts += 1;
                    rows.extend(&expected);
                });
                assert_eq!(rows, [&[7], expected.as_slice()].concat());
            }
        }
        assert_eq!(cuts, 4, "five pieces do not fit");
    }

    #[test]
    fn more_words_than_entries_are_no_problem() {
        let mut cache = WordCache::new();
        for round in 0..2 {
            for number in 0..ENTRIES * 2 {
                let mut rows = Vec::new();
                cache.rows(&number.to_string(), &mut rows, |rows| rows.push(number as u16));
                assert_eq!(rows, [number as u16], "round {round}");
            }
        }
    }
}
