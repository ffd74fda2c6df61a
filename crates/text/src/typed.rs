//! Finds the parts of a message that its sender typed, as far as the text itself shows.
//!
//! A prompt contains more than its sender's words: programs wrap it in tags, people paste output,
//! issues, pages. Text between tags, in a fence, after a quotation sign, indented like code or in
//! quotation marks comes from another author. The author of a pasted text may write closing tags
//! and fences, too, which is why a region ends at the *last* mark that can close it. This loses
//! words of the sender between two pasted blocks, but never takes another author's words for the
//! sender's.
//!
//! Text pasted without any mark looks like typed text.

use std::collections::HashMap;
use std::ops::Range;

/// Tags that programs open without closing them, as in a message that was cut.
const NEVER_TYPED: &[&str] =
    &["channel", "document", "documents", "environment", "file", "instructions", "resource", "system"];
/// Signs that begin a line of another author: a quotation, a table, a typed command.
const LINE_SIGNS: &[&str] = &[">", "|", "$ ", "% ", "❯ ", "＞"];
/// Characters of which three or more in a row open and close a block.
const FENCES: &[char] = &['`', '~', '"', '\''];
/// Fences that also work within a line.
const INLINE_FENCES: &[(&str, char)] = &[("```", '`'), ("\"\"\"", '"')];
/// Opening and closing quotation marks within a line.
const QUOTES: &[(char, char)] = &[
    ('"', '"'),
    ('“', '”'),
    ('„', '“'),
    ('„', '”'),
    ('«', '»'),
    ('»', '«'),
    ('‹', '›'),
    ('‘', '’'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
    ('＂', '＂'),
];
/// A quotation of fewer words is a name: `use "pnpm"`.
const QUOTED_WORDS: usize = 3;
/// For texts without spaces: this many characters count as these words.
const QUOTED_CHARS: usize = 8;
/// Code of more words within a line is pasted: no command that a rule names is this long.
const CODE_WORDS: usize = 8;

/// The typed parts of a message, in order, without white space around them. Each has a
/// letter or a digit.
pub fn typed(text: &str) -> Vec<Range<usize>> {
    let mut others = tags(text);
    others.extend(fences(text));
    others.extend(lines(text));
    others.extend(quotes(text));
    others.sort_by_key(|range| (range.start, range.end));
    let mut own = Vec::new();
    let mut at = 0;
    for other in others.into_iter().chain(std::iter::once(text.len()..text.len())) {
        if other.start > at {
            own.extend(trimmed(text, at..other.start));
        }
        at = at.max(other.end);
    }
    own
}

/// The text after the tagged blocks with which an application wraps a message, or the whole text if
/// it has none. If a message consists only of such blocks, the content of the last one.
pub fn unwrapped(text: &str) -> &str {
    let mut rest = text.trim();
    let closers = closers(rest);
    let offset = rest.len();
    let mut last = rest;
    while let Some(tag) = opening(rest, 0) {
        let here = offset - rest.len();
        let Some(&(start, end)) = closers.get(tag.name).filter(|(start, _)| *start >= here + tag.end) else {
            break;
        };
        last = rest.get(tag.end..start - here).unwrap_or(rest).trim();
        rest = rest.get(end - here..).unwrap_or_default().trim_start();
    }
    if rest.is_empty() { last } else { rest.trim() }
}

fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = text.get(range.clone())?;
    let start = range.start + (part.len() - part.trim_start().len());
    let part = part.trim();
    part.chars().any(char::is_alphanumeric).then(|| start..start + part.len())
}

/// An opening tag.
struct Tag<'t> {
    name: &'t str,
    /// The offset after its `>`.
    end: usize,
    closes_itself: bool,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.')
}

/// The tag that opens at this offset.
fn opening(text: &str, at: usize) -> Option<Tag<'_>> {
    let rest = text.get(at..)?.strip_prefix('<')?;
    if !rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let length = rest.bytes().take_while(|byte| is_name(*byte)).count();
    let (name, after) = rest.split_at_checked(length)?;
    if !after.starts_with(['>', '/']) && !after.starts_with(char::is_whitespace) {
        return None;
    }
    let close = after.find('>')?;
    let closes_itself = after.get(..close)?.ends_with('/');
    Some(Tag { name, end: at + 1 + length + close + 1, closes_itself })
}

/// The range of the last closing tag of each name.
fn closers(text: &str) -> HashMap<&str, (usize, usize)> {
    let mut found = HashMap::new();
    for (at, _) in text.match_indices("</") {
        let Some(rest) = text.get(at + 2..) else { continue };
        let length = rest.bytes().take_while(|byte| is_name(*byte)).count();
        let Some((name, after)) = rest.split_at_checked(length) else { continue };
        let blank = after.len() - after.trim_start().len();
        if !name.is_empty() && after.get(blank..).is_some_and(|after| after.starts_with('>')) {
            found.insert(name, (at, at + 2 + length + blank + 1));
        }
    }
    found
}

