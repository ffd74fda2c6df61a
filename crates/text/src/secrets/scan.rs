//! From text to findings: keywords first, patterns only where one stands.

use aho_corasick::automaton::Automaton;
use aho_corasick::dfa::DFA;
use aho_corasick::{Anchored, MatchKind};
use regex::bytes::{Regex, RegexBuilder};
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use super::rule::{Case, Judge, Rule};
use super::{Finding, marker, plausible, rules};

/// The window after a keyword never grows beyond this.
const REACH_MAX: usize = 1 << 20;

/// Bytes that grown windows may hold together, beside the length of the text:
/// enough for any secret, and a bound for text that is made to be slow.
const GROWTH_MAX: usize = 4 << 20;

/// Every secret in `text`, in order, without overlaps.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let Some(scanner) = SCANNER.as_ref() else { return Vec::new() };
    let mut hits = Vec::new();
    let mut growth = GROWTH_MAX.saturating_add(text.len());
    scanner.keywords(text.as_bytes(), |keyword, at| {
        for ready in scanner.rules_of(keyword) {
            if let Some(hit) = ready.look(text.as_bytes(), at.clone(), &hits, &mut growth) {
                hits.push(hit);
            }
        }
    });
    merge(text, hits)
}

/// All rules behind one automaton over their keywords. `None` only if the
/// keywords do not fit into an automaton, which a test rules out.
static SCANNER: LazyLock<Option<Scanner>> = LazyLock::new(Scanner::new);

struct Scanner {
    automaton: DFA,
    rules: Vec<Ready>,
    /// For each keyword of the automaton the rules that asked for it.
    owners: Vec<Vec<usize>>,
}

impl Scanner {
    fn new() -> Option<Scanner> {
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
        let automaton = DFA::builder().match_kind(MatchKind::Standard).build(&keywords).ok()?;
        Some(Scanner { automaton, rules, owners })
    }

    /// Reports every place where a keyword ends, overlapping ones too, in any
    /// case: keywords are kept in small letters and the text is lowered on the
    /// way, which halves the automaton's table. Written as a loop because the
    /// iterator of the crate can do neither.
    fn keywords(&self, text: &[u8], mut report: impl FnMut(usize, Range<usize>)) {
        let Ok(mut state) = self.automaton.start_state(Anchored::No) else { return };
        for (at, &byte) in text.iter().enumerate() {
            state = self.automaton.next_state(Anchored::No, state, byte.to_ascii_lowercase());
            if self.automaton.is_special(state) && self.automaton.is_match(state) {
                for index in 0..self.automaton.match_len(state) {
                    let keyword = self.automaton.match_pattern(state, index);
                    let length = self.automaton.pattern_len(keyword);
                    report(keyword.as_usize(), at + 1 - length..at + 1);
                }
            }
        }
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
struct Hit {
    name: &'static str,
    judge: Judge,
    span: Range<usize>,
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
        if hits.last().is_some_and(|last| last.name == rule.name && keyword.start < last.span.end) {
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
        (!marker::touches(text, &whole)).then_some(Hit { name: rule.name, judge: rule.judge, span: secret })
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

fn is_word(byte: u8) -> bool {
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

/// Findings that overlap become one, under the name of the most trusted. Ends
/// are widened to whole characters: patterns are over bytes.
fn merge(text: &str, mut hits: Vec<Hit>) -> Vec<Finding> {
    hits.sort_by_key(|hit| (hit.span.start, hit.judge));
    let mut merged: Vec<(Judge, Finding)> = Vec::new();
    for hit in hits {
        let (mut start, mut end) = (hit.span.start, hit.span.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        match merged.last_mut() {
            Some((judge, last)) if start < last.end => {
                last.end = last.end.max(end);
                if hit.judge < *judge {
                    (*judge, last.rule) = (hit.judge, hit.name);
                }
            }
            _ => merged.push((hit.judge, Finding { rule: hit.name, start, end })),
        }
    }
    merged.into_iter().map(|(_, finding)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_the_keywords_fit_into_one_automaton() {
        for rule in rules::all() {
            let regex = compile(rule).unwrap_or_else(|error| panic!("{}: {error}", rule.name));
            assert!(!regex.is_match(b""), "{} matches nothing", rule.name);
        }
        assert!(SCANNER.is_some());
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

    #[test]
    fn overlapping_hits_become_one_under_the_surer_name() {
        let hit = |name, judge, span| Hit { name, judge, span };
        let hits =
            vec![hit("b", Judge::Value, 2..8), hit("a", Judge::Shape, 4..9), hit("c", Judge::Value, 9..10)];
        let merged = merge("0123456789", hits);
        assert_eq!(
            merged,
            [Finding { rule: "a", start: 2, end: 9 }, Finding { rule: "c", start: 9, end: 10 }]
        );
    }
}
