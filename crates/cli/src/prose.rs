//! Wraps and cuts text for people, by display width.

use retro::text::terminal::width;

/// Wraps `text` to lines of at most `columns`, between words. Continuation lines keep the indent of
/// their line. A word wider than a line stays whole: it is a path or a link, which a person copies.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.split('\n') {
        let indent: String = line.chars().take_while(|c| *c == ' ').collect();
        if shown_width(line) <= columns || columns <= indent.len() {
            lines.push(line.to_owned());
            continue;
        }
        lines.extend(fill(&line[indent.len()..], &indent, columns));
    }
    lines
}

/// Minimum width of words, however far they are indented.
const COLUMNS_LEAST: usize = 20;

/// Like [`wrap`], for one line whose continuations are indented by `hang` columns.
pub fn wrap_hanging(text: &str, columns: usize, hang: usize) -> Vec<String> {
    let indent = " ".repeat(hang);
    let room = columns.saturating_sub(hang).max(COLUMNS_LEAST);
    let mut lines = fill(text, "", columns);
    if lines.len() > 1 {
        let first = lines.remove(0);
        let rest = lines.join(" ");
        lines = vec![first];
        lines.extend(fill(&rest, "", room).into_iter().map(|line| format!("{indent}{line}")));
    }
    lines
}

/// Like [`wrap`], for a table cell: breaks a word that is too wide.
pub fn wrap_cell(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    for line in fill(text, "", columns) {
        let mut rest = line.as_str();
        while width(rest) > columns {
            let mut end = 0;
            for (at, character) in rest.char_indices() {
                let next = at + character.len_utf8();
                if width(&rest[..next]) > columns && at > 0 {
                    break;
                }
                end = next;
            }
            lines.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        lines.push(rest.to_owned());
    }
    lines
}

fn fill(text: &str, indent: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = indent.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        let gap = usize::from(!is_empty);
        if !is_empty && shown_width(&line) + gap + shown_width(word) > columns {
            lines.push(std::mem::replace(&mut line, indent.to_owned()));
        } else if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// The display width of a text, not counting retro's own colours.
pub fn shown_width(text: &str) -> usize {
    match text.contains('\u{1b}') {
        true => width(&anstream::adapter::strip_str(text).to_string()),
        false => width(text),
    }
}

/// Both ends of a text with an ellipsis between them, within `columns`.
pub fn cut_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1).filter(|room| *room > 0) else {
        return "…".repeat(columns);
    };
    let tail_room = room / 3;
    let tail: String = fitting(&mut text.chars().rev(), tail_room).chars().rev().collect();
    format!("{}…{tail}", fitting(&mut text.chars(), room - width(&tail)))
}

/// The beginning of a text with an ellipsis after it, within `columns`.
pub fn cut_end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    format!("{}…", fitting(&mut text.chars(), columns.saturating_sub(1)))
}

/// As many characters as fit into `room`.
fn fitting(characters: &mut dyn Iterator<Item = char>, room: usize) -> String {
    let mut taken = String::new();
    for character in characters {
        taken.push(character);
        if width(&taken) > room {
            taken.pop();
            break;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_keep_their_indent() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("  one two three", 9), ["  one two", "  three"]);
        assert_eq!(wrap("see /a/very/long/path now", 8), ["see", "/a/very/long/path", "now"]);
        assert_eq!(wrap("漢字 漢字", 5), ["漢字", "漢字"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
    }

    #[test]
    fn lines_after_the_first_may_hang() {
        assert_eq!(
            wrap_hanging("name  one two three four five six seven", 28, 6),
            ["name  one two three four", "      five six seven"]
        );
        assert_eq!(wrap_hanging("name  short", 28, 6), ["name  short"]);
    }

    #[test]
    fn our_own_colours_take_no_room() {
        assert_eq!(wrap("\u{1b}[1mone\u{1b}[0m two", 7), ["\u{1b}[1mone\u{1b}[0m two"]);
    }

    #[test]
    fn a_cell_breaks_words_that_are_too_wide() {
        assert_eq!(wrap_cell("ab abcdef", 4), ["ab", "abcd", "ef"]);
        assert_eq!(wrap_cell("漢字漢字", 3), ["漢", "字", "漢", "字"]);
    }

    #[test]
    fn the_middle_is_cut_and_both_ends_stay() {
        assert_eq!(cut_middle("6a1f0c52-backup2", 10), "6a1f0c…up2");
        assert_eq!(cut_middle("short", 10), "short");
        assert_eq!(cut_middle("ab", 1), "…");
        assert_eq!(cut_middle("ab", 0), "");
    }
}
