//! Finding forms of forgotten texts in bytes, and covering them.

use std::ops::Range;

use super::Form;

/// Bytes by which the beginning of a form is recognized.
const START_BYTES: usize = 8;

/// Bytes in which eight beginnings are.
const BLOCK_BYTES: usize = 2 * START_BYTES - 1;

/// What covers a byte.
const COVER: u8 = b'*';

/// Finds forms. One table for all masks: how many there are hardly changes what a byte costs.
#[derive(Debug)]
pub(crate) struct Matcher {
    key: [u8; 32],
    factor: u64,
    /// A bit for each short hash of a beginning.
    starts: Box<[u64; 1024]>,
    /// Sorted by the short hash of their beginning.
    forms: Vec<Known>,
    longest: usize,
}

#[derive(Debug)]
struct Known {
    start: u16,
    length: usize,
    short: u16,
    hash: String,
}

impl Matcher {
    pub(super) fn new(key: &[u8; 32], forms: &[Form]) -> Matcher {
        let mut matcher = Matcher {
            key: *key,
            factor: factor_of(key),
            starts: Box::new([0; 1024]),
            forms: Vec::with_capacity(forms.len()),
            longest: 0,
        };
        for form in forms {
            if let Some(bits) = matcher.starts.get_mut(usize::from(form.start >> 6)) {
                *bits |= 1 << (form.start & 63);
            }
            let length = form.length as usize;
            let known = Known { start: form.start, length, short: form.short, hash: form.hash.clone() };
            matcher.forms.push(known);
            matcher.longest = matcher.longest.max(length);
        }
        matcher.forms.sort_by_key(|known| known.start);
        matcher
    }

    /// A form without its text. None of one that is too short.
    pub(super) fn form(key: &[u8; 32], text: &[u8]) -> Option<Form> {
        let first: &[u8; START_BYTES] = text.first_chunk()?;
        Some(Form {
            length: u32::try_from(text.len()).ok()?,
            start: start_of(factor_of(key), u64::from_le_bytes(*first)),
            short: short_of(factor_of(key), text),
            hash: hash_of(key, text),
        })
    }

    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn has(&self, bytes: &[u8]) -> bool {
        let mut any = false;
        self.each(bytes, &mut |_| {
            any = true;
            false
        });
        any
    }

    pub(super) fn apply(&self, bytes: &mut [u8]) -> u64 {
        let (ranges, count) = self.ranges(bytes);
        ranges.into_iter().for_each(|range| cover(bytes, range, false));
        count
    }

    /// Where forms are, put together where they overlap, and how many there are.
    pub(super) fn ranges(&self, bytes: &[u8]) -> (Vec<Range<usize>>, u64) {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut count = 0;
        self.each(bytes, &mut |found| {
            match ranges.last_mut() {
                Some(last) if found.start < last.end => last.end = last.end.max(found.end),
                _ => {
                    count += 1;
                    ranges.push(found);
                }
            }
            true
        });
        (ranges, count)
    }

    /// Every place of a form, in order of their starts, until `found` says that it is enough.
    fn each(&self, bytes: &[u8], found: &mut dyn FnMut(Range<usize>) -> bool) {
        let mut at = 0;
        // Eight places at once: nearly always none of them is one, and a single branch says so.
        while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk::<BLOCK_BYTES>()) {
            let mut maybe = 0u64;
            for (place, window) in block.windows(START_BYTES).take(START_BYTES).enumerate() {
                let first = window.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
                maybe |= self.bit(start_of(self.factor, first)) << place;
            }
            while maybe != 0 {
                let place = at + maybe.trailing_zeros() as usize;
                if !self.try_at(bytes, place, found) {
                    return;
                }
                maybe &= maybe - 1;
            }
            at += START_BYTES;
        }
        for place in at..bytes.len() {
            if !self.try_at(bytes, place, found) {
                return;
            }
        }
    }

    /// One if a form may begin with this short hash.
    fn bit(&self, start: u16) -> u64 {
        // The table has a bit for every number of 16 bits.
        self.starts[usize::from(start >> 6)] >> (start & 63) & 1
    }

    /// Says what is found at a place. Returns false if that is enough.
    fn try_at(&self, bytes: &[u8], at: usize, found: &mut dyn FnMut(Range<usize>) -> bool) -> bool {
        let Some(first) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { return true };
        let start = start_of(self.factor, u64::from_le_bytes(*first));
        let is_found = self.bit(start) == 1;
        match is_found.then(|| self.at(bytes, at, start)).flatten() {
            Some(end) => found(at..end),
            None => true,
        }
    }

    /// Where the longest form ends that begins here.
    fn at(&self, bytes: &[u8], at: usize, start: u16) -> Option<usize> {
        let from = self.forms.partition_point(|known| known.start < start);
        let known = self.forms.get(from..)?.iter().take_while(|known| known.start == start);
        let ends = known.filter_map(|known| {
            let text = bytes.get(at..at.checked_add(known.length)?)?;
            let is_it = short_of(self.factor, text) == known.short && hash_of(&self.key, text) == known.hash;
            is_it.then_some(at + known.length)
        });
        ends.max()
    }
}

