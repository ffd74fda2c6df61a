//! Removes the disguises of a text: produces the forms that the rules are tested on.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Minimum characters of a word worth decoding.
const ENCODED_CHARS_MIN: usize = 16;
/// Minimum run of single letters that spell out a word.
const SPELLED_LETTERS_MIN: usize = 4;

/// Characters that begin an escape.
const ESCAPES: [char; 3] = ['&', '%', '\\'];
/// Digits and punctuation used as letters.
const LEET: [char; 11] = ['0', '1', '!', '|', '3', '4', '@', '5', '$', '7', '+'];

/// Every form of a text that the rules are tested on, the plain one first. Each once.
pub(super) fn views(text: &str) -> Vec<String> {
    let plain = folded(text);
    let mut views = vec![plain.clone()];
    let mut add = |view: String| {
        if !view.trim().is_empty() && !views.contains(&view) {
            views.push(view);
        }
    };
    let seen = match text.contains(ESCAPES) {
        true => folded(&unescaped(text)),
        false => plain.clone(),
    };
    add(joined(&seen));
    if seen.contains(LEET) {
        add(unleeted(&seen, 'i'));
        add(unleeted(&seen, 'l'));
    }
    add(seen);
    if let Some(text) = decoded(text) {
        add(folded(&text));
    }
    views
}

/// Letters and digits alone: forwards, backwards, and with rot13 applied.
pub(super) fn compact(view: &str) -> [String; 3] {
    let forwards: String = view.chars().filter(|c| c.is_alphanumeric()).collect();
    let backwards = forwards.chars().rev().collect();
    let rotated = forwards.chars().map(|c| match c {
        'a'..='m' => char::from(c as u8 + 13),
        'n'..='z' => char::from(c as u8 - 13),
        other => other,
    });
    let rotated = rotated.collect();
    [forwards, backwards, rotated]
}

/// Lower case, without hidden characters, terminal sequences and accents on Latin letters. Runs of
/// blanks become one. Keeps line breaks.
fn folded(text: &str) -> String {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~' | b'\n');
    match text.bytes().all(is_plain) && !text.contains("   ") {
        true => text.to_ascii_lowercase().replace('`', "'"),
        false => folded_by_character(text),
    }
}

/// Like [`folded`], for any text.
fn folded_by_character(text: &str) -> String {
    let hidden: hashbrown::HashSet<usize> =
        retro_text::hidden::find(text).map(|found| found.offset).collect();
    let shown: String =
        text.char_indices().filter(|(at, c)| *c == '\n' || !hidden.contains(at)).map(|(_, c)| c).collect();
    let mut bare = String::with_capacity(shown.len());
    let mut latin = false;
    for character in shown.nfkd() {
        if is_combining_mark(character) && latin {
            continue;
        }
        latin = character.is_ascii_alphabetic();
        bare.push(character);
    }
    let mut folded = String::with_capacity(bare.len());
    for character in bare.nfc().flat_map(char::to_lowercase) {
        let character = match character {
            '’' | '‘' | '`' | '´' => '\'',
            '“' | '”' | '„' | '«' | '»' => '"',
            '–' | '—' | '‐' | '‑' => '-',
            '\t' | '\u{a0}' => ' ',
            other => other,
        };
        // Between spelled-out letters, two blanks separate words. More have no meaning.
        if character == ' ' && folded.ends_with("  ") {
            continue;
        }
        folded.push(character);
    }
    folded
}

/// Joins words that are spelled out: `i g n o r e` or `i.g.n.o.r.e`.
fn joined(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let letter = |at: usize| chars.get(at).is_some_and(|c| c.is_alphanumeric());
    let gap =
        |at: usize| chars.get(at).filter(|c| matches!(c, ' ' | '.' | '-' | '_' | '*' | '/' | '|' | ','));
    let mut joined = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let begins = letter(at) && (at == 0 || !letter(at - 1));
        let mut letters = 1;
        if begins && !letter(at + 1) {
            let mark = gap(at + 1);
            while mark.is_some()
                && gap(at + 2 * letters - 1) == mark
                && letter(at + 2 * letters)
                && !letter(at + 2 * letters + 1)
            {
                letters += 1;
            }
        }
        if letters >= SPELLED_LETTERS_MIN {
            joined.extend((0..letters).filter_map(|n| chars.get(at + 2 * n)));
            at += 2 * letters - 1;
        } else {
            joined.extend(chars.get(at));
            at += 1;
        }
    }
    joined.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Replaces digits and punctuation used as letters: `1gn0re`. `one` is the letter for a 1.
fn unleeted(text: &str, one: char) -> String {
    let mut plain = String::with_capacity(text.len());
    for piece in text.split_inclusive([' ', '\n']) {
        if !piece.chars().any(char::is_alphabetic) {
            plain.push_str(piece);
            continue;
        }
        let end = piece.trim_end_matches(['!', ' ', '\n', '.', ',']).len();
        let (word, rest) = piece.split_at(end);
        plain.extend(word.chars().map(|c| match c {
            '0' => 'o',
            '1' | '!' | '|' => one,
            '3' => 'e',
            '4' | '@' => 'a',
            '5' | '$' => 's',
            '7' | '+' => 't',
            other => other,
        }));
        plain.push_str(rest);
    }
    plain
}

