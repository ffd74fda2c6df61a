//! Applies the rules to a text: keywords first, patterns only at a keyword.

use regex::bytes::{Regex, RegexBuilder};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::columns::{self, Head};
use super::named::{self, Names, Runs};
use super::next::Next;
use super::rule::{Case, Judge, Rule};
use super::{marker, plausible, rules};
use crate::keywords::Keywords;

/// The window after a keyword never grows beyond this.
const REACH_MAX: usize = 1 << 20;

/// The total size of grown windows, as a multiple of the text's length: enough for a secret as long
/// as the text, and a limit for adversarial text.
const GROWTH_MAX: usize = 10;

/// The findings of each rule in the raw `text`.
pub(super) fn hits(text: &[u8]) -> Vec<Hit> {
    hits_of(text, Work::new(text, TRIES_MIN), |_| true)
}

/// What rules see by its shape in a word that was put together from lines.
pub(super) fn hits_of_wrapped(word: &[u8]) -> Vec<Hit> {
    hits_of(word, Work::new(word, WRAPPED_TRIES_MIN), |rule| rule.judge == Judge::Shape)
}

/// Whether a rule sees something in a word that was put together from lines.
pub(super) fn sees(word: &[u8], name: &str) -> bool {
    !hits_of(word, Work::new(word, WRAPPED_TRIES_MIN), |rule| rule.name == name).is_empty()
}

fn hits_of(text: &[u8], mut work: Work, is_asked: impl Fn(&Rule) -> bool) -> Vec<Hit> {
    let scanner = &*SCANNER;
    let mut hits = Vec::new();
    scanner.keywords.find(text, |keyword, at| {
        for ready in scanner.rules_of(keyword).filter(|ready| is_asked(ready.rule)) {
            ready.look(text, at.clone(), &mut hits, &mut work);
        }
    });
    columns::add_hits(text, &work.heads, &mut hits);
    hits
}

/// True if a name contains any keyword.
pub(super) fn has_keyword(name: &[u8]) -> bool {
    let mut found = false;
    SCANNER.keywords.find(name, |_, _| found = true);
    found
}

/// The rules that treat a value as a secret because of this name.
pub(super) fn named_rules(name: &[u8]) -> Vec<&'static Rule> {
    let scanner = &*SCANNER;
    let mut rules: Vec<&'static Rule> = Vec::new();
    scanner.keywords.find(name, |keyword, at| {
        for ready in scanner.rules_of(keyword) {
            let is_name = |names: &Names| names.whole(name, &at).is_some_and(|whole| whole.end == name.len());
            if ready.rule.names.as_ref().is_some_and(is_name) {
                rules.push(ready.rule);
            }
        }
    });
    rules
}

/// State shared by all rules for one text.
struct Work {
    /// Bytes by which windows may still grow.
    growth: usize,
    runs: Runs,
    /// Names that are the heads of columns.
    heads: Vec<Head>,
    /// The ends of the token and of the line that contain a window.
    token: Next,
    line: Next,
    /// For each rule, the end of the last long value that it refused, and how often it has read it
    /// since.
    refused: Vec<(usize, u8)>,
    /// For each rule, the last part of the text that it has read as a front.
    fronts: Vec<Range<usize>>,
    /// The number of tries in a short token or line.
    tries_min: usize,
    /// For each rule, the end of the last token or line in which it tried its pattern, and its
    /// remaining tries there.
    tries: Vec<(usize, usize)>,
}

/// How often a rule reads a long value that it has refused. This bounds the cost of text that
/// repeats a keyword endlessly.
const LOOKS_MAX: u8 = 4;

/// How often a rule tries its pattern without a match in one token, or in one line if it matches
/// commands: this often in a short one, and once more for every few bytes of a long one.
const TRIES_MIN: usize = 32;
const BYTES_A_TRY: usize = 64;
/// The same for words that were put together from lines.
const WRAPPED_TRIES_MIN: usize = 4;

/// Shorter values are too cheap to be remembered.
const LONG_BYTES: usize = 256;

impl Work {
    fn new(text: &[u8], tries_min: usize) -> Work {
        Work {
            fronts: Vec::new(),
            tries_min,
            growth: text.len().saturating_mul(GROWTH_MAX),
            runs: Runs::default(),
            heads: Vec::new(),
            token: Next::default(),
            line: Next::default(),
            refused: Vec::new(),
            tries: Vec::new(),
        }
    }

