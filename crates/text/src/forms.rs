//! The ways in which a text is written into logs: as it is, escaped in JSON (once, and as JSON
//! inside JSON), escaped in an address, and inside something that was encoded as base64.
//!
//! Who wants to take a text out of a log looks for all of them. What is compressed has none.

use std::collections::BTreeSet;
use std::fmt::Write;

/// Bytes of the shortest text, and of the shortest form of one, that is looked for.
pub const FORM_BYTES_MIN: usize = 8;

/// Bytes of the longest text that is looked for.
pub const TEXT_BYTES_MAX: usize = 16 * 1024;

/// Every form of a text, each once.
pub fn forms(text: &str) -> Vec<Vec<u8>> {
    let mut forms: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut texts: BTreeSet<String> = BTreeSet::from([text.to_owned()]);
    for style in STYLES {
        let once = escaped(text, style);
        for again in STYLES {
            texts.insert(escaped(&once, again));
        }
        texts.insert(once);
    }
    for kept in [URL_LOOSE, URL_STRICT] {
        for is_upper in [true, false] {
            let encoded = percent(text, kept, is_upper);
            texts.insert(encoded.replace("%20", "+"));
            texts.insert(encoded);
        }
    }
    forms.extend(texts.into_iter().map(String::into_bytes));
    for inner in [text.to_owned(), escaped(text, &STYLES[0])] {
        for shift in 0..3 {
            let plain = inside_base64(inner.as_bytes(), shift);
            forms.insert(plain.bytes().map(url_safe).collect());
            forms.insert(plain.into_bytes());
        }
    }
    forms.into_iter().filter(|form| form.len() >= FORM_BYTES_MIN).collect()
}

/// Why a text is not looked for: it would be found where it is not meant.
pub fn why_not(text: &str) -> Option<&'static str> {
    if text.len() < FORM_BYTES_MIN {
        return Some("it has fewer than 8 bytes");
    }
    if text.len() > TEXT_BYTES_MAX {
        return Some("it has more than 16 KiB");
    }
    let distinct: BTreeSet<char> = text.chars().collect();
    if distinct.len() < 4 {
        return Some("it has fewer than 4 different characters");
    }
    // The mask itself, and what it is made of, must not be found again.
    if text.chars().all(|c| c == '*' || c.is_whitespace()) {
        return Some("it is a mask");
    }
    None
}

/// Whether a text is one word as a dictionary has it: letters, with at most the first of them
/// large. Whether it is a common one, a list of words says.
pub fn is_one_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(char::is_alphabetic) && letters.all(char::is_lowercase)
}

/// How a writer of JSON escapes.
struct Style {
    /// What is not ASCII is written as `\u00e9`.
    is_ascii: bool,
    /// Its digits are large.
    is_upper: bool,
    /// `/` is written as `\/`, and `<`, `>` and `&` by numbers.
    is_for_html: bool,
}

const STYLES: &[Style] = &[
    Style { is_ascii: false, is_upper: false, is_for_html: false },
    Style { is_ascii: true, is_upper: false, is_for_html: false },
    Style { is_ascii: true, is_upper: true, is_for_html: false },
    Style { is_ascii: false, is_upper: false, is_for_html: true },
];

fn escaped(text: &str, style: &Style) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '/' if style.is_for_html => out.push_str("\\/"),
            '<' | '>' | '&' if style.is_for_html => number(&mut out, c, style),
            c if c.is_control() && c.is_ascii() => number(&mut out, c, style),
            c if !c.is_ascii() && style.is_ascii => number(&mut out, c, style),
            c => out.push(c),
        }
    }
    out
}

fn number(out: &mut String, c: char, style: &Style) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing into a string does not fail.
        let _ = match style.is_upper {
            true => write!(out, "\\u{unit:04X}"),
            false => write!(out, "\\u{unit:04x}"),
        };
    }
}

/// What `encodeURIComponent` leaves as it is, and what RFC 3986 does.
const URL_LOOSE: &[u8] = b"-_.!~*'()";
const URL_STRICT: &[u8] = b"-_.~";