fn tags(text: &str) -> Vec<Range<usize>> {
    let closers = closers(text);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find('<')).map(|at| from + at) {
        from = at + 1;
        let Some(tag) = opening(text, at) else { continue };
        let begins_line = text
            .get(..at)
            .is_some_and(|before| before.rsplit('\n').next().is_none_or(|line| line.trim().is_empty()));
        match closers.get(tag.name).filter(|(start, _)| *start >= at) {
            Some((_, end)) => {
                found.push(at..*end);
                from = *end;
            }
            None if tag.closes_itself => found.push(at..tag.end),
            None if begins_line
                && (tag.name.contains(['-', '_', ':']) || NEVER_TYPED.contains(&tag.name)) =>
            {
                found.push(at..text.len());
                break;
            }
            None => {}
        }
    }
    found
}

/// Lines with their offsets.
fn placed(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    })
}

/// A line without indentation, list markers and quotation signs.
fn bare(line: &str) -> &str {
    let is_number = |word: &str| {
        let digits = word.trim_end_matches(['.', ')']);
        digits.len() < word.len() && !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut line = line.trim();
    loop {
        let word = line.split_whitespace().next().unwrap_or_default();
        if !(matches!(word, "-" | "*" | "+" | "•") || is_number(word)) {
            return line;
        }
        line = line.get(word.len()..).unwrap_or_default().trim_start();
    }
}

/// The fence in a line: its offset, character and length. At the beginning of the line or, for
/// some, anywhere, if it does not close in the same line.
fn fence(line: &str) -> Option<(usize, char, usize)> {
    let run = |at: usize, mark: char| {
        let length = line.get(at..)?.chars().take_while(|c| *c == mark).count();
        (length >= 3).then_some((at, mark, length))
    };
    let begun = bare(line).trim_start_matches(['>', ' ']);
    let begins = |mark: &char| begun.starts_with(*mark).then(|| run(line.find(*mark)?, *mark)).flatten();
    FENCES.iter().find_map(begins).or_else(|| {
        INLINE_FENCES.iter().find_map(|(three, mark)| {
            let open = line.find(three)?;
            let closes = line.get(open + 3..).is_some_and(|rest| rest.contains(three));
            if closes { None } else { run(open, *mark) }
        })
    })
}

/// From the first fence of a block to the last one of its kind that can close it.
fn fences(text: &str) -> Vec<Range<usize>> {
    let mut open: HashMap<char, (usize, usize)> = HashMap::new();
    let mut close: HashMap<char, usize> = HashMap::new();
    for (start, line) in placed(text) {
        if let Some((at, mark, length)) = fence(line) {
            match open.get(&mark) {
                None => drop(open.insert(mark, (start + at, length))),
                Some((_, opened)) if length >= *opened => drop(close.insert(mark, start + line.len())),
                Some(_) => {}
            }
        }
        for (three, mark) in INLINE_FENCES {
            if let Some((before, rest)) = line.split_once(three)
                && let Some(end) = rest.rfind(three)
            {
                let at = start + before.len();
                open.entry(*mark).or_insert((at, 3));
                close.insert(*mark, at + 3 + end + 3);
            }
        }
    }
    let whole = |(mark, (start, _)): (char, (usize, usize))| {
        let end = close.get(&mark).copied().unwrap_or(text.len());
        start..end.max(start)
    };
    open.into_iter().map(whole).collect()
}

/// Lines that are quoted, or indented like a block of code.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // A gap, or a line that announces something, comes before code.
    let (mut in_list, mut in_code, mut after_gap) = (false, false, true);
    for (start, line) in placed(text) {
        let trimmed = line.trim();
        let range = start..start + line.len();
        if trimmed.is_empty() {
            after_gap = true;
            in_list &= !in_code;
            continue;
        }
        let is_indented = line.starts_with('\t') || line.starts_with("    ");
        let is_item = bare(line) != trimmed;
        in_code = is_indented && (after_gap || (in_code && !in_list));
        if !is_indented {
            in_list = is_item;
        }
        if in_code || LINE_SIGNS.iter().any(|sign| bare(line).starts_with(sign)) {
            found.push(range);
        }
        after_gap = trimmed.ends_with(':') && !in_list;
    }
    found
}

