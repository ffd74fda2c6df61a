//! The one line of an output that says what went wrong, and a short name for it
//! that stays the same when the error happens again elsewhere.
//!
//! `lines` finds the line: the exception at the end of a traceback, the first
//! error of a compiler, the message of a panic. `normal` takes out what differs
//! from run to run: paths, numbers, ids, times, colours.

mod lines;
mod normal;

pub use normal::normal;

/// Characters of a fingerprint's line.
const LINE_CHARS_MAX: usize = 240;

/// An error, recognizable when it comes back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// Twelve hexadecimal digits, made from `line` alone.
    pub id: String,
    /// The line without what differs from run to run.
    pub line: String,
    /// Whether the line has the shape of an error, not only its words.
    pub certain: bool,
}

/// The error that an output reports, if it reports one.
pub fn fingerprint(output: &str) -> Option<Fingerprint> {
    let found = lines::error_line(output)?;
    let line = normal(&found.text);
    let letters = line.chars().filter(|character| character.is_alphabetic()).count();
    if letters < 3 {
        return None;
    }
    Some(Fingerprint { id: id(&line), line, certain: found.certain })
}

/// The line as the program printed it, without colours: what a person wants to read.
pub fn error_line(output: &str) -> Option<String> {
    lines::error_line(output).map(|found| found.text.chars().take(LINE_CHARS_MAX).collect())
}

fn id(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().chars().take(12).collect()
}

#[cfg(test)]
mod tests;
