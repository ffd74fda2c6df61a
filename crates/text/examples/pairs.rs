//! Counts which characters follow each other in program text and prose, and prints
//! the table that `src/secrets/pairs.txt` holds.
//!
//! ```text
//! cargo run --release -p retro-text --example pairs -- DIR… > crates/text/src/secrets/pairs.txt
//! ```
//!
//! Give it sources in several languages, configuration and documentation. Only the
//! beginning of each file counts, so that no single file decides.

use std::io::Write;
use std::path::{Path, PathBuf};

/// Bytes of each file that count, and the largest file that is looked at.
const HEAD_BYTES: usize = 40_000;
const FILE_BYTES_MAX: u64 = 200_000;

/// Longer words are data, not text.
const WORD_BYTES_MAX: usize = 80;

/// Hexadecimal digits in a row that make a word a hash.
const HASH_DIGITS: usize = 24;

/// Printable characters without the blank.
const KINDS: usize = 94;

/// How often each pair would stand in random text: between one in 62, for letters
/// and digits, and one in 94.
const RANDOM_ONE_IN: f64 = 70.0;

fn main() -> std::io::Result<()> {
    let mut counts = vec![[0u64; KINDS]; KINDS];
    for dir in std::env::args().skip(1) {
        collect(Path::new(&dir), &mut counts)?;
    }
    let mut out = std::io::stdout().lock();
    for row in &counts {
        let all: u64 = row.iter().sum();
        for count in row {
            let share = (*count as f64 + 0.3) / (all as f64 + 0.3 * KINDS as f64);
            let bits = (share * RANDOM_ONE_IN).log2().round().clamp(-6.0, 5.0) as i8;
            out.write_all(&[b'g'.saturating_add_signed(bits)])?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

fn collect(path: &Path, counts: &mut [[u64; KINDS]]) -> std::io::Result<()> {
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        entries.sort();
        return entries.iter().try_for_each(|entry| collect(entry, counts));
    }
    if path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() <= FILE_BYTES_MAX) {
        let bytes = std::fs::read(path)?;
        count(bytes.get(..HEAD_BYTES).unwrap_or(&bytes), counts);
    }
    Ok(())
}

fn count(text: &[u8], counts: &mut [[u64; KINDS]]) {
    // What is no text has no pairs to count.
    if std::str::from_utf8(text).is_err_and(|error| error.error_len().is_some()) {
        return;
    }
    for word in text.split(u8::is_ascii_whitespace) {
        let is_hash = word.windows(HASH_DIGITS).any(|part| part.iter().all(u8::is_ascii_hexdigit));
        if word.len() > WORD_BYTES_MAX || is_hash || !word.iter().all(u8::is_ascii_graphic) {
            continue;
        }
        for pair in word.windows(2) {
            counts[usize::from(pair[0] - b'!')][usize::from(pair[1] - b'!')] += 1;
        }
    }
}
