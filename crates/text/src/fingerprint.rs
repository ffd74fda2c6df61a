//! The one line of an output with the error, and a short name for it that stays the same when the
//! error happens again elsewhere.
//!
//! `lines` finds the line: the exception at the end of a traceback, the first error of a compiler,
//! the message of a panic. `normal` removes the parts that differ from run to run: paths, numbers,
//! ids, times, colours.

mod lines;
mod normal;

pub use normal::normal;

/// The most characters of a fingerprint's line.
const LINE_CHARS_MAX: usize = 240;

/// The fewest letters of a line that can be recognized again.
const LETTERS_MIN: usize = 3;

/// An error, recognizable when it comes back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    /// Twelve hexadecimal digits, made from `line` alone.
    pub id: String,
    /// The line without the parts that differ from run to run.
    pub line: String,
    /// True if the line has the shape of an error, and not only its words.
    pub certain: bool,
}

/// The line of an output with the error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrorLine(lines::Found);

impl ErrorLine {
    /// A one-line text that a person calls an error. It may lack distinguishing parts of the
    /// output, such as the location.
    pub fn said(text: &str) -> Option<ErrorLine> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let (line, None) = (lines.next()?, lines.next()) else { return None };
        let text = crate::plain::plain(line).trim().to_owned();
        Some(ErrorLine(lines::Found { text, certain: false }))
    }

    /// The line as the program printed it, without colours, for display.
    pub fn text(&self) -> String {
        self.0.text.chars().take(LINE_CHARS_MAX).collect()
    }

    /// The short name of the error. `None` if the line has too few letters.
    pub fn fingerprint(&self) -> Option<Fingerprint> {
        let line = normal(&self.0.text);
        let letters = line.chars().filter(|character| character.is_alphabetic()).count();
        (letters >= LETTERS_MIN).then(|| Fingerprint { id: id(&line), line, certain: self.0.certain })
    }
}

/// The line with the error, if there is one.
pub fn error_line(output: &str) -> Option<ErrorLine> {
    lines::error_line(output).map(ErrorLine)
}

/// Every line of an output with the shape of an error, the most specific first. At most `max`.
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
