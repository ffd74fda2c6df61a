//! Making text safe and fitting for a terminal.
//!
//! Transcripts contain raw output of tools. Printed unchanged, such text could move the cursor over
//! our own output, set the window's title, or appear in another order than it has. Here it becomes
//! visible: an escape character is printed as `\u{1b}`, as are all hidden characters
//! ([`crate::hidden`]).

use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::hidden;

/// Marks the end of a text that was cut.
const ELLIPSIS: char = '…';

/// The most bytes per column of a cell: zero-width marks could otherwise continue for ever.
const CELL_BYTES_MAX: usize = 32;

/// `text` with everything visible; only line feeds and tabs still move the cursor.
pub fn safe(text: &str) -> Cow<'_, str> {
    escaped(text, |character| matches!(character, '\n' | '\t'))
}

/// `text` with everything visible, on one line: line feeds and tabs are escaped too.
pub fn safe_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// `text` for a cell of a table: safe, on one line, white space and line ends collapsed to one
/// blank, and never wider than `columns`.
pub fn one_line(text: &str, columns: usize) -> String {
    let mut line = String::new();
    let mut blank = false;
    let mut cut = false;
    for (_, character, is_hidden) in marked(text) {
        if line.len() > columns.saturating_mul(CELL_BYTES_MAX) {
            cut = true;
            break;
        }
        if character.is_whitespace() {
            blank = !line.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            line.push(' ');
        }
        push(&mut line, character, is_hidden);
    }
    if cut || width(&line) > columns { shorten(line, columns) } else { line }
}

/// Columns that `text` takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

fn escaped(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let harmless = |byte: u8| matches!(byte, b' '..=b'~') || keep(char::from(byte));
    if text.bytes().all(|byte| byte.is_ascii() && harmless(byte)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for (_, character, is_hidden) in marked(text) {
        push(&mut safe, character, is_hidden || (character.is_control() && !keep(character)));
    }
    if safe == text { Cow::Borrowed(text) } else { Cow::Owned(safe) }
}

/// Every character with its offset, and whether it is hidden. A byte order mark is always hidden on
/// a terminal, where other text always precedes it.
fn marked(text: &str) -> impl Iterator<Item = (usize, char, bool)> + '_ {
    hidden::marked(text)
        .map(|(offset, character, is_hidden)| (offset, character, is_hidden || character == '\u{feff}'))
}

/// Adds a character, as an escape if it must not be printed.
fn push(text: &mut String, character: char, escape: bool) {
    match escape {
        true => text.extend(character.escape_default()),
        false => text.push(character),
    }
}

/// The beginning of `line` with an ellipsis, within `columns`.
fn shorten(mut line: String, columns: usize) -> String {
    if columns == 0 {
        return String::new();
    }
    let mut taken = 0;
    let end = line.char_indices().find_map(|(offset, character)| {
        taken += character.width().unwrap_or(0);
        (taken >= columns).then_some(offset)
    });
    line.truncate(end.unwrap_or(line.len()));
    line.push(ELLIPSIS);
    // A sequence of characters can be wider than its parts: a selector turns a narrow character
    // into a wide emoji.
    while width(&line) > columns && line.pop().is_some() {
        line.pop();
        line.push(ELLIPSIS);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_and_hidden_characters_become_visible() {
        assert_eq!(safe("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(safe("x\u{202e}y\u{7f}"), "x\\u{202e}y\\u{7f}");
        assert_eq!(safe("one\ntwo\tthree"), "one\ntwo\tthree");
        assert_eq!(safe("one\r\n"), "one\\r\n");
        assert_eq!((&*safe("\u{feff}a"), one_line("\u{feff}a", 20).as_str()), ("\\u{feff}a", "\\u{feff}a"));
        assert_eq!(safe_line("one\ntwo\tthree"), "one\\ntwo\\tthree");
    }

    #[test]
    fn ordinary_text_is_not_copied() {
        for text in ["", "plain", "grün 漢字 👩\u{200d}🚀", "a\nb"] {
            assert!(matches!(safe(text), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn a_cell_is_cut_at_its_width() {
        assert_eq!(one_line("Fix the\n\n  tax test ", 40), "Fix the tax test");
        assert_eq!(one_line("Fix the tax test", 8), "Fix the…");
        assert_eq!(one_line("漢字漢字", 5), "漢字…");
        assert_eq!(one_line("漢字漢字", 8), "漢字漢字");
        assert_eq!(one_line("ab", 1), "…");
        assert_eq!(one_line("ab", 0), "");
        assert_eq!(one_line("a\u{1b}b", 10), "a\\u{1b}b");
    }

    #[test]
    fn marks_without_width_do_not_go_on_for_ever() {
        let text = format!("a{}", "\u{301}".repeat(100_000));
        assert!(one_line(&text, 10).len() < 1_000);
    }

    /// True if nothing in the text is hidden or a control character.
    fn is_safe(text: &str) -> bool {
        hidden::find(text).next().is_none() && !text.chars().any(char::is_control)
    }

    /// Text with many more special characters than random text has.
    fn texts() -> impl Strategy<Value = String> {
        let trouble =
            "\u{1b}\u{7}\r\n\t\u{202e}\u{2066}\u{200d}\u{fe0f}\u{feff}\u{e0041}\u{301}\u{2028}\u{85}";
        let shown = "ab 漢👩❤1\u{20e3}🇩🇪ש";
        let letters: Vec<char> = trouble.chars().chain(shown.chars()).collect();
        prop::collection::vec(prop_oneof![3 => prop::sample::select(letters), 1 => any::<char>()], 0..80)
            .prop_map(|characters| characters.into_iter().collect())
    }

    proptest! {
        #[test]
        fn whatever_is_said_is_safe(text in texts()) {
            prop_assert!(is_safe(&safe(&text).replace(['\n', '\t'], " ")));
            prop_assert!(is_safe(&safe_line(&text)));
        }

        #[test]
        fn a_cell_fits_and_is_safe(text in texts(), columns in 0usize..60) {
            let cell = one_line(&text, columns);
            prop_assert!(width(&cell) <= columns, "{cell:?} is wider than {columns}");
            prop_assert!(is_safe(&cell));
        }

        #[test]
        fn safe_text_is_left_as_it_is(text in texts()) {
            let once = safe_line(&text).into_owned();
            prop_assert_eq!(safe_line(&once), once.as_str());
        }
    }
}
