//! A source read through masks: what follows may decide what a byte becomes, so some bytes wait.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use super::Masks;
use super::matcher::{cover, ends_escaping};

/// Bytes that are read ahead at once.
const AHEAD_BYTES: usize = 256 * 1024;

/// Hands out the bytes of a source, with masks over the texts that are forgotten.
pub struct MaskedReader<R> {
    source: R,
    masks: Arc<Masks>,
    /// Bytes of the source that are not handed out, as they are.
    plain: Vec<u8>,
    /// How many of them the mask of what went before them covers.
    over: usize,
    /// What was handed out ends in a backslash that escapes what follows.
    is_escaping: bool,
    ready: Vec<u8>,
    taken: usize,
    is_ended: bool,
    /// Masks that were put.
    hits: u64,
}

impl<R: Read> MaskedReader<R> {
    /// Reads a source through masks.
    pub fn new(source: R, masks: Arc<Masks>) -> MaskedReader<R> {
        MaskedReader {
            source,
            masks,
            plain: Vec::new(),
            over: 0,
            is_escaping: false,
            ready: Vec::new(),
            taken: 0,
            is_ended: false,
            hits: 0,
        }
    }

    /// How many masks were put so far.
    pub fn hits(&self) -> u64 {
        self.hits
    }

    /// The source.
    pub fn source(&self) -> &R {
        &self.source
    }

    fn fill(&mut self) -> io::Result<()> {
        let longest = self.masks.longest();
        while self.taken == self.ready.len() && !(self.is_ended && self.plain.is_empty()) {
            let want = AHEAD_BYTES.max(longest * 4);
            let more = want.saturating_sub(self.plain.len()).max(1) as u64;
            let read = self.source.by_ref().take(more).read_to_end(&mut self.plain)?;
            self.is_ended |= (read as u64) < more;
            self.decide(longest);
        }
        Ok(())
    }

    /// Moves what is decided from the plain bytes to those that can be handed out.
    fn decide(&mut self, longest: usize) {
        let (ranges, _) = self.masks.matcher().map_or((Vec::new(), 0), |matcher| matcher.ranges(&self.plain));
        let mut end = match self.is_ended {
            true => self.plain.len(),
            false => self.plain.len().saturating_sub(longest.saturating_sub(1)),
        };
        // A mask goes out whole, if it is not one without an end.
        if let Some(across) = ranges.iter().find(|range| range.start < end && end < range.end)
            && across.start > self.over
        {
            end = across.start;
        }
        self.ready.clear();
        self.taken = 0;
        self.ready.extend_from_slice(self.plain.get(..end).unwrap_or_default());
        self.ready.iter_mut().take(self.over).filter(|byte| **byte != b'\n').for_each(|byte| *byte = b'*');
        let mut over = self.over.saturating_sub(end);
        for Range { start, end: stop } in ranges.into_iter().filter(|range| range.start < end) {
            self.hits += 1;
            over = over.max(stop.saturating_sub(end));
            cover(&mut self.ready, start..stop, self.is_escaping);
        }
        self.is_escaping = ends_escaping(self.plain.get(..end).unwrap_or_default(), self.is_escaping);
        self.over = over;
        self.plain.drain(..end);
    }
}

impl<R: Read> Read for MaskedReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        self.fill()?;
        let ready = self.ready.get(self.taken..).unwrap_or_default();
        let count = ready.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..count), ready.get(..count)) {
            to.copy_from_slice(from);
        }
        self.taken += count;
        Ok(count)
    }
}
