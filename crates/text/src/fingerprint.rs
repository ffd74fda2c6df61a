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

/// Letters that a line must have to be known again.
const LETTERS_MIN: usize = 3;

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

/// The line of an output that says what went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorLine(lines::Found);

impl ErrorLine {
    /// What somebody says is an error, if it is one line. It may lack what tells one from other
    /// lines, such as the place in front of it.
    pub fn said(text: &str) -> Option<ErrorLine> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        let text = crate::plain::plain(line).trim().to_owned();
        Some(ErrorLine(lines::Found { text, certain: false }))
    }

    /// The line as the program printed it, without colours: what a person wants to read.
    pub fn text(&self) -> String {
        self.0.text.chars().take(LINE_CHARS_MAX).collect()
    }

    /// The short name of the error, unless the line has hardly a letter.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        let line = normal(&self.0.text);
        let letters = line.chars().filter(|character| character.is_alphabetic()).count();
        (letters >= LETTERS_MIN).then(|| Fingerprint { id: id(&line), line, certain: self.0.certain })
    }
}

/// The line that says what went wrong, if there is one.
pub fn error_line(output: &str) -> Option<ErrorLine> {
    lines::error_line(output).map(ErrorLine)
}

/// Every line of an output that has the shape of an error, the most telling first; at most `max`.
pub fn error_lines(output: &str, max: usize) -> Vec<ErrorLine> {
    lines::error_lines(output, max).into_iter().map(ErrorLine).collect()
}

/// The error that an output reports, if it reports one.
pub fn fingerprint(output: &str) -> Option<Fingerprint> {
    error_line(output)?.fingerprint()
}

fn id(line: &str) -> String {
    blake3::hash(line.as_bytes()).to_hex().chars().take(12).collect()
}

#[cfg(test)]
mod tests;
