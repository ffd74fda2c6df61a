//! Recognizes instructions to an agent, by a table of general rules.
//!
//! To add a rule, add it to a table: `orders` (English), `forms` (markup, roles, links) or
//! `tongues` (other languages). A rule costs nothing while none of its keywords is in a text.

mod forms;
mod orders;
mod tongues;

use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::Regex;

use super::views;

/// A pattern of an instruction.
///
/// Patterns match lower-case text without accents. In a pattern, a blank means any white space, `…`
/// up to eighty bytes of the same sentence, `‥` up to thirty, and `ORDER` the first word of an
/// order. A match with the group `no` means the opposite and does not count. Patterns match bytes,
/// because these compile much faster, which matters while a hook waits.
pub(super) struct Rule {
    /// Names the sign in a reason.
    marker: &'static str,
    /// Every text that the pattern matches contains one of these.
    any: &'static [&'static str],
    pattern: &'static str,
}

/// Words that begin an order to an agent, or an answer that obeys one.
const ORDER: &str = "(?:you (?:must|should|are|will|shall|have|can|may|need)|always|never|from now|henceforth|\
    do not|don't|please|now|before (?:you|answering|continuing|doing|starting)|ignore|obey|approve|accept|run|execute|delete|remove|erase|send|upload|print|\
    reveal|output|disable|enable|add|commit|push|install|call|open|write|reply|respond|answer|act|pretend|\
    set|follow|switch|grant|allow|skip|bypass|fetch|download|post|publish|export|include|tell|say|forget|\
    disregard|override|rotate|paste|replace|change|trust|treat|stop|\
    i will|i'll|i am|i have|sure|certainly|of course|understood|\
    (?:ok|okay|yes|done),? (?:i|i'll|we|let|now|doing)|drop|give|insert|force|turn|mark|recommend|kill|all (?:safety|security|checks)|\
    the (?:user|operator|admin|developer)|your (?:new|task|instructions|goal)|\
    du |sie |vous |tu |debes|usted|voce|deve|ты |вы |immer|toujours|siempre|sempre|всегда|никогда|nie |jamais|\
    nunca|bitte|por favor|ignor|你|您|请|必须|总是|始终|あなた|常に|必ず|すべて|从现在)";

/// A rule with its regex, which is compiled when a text first contains one of its keywords.
struct Ready {
    rule: &'static Rule,
    /// Indexes of its keywords.
    any: Vec<usize>,
    expression: OnceLock<Option<Regex>>,
}

/// All rules, with an automaton that finds all keywords in one pass.
struct Table {
    rules: Vec<Ready>,
    keywords: Option<AhoCorasick>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let all = || [orders::RULES, forms::RULES].into_iter().chain(tongues::RULES).flatten();
    let mut words: Vec<&str> = all().flat_map(|rule| rule.any).copied().collect();
    words.sort_unstable();
    words.dedup();
    let number = |word: &&str| words.binary_search(word).ok();
    let rules = all().map(|rule| Ready {
        rule,
        any: rule.any.iter().filter_map(number).collect(),
        expression: OnceLock::new(),
    });
    let rules = rules.collect();
    // Fast to build: a hook tests a few texts and exits.
    let kind = Some(AhoCorasickKind::NoncontiguousNFA);
    Table { rules, keywords: AhoCorasick::builder().kind(kind).build(&words).ok() }
});

impl Table {
    /// The keywords in a text, by index, ignoring line breaks. `None` if all must be assumed
    /// present.
    fn keywords_in(&self, text: &str) -> Option<Vec<bool>> {
        let keywords = self.keywords.as_ref()?;
        let mut held = vec![false; keywords.patterns_len()];
        for found in keywords.find_overlapping_iter(&one_line(text)) {
            if let Some(held) = held.get_mut(found.pattern().as_usize()) {
                *held = true;
            }
        }
        Some(held)
    }
}

/// A text on one line: each run of white space is one blank, with one blank at both ends.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len() + 2);
    for word in text.split_ascii_whitespace() {
        line.push(' ');
        line.push_str(word);
    }
    line.push(' ');
    line
}

/// Signs of an instruction in a text without blanks and punctuation.
static COMPACT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        "(?P<no>dont|donot|never|not)?(?:ignore|disregard|forget|override|bypass)\
         (?:all|any|every|of|the|your|my|our|these|those|other)*\
         (?:previous|prior|above|earlier|preceding|system|safety|existing|original)+\
         (?:system|safety|given|developer)*\
         (?:instruct[il]on|d[il]rect[il]ve|ru[il]e|order|prompt|gu[il]de[il][il]ne|command|gu[il]dance|po[il][il]c)",
    )
    .ok()
});

/// The markers of all matching rules, each once.
pub(super) fn markers(text: &str) -> Vec<&'static str> {
    let mut found = Vec::new();
    for view in views::views(text) {
        let held = TABLE.keywords_in(&view);
        for ready in &TABLE.rules {
            let marker = ready.rule.marker;
            if !found.contains(&marker) && ready.may_be_in(held.as_deref()) && ready.is_in(&view) {
                found.push(marker);
            }
        }
        if found.is_empty() && views::compact(&view).iter().any(|text| has_match(COMPACT.as_ref(), text)) {
            found.push("sets earlier instructions aside");
        }
    }
    found
}

