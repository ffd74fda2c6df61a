//! What a call printed: the first lines, and the rest apart.

use serde::Serialize;

use super::ansi::{Line, lines};

/// Lines of an output that are beside its call. The rest is read when somebody asks.
const LINES_SHOWN: usize = 40;

/// Bytes of an output that the page gets at most.
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// The first lines of an output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Output {
    /// Its first lines.
    pub lines: Vec<Line>,
    /// How many lines it has.
    pub total: usize,
    /// How many bytes.
    pub bytes: u64,
    /// Whether the page gets only a part of it, or the agent logged only a part.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
    /// Whether there is more of it in the chunk of rests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// The lines that come after the first ones.
pub type Rest = Vec<Line>;

/// Cuts an output into what is shown and what is kept apart.
pub fn output(text: &str, is_cut: bool) -> (Output, Option<Rest>) {
    let bytes = text.len() as u64;
    let end = floor(text, BYTES_MAX);
    let mut all = lines(&text[..end]);
    let total = all.len();
    let rest = (total > LINES_SHOWN).then(|| all.split_off(LINES_SHOWN));
    let output = Output { lines: all, total, bytes, cut: is_cut || end < text.len(), more: rest.is_some() };
    (output, rest)
}

/// The last place at or before `at` where a text may be cut.
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
