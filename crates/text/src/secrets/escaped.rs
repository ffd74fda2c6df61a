//! Text without the JSON escapes that can stand inside a secret.
//!
//! JSON inside a string of JSON keeps its escapes: a `\u003d` or `\/` then cuts
//! a token in two. The other escapes end a token or stand between the lines of a
//! key, and the rules know them.

use memchr::{memchr, memmem, memrchr};
use std::ops::Range;

/// A line with such escapes resolved, and where its bytes came from.
pub(super) struct Unescaped {
    text: Vec<u8>,
    escapes: Vec<Escape>,
}

/// One resolved escape.
struct Escape {
    /// Place of its character in the resolved text.
    at: usize,
    /// One past its last byte in the original.
    original_end: usize,
}

/// Each line of a text that has escapes to resolve, with its offset. A string
/// of JSON never goes over a line.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = (usize, Unescaped)> {
    let mut unicode = memmem::find_iter(text, br"\u00").peekable();
    let mut slashes = memmem::find_iter(text, br"\/").peekable();
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            while unicode.next_if(|&at| at < from).is_some() || slashes.next_if(|&at| at < from).is_some() {}
            let escape = unicode.peek().into_iter().chain(slashes.peek()).copied().min()?;
            let start = memrchr(b'\n', text.get(from..escape)?).map_or(from, |end| from + end + 1);
            let end = memchr(b'\n', text.get(escape..)?).map_or(text.len(), |end| escape + end);
            from = end;
            if let Some(line) = Unescaped::of(text.get(start..end)?) {
                return Some((start, line));
            }
        }
    })
}

impl Unescaped {
    /// The resolved text, or nothing if there is no escape to resolve.
    fn of(original: &[u8]) -> Option<Unescaped> {
        let mut view = Unescaped { text: Vec::with_capacity(original.len()), escapes: Vec::new() };
        let mut rest = original;
        while let Some(slash) = memchr(b'\\', rest) {
            let (plain, from) = rest.split_at(slash);
            view.text.extend_from_slice(plain);
            let (length, character) = match escape(from) {
                Some((length, character)) => (length, character),
                None => {
                    let slashes = from.iter().take_while(|&&byte| byte == b'\\').count();
                    view.text.extend_from_slice(&from[..slashes]);
                    rest = &from[slashes..];
                    continue;
                }
            };
            rest = &from[length..];
            view.escapes.push(Escape { at: view.text.len(), original_end: original.len() - rest.len() });
            view.text.push(character);
        }
        view.text.extend_from_slice(rest);
        (!view.escapes.is_empty()).then_some(view)
    }

    /// The resolved text.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where a part of the resolved text stands in the original.
    pub(super) fn place(&self, part: &Range<usize>) -> Range<usize> {
        self.offset(part.start)..self.offset(part.end)
    }

    fn offset(&self, at: usize) -> usize {
        let before = self.escapes.partition_point(|escape| escape.at < at);
        match before.checked_sub(1).and_then(|last| self.escapes.get(last)) {
            Some(escape) => escape.original_end + (at - escape.at - 1),
            None => at,
        }
    }
}

/// Length and character of the escape that `text` begins with: any number of
/// backslashes, for JSON in JSON in JSON, and a printable ASCII character.
fn escape(text: &[u8]) -> Option<(usize, u8)> {
    let slashes = text.iter().take_while(|&&byte| byte == b'\\').count();
    match text.get(slashes..)? {
        [b'/', ..] => Some((slashes + 1, b'/')),
        [b'u', b'0', b'0', high, low, ..] => {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            let code = u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?;
            matches!(code, b' '..=b'~').then_some((slashes + 5, code))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_resolved_and_places_come_back() {
        let original = r"a\u0041b\/c\\u003dd\n";
        let view = Unescaped::of(original.as_bytes()).expect("there are escapes");
        assert_eq!(view.text(), br"aAb/c=d\n");
        for (part, place) in
            [(0..1, "a"), (1..2, r"\u0041"), (2..5, r"b\/c"), (4..7, r"c\\u003dd"), (7..9, r"\n")]
        {
            assert_eq!(&original[view.place(&part)], place);
        }
    }

    #[test]
    fn only_lines_with_escapes_are_resolved() {
        let text = "a\n\\u0041b\nc\nd\\/e";
        let found: Vec<_> = lines(text.as_bytes()).map(|(at, line)| (at, line.text)).collect();
        assert_eq!(found, [(2, b"Ab".to_vec()), (12, b"d/e".to_vec())]);
    }

    #[test]
    fn text_without_such_escapes_is_not_copied() {
        for text in ["plain", r"a\nb", r"\u001b[0m", r"\u00", r"\u00zz", r"\\"] {
            assert!(lines(text.as_bytes()).next().is_none(), "{text}");
        }
    }
}
