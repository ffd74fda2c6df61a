//! An error line without the parts that differ from run to run.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::LINE_CHARS_MAX;
use crate::plain;

/// File extensions that make a word a file name.
const ENDINGS: &str = "rs|py|pyi|ts|tsx|mts|cts|js|jsx|mjs|cjs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|zig|ex|exs|json|jsonl|ya?ml|toml|md|mdx|txt|lock|sh|bash|ps1|css|scss|html|sql|vue|svelte|xml|ini|cfg|conf|log|csv|ipynb|proto|lua|r|scala|hs|ml|dart|gradle|env|zip|gz|whl|so|dll|exe|o|a";

/// The parts to remove, in this order, with their replacements.
static RULES: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
    let path = format!(
        r#"(?:(?:[A-Za-z]:)?(?:[\w@.~+$%-]*[/\\])+[\w@.~+$%*<>-]*|(?:^|[\s'"`(\[=,]|<path>)[\w@~+-][\w@.~+-]*\.(?:{ENDINGS})\b)"#
    );
    let rules: &[(&str, &'static str)] = &[
        (r"\b[a-z][a-z0-9+]{1,9}://[^\s'\x22)>\]]+", "<url>"),
        (r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.,]+(?:Z|[+-][0-9:]{2,6})?)?", "<time>"),
        (r"\b[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?(?: ?[AP]M)?\b", "<time>"),
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<id>"),
        (r"\b0[xX][0-9a-fA-F]+\b", "<id>"),
        (&path, "<path>"),
        (r"<path>(?::[0-9<>n]+){1,2}|<path>\([0-9<>n]+(?:,[0-9<>n]+)?\)", "<path>"),
    ];
    rules.iter().filter_map(|(pattern, put)| Some((Regex::new(pattern).ok()?, *put))).collect()
});
static WORD: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[\w.]+").ok());

/// `line` without colours, paths, numbers, ids and times, on one line and not longer than a screen
/// is wide. Applying it again changes nothing.
pub fn normal(line: &str) -> String {
    let mut text = plain::plain(line).split_whitespace().collect::<Vec<_>>().join(" ");
    text = cut(text);
    // A removal can join the text around it.
    for _ in 0..ROUNDS_MAX {
        let next = cut(once(&text));
        if next == text {
            break;
        }
        text = next;
    }
    text
}

/// Rounds until nothing changes; each makes the text simpler.
const ROUNDS_MAX: usize = 12;

fn cut(text: String) -> String {
    match text.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => text.get(..end).unwrap_or_default().trim_end().to_owned(),
        None => text,
    }
}

fn once(text: &str) -> String {
    let mut text = text.to_owned();
    for (rule, put) in RULES.iter() {
        if rule.is_match(&text) {
            text = rule.replace_all(&text, |found: &Captures<'_>| replaced(found, put)).into_owned();
        }
    }
    if let Some(word) = WORD.as_ref() {
        text = word
            .replace_all(&text, |found: &Captures<'_>| number(found.get(0).map_or("", |word| word.as_str())))
            .into_owned();
    }
    // A location before the message is not part of the error.
    while let Some(rest) = text.strip_prefix("<path>:").or_else(|| text.strip_prefix("<path> - ")) {
        text = rest.trim_start().to_owned();
    }
    while let Some(rest) = text.strip_prefix("<n>:") {
        text = rest.trim_start().to_owned();
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The replacement of a match. The match of a file name includes the character before it.
fn replaced(found: &Captures<'_>, put: &str) -> String {
    let whole = found.get(0).map_or("", |found| found.as_str());
    match whole.chars().next() {
        Some(sign) if put == "<path>" && matches!(sign, ' ' | '\'' | '"' | '`' | '(' | '[' | '=' | ',') => {
            format!("{sign}{put}")
        }
        _ => put.to_owned(),
    }
}

/// Replaces a word of digits, a version, a duration or a hash by a placeholder. A name with digits
/// in it, such as an error code, stays.
fn number(word: &str) -> String {
    let bare = word.trim_matches('.');
    let digits = bare.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 {
        return word.to_owned();
    }
    let is_hash = bare.len() >= 7 && bare.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let number = bare.trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '_'));
    let starts_with_digit = bare.starts_with(|c: char| c.is_ascii_digit());
    let unit = matches!(
        number,
        "" | "s" | "ms" | "us" | "ns" | "m" | "h" | "K" | "KB" | "MB" | "GB" | "B" | "k" | "px" | "x"
    );
    let (start, end) = word.split_at(word.find(bare).unwrap_or(0));
    let tail = end.get(bare.len()..).unwrap_or_default();
    match (is_hash && (!starts_with_digit || number.len() > 2), starts_with_digit && unit) {
        (true, _) => format!("{start}<id>{tail}"),
        (_, true) => format!("{start}<n>{number}{tail}"),
        _ => word.to_owned(),
    }
}
