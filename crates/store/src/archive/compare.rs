//! Compares a live source with its captured bytes.
//!
//! The commits give the length and the chain value of each piece, so the source is hashed in the
//! same pieces. Only the frame in which a shorter source ends must be decompressed.

use std::io::{self, Read};

use super::commit::{Commit, chain};
use super::frame::{Unpacker, piece_length};
use super::{Archive, FRAME_BYTES_MAX};
use crate::Error;

/// The relation of a live source to the captured bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// Both have the same bytes.
    Equal,
    /// The source is a proper prefix of the captured bytes.
    SourceIsPrefix,
    /// The source continues after all captured bytes.
    SourceExtends,
    /// Some bytes differ.
    Differs,
}

impl Archive {
    /// Compares a source, read from its start, with the kept bytes. Stops reading as soon as the
    /// result is known.
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

/// Reads `length` bytes, or fewer at the end.
fn fill(source: &mut dyn Read, piece: &mut Vec<u8>, length: usize) -> Result<(), Error> {
    piece.clear();
    let read: io::Result<usize> = source.take(length as u64).read_to_end(piece);
    read.map(drop).map_err(Error::Source)
}