    /// True if a rule has read the value at `at` often enough.
    fn is_settled(&mut self, rule: usize, at: usize) -> bool {
        self.refused.get_mut(rule).is_some_and(|(end, looks)| {
            *looks = if at < *end { looks.saturating_add(1) } else { 0 };
            *looks > LOOKS_MAX
        })
    }

    /// True if the bytes before a keyword can be the front of a match: a quick check. Each byte is
    /// read once.
    fn has_front(&mut self, text: &[u8], ready: &Ready, keyword: usize) -> bool {
        let Some((bytes, is_one)) = ready.rule.front else { return true };
        if self.fronts.len() <= ready.number {
            self.fronts.resize(ready.number + 1, 0..0);
        }
        let Some(seen) = self.fronts.get_mut(ready.number) else { return true };
        let mut from = keyword;
        while from > 0 && keyword - from < bytes {
            if from == seen.end && seen.start < from {
                from = seen.start;
                break;
            }
            if !text.get(from - 1).is_some_and(|&byte| is_one(byte)) {
                break;
            }
            from -= 1;
        }
        *seen = from..keyword;
        keyword - from >= bytes
    }

    /// Whether a rule has tried its pattern often enough in the token or line around `at`. One that
    /// holds a keyword over and over is not read again for each.
    fn is_tried(&mut self, text: &[u8], ready: &Ready, at: usize) -> bool {
        let end = match ready.is_of_line {
            true => self.line.at(text, at, |rest| memchr::memchr(b'\n', rest)),
            false => self.token.at(text, at, token_end),
        };
        if self.tries.len() <= ready.number {
            self.tries.resize(ready.number + 1, (0, 0));
        }
        let Some(last) = self.tries.get_mut(ready.number) else { return false };
        if at >= last.0 {
            *last = (end, self.tries_min + (end - at.min(end)) / BYTES_A_TRY);
        }
        last.1 = last.1.saturating_sub(1);
        last.1 == 0
    }

    /// What was found counts as no try.
    fn found(&mut self, rule: usize) {
        if let Some(last) = self.tries.get_mut(rule) {
            last.1 += 1;
        }
    }

    fn refuse(&mut self, rule: usize, value: &Range<usize>) {
        if value.len() <= LONG_BYTES {
            return;
        }
        if self.refused.len() <= rule {
            self.refused.resize(rule + 1, (0, 0));
        }
        if let Some(last) = self.refused.get_mut(rule).filter(|last| value.end > last.0) {
            *last = (value.end, 0);
        }
    }
}

/// All rules, indexed by their keywords.
static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

struct Scanner {
    keywords: Keywords,
    rules: Vec<Ready>,
    /// The rules of each keyword.
    owners: Vec<Vec<usize>>,
}

impl Scanner {
    fn new() -> Scanner {
        let rules: Vec<Ready> = rules::all()
            .enumerate()
            .map(|(number, rule)| Ready {
                number,
                rule,
                is_of_line: rule.is_command() || rule.before > 0,
                has_own_front: has_own_front(rule),
                regex: OnceLock::new(),
            })
            .collect();
        let mut keywords: Vec<String> = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::with_capacity(1_024);
        for (number, ready) in rules.iter().enumerate() {
            for keyword in ready.rule.keywords {
                let keyword = keyword.to_ascii_lowercase();
                let at = *numbers.entry(keyword.clone()).or_insert(keywords.len());
                if at == keywords.len() {
                    keywords.push(keyword);
                    owners.push(Vec::new());
                }
                owners[at].push(number);
            }
        }
        Scanner { keywords: Keywords::new(keywords), rules, owners }
    }

    fn rules_of(&self, keyword: usize) -> impl Iterator<Item = &Ready> {
        self.owners.get(keyword).into_iter().flatten().filter_map(|&number| self.rules.get(number))
    }
}

/// A rule, with a pattern that is compiled on first use.
struct Ready {
    number: usize,
    rule: &'static Rule,
    /// Whether its tries are counted by line and not by token.
    is_of_line: bool,
    /// Whether no keyword can be a part of its front, so that a try needs as many bytes of text.
    has_own_front: bool,
    regex: OnceLock<Option<Regex>>,
}

