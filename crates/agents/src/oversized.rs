//! Records too large to hold: read as a stream, and shortened.
//!
//! A line of many megabytes is a picture, a dump or a runaway output. A few short fields identify
//! it, so the record is kept with every string cut to its first [`STRING_BYTES_MAX`] bytes. If that
//! is still too much, lists lose their remaining elements and long strings their whole content. The
//! result is JSON again and is parsed like any other record.
//!
//! A string is cut only after its secrets were removed, so that no half of one remains undetected
//! at the cut.

use retro_text::redact_owned;
use xxhash_rust::xxh3::Xxh3;

use crate::json;

/// A record longer than this is never held as a whole.
pub(crate) const RECORD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes kept of each string in such a record.
const STRING_BYTES_MAX: usize = 64 * 1024;

/// Bytes read beyond the cut, to find a secret that crosses it.
const SECRET_BYTES_MAX: usize = 16 * 1024;

/// Once this many bytes of a record are kept, lists and long strings are dropped.
const KEPT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Far deeper than the JSON parser allows.
const NESTING_MAX: usize = 1024;

/// Bytes kept of each string after that.
const SHORT_BYTES_MAX: usize = 256;

/// A large record that is being read.
pub(crate) struct Oversized {
    kept: Vec<u8>,
    /// The open brackets, outermost first.
    open: Vec<u8>,
    place: Place,
    length: u64,
    hash: Box<Xxh3>,
    begun: bool,
    cut: bool,
    nul: bool,
}

#[derive(Clone, Copy)]
enum Place {
    /// Between values, keys and brackets.
    Outside,
    /// In a string. Its first byte is at `start` of the kept bytes.
    String { start: usize, escape: Escape },
    /// In the rest of a dropped list. `depth` counts the brackets opened since then.
    Skipped { depth: usize, string: bool, escaped: bool },
}

/// State of a backslash escape at the current byte.
#[derive(Clone, Copy, PartialEq)]
enum Escape {
    No,
    Kept,
    Dropped,
}

/// A large record after shortening.
pub(crate) struct Shortened {
    /// Valid JSON if the record was.
    pub content: Vec<u8>,
    /// Length of the whole record in bytes.
    pub length: u64,
    /// Hash of the whole record.
    pub hash: u64,
    /// True if anything was left out.
    pub cut: bool,
    /// True if it starts or ends with zero bytes.
    pub nul: bool,
}

impl Oversized {
    pub(crate) fn new(first: &[u8]) -> Oversized {
        let mut oversized = Oversized {
            kept: Vec::new(),
            open: Vec::new(),
            place: Place::Outside,
            length: 0,
            hash: Box::default(),
            begun: false,
            cut: false,
            nul: false,
        };
        oversized.feed(first);
        oversized
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Takes the next bytes of the record.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hash.update(bytes);
        let mut rest = bytes;
        while let Some(byte) = rest.first().copied() {
            let taken = match self.place {
                Place::String { start, escape: Escape::No } => self.plain_run(start, rest),
                _ if self.is_hopeless() => rest.len(),
                _ => 0,
            };
            if taken > 0 {
                rest = rest.get(taken..).unwrap_or_default();
                continue;
            }
            self.byte(byte);
            rest = rest.get(1..).unwrap_or_default();
        }
    }

    /// True if it is nested too deeply to be parsed as JSON.
    fn is_hopeless(&self) -> bool {
        self.open.len() > NESTING_MAX
    }

    /// True if the bytes so far are one whole value.
    pub(crate) fn is_whole(&self) -> bool {
        self.begun && self.open.is_empty() && matches!(self.place, Place::Outside)
    }

    pub(crate) fn finish(self) -> Shortened {
        let Oversized { kept: content, length, hash, cut, nul, .. } = self;
        Shortened { content, length, hash: hash.digest(), cut, nul }
    }

