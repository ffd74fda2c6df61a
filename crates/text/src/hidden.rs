//! Characters that a reader does not see: controls, direction marks, fillers, tags, and ordinary
//! ones in a number that no script needs.
//!
//! Text from the web and from tools may contain words for a model that a person cannot see, or
//! display other words than it contains. Characters that writing systems and emoji need are left
//! alone: joiners in Persian, Indic scripts and emoji, one variation selector after its character,
//! combining marks, right-to-left letters.

/// A hidden character and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// Offset of its first byte.
    pub offset: usize,
    /// The hidden character itself.
    pub character: char,
}

/// Every hidden character of `text`, in order.
pub fn find(text: &str) -> impl Iterator<Item = Hidden> + '_ {
    marked(text).filter(|(_, _, hidden)| *hidden).map(|(offset, character, _)| Hidden { offset, character })
}

/// Every character of `text` with its offset, and whether it is hidden.
pub(crate) fn marked(text: &str) -> impl Iterator<Item = (usize, char, bool)> + '_ {
    let mut before = None;
    // Whether the previous character can be joined to something: it is visible, and belongs to a
    // script or to an emoji. A blank of any width joins nothing.
    let mut joins = false;
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (offset, character) = rest.next()?;
        let after = rest.peek().map(|(_, next)| *next);
        let hidden = match class(character) {
            Class::Visible => false,
            Class::Hidden => true,
            // A byte order mark is valid only at the beginning.
            Class::ByteOrderMark => offset > 0,
            Class::Joiner => !joins,
            alone => before.map(class) == Some(alone) || after.map(class) == Some(alone),
        };
        let mark = matches!(class(character), Class::Joiner | Class::ByteOrderMark);
        joins = !hidden && !mark && !character.is_ascii() && !character.is_whitespace();
        before = Some(character);
        Some((offset, character, hidden))
    })
}

/// The class that decides if a character is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Visible,
    Hidden,
    ByteOrderMark,
    /// Needed after a letter of some scripts and inside emoji, hidden elsewhere.
    Joiner,
    /// These are hidden only in runs.
    Selector,
    BrailleBlank,
    Private,
}

fn class(character: char) -> Class {
    match character {
        '\t' | '\n' | '\r' | ' '..='~' => Class::Visible,
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' => Class::Hidden,
        '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => Class::Hidden,
        '\u{180b}'..='\u{180f}' | '\u{3164}' | '\u{ffa0}' => Class::Hidden,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
            Class::Hidden
        }
        '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e007f}' => Class::Hidden,
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{feff}' => Class::ByteOrderMark,
        '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => Class::Selector,
        '\u{2800}' => Class::BrailleBlank,
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}' => Class::Private,
        _ => Class::Visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<char> {
        find(text).map(|hidden| hidden.character).collect()
    }

    #[test]
    fn what_cannot_be_seen_is_found() {
        for character in [
            '\0',
            '\u{b}',
            '\u{1b}',
            '\u{7f}',
            '\u{85}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{3164}',
            '\u{17b4}',
            '\u{180e}',
            '\u{200b}',
            '\u{200e}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{2066}',
            '\u{feff}',
            '\u{fff9}',
            '\u{1d173}',
            '\u{e0041}',
        ] {
            assert_eq!(found(&format!("a{character}b")), [character], "{character:?}");
        }
        assert_eq!(found("pass\u{200d}word"), ['\u{200d}']);
        assert_eq!(found("a\u{2009}\u{200c}b"), ['\u{200c}'], "a blank joins nothing");
    }

    #[test]
    fn in_runs_more_is_hidden() {
        for character in ['\u{fe01}', '\u{e0100}', '\u{2800}', '\u{e000}', '\u{f0000}'] {
            assert_eq!(found(&format!("a{character}b")), []);
            assert_eq!(found(&format!("a{character}{character}b")), [character, character]);
        }
    }

    #[test]
    fn what_writing_needs_is_left_alone() {
        for text in [
            "👩\u{200d}🚀",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "❤\u{fe0f}",
            "e\u{301}",
            "שלום",
            "\u{feff}a",
            "a\tb\r\n",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }
}
