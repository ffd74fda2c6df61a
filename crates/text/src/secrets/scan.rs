//! The rules over a piece of text: keywords first, patterns only where one stands.

use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::keywords::Keywords;
use super::rule::{Case, Judge, Rule};
use super::{marker, plausible, rules};

/// The window after a keyword never grows beyond this.
const REACH_MAX: usize = 1 << 20;

/// Bytes that grown windows may hold together, beside the length of the text:
/// enough for any secret, and a bound for text that is made to be slow.
const GROWTH_MAX: usize = 4 << 20;

/// What each rule sees in `text`, as it stands there.
pub(super) fn hits(text: &[u8]) -> Vec<Hit> {
    let scanner = &*SCANNER;
    let mut hits = Vec::new();
    let mut growth = GROWTH_MAX.saturating_add(text.len());
    scanner.keywords.find(text, |keyword, at| {
        for ready in scanner.rules_of(keyword) {
            if let Some(hit) = ready.look(text, at.clone(), &hits, &mut growth) {
                hits.push(hit);
            }
        }
    });
    hits
}

/// All rules behind their keywords.
static SCANNER: LazyLock<Scanner> = LazyLock::new(Scanner::new);

struct Scanner {
    keywords: Keywords,
    rules: Vec<Ready>,
    /// For each keyword the rules that asked for it.
    owners: Vec<Vec<usize>>,
}

impl Scanner {
    fn new() -> Scanner {
        let rules: Vec<Ready> = rules::all().map(|rule| Ready { rule, regex: OnceLock::new() }).collect();
        let mut keywords: Vec<String> = Vec::new();
        let mut owners: Vec<Vec<usize>> = Vec::new();
        for (number, ready) in rules.iter().enumerate() {
            for keyword in ready.rule.keywords {
                let keyword = keyword.to_ascii_lowercase();
                match keywords.iter().position(|known| *known == keyword) {
                    Some(known) => owners[known].push(number),
                    None => {
                        keywords.push(keyword);
                        owners.push(vec![number]);
                    }
                }
            }
        }
        Scanner { keywords: Keywords::new(keywords), rules, owners }
    }

    fn rules_of(&self, keyword: usize) -> impl Iterator<Item = &Ready> {
        self.owners.get(keyword).into_iter().flatten().filter_map(|&number| self.rules.get(number))
    }
}

/// A rule with its pattern compiled when it is first needed.
struct Ready {
    rule: &'static Rule,
    regex: OnceLock<Option<Regex>>,
}

/// A secret seen by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) rule: &'static str,
    pub(super) judge: Judge,
    pub(super) span: Range<usize>,
}

impl Ready {
    /// The secret at this keyword, if there is one.
    fn look(&self, text: &[u8], keyword: Range<usize>, hits: &[Hit], growth: &mut usize) -> Option<Hit> {
        let rule = self.rule;
        if rule.case == Case::Exact
            && !rule.keywords.iter().any(|word| word.as_bytes() == &text[keyword.clone()])
        {
            return None;
        }
        if rule.edge && rule.before == 0 && !begins_word(text, keyword.start) {
            return None;
        }
        // Inside a secret that this rule has just seen there is nothing new.
        if hits.last().is_some_and(|last| last.rule == rule.name && keyword.start < last.span.end) {
            return None;
        }
        let (whole, secret, bare) = self.matched(text, &keyword, growth)?;
        // A pattern that goes on behind the secret has itself said where it ends.
        let ends = whole.end > secret.end || ends_word(text, secret.end);
        if secret.is_empty() || !ends || (rule.edge && !begins_word(text, whole.start)) {
            return None;
        }
        if !plausible::is_secret(rule, &text[secret.clone()], bare) {
            return None;
        }
        (!marker::touches(text, &whole)).then_some(Hit { rule: rule.name, judge: rule.judge, span: secret })
    }

    /// Whole match, secret, and whether the last of several groups matched.
    /// Tried with a wider window when the one it had ends inside a match or
    /// inside a long token, so that no secret is missed or loses its end.
    fn matched(
        &self,
        text: &[u8],
        keyword: &Range<usize>,
        growth: &mut usize,
    ) -> Option<(Range<usize>, Range<usize>, bool)> {
        let regex = self.regex()?;
        let from = keyword.start.saturating_sub(self.rule.before);
        let mut reach = self.rule.reach;
        loop {
            let to = keyword.start.saturating_add(reach).min(text.len());
            let window = text.get(from..to)?;
            let groups = regex.captures(window);
            let cut = match &groups {
                Some(groups) => groups.get(0).is_some_and(|whole| whole.end() == window.len()),
                None => is_one_token(window),
            };
            if cut && to < text.len() && reach < REACH_MAX && *growth > reach * 8 {
                reach *= 8;
                *growth -= reach;
                continue;
            }
            let groups = groups?;
            let whole = groups.get(0)?.range();
            let (secret, group) = (1..groups.len())
                .find_map(|group| groups.get(group).map(|secret| (secret.range(), group)))
                .unwrap_or((whole.clone(), 0));
            let bare = groups.len() > 2 && group + 1 == groups.len();
            let covers = from + whole.start <= keyword.start && keyword.end <= from + whole.end;
            let place = |part: Range<usize>| from + part.start..from + part.end;
            return covers.then(|| (place(whole), place(secret), bare));
        }
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(self.rule).ok()).as_ref()
    }
}

/// A rule's pattern, anchored at the keyword unless a match may begin before it.
fn compile(rule: &Rule) -> Result<Regex, regex::Error> {
    let anchor = if rule.before == 0 { r"\A" } else { "" };
    RegexBuilder::new(&format!("{anchor}(?:{})", rule.pattern)).unicode(false).build()
}

/// Whether a window holds nothing but one token, which then goes on behind it.
fn is_one_token(window: &[u8]) -> bool {
    window.iter().all(|&byte| is_word(byte) || matches!(byte, b'-' | b'.' | b'+' | b'/' | b'='))
}

pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a token could begin here. A letter before it is no word if it ends
/// an escape: `\n` in JSON, `%3D` in a URL, a colour code in terminal output.
fn begins_word(text: &[u8], start: usize) -> bool {
    let before = &text[..start];
    match before {
        [.., b'\\', b'n' | b'r' | b't'] => true,
        [.., b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => true,
        [rest @ .., b'm'] => {
            let digits = rest.iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
            rest[..rest.len() - digits].last() == Some(&b'[')
        }
        [.., last] => !is_word(*last),
        [] => true,
    }
}

/// Whether a token could end here.
fn ends_word(text: &[u8], end: usize) -> bool {
    text.get(end).is_none_or(|&byte| !is_word(byte) && byte != b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_asks_for_something() {
        for rule in rules::all() {
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
