//! Texts of transcripts as the page draws them: trees and runs, never markup.

mod ansi;
mod diff;
mod markdown;
mod output;

pub use ansi::{Line, lines};
pub use diff::{FileDiff, diffs};
pub use markdown::markdown;
pub use output::{Output, Rest, output};

/// A text with everything visible: characters that hide or reorder others are escaped.
pub fn plain(text: &str) -> String {
    retro::text::terminal::safe(text).into_owned()
}

/// The beginning of a text on one line, for a heading or a list.
pub fn line(text: &str, chars_max: usize) -> String {
    retro::text::terminal::one_line(text, chars_max)
}