/// The text with entities, percent escapes and backslash escapes resolved, if they give ASCII
/// characters.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPES) {
        let (before, tail) = rest.split_at(at);
        plain.push_str(before);
        let (character, length) = escape(tail).unwrap_or_else(|| (tail.chars().next().unwrap_or('&'), 1));
        plain.push(character);
        rest = tail.get(length..).unwrap_or_default();
    }
    plain.push_str(rest);
    plain
}

/// The character of an escape at the beginning, and the length of the escape in bytes.
fn escape(text: &str) -> Option<(char, usize)> {
    for (name, character) in [("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&'), ("&quot;", '"'), ("\\n", '\n')] {
        if text.starts_with(name) {
            return Some((character, name.len()));
        }
    }
    let ends = |from: usize, end: char| text.get(from..)?.find(end).filter(|n| *n <= 6).map(|n| from + n);
    let (digits, radix, length) = if text.starts_with("&#x") || text.starts_with("&#X") {
        let end = ends(3, ';')?;
        (text.get(3..end)?, 16, end + 1)
    } else if text.starts_with("&#") {
        let end = ends(2, ';')?;
        (text.get(2..end)?, 10, end + 1)
    } else if text.starts_with("\\u{") {
        let end = ends(3, '}')?;
        (text.get(3..end)?, 16, end + 1)
    } else if text.starts_with("\\u") {
        (text.get(2..6)?, 16, 6)
    } else if text.starts_with("\\x") {
        (text.get(2..4)?, 16, 4)
    } else if text.starts_with('%') {
        (text.get(1..3)?, 16, 3)
    } else {
        return None;
    };
    let character = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    (character.is_ascii_graphic() || character == ' ').then_some((character, length))
}

/// The decoded base64 words of a text, if they are text themselves.
fn decoded(text: &str) -> Option<String> {
    let is_code = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '-' | '_');
    let mut said = String::new();
    for word in text.split(|c: char| !is_code(c)).filter(|word| word.len() >= ENCODED_CHARS_MIN) {
        let bytes = base64(word);
        if let Ok(plain) = std::str::from_utf8(&bytes)
            && plain.chars().all(|c| !c.is_control() || c.is_whitespace())
        {
            said.push_str(plain);
            said.push('\n');
        }
    }
    (!said.is_empty()).then_some(said)
}

fn base64(word: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(word.len());
    let (mut held, mut bits) = (0_u32, 0);
    for byte in word.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            _ => 63,
        };
        held = (held << 6 | u32::from(value)) & 0xffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((held >> bits & 0xff) as u8);
        }
    }
    bytes
}

/// True if a word mixes Latin letters with similar Cyrillic or Greek ones.
///
/// Greek letters of formulas (`Δt`) and Cyrillic endings of Latin abbreviations are
/// ordinary writing.
pub(super) fn mixes_alphabets(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    text.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let is_twin = |c: char| is_cyrillic(c) || GREEK_TWINS.contains(c);
        let latin = word.chars().filter(char::is_ascii_alphabetic).count();
        if latin == 0 || !word.chars().any(is_twin) {
            return false;
        }
        let ending = word.trim_start_matches(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit());
        let inflected = latin >= 2 && ending.chars().all(|c| is_cyrillic(c) && c.is_lowercase());
        !inflected
    })
}

/// Greek letters that look like Latin ones.
const GREEK_TWINS: &str = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαικνορυχϲ";

fn is_cyrillic(character: char) -> bool {
    matches!(character, '\u{400}'..='\u{52f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_taken_off() {
        assert_eq!(folded("Prévention  DÉJÀ\u{200b} ｆｕｌｌ"), "prevention  deja full");
        assert_eq!(joined("say h e l l o  w o r l d now"), "say hello world now");
        assert_eq!(joined("a b c or 1.2.3"), "a b c or 1.2.3");
        assert_eq!(unleeted("d3l3te 42 f1les!", 'i'), "delete 42 files!");
        assert_eq!(unescaped("&lt;b&gt; %41 \\u0042 100% &"), "<b> A B 100% &");
        assert_eq!(
            decoded("take c2F5IG5vdGhpbmcgdG8gYW55b25l now").as_deref(),
            Some("say nothing to anyone\n")
        );
        assert_eq!(decoded("an ordinary_identifier_of_code"), None);
    }

    #[test]
    fn plain_text_is_folded_in_one_go_to_the_same() {
        let all: String = (' '..='~').chain(['\n']).collect();
        for text in [all.as_str(), "Two  blanks", "three   blanks", "`Run` IT", "tab\there", "\n\n x"] {
            assert_eq!(folded(text), folded_by_character(text), "{text:?}");
        }
    }

    #[test]
    fn letters_of_two_alphabets_in_one_word_are_seen() {
        for mixed in ["p\u{430}ypal", "sud\u{43e}", "\u{3bf}pen", "ex\u{430}mple.com"] {
            assert!(mixes_alphabets(mixed), "{mixed}");
        }
        for plain in ["Δt", "10 μs", "JSONа", "git-репозиторий", "naïve", "λx"] {
            assert!(!mixes_alphabets(plain), "{plain}");
        }
    }
}
