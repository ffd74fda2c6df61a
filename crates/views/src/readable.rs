//! Texts of transcripts as the page draws them: trees and runs, never markup.

mod ansi;
mod markdown;
mod output;

pub use ansi::{Line, lines};
pub use markdown::markdown;
pub use output::{Output, Rest, output};
pub use retro_text::diff::FileDiff;

use serde_json::Value;

/// The edits that the arguments of a call ask for, with everything visible.
pub fn diffs(args: &Value, path: Option<&str>) -> Vec<FileDiff> {
    let mut files = retro_text::diff::diffs(args, path);
    for file in &mut files {
        file.path = plain(&file.path);
        file.rows.iter_mut().for_each(|(_, text)| *text = plain(text));
    }
    files
}

/// A text with everything visible: characters that hide or reorder others are escaped.
pub fn plain(text: &str) -> String {
    retro_text::terminal::safe(text).into_owned()
}

/// The beginning of a text on one line, for a heading or a list.
pub fn line(text: &str, chars_max: usize) -> String {
    retro_text::terminal::one_line(text, chars_max)
}
