//! The files of a folder in one raw file.
//!
//! A source of format `files` is a stream of pieces. Each piece is a line of JSON, then the number
//! of bytes given in that line, then a line end:
//!
//! ```text
//! {"file":"b1.txt","at":0,"bytes":5,"is_last":true}
//! hello
//! ```
//!
//! The pieces of a file follow each other, from 0 to the one that is the last. A file without its
//! last piece was never finished, and does not count. A later file of the same name is a later
//! version of it.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::io::{self, Read};

use crate::archive::FRAME_BYTES_MAX;

/// Bytes of a file in the largest piece. With its line it fits into one commit.
pub const PIECE_BYTES_MAX: usize = COMMIT_BYTES_MAX - LINE_BYTES_MAX;

/// Bytes of pieces that are committed together.
pub const COMMIT_BYTES_MAX: usize = FRAME_BYTES_MAX;

/// Bytes of the longest line before a piece. Names are paths, and paths are shorter.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// The line before a piece, in its written form.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The name of the file. If it is not text, this form is for people only.
    file: String,
    /// The bytes of a name that is not text, as hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    at: u64,
    bytes: u64,
    is_last: bool,
}

/// The header of a piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The file's path below its folder, with `/` between names.
    pub name: Vec<u8>,
    /// Offset of its bytes in the file.
    pub at: u64,
    /// Number of its bytes.
    pub bytes: u64,
    /// Whether the file ends with them.
    pub is_last: bool,
}

/// Adds a piece of a file to a stream.
pub fn push_piece(stream: &mut Vec<u8>, name: &[u8], at: u64, bytes: &[u8], is_last: bool) {
    let (file, hex) = match std::str::from_utf8(name) {
        Ok(text) => (text.to_owned(), None),
        Err(_) => (shown(name), Some(name.iter().map(|byte| format!("{byte:02x}")).collect())),
    };
    let line = Line { file, name: hex, at, bytes: bytes.len() as u64, is_last };
    // Strings and numbers can always be written as JSON.
    stream.extend(serde_json::to_vec(&line).unwrap_or_default());
    stream.push(b'\n');
    stream.extend_from_slice(bytes);
    stream.push(b'\n');
}

/// A name for people. Bytes that are not text, and control characters, are written as `\x0a`.
pub fn shown(name: &[u8]) -> String {
    let mut shown = String::new();
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            match letter.is_control() {
                true => letter.to_string().bytes().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}"))),
                false => shown.push(letter),
            }
        }
        chunk.invalid().iter().for_each(|byte| shown.push_str(&format!("\\x{byte:02x}")));
    }
    shown
}

impl Piece {
    fn of(line: &[u8]) -> Option<Piece> {
        let Line { file, name, at, bytes, is_last } = serde_json::from_slice(line).ok()?;
        let name = match name {
            None => file.into_bytes(),
            Some(hex) => bytes_of(&hex)?,
        };
        at.checked_add(bytes)?;
        Some(Piece { name, at, bytes, is_last })
    }
}

fn bytes_of(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => u8::try_from(digit(*high)? * 16 + digit(*low)?).ok(),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(byte).collect()
}

