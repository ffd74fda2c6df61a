//! The part of a text that shows why it matched.

use retro_search::Words;
use serde::Serialize;

/// A part of a text, with the matching words marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snippet {
    /// The text, on one line, with `…` where it was cut.
    pub text: String,
    /// The byte ranges of query words in it, end exclusive.
    pub marks: Vec<(usize, usize)>,
}

/// Maximum bytes of a snippet.
const BYTES: usize = 220;

impl Snippet {
    /// The part of a text that contains the most terms.
    pub fn of(text: &str, terms: &[String], words: &mut Words) -> Snippet {
        let mut found: Vec<(usize, usize)> = Vec::new();
        words.each(text, |term| {
            if terms.iter().any(|wanted| wanted == term.text) {
                found.push((term.start, term.end));
            }
        });
        found.sort_unstable();
        found.dedup();
        let from = best_start(&found);
        let start = if text.len() <= BYTES { 0 } else { from.saturating_sub(BYTES / 4) };
        let start = text.floor_char_boundary(start);
        // Cut only between words.
        let next_word = || text[start..from].find(char::is_whitespace).map_or(start, |at| start + at);
        let start = if start == 0 { 0 } else { next_word() };
        let end = text.ceil_char_boundary((start + BYTES).min(text.len()));
        cut(text, start, end, &found)
    }
}

/// Start of the densest group of matches.
fn best_start(found: &[(usize, usize)]) -> usize {
    let near = |(at, (start, _)): &(usize, &(usize, usize))| {
        found.iter().skip(*at).take_while(|(next, _)| *next < start + BYTES / 2).count()
    };
    let best = found.iter().enumerate().max_by_key(|word| (near(word), std::cmp::Reverse(word.0)));
    best.map_or(0, |(_, (start, _))| *start)
}

/// A part of a text on one line. Each run of white space becomes one space.
fn cut(text: &str, start: usize, end: usize, found: &[(usize, usize)]) -> Snippet {
    let mut snippet = Snippet { text: String::new(), marks: Vec::new() };
    if !text[..start].trim().is_empty() {
        snippet.text.push('…');
    }
    let mut open: Option<(usize, usize)> = None;
    for (offset, c) in text[start..end].char_indices() {
        let at = start + offset;
        if let Some((first, last)) = open
            && at >= last
        {
            snippet.marks.push((first, snippet.text.len()));
            open = None;
        }
        if open.is_none()
            && let Some((_, last)) = found.iter().find(|(first, last)| (*first..*last).contains(&at))
        {
            open = Some((snippet.text.len(), *last));
        }
        if !c.is_whitespace() {
            snippet.text.push(c);
        } else if !snippet.text.ends_with([' ', '…']) && !snippet.text.is_empty() {
            snippet.text.push(' ');
        }
    }
    if let Some((first, _)) = open {
        snippet.marks.push((first, snippet.text.len()));
    }
    let length = snippet.text.trim_end().len();
    snippet.text.truncate(length);
    if !text[end..].trim().is_empty() {
        snippet.text.push('…');
    }
    snippet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, terms: &[&str]) -> String {
        let terms: Vec<String> = terms.iter().map(|term| (*term).to_owned()).collect();
        let Snippet { mut text, marks } = Snippet::of(text, &terms, &mut Words::default());
        for (start, end) in marks.into_iter().rev() {
            text.insert(end, ']');
            text.insert(start, '[');
        }
        text
    }

    #[test]
    fn the_words_are_marked_where_they_stand() {
        assert_eq!(marked("Rounding  of the\ncart", &["round", "cart"]), "[Rounding] of the [cart]");
        assert_eq!(marked("nothing here", &["absent"]), "nothing here");
        assert_eq!(marked("", &["absent"]), "");
    }

    #[test]
    fn a_long_text_is_cut_around_the_words() {
        let text = format!("{} the discount is wrong {}", "before ".repeat(80), "after ".repeat(80));
        let shown = marked(&text, &["discount", "wrong"]);
        assert!(
            shown.starts_with('…') && shown.ends_with('…') && shown.contains("the [discount] is [wrong]"),
            "{shown}"
        );
        assert!(shown.len() < BYTES + 20);
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_cut(text in "\\PC{0,400}", word in "[a-z]{1,4}") {
            let shown = Snippet::of(&text, &[word], &mut Words::default());
            for (start, end) in shown.marks {
                assert!(shown.text.get(start..end).is_some());
            }
        }
    }
}