fn factor_of(key: &[u8; 32]) -> u64 {
    let (first, _) = key.split_first_chunk::<8>().map_or(([1; 8], &[][..]), |(first, rest)| (*first, rest));
    u64::from_le_bytes(first) | 1
}

/// Every bit of the eight bytes has a say in the upper sixteen of the product.
fn start_of(factor: u64, first: u64) -> u16 {
    (first.wrapping_mul(factor) >> 48) as u16
}

/// Sixteen bits of a text that are made quickly: most that look like a form end here.
fn short_of(factor: u64, text: &[u8]) -> u16 {
    let (words, rest) = text.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    let mut mixed = factor.rotate_left(17) ^ text.len() as u64;
    for word in words.iter().chain([&last]) {
        mixed = (mixed ^ u64::from_le_bytes(*word)).wrapping_mul(factor);
        mixed ^= mixed >> 31;
    }
    (mixed.wrapping_mul(factor) >> 48) as u16
}

fn hash_of(key: &[u8; 32], text: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"form\0").update(text);
    hasher.finalize().to_hex().chars().take(32).collect()
}

/// Whether bytes end in a backslash that escapes what follows. `is_escaping` says that of those
/// before them.
pub(super) fn ends_escaping(bytes: &[u8], is_escaping: bool) -> bool {
    let backslashes = bytes.iter().rev().take_while(|byte| **byte == b'\\').count();
    (backslashes % 2 == 1) != (backslashes == bytes.len() && is_escaping)
}

/// Covers a range; `is_escaping` says that a backslash before all the bytes escapes the first. What JSON needs to stay JSON stays: quotes with their backslash, the second
/// half of an escape that began before, a number's being a number. So do line ends.
pub(super) fn cover(bytes: &mut [u8], range: Range<usize>, is_escaping: bool) {
    let (before, rest) = bytes.split_at_mut(range.start.min(bytes.len()));
    let length = range.end.saturating_sub(range.start).min(rest.len());
    let (covered, _) = rest.split_at_mut(length);
    let is_number = covered.iter().all(|byte| byte.is_ascii_digit() || b".+-eE".contains(byte));
    if is_number {
        covered.iter_mut().filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'1');
        return;
    }
    let mut at = match (ends_escaping(before, is_escaping), covered.first()) {
        (true, Some(b'u')) => 5.min(covered.len()),
        (true, Some(_)) => 1,
        _ => 0,
    };
    while let Some(&byte) = covered.get(at) {
        let next = covered.get(at + 1).copied();
        match (byte, next) {
            (b'\\', Some(b'"')) => at += 2,
            (b'\\', Some(_)) => {
                covered
                    .iter_mut()
                    .skip(at)
                    .take(2)
                    .filter(|byte| **byte != b'\n')
                    .for_each(|byte| *byte = COVER);
                at += 2;
            }
            // What it escapes is not covered.
            (b'\\', None) => at += 1,
            (b'"' | b'\n' | b'\r', _) => at += 1,
            _ => {
                covered.iter_mut().skip(at).take(1).for_each(|byte| *byte = COVER);
                at += 1;
            }
        }
    }
}
