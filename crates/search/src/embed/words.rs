//! Cuts text into the words of the built-in model: lower case, without accents, split at
//! everything that is no letter or digit and where `camelCase` changes case.

use super::characters::{Characters, Class};

/// Words of more characters are hashes, base64 and the like: they are passed over.
pub(super) const CHARACTERS_MAX: usize = 48;

/// Calls `emit` with each word of `text`, until it answers false.
///
/// `word` is where words are put together; it is given so that its memory is used again.
pub(super) fn words(
    text: &str,
    characters: &Characters,
    word: &mut Word,
    mut emit: impl FnMut(&str) -> bool,
) {
    let bytes = text.as_bytes();
    word.clear();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let mut goes_on = true;
        let mut step = 1;
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => word.push(*byte),
            b'A'..=b'Z' => {
                if starts_word(at.checked_sub(1).and_then(|before| bytes.get(before)), bytes.get(at + 1)) {
                    goes_on = word.end(&mut emit);
                }
                word.push(byte.to_ascii_lowercase());
            }
            0..=0x7f => goes_on = word.end(&mut emit),
            _ => {
                let Some(character) = text.get(at..).and_then(|rest| rest.chars().next()) else { return };
                step = character.len_utf8();
                goes_on = beyond_ascii(character, characters, word, &mut emit);
            }
        }
        if !goes_on {
            return;
        }
        at += step;
    }
    word.end(&mut emit);
}

/// Whether a capital starts a word of its own inside a longer one. A byte of a character
/// beyond ASCII is none of these letters, so bytes are enough.
fn starts_word(before: Option<&u8>, after: Option<&u8>) -> bool {
    match before {
        Some(b'a'..=b'z' | b'0'..=b'9') => true,
        Some(b'A'..=b'Z') => matches!(after, Some(b'a'..=b'z')),
        _ => false,
    }
}

fn beyond_ascii(
    character: char,
    characters: &Characters,
    word: &mut Word,
    emit: &mut impl FnMut(&str) -> bool,
) -> bool {
    let (class, replacement) = characters.of(character);
    match class {
        Class::Separator => word.end(emit),
        Class::Drop => true,
        Class::Word => {
            word.append(character, replacement);
            true
        }
        Class::Solo => {
            let goes_on = word.end(emit);
            word.append(character, replacement);
            goes_on && word.end(emit)
        }
    }
}

/// The word that is being read. What exceeds the longest word is counted, not kept.
#[derive(Debug, Default)]
pub(super) struct Word {
    text: String,
    characters: usize,
}

impl Word {
    fn clear(&mut self) {
        self.text.clear();
        self.characters = 0;
    }

    fn push(&mut self, ascii: u8) {
        self.push_char(char::from(ascii));
    }

    fn push_char(&mut self, character: char) {
        if self.characters < CHARACTERS_MAX {
            self.text.push(character);
        }
        self.characters += 1;
    }

    fn append(&mut self, character: char, replacement: Option<&str>) {
        match replacement {
            Some(text) => text.chars().for_each(|character| self.push_char(character)),
            None => self.push_char(character),
        }
    }

    /// Emits the word, if there is one, and starts the next.
    fn end(&mut self, emit: &mut impl FnMut(&str) -> bool) -> bool {
        let is_word = self.characters > 0 && self.characters <= CHARACTERS_MAX;
        let goes_on = !is_word || emit(&self.text);
        self.clear();
        goes_on
    }
}

#[cfg(test)]
mod tests {
    use super::super::built_in::characters;
    use super::*;

    fn split(text: &str) -> String {
        let mut found: Vec<String> = Vec::new();
        words(text, &characters().unwrap(), &mut Word::default(), |word| {
            found.push(word.to_owned());
            true
        });
        found.join(" ")
    }

    #[test]
    fn identifiers_fall_into_words() {
        for (text, expected) in [
            ("getUserName", "get user name"),
            ("GetHTTPResponseCode", "get http response code"),
            ("parseJSON2XML", "parse json2 xml"),
            ("snake_case", "snake case"),
            ("don't", "don t"),
            ("a1B2", "a1 b2"),
            ("iOS", "i os"),
        ] {
            assert_eq!(split(text), expected);
        }
    }

    #[test]
    fn accents_go_and_han_characters_stand_alone() {
        assert_eq!(split("Café CAFE\u{301}s"), "cafe cafes");
        assert_eq!(split("漢字kana"), "漢 字 kana");
        assert_eq!(split("ﬁle\u{200d}name"), "filename");
    }

    #[test]
    fn words_that_are_too_long_are_passed_over() {
        let long = "x".repeat(CHARACTERS_MAX);
        assert_eq!(split(&format!("{long} {long}x a")), format!("{long} a"));
    }

    #[test]
    fn reading_stops_when_nothing_more_is_wanted() {
        let mut count = 0;
        words("a b 漢字 d", &characters().unwrap(), &mut Word::default(), |_| {
            count += 1;
            count < 3
        });
        assert_eq!(count, 3);
    }
}
