//! A Rust file as the checks see it: what is code, what is only said, what is test.
//!
//! A reader of characters, not a parser: it knows comments, strings and braces,
//! which is enough to say where a test module ends and whether a word is code.

use std::path::{Path, PathBuf};

/// A Rust file.
pub(crate) struct Source {
    /// Where it lies in the repository.
    pub(crate) path: PathBuf,
    /// Its text as it is.
    pub(crate) text: String,
    /// Its text with comments, strings and test code blanked out; lines and
    /// columns are the same.
    pub(crate) code: String,
}

impl Source {
    /// Reads a file's text.
    pub(crate) fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Source {
        let (path, text) = (path.into(), text.into());
        let code = if is_test(&path) { blank(&text) } else { without_tests(&without_words(&text)) };
        Source { path, text, code }
    }

    /// Whether it lies below one of these folders.
    pub(crate) fn is_below(&self, folders: &[&str]) -> bool {
        folders.iter().any(|folder| self.path.starts_with(folder))
    }

    /// The line numbers at which one of `words` stands in the code, with the
    /// word. A word that begins with a letter stands there only as a whole.
    pub(crate) fn uses<'a>(&'a self, words: &'a [&'a str]) -> impl Iterator<Item = (usize, &'a str)> {
        (1..).zip(self.code.lines()).flat_map(move |(number, line)| {
            words.iter().filter(move |word| has_word(line, word)).map(move |word| (number, *word))
        })
    }
}

fn has_word(line: &str, word: &str) -> bool {
    let continues = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].bytes().last().filter(|_| word.bytes().next().is_some_and(continues));
        !before.is_some_and(continues)
    })
}

/// Whether a whole file is test code: tests, benchmarks, examples, build of demos.
fn is_test(path: &Path) -> bool {
    let folder = |name: &str| path.components().any(|part| part.as_os_str() == name);
    folder("tests")
        || folder("testing")
        || folder("benches")
        || folder("examples")
        || path.ends_with("tests.rs")
        || path.ends_with("testing.rs")
}

fn blank(text: &str) -> String {
    text.chars().map(|character| if character == '\n' { '\n' } else { ' ' }).collect()
}

/// `text` with the contents of comments and strings blanked out.
fn without_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let length = match character {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => string(rest),
            'r' | 'b' if !ends_word(&out) => prefixed_string(rest).unwrap_or(0),
            '\'' => character_literal(rest).unwrap_or(0),
            _ => 0,
        };
        if length == 0 {
            out.push(character);
            rest = &rest[character.len_utf8()..];
        } else {
            out.push_str(&blank(&rest[..length]));
            rest = &rest[length..];
        }
    }
    out
}

fn ends_word(text: &str) -> bool {
    text.chars().last().is_some_and(|last| last.is_alphanumeric() || last == '_')
}

/// Length of the comment at the start, which may hold others.
fn block_comment(text: &str) -> usize {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Length of the string at the start.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of `r"…"`, `r#"…"#`, `b"…"`, `br"…"` at the start.
fn prefixed_string(text: &str) -> Option<usize> {
    let letters = text.len() - text.trim_start_matches(['r', 'b']).len();
    let prefix = &text[..letters];
    let after = &text[letters..];
    let hashes = after.len() - after.trim_start_matches('#').len();
    if !after[hashes..].starts_with('"') || letters > 2 {
        return None;
    }
    if !prefix.contains('r') {
        return (hashes == 0).then(|| letters + string(after));
    }
    let close = format!("\"{}", "#".repeat(hashes));
    let body = &after[hashes + 1..];
    let end = body.find(&close).map_or(body.len(), |at| at + close.len());
    Some(letters + hashes + 1 + end)
}

/// Length of the character literal at the start; none if it is a lifetime.
fn character_literal(text: &str) -> Option<usize> {
    let inside = &text[1..];
    if inside.starts_with('\\') {
        return inside.char_indices().skip(2).find(|(_, c)| *c == '\'').map(|(at, _)| at + 2);
    }
    let first = inside.chars().next()?.len_utf8();
    inside[first..].starts_with('\'').then_some(first + 2)
}

/// `code` with every item behind `#[cfg(test)]` blanked out.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        let end = at + item_end(&rest[at..]);
        out.push_str(&rest[..at]);
        out.push_str(&blank(&rest[at..end]));
        rest = &rest[end..];
    }
    out.push_str(rest);
    out
}

/// Where the item at the start ends: at its `;`, or at the brace that closes its first.
fn item_end(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let code = Source::new("crates/x/src/lib.rs", text).code;
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_strings_are_no_code() {
        assert_eq!(code("a(); // panic!\n/* b /* c */ d */ e();"), "a(); e();");
        assert_eq!(code(r##"f("x \" y", r#"z " w"#, b"v", 'q', '\'', '"');"##), "f( , , , , , );");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
    }

    #[test]
    fn what_is_behind_cfg_test_is_no_code() {
        assert_eq!(
            code("fn a() {}\n#[cfg(test)]\nmod tests { fn b() { \"}\" } }\nfn c() {}"),
            "fn a() {} fn c() {}"
        );
        assert_eq!(code("#[cfg(test)] mod tests;\nfn c() {}"), "fn c() {}");
        assert_eq!(Source::new("crates/x/tests/a.rs", "fn a() {}").code.trim(), "");
    }

    #[test]
    fn lines_keep_their_numbers() {
        let source = Source::new("a.rs", "/*\n*/\nlet s = \"\n\";\nfoo();");
        assert_eq!(source.uses(&["foo("]).collect::<Vec<_>>(), [(5, "foo(")]);
    }

    #[test]
    fn a_word_stands_only_as_a_whole() {
        assert!(has_word("x.unwrap()", ".unwrap()"));
        assert!(has_word("print!()", "print!"));
        assert!(!has_word("eprint!()", "print!"));
    }
}
