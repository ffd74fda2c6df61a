//! Holding a live source against what was captured of it.
//!
//! The commits give the length and the chain value of each piece, so the source
//! is hashed in the same pieces and nothing is decompressed, except the one
//! frame inside which a shorter source ends.

use std::io::{self, Read};

use super::commit::{Commit, chain};
use super::frame::{Unpacker, piece_length};
use super::{Archive, FRAME_BYTES_MAX};
use crate::Error;

/// How a live source stands to the captured bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same bytes.
    Equal,
    /// The source ends earlier; so far it is the same.
    SourceIsPrefix,
    /// The source goes on after all that was captured.
    SourceExtends,
    /// Somewhere they differ.
    Differs,
}

impl Archive {
    /// Reads a source from its start and says how it stands to what is kept. The
    /// source is read no further than it takes to tell.
    pub fn compare(&self, source: &mut dyn Read) -> Result<Comparison, Error> {
        let (mut file, commits) = match self.view()? {
            Some((file, commits)) => (Some(file), commits),
            None => (None, Vec::new()),
        };
        let mut piece = Vec::new();
        let mut before: Option<&Commit> = None;
        for commit in &commits {
            let length = piece_length(before, commit).unwrap_or(FRAME_BYTES_MAX + 1);
            fill(source, &mut piece, length)?;
            if piece.len() < length {
                let Some(file) = &mut file else { return Ok(Comparison::Differs) };
                let mut unpacker = Unpacker::new().map_err(Error::io("decompress", &self.path))?;
                let kept = unpacker.unpack(file, before, commit).map_err(Error::raw(&self.path))?;
                let same = kept.starts_with(&piece);
                return Ok(if same { Comparison::SourceIsPrefix } else { Comparison::Differs });
            }
            if chain(before, &piece) != commit.hash {
                return Ok(Comparison::Differs);
            }
            before = Some(commit);
        }
        fill(source, &mut piece, 1)?;
        Ok(if piece.is_empty() { Comparison::Equal } else { Comparison::SourceExtends })
    }
}

/// Reads `length` bytes, or as many as there are.
fn fill(source: &mut dyn Read, piece: &mut Vec<u8>, length: usize) -> Result<(), Error> {
    piece.clear();
    let read: io::Result<usize> = source.take(length as u64).read_to_end(piece);
    read.map(drop).map_err(Error::Source)
}
