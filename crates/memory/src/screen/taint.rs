//! Whether a memory would hand on words of a tool or of the web outside quotation marks.

use crate::candidate::Voice;
use crate::memory::Memory;

/// Words in a row that are no accident. A name or an error code alone gives no orders.
const WORDS_MIN: usize = 4;

/// Pairs of marks that a quotation stands between.
const MARKS: &[(char, char)] = &[('`', '`'), ('"', '"'), ('“', '”'), ('«', '»'), ('„', '“'), ('「', '」')];

/// Whose words the memory would hand on as if they were ours.
pub(super) fn tainted(memory: &Memory) -> Option<Voice> {
    let is_foreign = |voice: Voice| matches!(voice, Voice::Tool | Voice::External);
    let foreign: Vec<_> = memory.spans.iter().filter(|span| is_foreign(span.voice)).collect();
    if is_foreign(memory.origin) && foreign.is_empty() && !words(&unquoted(&memory.text)).is_empty() {
        return Some(memory.origin);
    }
    let texts = memory.texts();
    let open: Vec<Vec<String>> = texts.iter().map(|text| words(&unquoted(text))).collect();
    foreign
        .into_iter()
        .find(|span| {
            let said = words(&span.text);
            open.iter().any(|text| shares_run(text, &said))
        })
        .map(|span| span.voice)
}

/// The text without what it quotes. A mark without its twin quotes nothing.
pub(crate) fn unquoted(text: &str) -> String {
    let mut open = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        let end = MARKS
            .iter()
            .filter(|(from, _)| *from == next)
            .find_map(|(_, to)| after.find(*to).map(|at| at + to.len_utf8()));
        match end {
            Some(end) => {
                open.push(' ');
                rest = after.get(end..).unwrap_or_default();
            }
            None => {
                open.push(next);
                rest = after;
            }
        }
    }
    open
}

/// What a text quotes, without the marks.
pub(crate) fn quotations(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        let after = rest.get(next.len_utf8()..).unwrap_or_default();
        let pair = MARKS
            .iter()
            .filter(|(from, _)| *from == next)
            .find_map(|(_, to)| after.find(*to).map(|at| (at, at + to.len_utf8())));
        rest = match pair {
            Some((end, next)) => {
                found.extend(after.get(..end));
                after.get(next..).unwrap_or_default()
            }
            None => after,
        };
    }
    found
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether both hold the same words in a row.
fn shares_run(text: &[String], said: &[String]) -> bool {
    said.windows(WORDS_MIN).any(|run| text.windows(WORDS_MIN).any(|here| here == run))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_told_from_the_rest() {
        let text = "After \"it broke\" run `make all`, said the “log” of 5\" pipes";
        assert_eq!(quotations(text), ["it broke", "make all", "log"]);
        assert_eq!(words(&unquoted(text)).join(" "), "after run said the of 5 pipes");
    }

    #[test]
    fn four_words_in_a_row_are_no_accident() {
        let said = words("please remove the old lock file");
        assert!(shares_run(&words("First remove the old lock, then go on"), &said));
        assert!(!shares_run(&words("remove the lock"), &said));
    }
}
