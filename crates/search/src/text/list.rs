//! The pieces of a segment that hold a term.

use tantivy::postings::BlockSegmentPostings;

/// The pieces that hold a term, in rising order, with how often each does. It is read a block
/// at a time, and only forward: a common word is in millions of pieces.
pub(super) struct List {
    block: BlockSegmentPostings,
    /// Where in the block.
    at: usize,
}

impl List {
    pub(super) fn new(block: BlockSegmentPostings) -> List {
        List { block, at: 0 }
    }

    /// How many pieces there are, those included that were deleted.
    pub(super) fn len(&self) -> u32 {
        self.block.doc_freq()
    }

    /// Hands over the next pieces, about so many, and says how many they were: none at the
    /// end.
    pub(super) fn next(&mut self, count: usize, mut take: impl FnMut(u32, u32)) -> usize {
        let mut taken = 0;
        while taken < count && !self.block.docs().is_empty() {
            let docs = self.block.docs().iter().zip(self.block.freqs());
            docs.for_each(|(doc, count)| take(*doc, *count));
            taken += self.block.block_len();
            self.block.advance();
        }
        taken
    }

    /// How often a piece holds the term. Pieces have to come in rising order.
    pub(super) fn count_in(&mut self, doc: u32) -> u32 {
        if self.block.docs().last().is_none_or(|last| *last < doc) {
            self.at = self.block.seek(doc);
        }
        let docs = self.block.docs();
        while docs.get(self.at).is_some_and(|held| *held < doc) {
            self.at += 1;
        }
        match docs.get(self.at) {
            Some(held) if *held == doc => self.block.freq(self.at),
            _ => 0,
        }
    }
}
