//! Values separate from their names, as in JSON: a key and its string, the words of a command.

use std::collections::BTreeMap;

use super::named::Form;
use super::{Finding, find, marker, plausible, replace_found, scan};

/// Longer values are read alone, because secrets that are known by their name are short.
const VALUE_BYTES_MAX: usize = 4096;

/// The longest name that is read.
const NAME_BYTES_MAX: usize = 256;

/// `value` without the secrets that its name reveals. `None` if it has none. `above` is the name of
/// the object that `name` belongs to.
pub(crate) fn replace(above: &str, name: &str, value: &str) -> Option<String> {
    if let Some(rule) = rule_of(name, value) {
        return Some(super::marker_of(rule));
    }
    let tells = |name: &str| name.len() <= NAME_BYTES_MAX && scan::has_keyword(name.as_bytes());
    // A character that may end a value would end it at the wrong position.
    let is_plain = value.bytes().all(|byte| !matches!(byte, b'"' | b'\\' | b'\n'));
    if value.len() > VALUE_BYTES_MAX || !is_plain || !(tells(name) || tells(above)) {
        return None;
    }
    let before = match above {
        "" => format!("{name}: \""),
        above => format!("{above}.{name}: \""),
    };
    let found = find(&format!("{before}{value}\""));
    let end = before.len() + value.len();
    let of_value = |finding: Finding| {
        let inside = finding.start >= before.len() && finding.end <= end;
        inside.then(|| Finding {
            start: finding.start - before.len(),
            end: finding.end - before.len(),
            ..finding
        })
    };
    let found: Vec<Finding> = found.into_iter().filter_map(of_value).collect();
    (!found.is_empty()).then(|| replace_found(value, &found))
}

/// The rule that treats the whole value as a secret because of its name.
pub(crate) fn rule_of(name: &str, value: &str) -> Option<&'static str> {
    if value.len() > VALUE_BYTES_MAX || name.len() > NAME_BYTES_MAX {
        return None;
    }
    let parts = marker::between(value.as_bytes(), &(0..value.len()));
    let bare: Vec<u8> = parts.into_iter().flat_map(|part| &value.as_bytes()[part]).copied().collect();
    scan::named_rules(name.as_bytes())
        .into_iter()
        .find(|rule| plausible::is_value(rule, name.as_bytes(), &bare, Form::Quoted))
        .map(|rule| rule.name)
}

/// Longer items of a list are prose, not words of a command.
const WORD_BYTES_MAX: usize = 512;

/// The words of a command that contain a secret known by the words before them, each with its index
/// and without its secret.
pub(crate) fn words(words: &[&str]) -> BTreeMap<usize, String> {
    let mut clean = BTreeMap::new();
    if words.len() < 2 {
        return clean;
    }
    let mut line = String::new();
    let mut starts = Vec::with_capacity(words.len());
    for word in words {
        starts.push(line.len());
        let is_word = word.len() <= WORD_BYTES_MAX && !word.contains('\n');
        line.push_str(if is_word { word } else { "\n" });
        line.push(' ');
    }
    for (at, pair) in words.windows(2).enumerate() {
        if pair[0].starts_with('-')
            && let Some(rule) = rule_of(pair[0], pair[1])
        {
            clean.insert(at + 1, super::marker_of(rule));
        }
    }
    for finding in find(&line) {
        let at = starts.partition_point(|&start| start <= finding.start) - 1;
        let (Some(&word), Some(&start)) = (words.get(at), starts.get(at)) else { continue };
        let offset = finding.start - start;
        // A word extends to its end, whatever characters it contains.
        if offset < word.len() && word.is_char_boundary(offset) {
            let rest = Finding { start: offset, end: word.len(), ..finding };
            clean.entry(at).or_insert_with(|| replace_found(word, &[rest]));
        }
    }
    clean.retain(|at, clean| words.get(*at) != Some(&clean.as_str()));
    clean
}
