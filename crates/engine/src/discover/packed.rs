//! A compressed source, read as far as it can be decoded.
//!
//! A copy that was cut short, or a byte that flipped, ends a compressed file early. The bytes
//! before that point are still good and are returned. The reason is recorded, so that the user can
//! see it.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, OnceLock};
use zstd::stream::read::Decoder;

/// Largest size that a source may expand to: this many bytes, and so many more for each compressed
/// byte. The most repetitive logs shrink to a hundredth.
const EXPANDED_BYTES_FREE: u64 = 256 * 1024 * 1024;
const EXPANDED_RATIO_MAX: u64 = 500;

/// The reason why a source ended early, set at the first failure.
#[derive(Clone, Default)]
pub(crate) struct Cut(Arc<OnceLock<String>>);

impl Cut {
    /// The reason, for people.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    fn note(&self, reason: String) {
        // If a source is read several times, the first reason wins.
        let _ = self.0.set(reason);
    }
}

/// The bytes of a compressed file.
pub(super) struct Packed {
    decoder: Decoder<'static, BufReader<File>>,
    given: u64,
    given_max: u64,
    cut: Cut,
}

impl Packed {
    pub(super) fn new(file: File, cut: &Cut) -> io::Result<Packed> {
        let given_max = expanded_max(file.metadata()?.len());
        Ok(Packed { decoder: Decoder::new(file)?, given: 0, given_max, cut: cut.clone() })
    }

    fn end(&self, why: &str) -> io::Result<usize> {
        self.cut.note(format!("{why}; the first {} bytes of its contents are kept", self.given));
        Ok(0)
    }
}

/// The most bytes that a file of this size may expand to.
fn expanded_max(packed_bytes: u64) -> u64 {
    packed_bytes.saturating_mul(EXPANDED_RATIO_MAX).saturating_add(EXPANDED_BYTES_FREE)
}

impl Read for Packed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.given_max - self.given).unwrap_or(usize::MAX);
        if self.cut.reason().is_some() {
            return Ok(0);
        }
        if left == 0 && !buffer.is_empty() {
            return match self.decoder.read(&mut [0]) {
                Ok(0) => Ok(0),
                _ => self.end(&format!("it expands to more than {EXPANDED_RATIO_MAX} times its size")),
            };
        }
        let room = buffer.len().min(left);
        match self.decoder.read(&mut buffer[..room]) {
            Ok(count) => {
                self.given += count as u64;
                Ok(count)
            }
            // Not a byte can be decoded: it is not a compressed log.
            Err(error) if self.given == 0 => Err(error),
            Err(error) => self.end(&format!("its compressed data is damaged or cut ({error})")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (io::Result<Vec<u8>>, Cut) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.zst");
        std::fs::write(&path, bytes).unwrap();
        let cut = Cut::default();
        let mut all = Vec::new();
        let read =
            Packed::new(File::open(&path).unwrap(), &cut).and_then(|mut packed| packed.read_to_end(&mut all));
        (read.map(|_| all), cut)
    }

    #[test]
    fn a_cut_file_gives_what_comes_before_the_cut() {
        let lines: Vec<u8> =
            (0..60_000).flat_map(|number| format!("{{\"line\":{number}}}\n").into_bytes()).collect();
        let packed = zstd::encode_all(lines.as_slice(), 3).unwrap();
        let (whole, cut) = read(&packed);
        assert_eq!((whole.unwrap().len(), cut.reason()), (lines.len(), None));
        let (part, cut) = read(&packed[..packed.len() - 100]);
        let part = part.unwrap();
        assert!(!part.is_empty() && part.len() < lines.len() && lines.starts_with(&part));
        assert!(cut.reason().unwrap().contains(&format!("first {} bytes", part.len())), "{:?}", cut.reason());
        let (nothing, cut) = read(b"this is no compressed file");
        assert!(nothing.is_err() && cut.reason().is_none());
    }

    #[test]
    fn a_small_file_does_not_expand_without_end() {
        let limit = expanded_max(0);
        let zeros = zstd::encode_all(io::repeat(0).take(limit + limit / 4), 3).unwrap();
        let cut = Cut::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bomb.zst");
        std::fs::write(&path, &zeros).unwrap();
        let mut packed = Packed::new(File::open(&path).unwrap(), &cut).unwrap();
        let given = io::copy(&mut packed, &mut io::sink()).unwrap();
        assert_eq!(given, expanded_max(zeros.len() as u64));
        assert!(cut.reason().unwrap().contains("expands"), "{:?}", cut.reason());
    }
}