/// An event in a stream of pieces.
#[derive(Debug)]
pub enum Told<'a> {
    /// A file begins at this offset of the stream. An unfinished file before it does not count.
    Begins(&'a [u8], u64),
    /// More bytes of the file that began last.
    Bytes(&'a [u8]),
    /// That file is complete, with this number of bytes.
    Ends(u64),
}

/// Reads a stream of pieces incrementally. Reports the start, the bytes and the end of each file.
/// Pieces that continue no file are left out.
#[derive(Default)]
pub struct Pieces {
    /// Number of bytes read so far.
    offset: u64,
    line: Vec<u8>,
    /// The current piece, and the number of its bytes to come.
    open: Option<(Piece, u64)>,
    /// The unfinished file, and its length so far.
    file: Option<(Vec<u8>, u64)>,
}

impl Pieces {
    /// Reads the next bytes. An error means that they are not a stream of pieces.
    pub fn feed(&mut self, mut bytes: &[u8], told: &mut dyn FnMut(Told<'_>)) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = match self.open.take() {
                Some((piece, left)) => self.inside(piece, left, bytes, told)?,
                None => self.between(bytes, told)?,
            };
            self.offset += taken as u64;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        Ok(())
    }

    /// Whether the bytes so far end with a whole piece.
    pub fn is_between(&self) -> bool {
        self.open.is_none() && self.line.is_empty()
    }

    /// Reads bytes of a line. Returns how many were used.
    fn between(&mut self, bytes: &[u8], told: &mut dyn FnMut(Told<'_>)) -> io::Result<usize> {
        let end = memchr::memchr(b'\n', bytes);
        let part = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
        if self.line.len() + part.len() > LINE_BYTES_MAX {
            return Err(no_pieces());
        }
        let begin = self.offset - self.line.len() as u64;
        self.line.extend_from_slice(part);
        if end.is_some() {
            let piece = Piece::of(&self.line).ok_or_else(no_pieces)?;
            self.line.clear();
            let continues = |(name, at): &(Vec<u8>, u64)| *name == piece.name && *at == piece.at;
            if piece.at == 0 {
                told(Told::Begins(&piece.name, begin));
                self.file = Some((piece.name.clone(), 0));
            } else if !self.file.as_ref().is_some_and(continues) {
                self.file = None;
            }
            let left = piece.bytes;
            self.open = Some((piece, left));
        }
        Ok(part.len() + usize::from(end.is_some()))
    }

    /// Reads bytes of a piece, or the line end after it.
    fn inside(
        &mut self,
        piece: Piece,
        left: u64,
        bytes: &[u8],
        told: &mut dyn FnMut(Told<'_>),
    ) -> io::Result<usize> {
        if left == 0 {
            if bytes.first() != Some(&b'\n') {
                return Err(no_pieces());
            }
            if let Some((_, at)) = &mut self.file {
                *at = piece.at + piece.bytes;
                if piece.is_last {
                    told(Told::Ends(*at));
                    self.file = None;
                }
            }
            return Ok(1);
        }
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        if self.file.is_some() {
            told(Told::Bytes(bytes.get(..count).unwrap_or_default()));
        }
        self.open = Some((piece, left - count as u64));
        Ok(count)
    }
}

fn no_pieces() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it is no stream of files")
}

/// Reads a whole stream of pieces.
pub fn each_piece(mut stream: impl Read, told: &mut dyn FnMut(Told<'_>)) -> io::Result<()> {
    let mut pieces = Pieces::default();
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = stream.read(&mut buffer)?;
        if count == 0 {
            return if pieces.is_between() { Ok(()) } else { Err(no_pieces()) };
        }
        pieces.feed(buffer.get(..count).unwrap_or_default(), told)?;
    }
}

/// The newest version of a file in a stream of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its path below its folder.
    pub name: Vec<u8>,
    /// Offset of its first piece in the stream.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// The newest whole version of every file, in the order of the stream.
pub fn kept_files(stream: impl Read) -> io::Result<Vec<KeptFile>> {
    let mut newest: HashMap<Vec<u8>, (u64, u64)> = HashMap::new();
    let mut open: (Vec<u8>, u64) = Default::default();
    each_piece(stream, &mut |told| match told {
        Told::Begins(name, offset) => open = (name.to_owned(), offset),
        Told::Bytes(_) => {}
        Told::Ends(bytes) => {
            let (name, offset) = std::mem::take(&mut open);
            newest.insert(name, (offset, bytes));
        }
    })?;
    let file = |(name, (offset, bytes))| KeptFile { name, offset, bytes };
    let mut files: Vec<KeptFile> = newest.into_iter().map(file).collect();
    files.sort_by_key(|file| file.offset);
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Files = BTreeMap<Vec<u8>, Vec<u8>>;

    /// The newest versions, read in pieces of this size.
    fn read(stream: &[u8], step: usize) -> io::Result<Files> {
        let (mut files, mut open) = (Files::new(), (Vec::new(), Vec::new()));
        let mut pieces = Pieces::default();
        for part in stream.chunks(step) {
            pieces.feed(part, &mut |told| match told {
                Told::Begins(name, _) => open = (name.to_owned(), Vec::new()),
                Told::Bytes(bytes) => open.1.extend_from_slice(bytes),
                Told::Ends(length) => {
                    assert_eq!(length, open.1.len() as u64);
                    let (name, bytes) = std::mem::take(&mut open);
                    files.insert(name, bytes);
                }
            })?;
        }
        assert_eq!(pieces.is_between(), kept_files(stream).is_ok());
        Ok(files)
    }

    #[test]
    fn a_piece_reads_like_its_documentation() {
        let mut stream = Vec::new();
        push_piece(&mut stream, b"b1.txt", 0, b"hello", true);
        let line = "{\"file\":\"b1.txt\",\"at\":0,\"bytes\":5,\"is_last\":true}\nhello\n";
        assert_eq!(String::from_utf8(stream).unwrap(), line);
    }

    #[test]
    fn names_of_any_bytes_come_back_and_are_shown_safely() {
        for name in [&b"a\nb\"c\\.txt"[..], b"\xff\xfe", b"deep/er/\xc3\xa4.txt", b""] {
            let mut stream = Vec::new();
            push_piece(&mut stream, name, 0, b"{}\n", true);
            let files = kept_files(&*stream).unwrap();
            assert_eq!((files[0].name.as_slice(), files[0].bytes), (name, 3));
        }
        assert_eq!(shown(b"a\nb\xff\x1b[1m\xc3\xa4"), "a\\x0ab\\xff\\x1b[1m\u{e4}");
    }

    #[test]
    fn pieces_that_do_not_fit_are_left_out() {
        let mut stream = Vec::new();
        // Begun and never finished, continued from the wrong place, finished under another name.
        push_piece(&mut stream, b"a", 0, b"one", false);
        push_piece(&mut stream, b"b", 3, b"two", true);
        push_piece(&mut stream, b"a", 3, b"three", true);
        push_piece(&mut stream, b"c", 0, b"four", false);
        push_piece(&mut stream, b"c", 5, b"five", true);
        assert_eq!(kept_files(&*stream).unwrap(), []);
        push_piece(&mut stream, b"a", 0, b"one", false);
        push_piece(&mut stream, b"a", 3, b"", true);
        assert_eq!(read(&stream, 7).unwrap(), Files::from([(b"a".to_vec(), b"one".to_vec())]));
    }

    #[test]
    fn anything_else_is_no_stream() {
        for bytes in
            [&b"{\"file\":\"a\",\"at\":0,\"bytes\":2,\"is_last\":true}\nabc\n"[..], b"hello\n", b"\n"]
        {
            assert!(kept_files(bytes).is_err());
        }
        assert!(kept_files(&*vec![b'x'; 2 * LINE_BYTES_MAX]).is_err());
        assert!(kept_files(&b"{\"file\":"[..]).is_err());
    }

    proptest! {
        #[test]
        fn any_files_cut_at_any_piece_give_back_what_was_whole(
            files in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..3), prop::collection::vec(any::<u8>(), 0..40)), 0..8),
            size in 1_usize..16,
            keep in any::<prop::sample::Index>(),
            step in 1_usize..50,
        ) {
            // After each piece, the files that are complete at that point.
            let mut stream = Vec::new();
            let mut cuts = vec![(0, Files::new())];
            let mut whole = Files::new();
            for (name, bytes) in &files {
                let mut at = 0;
                loop {
                    let part = &bytes[at..bytes.len().min(at + size)];
                    let is_last = part.len() < size;
                    push_piece(&mut stream, name, at as u64, part, is_last);
                    at += part.len();
                    if is_last {
                        whole.insert(name.clone(), bytes.clone());
                    }
                    cuts.push((stream.len(), whole.clone()));
                    if is_last {
                        break;
                    }
                }
            }
            let (end, whole) = &cuts[keep.index(cuts.len())];
            prop_assert_eq!(&read(&stream[..*end], step).unwrap(), whole);
            // A stop in the middle of a large file, then all files once more.
            let mut again = stream[..*end].to_vec();
            again.extend_from_slice(&stream);
            let all: Files = files.iter().cloned().collect();
            prop_assert_eq!(read(&again, step).unwrap(), all.clone());
            for file in kept_files(&*again).unwrap() {
                prop_assert_eq!(all[&file.name].len() as u64, file.bytes);
                prop_assert_eq!(again[file.offset as usize], b'{');
            }
        }
    }
}
