//! Finds keywords in a text, in any case.
//!
//! Nearly all text has none, so the speed of skipping bytes matters most. An automaton over all
//! keywords depends, at each byte, on the state after the byte before. This search treats each
//! position separately: three bytes choose an entry of a small table, the fourth chooses one bit of
//! it. Only if that bit is set are keywords compared. The four bytes are the part of the keyword
//! that is rarest in ordinary text, at any offset in the keyword.

use std::ops::Range;

/// Keywords have at least this many bytes: shorter ones may be missed.
pub(crate) const LENGTH_MIN: usize = 3;

/// Bytes read at each position.
const GRAM: usize = 4;

/// Number of bits that choose an entry of the table.
const BITS: u32 = 14;
const ENTRIES: usize = 1 << BITS;

/// A set of keywords.
pub(crate) struct Keywords {
    /// One byte for each value of the first three bytes, with one bit for each of eight classes of
    /// the fourth.
    table: Box<[u8; ENTRIES]>,
    /// The number of `grams` before those of each entry.
    before: Vec<u16>,
    grams: Vec<Gram>,
    words: Vec<String>,
}

/// A keyword and the offset of its four bytes.
struct Gram {
    entry: usize,
    word: usize,
    offset: usize,
    /// The beginning of the keyword, and which bits of it there are.
    head: u32,
    mask: u32,
}

impl Keywords {
    /// A set of keywords, which must be in lower case.
    pub(crate) fn new(words: Vec<String>) -> Keywords {
        let mut table = Box::new([0u8; ENTRIES]);
        let mut grams: Vec<Gram> = Vec::new();
        for (word, text) in words.iter().enumerate() {
            let offset = rarest(text.as_bytes());
            let mut bytes = text.bytes().skip(offset).take(GRAM);
            let gram = [bytes.next(), bytes.next(), bytes.next()].map(Option::unwrap_or_default);
            let fourth = bytes.next();
            let entry = entry(folded([gram[0], gram[1], gram[2], 0]));
            // A keyword of three bytes may be followed by any byte.
            table[entry] |= fourth.map_or(u8::MAX, |byte| bit(folded([0, 0, 0, byte])));
            let mut head = [0; GRAM];
            let bytes = text.as_bytes().get(..GRAM).unwrap_or(text.as_bytes());
            head[..bytes.len()].copy_from_slice(bytes);
            let mask = if bytes.len() < GRAM { 0x00ff_ffff } else { u32::MAX };
            grams.push(Gram { entry, word, offset, head: folded(head) & mask, mask });
        }
        grams.sort_by_key(|gram| gram.entry);
        let mut before = vec![0u16; ENTRIES + 1];
        for gram in &grams {
            before[gram.entry + 1] += 1;
        }
        let mut sum = 0;
        for count in &mut before {
            sum += *count;
            *count = sum;
        }
        Keywords { table, before, grams, words }
    }

    /// Reports the index and range of every keyword, including overlapping ones.
    pub(crate) fn find(&self, text: &[u8], mut report: impl FnMut(usize, Range<usize>)) {
        for (at, window) in text.windows(GRAM).enumerate() {
            let four = folded([window[0], window[1], window[2], window[3]]);
            if self.table[entry(four)] & bit(four) != 0 {
                self.compare(text, at, entry(four), &mut report);
            }
        }
        // The last three bytes have no fourth.
        if let Some(at) = text.len().checked_sub(LENGTH_MIN)
            && let [.., first, second, third] = text
        {
            self.compare(text, at, entry(folded([*first, *second, *third, 0])), &mut report);
        }
    }

    fn compare(&self, text: &[u8], at: usize, entry: usize, report: &mut impl FnMut(usize, Range<usize>)) {
        let (Some(&from), Some(&to)) = (self.before.get(entry), self.before.get(entry + 1)) else { return };
        for gram in self.grams.get(usize::from(from)..usize::from(to)).unwrap_or_default() {
            let Some(word) = self.words.get(gram.word) else { continue };
            let Some(start) = at.checked_sub(gram.offset) else { continue };
            // Most are others: seen at once by their beginning.
            if let Some(&[a, b, c, d]) = text.get(start..start + GRAM)
                && folded([a, b, c, d]) & gram.mask != gram.head
            {
                continue;
            }
            let place = start..start + word.len();
            if text.get(place.clone()).is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes())) {
                report(gram.word, place);
            }
        }
    }
}

/// Four bytes as a number, equal for upper and lower case.
#[inline(always)]
fn folded(bytes: [u8; GRAM]) -> u32 {
    u32::from_le_bytes(bytes) | 0x2020_2020
}

/// The entry of the table that the first three bytes choose.
#[inline(always)]
fn entry(four: u32) -> usize {
    ((four << 8).wrapping_mul(0x9E37_79B1) >> (32 - BITS)) as usize
}

/// The bit that the fourth byte chooses.
#[inline(always)]
fn bit(four: u32) -> u8 {
    1 << ((four >> 24) & 7)
}

/// The offset of the four bytes of a keyword that are rarest in ordinary text.
fn rarest(word: &[u8]) -> usize {
    let weight = |byte: &u8| match byte {
        b'e' | b't' | b'a' | b'o' | b'i' | b'n' | b's' | b'r' | b' ' => 1,
        b'b' | b'j' | b'k' | b'q' | b'v' | b'w' | b'x' | b'y' | b'z' | b'$' | b'~' => 4,
        b'_' | b'-' | b'.' | b'0'..=b'9' => 3,
        _ => 2,
    };
    let weights = word.windows(GRAM).map(|gram| gram.iter().map(weight).sum::<u32>());
    // The first of the best ones.
    weights.enumerate().max_by_key(|(at, weight)| (*weight, usize::MAX - at)).map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(words: &[&str], text: &str) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        let keywords = Keywords::new(words.iter().map(|word| (*word).to_owned()).collect());
        keywords.find(text.as_bytes(), |word, place| all.push((word, place)));
        all.sort_by_key(|(word, place)| (place.start, *word));
        all
    }

    #[test]
    fn keywords_are_found_everywhere_and_in_any_case() {
        assert_eq!(found(&["token", "sk-"], "Token=sk-"), [(0, 0..5), (1, 6..9)]);
        assert_eq!(
            found(&["sk-", "sk-ant-"], "task-ANT-sk-ant-"),
            [(0, 2..5), (1, 2..9), (0, 9..12), (1, 9..16)]
        );
        assert_eq!(found(&["key"], "ke"), []);
        assert_eq!(found(&["key"], "key"), [(0, 0..3)]);
    }

    proptest! {
        #[test]
        fn nothing_is_missed_and_nothing_is_made_up(text in "[abAB_-]{0,40}") {
            let words = ["aba", "_ab", "abab", "b-a", "aaaaa", "-b_a"];
            let lower = text.to_ascii_lowercase();
            let mut expected = Vec::new();
            for start in 0..lower.len() {
                for (number, word) in words.iter().enumerate() {
                    if lower[start..].starts_with(word) {
                        expected.push((number, start..start + word.len()));
                    }
                }
            }
            prop_assert_eq!(found(&words, &text), expected);
        }
    }
}