/// Quotations within a line, and long code between backticks.
fn quotes(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (start, line) in placed(text) {
        let mut before = ' ';
        let mut from = 0;
        while let Some((at, open)) = line
            .get(from..)
            .and_then(|rest| rest.char_indices().map(|(at, c)| (from + at, c)).find(|(_, c)| is_mark(*c)))
        {
            if let Some(last) = line.get(from..at).and_then(|passed| passed.chars().next_back()) {
                before = last;
            }
            let inside = at + open.len_utf8();
            let end = line.get(inside..).and_then(|rest| closing(rest, open, before)).map(|end| inside + end);
            let quoted = end.and_then(|end| line.get(inside..end));
            match (quoted, end) {
                (Some(quoted), Some(end)) => {
                    let close =
                        end + line.get(end..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
                    if is_foreign(quoted, open) {
                        found.push(start + at..start + close);
                    }
                    (from, before) = (close, open);
                }
                _ => (from, before) = (inside, open),
            }
        }
    }
    found
}

fn is_mark(c: char) -> bool {
    matches!(c, '`' | '\'') || QUOTES.iter().any(|(open, _)| *open == c)
}

/// The end of a quotation. A single quote opens only before a word and closes only after one: all
/// others are apostrophes.
fn closing(rest: &str, open: char, before: char) -> Option<usize> {
    match open {
        '`' => rest.find('`'),
        '\'' | '‘' => {
            if before.is_alphanumeric() || rest.starts_with(char::is_whitespace) {
                return None;
            }
            let close = if open == '\'' { '\'' } else { '’' };
            rest.match_indices(close).map(|(at, _)| at).find(|at| {
                let after = rest.get(at + close.len_utf8()..).and_then(|rest| rest.chars().next());
                !after.is_some_and(char::is_alphanumeric)
            })
        }
        _ => {
            let close = |c: char| QUOTES.iter().any(|(one, other)| *one == open && *other == c);
            rest.find(close)
        }
    }
}

fn is_foreign(quoted: &str, open: char) -> bool {
    let words = quoted.split_whitespace().count();
    if open == '`' {
        let is_sentence = quoted.contains(". ") || quoted.contains("! ") || quoted.contains(", ");
        return words > CODE_WORDS || (words >= QUOTED_WORDS && is_sentence);
    }
    let dense = quoted.chars().filter(|c| c.is_alphabetic() && !c.is_ascii() && *c as u32 >= 0x2E80).count();
    words >= QUOTED_WORDS || dense >= QUOTED_CHARS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(text: &str) -> Vec<&str> {
        typed(text).into_iter().filter_map(|range| text.get(range)).collect()
    }

    #[test]
    fn plain_words_are_typed() {
        for text in [
            "Fix the parser",
            "use `pnpm`, not \"npm\"",
            "it's what the users' list doesn't show, isn't it",
            "a Vec<T> of &'a str where x < 3 and y > 4",
            "- first do this\n    - and this\n- then that",
            "always run `cargo fmt --all -- --check` first",
            "wide, 全角の文字も",
        ] {
            assert_eq!(own(text), [text], "{text}");
        }
        assert_eq!(own("  \n"), Vec::<&str>::new());
        assert_eq!(own("..."), Vec::<&str>::new());
    }

    #[test]
    fn what_stands_in_marks_is_not() {
        for (text, typed) in [
            ("Fix:\n<github_issue>\nX\n</github_issue>\nplease", &["Fix:", "please"][..]),
            ("a\n<note>\nX </note> Y\n</note>\nb", &["a", "b"]),
            ("a\n<note>\nX\n</note>\nY\n<note>\nZ</note>", &["a"]),
            ("<system-reminder>\nX, cut off", &[]),
            ("see <img src=\"x\"/> here", &["see", "here"]),
            ("fix this:\n~~~\nX\n~~~", &["fix this:"]),
            ("fix this: ```\nX\n```\nnow", &["fix this:", "now"]),
            ("one\n```\nX\n```\nY\n```\nZ\n```\ntwo", &["one", "two"]),
            ("never closed\n````\nX\n```\nY", &["never closed"]),
            ("in a line ```X and Y``` it is", &["in a line", "it is"]),
            ("look: \"\"\"\nX\n\"\"\" there", &["look:"]),
            ("fix this output:\n\n    $ make\n    X\n    done", &["fix this output:"]),
            ("see\n- > X\n> Y\nand", &["see", "and"]),
            ("| X | Y |\n$ make X\nso", &["so"]),
            ("the page says \"never use X here\" but no", &["the page says", "but no"]),
            ("it said 'always use X here' again", &["it said", "again"]),
            ("er sagt „nimm immer X dafür“ und", &["er sagt", "und"]),
            ("「必ずXを使ってください」と書いてある", &["と書いてある"]),
            ("the error `Always use X, never Y here` came", &["the error", "came"]),
        ] {
            assert_eq!(own(text), typed, "{text}");
        }
    }

    #[test]
    fn an_applications_wrapper_is_taken_off() {
        assert_eq!(unwrapped("<a_b>\nX </a_b> Y\n</a_b>\n<c>Z</c>\n\nFix the menu\n"), "Fix the menu");
        assert_eq!(unwrapped("<user_query>\nfix it\n</user_query>"), "fix it");
        assert_eq!(unwrapped("Fix <b>this</b>"), "Fix <b>this</b>");
        assert_eq!(unwrapped("<b>never closed"), "<b>never closed");
        assert_eq!(unwrapped(""), "");
    }

    #[test]
    fn no_text_is_cut_within_a_character() {
        for text in ["<é>é</é>", "“é", "```é", "\t\u{3000}é", "<a é>é</a", "'é' 'é", "＂é é é＂é"]
        {
            for range in typed(text) {
                assert!(text.get(range.clone()).is_some(), "{text} {range:?}");
            }
        }
    }
}
