//! The turns of a session, each from one message of the user to the next.

use std::sync::LazyLock;

use regex::Regex;
use retro_insight::{Beat, Call, What};
use retro_text::calls::Verdict;

use super::commands::{answers, is_misuse};
use super::evidence::{Evidence, clipped};
use crate::episode::Episode;

/// Minimum characters of a message that states a request.
const GIST_CHARS_MIN: usize = 15;
/// Maximum characters quoted from it, so that `when_to_use` stays short.
const GIST_CHARS_MAX: usize = 140;
/// Less certain corrections are ignored.
const CORRECTION_MIN: f64 = 0.5;

static PLEASED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:ok|okay|yes|yep|wow|cool|ah)\W+)?(?:thanks|thank you|thx|great|perfect|nice|awesome|excellent|lgtm|love it|exactly|ship it|looks good|well done|(?:it|that|this|everything|all) works)\b").ok()
});
/// Good words that introduce bad news.
static BUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:but|however|except|still|wrong|broken|fails?|not)\b").ok());

/// The events between two messages.
pub(super) struct Turn<'a> {
    /// The last message up to the turn that states a request: event and words.
    pub wanted: Option<(&'a str, &'a str)>,
    /// The message that began it says what is wanted; else an earlier one does.
    pub says_what: bool,
    /// Calls on the main thread.
    pub calls: Vec<(&'a Beat, &'a Call)>,
    /// The message after the turn.
    pub next: Option<(&'a Beat, &'a str)>,
    /// True if the user interrupted it or refused a call.
    pub broken: bool,
}

/// The turns of a session, in order.
pub(super) fn turns(episode: &Episode) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut wanted = None;
    for beat in episode.trace.beats.iter().filter(|beat| beat.thread == 0) {
        match &beat.what {
            What::Said { text, .. } if beat.is_request() => {
                if let Some(last) = turns.last_mut() {
                    last.next = Some((beat, text));
                }
                let own = gist(text).map(|gist| (beat.id.as_str(), gist));
                wanted = own.or(wanted);
                let says_what = own.is_some();
                turns.push(Turn { wanted, says_what, calls: Vec::new(), next: None, broken: false });
            }
            What::Call(call) if !call.has_nested => {
                if let Some(turn) = turns.last_mut() {
                    turn.calls.push((beat, call));
                }
            }
            What::Interruption | What::Denial { by_person: true, .. } => {
                if let Some(turn) = turns.last_mut() {
                    turn.broken = true;
                }
            }
            _ => {}
        }
    }
    turns
}

impl<'a> Turn<'a> {
    /// True if no problem is known: the last run of every check passed, and the user neither
    /// interrupted nor corrected it.
    pub(super) fn is_successful(&self, episode: &Episode) -> bool {
        let corrected = |id: &str| {
            let mut sure = episode.corrections.iter().filter(|found| found.confidence >= CORRECTION_MIN);
            sure.any(|found| found.event_id == id)
        };
        !self.broken
            && self.calls.len() >= 2
            && !last_checks(&self.calls).iter().any(|(_, call)| call.is_failed())
            && !self.next.is_some_and(|(beat, _)| corrected(&beat.id))
    }

    /// True if no problem is known with its commands: the user neither interrupted nor corrected
    /// it.
    pub(super) fn is_successful_run(&self, episode: &Episode) -> bool {
        let is_corrected = |id: &str| {
            let mut sure = episode.corrections.iter().filter(|found| found.confidence >= CORRECTION_MIN);
            sure.any(|found| found.event_id == id)
        };
        !self.broken && !self.next.is_some_and(|(beat, _)| is_corrected(&beat.id))
    }

    /// The user's next message, if it was praise.
    pub(super) fn praise(&self) -> Option<(&'a Beat, &'a str)> {
        let next = self.next.map(|(beat, _)| (beat, beat.typed.as_str()));
        next.filter(|(_, text)| {
            let first = text.lines().next().unwrap_or_default();
            PLEASED.as_ref().is_some_and(|pleased| pleased.is_match(first))
                && !BUT.as_ref().is_some_and(|but| but.is_match(clipped(first, 80)))
        })
    }

    /// The failed runs of a check before it passed, with an edit in between. Excludes failures of
    /// the command line itself.
    pub(super) fn failed_before(&self, check: &Call) -> Vec<(&'a Beat, &'a Call)> {
        let last_edit = self.calls.iter().rposition(|(_, call)| call.changed_files()).unwrap_or(0);
        let before = self.calls.get(..last_edit).unwrap_or_default().iter();
        before
            .filter(|(_, call)| call.is_failed() && !is_misuse(call) && answers(check, call))
            .copied()
            .collect()
    }

