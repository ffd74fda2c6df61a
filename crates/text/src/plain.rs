//! Output of programs without terminal control sequences.

use std::borrow::Cow;

/// Bytes read at the beginning of an output.
const HEAD_BYTES: usize = 32 * 1024;
/// Bytes read at its end.
const TAIL_BYTES: usize = 64 * 1024;

/// The beginning and the end of a long text, cut at line ends, or the whole of a short one.
pub fn ends(text: &str) -> impl Iterator<Item = &str> {
    let (head, tail) = match text.len() > HEAD_BYTES + TAIL_BYTES {
        false => (text, ""),
        true => {
            let head = boundary(text, HEAD_BYTES);
            let tail = boundary(text, text.len() - TAIL_BYTES);
            let head_end = text.get(..head).and_then(|head| head.rfind('\n')).unwrap_or(head);
            let tail_start =
                text.get(tail..).and_then(|rest| rest.find('\n')).map_or(tail, |at| tail + at + 1);
            (text.get(..head_end).unwrap_or_default(), text.get(tail_start..).unwrap_or_default())
        }
    };
    [head, tail].into_iter().filter(|part| !part.is_empty())
}

fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// A line without escape sequences, and without text that a carriage return overwrote.
pub fn plain(line: &str) -> Cow<'_, str> {
    let line = line.trim_end_matches(['\r', '\n', ' ']);
    let line = line.rsplit_once('\r').map_or(line, |(_, shown)| shown);
    if !line.bytes().any(|byte| byte < b' ' && byte != b'\t') {
        return Cow::Borrowed(line);
    }
    let mut text = String::with_capacity(line.len());
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\u{1b}' => skip_sequence(&mut characters),
            _ if character.is_control() && character != '\t' => {}
            _ => text.push(character),
        }
    }
    text.truncate(text.trim_end().len());
    Cow::Owned(text)
}

/// Skips the rest of an escape sequence.
fn skip_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            for character in characters.by_ref() {
                if ('@'..='~').contains(&character) {
                    return;
                }
            }
        }
        Some(']') => {
            while let Some(character) = characters.next() {
                if character == '\u{7}' || (character == '\u{1b}' && characters.next_if_eq(&'\\').is_some()) {
                    return;
                }
            }
        }
        Some(_) => {
            characters.next();
        }
        None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn colours_and_overwritten_text_go() {
        assert_eq!(plain("\u{1b}[1;31merror\u{1b}[0m: no  \r"), "error: no");
        assert_eq!(plain("10%\r50%\rdone"), "done");
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{1b}"), "x");
        assert!(matches!(plain("a\tb"), Cow::Borrowed("a\tb")));
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let text = format!("first\n{}last", "x\n".repeat(80_000));
        let parts: Vec<&str> = ends(&text).collect();
        assert!(parts[0].starts_with("first") && parts[1].ends_with("last"));
        assert!(parts.iter().map(|part| part.len()).sum::<usize>() <= HEAD_BYTES + TAIL_BYTES);
    }

    proptest! {
        #[test]
        fn plain_text_has_no_controls_and_stays(line in any::<String>()) {
            let once = plain(&line).into_owned();
            prop_assert!(once.chars().all(|c| c == '\t' || !c.is_control()));
            prop_assert_eq!(plain(&once), once.clone());
        }
    }
}