    /// Takes the bytes of a string up to the next quote or backslash.
    fn plain_run(&mut self, start: usize, rest: &[u8]) -> usize {
        let run = memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len());
        let room = self.string_room(start).min(run);
        self.kept.extend_from_slice(rest.get(..room).unwrap_or_default());
        run
    }

    /// How many more bytes of the string at `start` are kept for now.
    fn string_room(&self, start: usize) -> usize {
        (STRING_BYTES_MAX + SECRET_BYTES_MAX).saturating_sub(self.kept.len().saturating_sub(start))
    }

    fn byte(&mut self, byte: u8) {
        match self.place {
            Place::Outside => self.outside(byte),
            Place::String { start, escape } => self.in_string(byte, start, escape),
            Place::Skipped { depth, string, escaped } => self.skipped(byte, depth, string, escaped),
        }
    }

    fn outside(&mut self, byte: u8) {
        let is_padding = byte == 0 || byte.is_ascii_whitespace();
        if is_padding || (!self.begun && matches!(byte, 0xEF | 0xBB | 0xBF)) {
            self.nul |= byte == 0;
            return;
        }
        self.begun = true;
        match byte {
            b'"' => {
                self.place = Place::String { start: self.kept.len() + 1, escape: Escape::No };
            }
            b'{' | b'[' => self.open.push(byte),
            b'}' | b']' => {
                self.open.pop();
            }
            b',' if self.open.last() == Some(&b'[') && self.kept.len() > KEPT_BYTES_MAX => {
                self.cut = true;
                self.place = Place::Skipped { depth: 0, string: false, escaped: false };
                return;
            }
            _ => {}
        }
        // The limit for records that are not JSON or have too many fields: they will fail to parse,
        // and that is reported.
        if self.kept.len() < 2 * KEPT_BYTES_MAX {
            self.kept.push(byte);
        }
    }

    fn in_string(&mut self, byte: u8, start: usize, escape: Escape) {
        if byte == b'"' && escape == Escape::No {
            self.end_string(start);
            self.kept.push(b'"');
            self.place = Place::Outside;
            return;
        }
        // An escape is kept whole or not at all; the longest has six bytes.
        let keep = match escape {
            Escape::No => self.string_room(start) > 6,
            Escape::Kept => true,
            Escape::Dropped => false,
        };
        if keep {
            self.kept.push(byte);
        }
        let escape = match (byte, escape) {
            (b'\\', Escape::No) if keep => Escape::Kept,
            (b'\\', Escape::No) => Escape::Dropped,
            _ => Escape::No,
        };
        self.place = Place::String { start, escape };
    }

    /// Cuts the string that was just read if it is too long.
    fn end_string(&mut self, start: usize) {
        let length = self.kept.len().saturating_sub(start);
        if self.kept.len() > KEPT_BYTES_MAX && length > SHORT_BYTES_MAX {
            self.kept.truncate(start);
            self.cut = true;
        } else if length > STRING_BYTES_MAX {
            let text = json::text_of(self.kept.get(start..).unwrap_or_default());
            let text = redact_owned(text);
            self.cut |= text.len() > STRING_BYTES_MAX || self.string_room(start) <= 6;
            let quoted = serde_json::to_vec(&text.head(STRING_BYTES_MAX)).unwrap_or_default();
            self.kept.truncate(start);
            let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
            self.kept.extend_from_slice(inner);
        }
    }

    fn skipped(&mut self, byte: u8, depth: usize, string: bool, escaped: bool) {
        let mut depth = depth;
        let mut string = string;
        match byte {
            b'"' if !escaped => string = !string,
            b'{' | b'[' if !string => depth += 1,
            b'}' | b']' if !string && depth == 0 => {
                self.place = Place::Outside;
                return self.outside(byte);
            }
            b'}' | b']' if !string => depth -= 1,
            _ => {}
        }
        self.place = Place::Skipped { depth, string, escaped: string && byte == b'\\' && !escaped };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shorten(text: &str, pieces: usize) -> (Value, bool) {
        let mut oversized = Oversized::new(b"");
        for piece in text.as_bytes().chunks(pieces) {
            oversized.feed(piece);
        }
        assert!(oversized.is_whole());
        let shortened = oversized.finish();
        assert_eq!(shortened.length, text.len() as u64);
        (serde_json::from_slice(&shortened.content).unwrap(), shortened.cut)
    }

    #[test]
    fn short_records_come_back_as_they_were() {
        let value = json!({"a": "x\"\\\n😀", "b": [1, {"c": []}, "[{,}]"], "d": -0.5e3, "": null});
        for pieces in 1..20 {
            assert_eq!(shorten(&value.to_string(), pieces), (value.clone(), false));
        }
    }

    #[test]
    fn a_long_string_keeps_its_beginning() {
        let long = "äö\n".repeat(60_000);
        let value = json!({"a": 1, "text": long, "z": {"usage": 7}});
        for pieces in [1, 7, 4096, 1 << 20] {
            let (short, cut) = shorten(&value.to_string(), pieces);
            assert!(cut);
            assert_eq!(short["z"]["usage"], 7);
            let kept = short["text"].as_str().unwrap();
            assert!(long.starts_with(kept) && kept.len() > STRING_BYTES_MAX - 4);
            assert!(kept.len() <= STRING_BYTES_MAX);
        }
    }

    #[test]
    fn a_secret_across_the_cut_is_not_kept_by_half() {
        let secret = format!("{}{}", "ghp_", "x7Kq2mPz9Lw4Rt6Yb1Nc8Vd3Fg5Hj0SaQeUi");
        for before in [STRING_BYTES_MAX - 30, STRING_BYTES_MAX - 3, STRING_BYTES_MAX + SECRET_BYTES_MAX - 20]
        {
            let text = format!("{} {secret} {}", ".".repeat(before), "tail ".repeat(9_000));
            let (short, _) = shorten(&json!({ "t": text }).to_string(), 5000);
            assert!(!short["t"].as_str().unwrap().contains("x7Kq2"), "{before}");
        }
    }

    #[test]
    fn endless_lists_are_given_up_and_what_follows_is_read() {
        let many: Vec<Value> = (0..400_000).map(|at| json!({"n": at, "s": "],{\""})).collect();
        let value = json!({"type": "x", "list": many, "after": {"id": "q", "more": [[1, 2], 3]}});
        let text = value.to_string();
        let (short, cut) = shorten(&text, 100_000);
        assert!(cut && text.len() > 2 * KEPT_BYTES_MAX);
        assert_eq!(short["type"], "x");
        assert_eq!(short["after"]["id"], "q");
        let kept = short["list"].as_array().unwrap().len();
        assert!(kept > 1000 && kept < 400_000);
    }

    #[test]
    fn what_is_no_json_stays_bounded() {
        let mut oversized = Oversized::new(b"");
        for _ in 0..100 {
            oversized.feed(&b"[".repeat(1 << 20));
        }
        assert!(!oversized.is_whole());
        assert!(oversized.finish().content.len() <= 2 * KEPT_BYTES_MAX);
        let mut oversized = Oversized::new(b"{\"a\":\"");
        oversized.feed(&b"\\".repeat(10 << 20));
        assert!(!oversized.is_whole());
    }
}