fn percent(text: &str, kept: &[u8], is_upper: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = match is_upper {
                true => write!(out, "%{byte:02X}"),
                false => write!(out, "%{byte:02x}"),
            };
        }
    }
    out
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The digits of base64 that a text alone decides, where `shift` bytes come before it in its
/// group of three. Those at its edges also depend on what is beside it.
fn inside_base64(bytes: &[u8], shift: usize) -> String {
    let bits = |at: usize| -> Option<u8> {
        // Bits of the text are counted from the first of its group.
        let at = at.checked_sub(shift * 8)?;
        Some(bytes.get(at / 8)? >> (7 - at % 8) & 1)
    };
    let mut out = String::new();
    for digit in 0..(shift + bytes.len()) * 8 / 6 {
        let value = (0..6).try_fold(0u8, |value, bit| Some(value << 1 | bits(digit * 6 + bit)?));
        out.extend(value.and_then(|value| DIGITS.get(usize::from(value))).map(|byte| char::from(*byte)));
    }
    out
}

fn url_safe(byte: u8) -> u8 {
    match byte {
        b'+' => b'-',
        b'/' => b'_',
        byte => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "pässe \"am\"/Kai\n&mehr";

    fn has(form: &str) -> bool {
        forms(TEXT).iter().any(|known| known == form.as_bytes())
    }

    #[test]
    fn every_usual_way_to_write_a_text_is_among_its_forms() {
        let json = serde_json::to_string(TEXT).unwrap();
        assert!(has(TEXT) && has(json.trim_matches('"').get(0..).unwrap()) || has(&json[1..json.len() - 1]));
        let twice = serde_json::to_string(&json[1..json.len() - 1]).unwrap();
        assert!(has(&twice[1..twice.len() - 1]), "JSON inside JSON");
        assert!(has("p\\u00e4sse \\\"am\\\"/Kai\\n&mehr") && has("p\\u00E4sse \\\"am\\\"/Kai\\n&mehr"));
        assert!(has("pässe \\\"am\\\"\\/Kai\\n\\u0026mehr"), "as for a page");
        assert!(has("p%C3%A4sse%20%22am%22%2FKai%0A%26mehr") && has("p%c3%a4sse+%22am%22%2fKai%0a%26mehr"));
    }

    #[test]
    fn whatever_is_around_it_base64_holds_one_of_its_forms() {
        let encode = |bytes: &[u8]| -> String {
            let mut padded = bytes.to_vec();
            padded.resize(bytes.len().div_ceil(3) * 3, 0);
            inside_base64(&padded, 0)
        };
        for before in ["", "a", "ab", "abc", "xyz?"] {
            for after in ["", "1", "12", "\u{fffd}"] {
                let encoded = encode(format!("{before}{TEXT}{after}").as_bytes());
                let holds = |form: &Vec<u8>| {
                    memchr::memmem::find(encoded.as_bytes(), form).is_some() && form.len() >= TEXT.len()
                };
                assert!(forms(TEXT).iter().any(holds), "{before:?} {after:?}");
            }
        }
        assert_eq!(encode(b"Man"), "TWFu");
        assert_eq!(encode(&[251, 255, 191]), "+/+/");
        assert_eq!("+/a".bytes().map(url_safe).collect::<Vec<_>>(), b"-_a");
    }

    #[test]
    fn what_would_be_found_everywhere_is_refused() {
        for bad in ["", "short", "aaaaaaaaaaaa", "************", "        \n  "] {
            assert!(why_not(bad).is_some(), "{bad:?}");
        }
        for good in ["hunter2-horse", "0123456789", "zwölf Boxkämpfer"] {
            assert_eq!(why_not(good), None, "{good:?}");
        }
        assert!(is_one_word("function") && is_one_word("Übung") && !is_one_word("two words"));
        assert!(!is_one_word("camelCase") && !is_one_word("pass1word"));
    }
}