impl Ready {
    /// True if the rule may match a text with these keywords.
    fn may_be_in(&self, held: Option<&[bool]>) -> bool {
        let is_held = |number: &usize| held.is_none_or(|held| held.get(*number) == Some(&true));
        self.any.is_empty() || self.any.iter().any(is_held)
    }

    fn is_in(&self, view: &str) -> bool {
        has_match(self.expression.get_or_init(|| self.rule.compile().ok()).as_ref(), view)
    }
}

impl Rule {
    fn compile(&self) -> Result<Regex, regex::Error> {
        Regex::new(&self.expanded())
    }

    /// The pattern in regex syntax.
    fn expanded(&self) -> String {
        let pattern = self
            .pattern
            .replace("ORDER", ORDER)
            .replace("AGENT", AGENT)
            .replace("USER", USER)
            .replace("EARLIER", EARLIER)
            .replace("RULES", RULES)
            .replace('…', "[^.!?\\n]{0,80}?")
            .replace('‥', "[^.!?\\n]{0,30}?")
            .replace("\\w", "[a-z0-9_]");
        format!("(?m-u){}", with_white_space(&pattern))
    }
}

/// A pattern in which every blank outside brackets matches any white space.
fn with_white_space(pattern: &str) -> String {
    let mut wide = String::with_capacity(2 * pattern.len());
    let (mut is_class, mut is_escaped) = (false, false);
    for character in pattern.chars() {
        match character {
            ' ' if !is_class && !is_escaped => wide.push_str("(?:[ \\n]+)"),
            other => wide.push(other),
        }
        if !is_escaped {
            is_class = (is_class || character == '[') && character != ']';
        }
        is_escaped = character == '\\' && !is_escaped;
    }
    wide
}

/// Names of the agent addressed.
const AGENT: &str = "(?:(?:ai|llm|coding|autonomous|automated) )?(?:ais?|agents?|llms?|assistants?|\
    (?:large )?language models?|chatbots?|copilot|claude|chatgpt|gpt|codex|gemini|cursor|grok|ai (?:models?|systems?|tools?))";
/// Names of people who must not find out.
const USER: &str = "(?:the |your |our |any )?(?:human |end |project )?(?:users?|humans?|operators?|developers?|reviewers?|owners?|\
    maintainers?|person|people|anyone|anybody|customers?|human being)";
/// Adjectives for earlier instructions.
const EARLIER: &str = "(?:previous|prior|above|earlier|preceding|foregoing|former|past|existing|original|initial|\
    current|system|safety|security|your|developer'?s?|user'?s|built-in|default|old|given|hidden)";
/// Words for instructions and limits.
const RULES: &str = "(?:instructions?|directives?|rules?|orders?|prompts?|guidelines?|guidance|commands?|\
    constraints?|polic(?:y|ies)|restrictions?|guardrails?|training|style guide|programming|safeguards?|limits|\
    limitations|conventions|messages?|conversation)";

fn has_match(regex: Option<&Regex>, text: &str) -> bool {
    let Some(regex) = regex else { return false };
    regex.captures_iter(text.as_bytes()).any(|found| found.name("no").is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{
        strategy::{Strategy as _, ValueTree as _},
        string::bytes_regex,
        test_runner::TestRunner,
    };

    #[test]
    fn every_pattern_compiles_and_every_keyword_is_lower_case() {
        for Ready { rule, .. } in &TABLE.rules {
            assert!(rule.compile().is_ok(), "{}: {:?}", rule.marker, rule.compile().err());
            for word in rule.any {
                assert_eq!(*word, word.to_lowercase(), "{}", rule.marker);
            }
        }
        assert!(COMPACT.is_some() && TABLE.keywords.is_some());
    }

    /// Texts generated from each pattern contain one of its keywords. Otherwise the rule would not
    /// be tested on them.
    #[test]
    fn a_keyword_is_in_everything_that_a_pattern_finds() {
        let mut runner = TestRunner::deterministic();
        for Ready { rule, .. } in TABLE.rules.iter().filter(|ready| !ready.rule.any.is_empty()) {
            // Texts cannot be generated from word and line boundaries.
            let mut bare = rule.expanded().replace("\\b", "");
            for (edge, nothing) in [("(?m-u)^", "(?-u)"), ("(?:^|", "(?:"), ("|^", "|"), ("|$)", ")")] {
                bare = bare.replace(edge, nothing);
            }
            let texts = bytes_regex(&bare).expect("a pattern that texts can be made from");
            for _ in 0..200 {
                let text = texts.new_tree(&mut runner).expect("a text").current();
                let line = one_line(&String::from_utf8_lossy(&text));
                let has = rule.any.iter().any(|word| line.contains(word));
                assert!(has, "{} {:?}: {line}", rule.marker, rule.any);
            }
        }
    }
}