/// A secret found by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) judge: Judge,
    pub(super) span: Range<usize>,
}

impl Ready {
    /// Adds the secret at this keyword, if there is one.
    fn look(&self, text: &[u8], keyword: Range<usize>, hits: &mut Vec<Hit>, work: &mut Work) {
        let rule = self.rule;
        if rule.case == Case::Exact
            && !rule.keywords.iter().any(|word| word.as_bytes() == &text[keyword.clone()])
        {
            return;
        }
        if rule.edge && rule.before == 0 && !begins_word(text, keyword.start) {
            return;
        }
        // Inside a secret that this rule has just found there is nothing new.
        if hits.last().is_some_and(|last| last.rule == rule.name && keyword.start < last.span.end) {
            return;
        }
        let parts = match &rule.names {
            Some(names) => beside(rule, names, text, &keyword, work),
            None => self.shaped(text, &keyword, work),
        };
        let hit = |span| Hit { rule: rule.name, judge: rule.judge, span };
        hits.extend(parts.unwrap_or_default().into_iter().map(hit));
    }

    /// The secret that the pattern matches, without markers in it.
    fn shaped(&self, text: &[u8], keyword: &Range<usize>, work: &mut Work) -> Option<Vec<Range<usize>>> {
        let rule = self.rule;
        if !work.has_front(text, self, keyword.start)
            || (!self.has_own_front && work.is_tried(text, self, keyword.start))
            || work.is_settled(self.number, keyword.start)
        {
            return None;
        }
        let (whole, secret, bare) = self.matched(text, keyword, work)?;
        let secret = match rule.body {
            Some(body) => {
                let place = body(text.get(whole.clone())?)?;
                whole.start + place.start..whole.start + place.end
            }
            None => secret,
        };
        // A pattern that goes on behind the secret has itself said where it ends.
        let ends = whole.end > secret.end || ends_word(text, secret.end);
        if secret.is_empty() || !ends || (rule.edge && !begins_word(text, whole.start)) {
            return None;
        }
        let parts = unmarked(text, &secret, |value| plausible::is_secret(rule, value, bare));
        match parts {
            Some(_) => work.found(self.number),
            None => work.refuse(self.number, &secret),
        }
        parts
    }

    /// The whole match, the secret, and whether the last of several groups matched. Retried with a
    /// wider window if the window ends inside a match or inside a long token, so that no secret is
    /// missed or loses its end.
    fn matched(
        &self,
        text: &[u8],
        keyword: &Range<usize>,
        work: &mut Work,
    ) -> Option<(Range<usize>, Range<usize>, bool)> {
        let regex = self.regex()?;
        let from = keyword.start.saturating_sub(self.rule.before);
        // No match that begins before its keyword goes over a line end.
        let near = text.get(from..keyword.start)?;
        let from = from + memchr::memrchr(b'\n', near).map_or(0, |end| end + 1);
        let mut reach = self.rule.reach;
        loop {
            let to = keyword.start.saturating_add(reach).min(text.len());
            let window = text.get(from..to)?;
            // Groups take ten times as long as the match alone.
            let mut start = 0;
            let mut found = regex.find(window);
            // A match that ends before the keyword belongs to another keyword.
            while let Some(whole) = found.filter(|whole| whole.end() <= keyword.start - from) {
                start = whole.end().max(start + 1);
                found = if start < window.len() { regex.find_at(window, start) } else { None };
            }
            let cut = match found {
                Some(whole) => whole.end() == window.len(),
                // One token, which continues after the window.
                None => self.rule.before == 0 && work.token.at(text, from, token_end) >= to,
            };
            let cost = reach * 8;
            if cut && to < text.len() && reach < REACH_MAX && work.growth > cost {
                reach *= 8;
                work.growth -= cost;
                continue;
            }
            let (whole, secret, bare) = parts(regex, window, start, found?.range())?;
            let covers = from + whole.start <= keyword.start && keyword.end <= from + whole.end;
            let place = |part: Range<usize>| from + part.start..from + part.end;
            return covers.then(|| (place(whole), place(secret), bare));
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(self.rule).ok()).as_ref()
    }
}

fn has_own_front(rule: &Rule) -> bool {
    rule.front.is_some_and(|(_, is_one)| !rule.keywords.iter().any(|word| word.bytes().all(is_one)))
}