    /// The check that passed after the last edit. Prefers tests, then builds, then linters.
    pub(super) fn verification(&self) -> Option<(&'a Beat, &'a Call)> {
        let last_edit = self.calls.iter().rposition(|(_, call)| call.changed_files());
        let after = self.calls.get(last_edit.map_or(0, |at| at + 1)..)?;
        let passed = last_checks(after).into_iter().filter(|(_, call)| call.verdict == Verdict::Passed);
        passed.min_by_key(|(_, call)| call.purpose)
    }

    /// The situation in which to use the lesson, in the user's words.
    pub(super) fn when(&self, evidence: &mut Evidence<'_>) -> Option<String> {
        let (event_id, gist) = self.wanted?;
        evidence.said(event_id, gist).map(|said| format!("When asked: {said}"))
    }
}

/// The last run of each check, in order.
pub(super) fn last_checks<'a>(calls: &[(&'a Beat, &'a Call)]) -> Vec<(&'a Beat, &'a Call)> {
    let mut last: Vec<(&Beat, &Call)> = Vec::new();
    let told = |call: &Call| matches!(call.verdict, Verdict::Passed | Verdict::Failed);
    for (beat, call) in calls.iter().filter(|(_, call)| call.is_validation() && told(call)) {
        last.retain(|(_, other)| other.runner != call.runner);
        last.push((beat, call));
    }
    last
}

/// The part of a message that states a request: its first sentence of prose.
pub(super) fn gist(text: &str) -> Option<&str> {
    let mut fenced = false;
    for line in text.lines() {
        let line = line.trim();
        if line.starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced || line.starts_with(['<', '|', '>', '/', '[', '{', '$', '@']) {
            continue;
        }
        let is_mark = |c: char| matches!(c, '#' | '-' | '*' | '.' | ')' | '❯') || c.is_whitespace();
        let line = line.trim_start_matches(|c: char| is_mark(c) || c.is_ascii_digit());
        let sentence = clipped(first_sentence(line), GIST_CHARS_MAX);
        if length(sentence) >= GIST_CHARS_MIN && says_what(sentence) {
            return Some(sentence.trim_end_matches('\\'));
        }
    }
    None
}

/// Characters of a text; a sign of a script that writes without spaces counts as three.
fn length(text: &str) -> usize {
    text.chars().map(|c| if is_dense(c) { 3 } else { 1 }).sum()
}

/// Whether a sign is of a script in which one sign is a word or a part of one.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// Words that fit any task.
const VAGUE: &[&str] = &[
    "about", "again", "all", "and", "any", "apply", "are", "ask", "back", "can", "change", "changes",
    "commit", "commits", "continue", "could", "create", "did", "does", "don", "fix", "fixes", "for", "from",
    "get", "good", "great", "have", "here", "how", "its", "just", "keep", "leave", "left", "let", "like",
    "look", "make", "more", "need", "next", "not", "now", "off", "okay", "one", "our", "out", "pick",
    "please", "point", "pull", "push", "read", "review", "run", "should", "sounds", "start", "suggest",
    "sure", "thanks", "that", "the", "them", "then", "these", "they", "thing", "things", "this", "those",
    "too", "try", "two", "update", "use", "want", "was", "were", "what", "where", "which", "why", "will",
    "with", "would", "yes", "you", "your",
];

/// True if the words distinguish one task from another.
fn says_what(text: &str) -> bool {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_'));
    let mut telling: Vec<String> = words
        .map(str::to_lowercase)
        .filter(|word| word.chars().count() >= 3 && !VAGUE.contains(&word.as_str()))
        .collect();
    telling.sort();
    telling.dedup();
    telling.len() >= 2 || (!text.is_ascii() && length(text) >= GIST_CHARS_MIN && letters(text) >= 5)
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphabetic()).count()
}

/// A line up to the end of its first meaningful sentence.
pub(super) fn first_sentence(line: &str) -> &str {
    let ends = line.match_indices(['.', '!', '?', '。']);
    for (at, mark) in ends {
        let end = at + mark.len();
        let is_end =
            line.get(end..).is_none_or(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
        let head = line.get(..end).unwrap_or(line);
        if is_end && head.chars().count() >= GIST_CHARS_MIN && head.split_whitespace().count() >= 3 {
            return head;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_what_is_wanted() {
        assert_eq!(gist("Round the tax up. It is 19 %."), Some("Round the tax up."));
        assert_eq!(
            gist("```\nlog of a run\n```\nWhy does the login fail?"),
            Some("Why does the login fail?")
        );
        assert_eq!(
            gist("## Add a button to the cart\n\nIt should be blue."),
            Some("Add a button to the cart")
        );
        assert_eq!(gist("continue"), None);
        assert_eq!(gist("ok, please fix these now"), None);
        assert_eq!(gist("/review the last commit please"), None);
    }
}
