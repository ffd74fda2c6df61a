//! The output of a call: its first lines, and the rest apart.

use serde::Serialize;

use super::ansi::{Line, lines};

/// Lines of an output shown beside its call. The page loads the rest on request.
const LINES_SHOWN: usize = 40;

/// The page gets at most this many bytes of an output.
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// The first lines of an output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Output {
    /// Its first lines.
    pub lines: Vec<Line>,
    /// Number of all its lines.
    pub total: usize,
    /// Its length in bytes.
    pub bytes: u64,
    /// True if the page gets only a part of it, or the agent logged only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// True if the chunk of rests has more of it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// The lines after the first ones.
pub type Rest = Vec<Line>;

/// Splits an output into the lines shown and the rest.
pub fn output(text: &str, is_cut: bool) -> (Output, Option<Rest>) {
    let bytes = text.len() as u64;
    let end = floor(text, BYTES_MAX);
    let mut all = lines(&text[..end]);
    let total = all.len();
    let rest = (total > LINES_SHOWN).then(|| all.split_off(LINES_SHOWN));
    let output = Output { lines: all, total, bytes, cut: is_cut || end < text.len(), more: rest.is_some() };
    (output, rest)
}

/// The last char boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_outputs_are_in_two_parts() {
        let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        let (first, rest) = output(&text, false);
        assert_eq!((first.lines.len(), first.total, first.more, first.cut), (LINES_SHOWN, 100, true, false));
        assert_eq!(rest.unwrap().len(), 60);
        let (short, rest) = output("a\nb", true);
        assert!(rest.is_none() && short.cut && !short.more);
    }
}