/// Whole match, secret, and whether the last of several groups matched. A pattern without groups
/// is not tried again for them.
fn parts(
    regex: &Regex,
    window: &[u8],
    start: usize,
    whole: Range<usize>,
) -> Option<(Range<usize>, Range<usize>, bool)> {
    if regex.captures_len() == 1 {
        return Some((whole.clone(), whole, false));
    }
    let groups = regex.captures_at(window, start)?;
    let whole = groups.get(0)?.range();
    let (secret, group) = (1..groups.len())
        .find_map(|group| groups.get(group).map(|secret| (secret.range(), group)))
        .unwrap_or((whole.clone(), 0));
    let bare = groups.len() > 2 && group + 1 == groups.len();
    Some((whole, secret, bare))
}

/// The secret beside a name, without markers in it.
fn beside(
    rule: &'static Rule,
    names: &Names,
    text: &[u8],
    keyword: &Range<usize>,
    work: &mut Work,
) -> Option<Vec<Range<usize>>> {
    let name = names.whole(text, keyword)?;
    if !names.is_option && !names.is_weak(text, keyword) && columns::is_head(text, &name) {
        work.heads.push(Head { rule, name: name.clone() });
    }
    let found = named::read(text, keyword, name, names, &mut work.runs)?;
    let name = text.get(found.name)?;
    found
        .values
        .into_iter()
        .flatten()
        .find_map(|(span, form)| unmarked(text, &span, |value| plausible::is_value(rule, name, value, form)))
}

/// The parts of a secret outside of markers, if together they are one.
pub(super) fn unmarked(
    text: &[u8],
    span: &Range<usize>,
    is_secret: impl Fn(&[u8]) -> bool,
) -> Option<Vec<Range<usize>>> {
    let parts = marker::between(text, span);
    let is_secret = match parts.as_slice() {
        [] => false,
        [part] => is_secret(text.get(part.clone())?),
        parts => {
            is_secret(&parts.iter().filter_map(|part| text.get(part.clone())).collect::<Vec<_>>().concat())
        }
    };
    is_secret.then_some(parts)
}

/// A rule's pattern, anchored at the keyword unless a match may begin before it.
fn compile(rule: &Rule) -> Result<Regex, regex::Error> {
    let anchor = if rule.before == 0 { r"\A" } else { "" };
    RegexBuilder::new(&format!("{anchor}(?:{})", rule.pattern)).unicode(false).build()
}

/// The end of the token at the beginning of `text`.
fn token_end(text: &[u8]) -> Option<usize> {
    text.iter().position(|&byte| !(is_word(byte) || matches!(byte, b'-' | b'.' | b'+' | b'/' | b'=')))
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// True if a token could begin here. A letter before it is not a word if it ends an escape: `\n` in
/// JSON, `%3D` in a URL, a colour code in terminal output.
fn begins_word(text: &[u8], start: usize) -> bool {
    let before = &text[..start];
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        // Parts of a name: `mcp__server__tool`.
        [.., b'_', b'_'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [rest @ .., b'm'] => {
            let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            rest[..rest.len() - digits].last() == Some(&b'[')
        }
        [.., last] => !is_word(*last),
        [] => true,
    }
}

/// True if a token could end here.
fn ends_word(text: &[u8], end: usize) -> bool {
    let rest = text.get(end..).unwrap_or_default();
    rest.starts_with(b"__") || rest.first().is_none_or(|&byte| !is_word(byte) && byte != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_asks_for_something() {
        for rule in rules::all() {
            if rule.names.is_some() {
                continue;
            }
            let regex = compile(rule).unwrap_or_else(|error| panic!("{}: {error}", rule.name));
            assert!(!regex.is_match(b""), "{} matches nothing", rule.name);
        }
    }

    #[test]
    fn a_letter_that_ends_an_escape_is_no_word() {
        for before in ["", " ", "=", "\\n", "%3D", "\u{1b}[32m", "[1;31m", "(", "-"] {
            assert!(begins_word(before.as_bytes(), before.len()), "{before:?}");
        }
        for before in ["x", "m", "3D", "_", "atom", "7m"] {
            assert!(!begins_word(before.as_bytes(), before.len()), "{before:?}");
        }
    }
}
