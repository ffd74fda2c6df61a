//! Patterns for the output of programs.
//!
//! They are patterns over bytes, in which `\s`, `\b` and similar classes are ASCII only. Compiling
//! them takes a small part of the time that Unicode patterns take, which matters when a hook waits,
//! and they stay fast on lines with other characters.

use std::sync::OnceLock;

use memchr::memmem;
use regex::bytes::{Regex, RegexSet};

use crate::keywords::{Keywords, LENGTH_MIN};

/// Patterns that are matched together.
pub(crate) fn of_bytes(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(patterns.iter().map(|pattern| bytewise(pattern))).ok()
}

fn bytewise(pattern: &str) -> String {
    format!("(?-u){pattern}")
}

/// Patterns for sentences, each with a literal part. A pattern is compiled when a line first
/// contains its literal part, so a long table costs next to nothing.
pub(crate) struct Sentences {
    patterns: &'static [&'static str],
    made: Vec<OnceLock<Option<Regex>>>,
    parts: Keywords,
    /// Literal parts that are too short for keywords, with the index of their pattern.
    short: Vec<(usize, String)>,
}

impl Sentences {
    pub(crate) fn new(patterns: &'static [&'static str]) -> Sentences {
        let parts: Vec<String> = patterns.iter().map(|pattern| literal_part(pattern)).collect();
        let is_short = |(_, part): &(usize, String)| part.len() < LENGTH_MIN;
        let short = parts.iter().cloned().enumerate().filter(is_short).collect();
        let parts = Keywords::new(parts.iter().map(|part| part.to_ascii_lowercase()).collect());
        Sentences { patterns, made: patterns.iter().map(|_| OnceLock::new()).collect(), parts, short }
    }

    /// True if a line matches one of the patterns.
    pub(crate) fn is_match(&self, line: &[u8]) -> bool {
        let mut is_match = false;
        self.parts.find(line, |number, _| is_match = is_match || self.is_one(number, line));
        let has_short = |part: &str| memmem::find(line, part.as_bytes()).is_some();
        is_match || self.short.iter().any(|(number, part)| has_short(part) && self.is_one(*number, line))
    }

    fn is_one(&self, number: usize, line: &[u8]) -> bool {
        let (Some(made), Some(pattern)) = (self.made.get(number), self.patterns.get(number)) else {
            return false;
        };
        let made = made.get_or_init(|| Regex::new(&bytewise(pattern)).ok());
        made.as_ref().is_some_and(|pattern| pattern.is_match(line))
    }
}

/// The longest string that every match of a pattern contains. It is searched outside groups and
/// classes. The pattern has no alternatives there.
fn literal_part(pattern: &str) -> String {
    let (mut longest, mut run) = (String::new(), String::new());
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        let literal = match character {
            '(' | '[' => {
                skip(character, &mut rest);
                None
            }
            '\\' => rest.next().filter(|escaped| !escaped.is_alphanumeric()),
            '^' | '$' | '.' | '*' | '+' | '?' => None,
            '{' => {
                rest.find(|character| *character == '}');
                None
            }
            other => Some(other),
        };
        match literal {
            Some(literal) if !matches!(rest.peek(), Some('*' | '?' | '{')) => run.push(literal),
            _ => run.clear(),
        }
        if run.len() > longest.len() {
            longest.clone_from(&run);
        }
    }
    longest
}

/// Skips to the end of the group or class that was opened.
fn skip(opened: char, rest: &mut impl Iterator<Item = char>) {
    let end = if opened == '(' { ')' } else { ']' };
    while let Some(character) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            '(' | '[' if opened == '(' => skip(character, rest),
            _ if character == end => return,
            _ => {}
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::{
        strategy::{Strategy as _, ValueTree as _},
        string::bytes_regex,
        test_runner::TestRunner,
    };

    #[test]
    fn the_longest_text_outside_groups_is_found() {
        assert_eq!(literal_part(r"^test result: FAILED\."), "test result: FAILED.");
        assert_eq!(literal_part(r"tests? run: .*[1-9][0-9]* (?:failed|timed out)"), " run: ");
        assert_eq!(literal_part(r"^(?:=+ )?[0-9]+ passed\b.* in [0-9.]+s"), " passed");
        assert_eq!(literal_part(r"^make(?:\[[0-9]+\])?: \*\*\* "), ": *** ");
        assert_eq!(literal_part(r"\.{3,}Passed$"), "Passed");
    }

    /// Every string generated from a pattern contains its literal part, and matches.
    pub(crate) fn assert_found(patterns: &'static [&'static str]) {
        let sentences = Sentences::new(patterns);
        let mut runner = TestRunner::deterministic();
        for pattern in patterns {
            assert!(Regex::new(&bytewise(pattern)).is_ok(), "{pattern}");
            assert!(literal_part(pattern).len() > 1, "{pattern}");
            // Strings cannot be generated from the boundaries of words and lines.
            let bare = pattern.replace(r"\b", "").replace("|$)", ")");
            let bare = bytewise(bare.trim_start_matches('^').trim_end_matches('$'));
            let texts = bytes_regex(&bare).expect("a pattern that texts can be made from");
            for _ in 0..50 {
                let text = texts.new_tree(&mut runner).expect("a text").current();
                let part = literal_part(pattern);
                let has_part = text.windows(part.len()).any(|window| window == part.as_bytes());
                let shown = String::from_utf8_lossy(&text).into_owned();
                assert!(has_part, "{pattern}: {shown:?} lacks {part:?}");
                let found = Regex::new(&bytewise(pattern)).is_ok_and(|pattern| pattern.is_match(&text));
                assert!(!found || sentences.is_match(&text), "{pattern}: {shown:?}");
            }
        }
    }
}
