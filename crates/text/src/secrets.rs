//! Finding secrets in text.
//!
//! The rules are data: tables in `rules`, one entry per kind of secret, each with a few keywords.
//! Keywords are searched first (`crate::keywords`), so a text without any costs nothing more. At
//! each keyword its rule's pattern is matched (`scan`), and the match must still look like a secret
//! and not like the word `changeme` (`plausible`). The same rules read the text as a reader sees
//! it: without escapes and colour codes (`readings`), over the ends of wrapped lines (`wrapped`),
//! and decoded from base64 (`encoded`). `columns` reads cells below the name of a column.
//! `findings` merges the results.
//!
//! **Invariants.** Redaction is a function of the text alone: a marker names the rule and nothing
//! else, so it cannot be guessed back and does not depend on the machine. It is idempotent:
//! redacting twice changes nothing.

pub(crate) mod beside;
mod columns;
mod encoded;
mod findings;
mod marker;
mod named;
mod next;
mod plausible;
mod random;
mod readings;
mod rule;
mod rules;
mod scan;
mod wrapped;

use std::borrow::Cow;
use std::sync::LazyLock;

/// Version of the rule set. Text kept outside raw is scanned again when it changes.
pub const RULES_VERSION: u32 = 8;

/// A secret that was found: its range and its rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the rule.
    pub rule: &'static str,
    /// Offset of the secret's first byte.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
}

/// Every secret in `text`, in order, without overlaps.
pub fn find(text: &str) -> Vec<Finding> {
    if is_word(text) { Vec::new() } else { findings::find(text) }
}

/// The length of a word that is too short to be a secret, even with its name.
const WORD_BYTES_MAX: usize = 16;

/// True for a short word of letters, such as the name of a tool: no rule matches one.
fn is_word(text: &str) -> bool {
    text.len() <= WORD_BYTES_MAX && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
}

/// `text` with each finding replaced by `[redacted:<rule>]`.
pub fn replace(text: &str) -> Cow<'_, str> {
    let mut found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut clean = text.to_owned();
    // Replacing a secret changes its context, and another rule may then match. Each round leaves
    // less text outside of markers, and the last one finds nothing.
    let mut rounds = 0;
    while !found.is_empty() {
        clean = replace_found(&clean, &widened(&clean, found, rounds));
        found = find(&clean);
        rounds += 1;
    }
    Cow::Owned(clean)
}

/// Rounds of redaction that replace only the findings, and the same number of later rounds for each
/// wider part of the text.
const ROUNDS: usize = 4;

/// Findings of a late round, widened to the words around them, then to their lines, then to the
/// whole text. Only adversarial text needs so many rounds. Without a limit it would be read once
/// for each of its secrets.
fn widened(text: &str, found: Vec<Finding>, rounds: usize) -> Vec<Finding> {
    let is_edge: fn(&u8) -> bool = match rounds / ROUNDS {
        0 => return found,
        1 => u8::is_ascii_whitespace,
        2 => |byte| *byte == b'\n',
        _ => |_| false,
    };
    let bytes = text.as_bytes();
    let mut wide: Vec<Finding> = Vec::new();
    for Finding { rule, start, end } in found {
        let start = bytes[..start].iter().rposition(is_edge).map_or(0, |edge| edge + 1);
        let end = bytes[end..].iter().position(is_edge).map_or(bytes.len(), |edge| end + edge);
        if wide.last().is_none_or(|last| start >= last.end) {
            let parts = marker::between(bytes, &(start..end));
            wide.extend(parts.into_iter().map(|part| Finding { rule, start: part.start, end: part.end }));
        }
    }
    wide
}

/// One kind of secret, for people to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleInfo {
    /// Its name in markers.
    pub name: &'static str,
    /// The service that issues it. `any` for kinds that are known by their context alone.
    pub service: &'static str,
    /// A description in a few words.
    pub what: &'static str,
}

/// Every known kind of secret, sorted by name.
pub fn rules() -> &'static [RuleInfo] {
    static RULES: LazyLock<Vec<RuleInfo>> = LazyLock::new(|| {
        let info = |rule: &rule::Rule| RuleInfo { name: rule.name, service: rule.service, what: rule.what };
        let mut all: Vec<RuleInfo> = rules::all().map(info).collect();
        all.sort_by_key(|rule| rule.name);
        all
    });
    &RULES
}

/// Every keyword of every rule.
pub fn keywords() -> Vec<&'static str> {
    let mut all: Vec<&'static str> = rules::all().flat_map(|rule| rule.keywords).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// `text` with these findings replaced.
fn replace_found(text: &str, found: &[Finding]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for secret in found {
        clean.push_str(&text[at..secret.start]);
        marker::write(&mut clean, secret.rule);
        at = secret.end;
    }
    clean.push_str(&text[at..]);
    clean
}

/// The replacement for a secret of this kind.
pub(crate) fn marker_of(rule: &str) -> String {
    let mut text = String::new();
    marker::write(&mut text, rule);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_rule_knows_a_short_word(
            before in "[a-zA-Z_]{0,6}", keyword: prop::sample::Index, after in "[a-zA-Z_]{0,16}",
        ) {
            let keywords: Vec<&str> = rules::all().flat_map(|rule| rule.keywords).copied().collect();
            let mut word = [&before, keywords[keyword.index(keywords.len())], &after].concat();
            word.retain(|c| c.is_ascii_alphabetic() || c == '_');
            word.truncate(WORD_BYTES_MAX);
            prop_assert!(is_word(&word));
            prop_assert_eq!(findings::find(&word), []);
        }
    }
}
