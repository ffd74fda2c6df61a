//! Where the person corrected the agent.
//!
//! Only words that the person typed count ([`Beat::typed`]). Structure first: a message after the agent acted, words with a refusal, the first
//! message after an interruption, words typed into the answer of a question. Words
//! second: does it negate, redirect or undo? A message that is repeated through the
//! session is a template, not a correction.

use std::sync::LazyLock;

use hashbrown::HashMap;
use regex::RegexSet;
use serde::{Deserialize, Serialize};

use crate::trace::{Beat, PARTS, Speaker, Trace, What, cut};

/// A correction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The event that holds it.
    pub event_id: String,
    /// What the person said, shortened.
    pub text: String,
    /// How sure it is that this corrects.
    pub confidence: f64,
    /// What showed it: `refusal`, `interruption`, `answer`, `negation`, `redirection`, `undo`, `complaint`.
    pub rule: String,
}

/// Characters of a correction's text.
const TEXT_CHARS_MAX: usize = 160;
/// A message of more characters is a task of its own.
const LONG_CHARS: usize = 700;

/// What the agent did wrong is named.
const NEGATION: &[&str] = &[
    r"(?i)^\s*(?:no|nope|nah|wrong|stop|hold on|hang on)\b[\s,.!:;—–-]",
    r"(?i)^\s*wait(?:[,.!:;—–-]|\s+(?:no|i|we|you|that|this|it|what|why)\b)",
    r"(?i)^\s*(?:no|nope|wrong|stop)[.!]*\s*$",
    r"(?i)\b(?:that'?s|that is|this is|it'?s|it is) (?:not (?:what|how|right|correct|quite|it|the)|wrong|incorrect)\b",
    r"(?i)\bnot what (?:i|we) (?:asked|meant|want|wanted|said)\b",
    r"(?i)\byou (?:misunderstood|forgot|missed|broke|ignored|skipped|should(?:n'?t| not)? have|did ?n'?t|were not supposed)\b",
    r"(?i)\bi (?:said|asked|told you|meant|did ?n'?t ask|never asked)\b",
    r"(?i)\b(?:why did you|why are you|since when)\b",
];
/// Another way is demanded.
const REDIRECTION: &[&str] = &[
    r"(?i)^\s*(?:please )?(?:don'?t|do not|never|stop|avoid)\b",
    r"(?i)\b(?:don'?t|do not|never|please stop) (?:use|do|add|run|touch|change|create|delete|remove|edit|commit|push|write|put|call|make|mock|skip)\b",
    r"(?i)\b(?:use|prefer|try) .{1,60}\binstead\b",
    r"(?i)\binstead of\b",
    r"(?i)^\s*actually\b",
    r"(?i)\b(?:we|this project|this repo|our team) (?:use|uses|deploy|deploys|run|runs|always|never|prefer|don'?t)\b.{0,60}\b(?:here|not|in this|with)\b",
    r"(?i)\bshould(?:n'?t| not| have been| be)\b.{0,80}\b(?:not|instead|rather)\b",
];
/// Something is to be taken back.
const UNDO: &[&str] = &[
    r"(?i)^\s*(?:please |can you |ok,? |now )?(?:undo|revert|roll ?back|put (?:it|that) back|restore)\b",
    r"(?i)\b(?:undo|revert|roll ?back) (?:that|this|it|your|the (?:last|change|changes|edit|commit))\b",
];
/// It does not work.
const COMPLAINT: &[&str] = &[
    r"(?i)\b(?:still|again)\b.{0,30}\b(?:fails?|failing|broken|wrong|not working|doesn'?t work|the same|error)\b",
    r"(?i)\b(?:doesn'?t|does not|didn'?t|did not|isn'?t|is not|not) work(?:ing)?\b",
];
/// A thought, a proposal: it may correct, and may only be said aloud.
const SOFT: &[&str] =
    &[r"(?i)\b(?:what about|how about|an idea|maybe|perhaps|i think|i wonder|(?:could|can|should) we)\b"];
/// Questions that reproach.
const REPROACH: &[&str] =
    &[r"(?i)\b(?:why (?:did|are|would|have) you|since when|did ?n'?t i|who told you)\b"];
/// Thanks, agreement, the next task.
const PRAISE: &[&str] = &[
    r"(?i)^\s*(?:no (?:problem|worries|need)|not bad|no,? (?:that'?s|it'?s|all) (?:fine|good|ok|okay|perfect|great)|no thanks)\b",
    r"(?i)^\s*(?:thanks|thank you|great|perfect|nice|awesome|lgtm|looks good|you'?re right|good catch|yes|yep|yeah|ok|okay|sure)\b",
];

static SETS: LazyLock<Vec<(&'static str, f64, RegexSet)>> = LazyLock::new(|| {
    let sets: [(&str, f64, &[&str]); 4] = [
        ("undo", 0.8, UNDO),
        ("negation", 0.8, NEGATION),
        ("redirection", 0.7, REDIRECTION),
        ("complaint", 0.6, COMPLAINT),
    ];
    sets.into_iter()
        .filter_map(|(name, sure, patterns)| Some((name, sure, RegexSet::new(patterns).ok()?)))
        .collect()
});
static SOFTS: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SOFT).ok());
static REPROACHES: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(REPROACH).ok());
static PRAISES: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(PRAISE).ok());
/// The corrections of a session, in order.
pub(crate) fn find(trace: &Trace) -> Vec<Correction> {
    let mut found: Vec<Correction> = Vec::new();
    let repeated = repeated(trace);
    // What the agent did since the person last spoke.
    let (mut acted, mut cut_off, mut refused, mut asked) = (false, false, false, false);
    for beat in trace.beats.iter().filter(|beat| beat.thread == 0) {
        match &beat.what {
            What::Call(_) => acted = true,
            What::Said { by: Speaker::Model, text } => {
                acted = true;
                asked = text.trim_end().ends_with('?');
            }
            What::Interruption => cut_off = true,
            What::Denial { by_person: true, .. } => {
                refused = true;
                let text = beat.typed.trim();
                if !text.is_empty() && !is_marker(text) {
                    found.push(correction(beat, text, "refusal", refusal_confidence(text)));
                }
            }
            What::Answer { .. } => {
                let answers = beat.typed.split(PARTS).filter(|answer| !answer.trim().is_empty());
                found.extend(answers.filter_map(|answer| typed_answer(beat, answer)).take(1));
            }
            What::Said { .. } if beat.is_request() => {
                let text = beat.typed.trim();
                let is_none = text.is_empty() || repeated.contains_key(text) || (asked && is_short_no(text));
                if !is_none {
                    found.extend(message(beat, text, acted, cut_off || refused));
                }
                (acted, cut_off, refused, asked) = (false, false, false, false);
            }
            _ => {}
        }
    }
    found
}

/// Messages that were sent more than once: templates of a command or a loop.
fn repeated(trace: &Trace) -> HashMap<&str, u32> {
    let mut counts: HashMap<&str, u32> = HashMap::new();
    for (beat, _) in trace.requests() {
        *counts.entry(beat.typed.trim()).or_default() += 1;
    }
    counts.retain(|text, count| *count > 1 && text.chars().count() > 20);
    counts
}

/// A message corrects if it follows work and its words say so.
fn message(beat: &Beat, text: &str, acted: bool, cut_off: bool) -> Option<Correction> {
    if !acted && !cut_off {
        return None;
    }
    let typed = text.trim();
    // A choice out of a list (`1`, `2b`) says nothing of what was done.
    let is_choice = typed.chars().filter(|c| c.is_alphabetic()).count() < 2;
    if is_choice || is_command(typed) || is_marker(typed) {
        return None;
    }
    let long = typed.chars().count() > LONG_CHARS;
    let praises = PRAISES.as_ref().is_some_and(|praises| praises.is_match(typed));
    let words = SETS.iter().find(|(_, _, set)| set.is_match(first_sentences(typed)));
    match words {
        Some((rule, sure, _)) if !praises || matches!(*rule, "undo") => {
            let sure = if long { sure - 0.3 } else { *sure };
            let sure = if is_said_aloud(typed) { sure - 0.25 } else { sure };
            let sure = if cut_off { (sure + 0.15).min(0.95) } else { sure };
            Some(correction(beat, typed, rule, sure))
        }
        // The first words after an interruption say what to do otherwise.
        None if cut_off && !praises && !long && !goes_on(typed) => {
            Some(correction(beat, typed, "interruption", 0.6))
        }
        _ => None,
    }
}

/// A question that reproaches nobody, or a proposal.
fn is_said_aloud(text: &str) -> bool {
    let has = |set: &LazyLock<Option<RegexSet>>| set.as_ref().is_some_and(|set| set.is_match(text));
    (text.ends_with('?') && !has(&REPROACHES)) || has(&SOFTS)
}

/// A bare "no" to a question of the agent answers it.
fn is_short_no(text: &str) -> bool {
    let word = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    matches!(word.as_str(), "no" | "nope" | "nah" | "no thanks" | "not now" | "stop")
}

/// What a message opens with says what it is for.
fn first_sentences(text: &str) -> &str {
    let end = text.char_indices().nth(LONG_CHARS).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or(text)
}

fn correction(beat: &Beat, text: &str, rule: &str, confidence: f64) -> Correction {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let confidence = crate::reading::rounded(confidence);
    Correction {
        event_id: beat.id.clone(),
        text: cut(&text, TEXT_CHARS_MAX),
        confidence,
        rule: rule.to_owned(),
    }
}

/// Words given with a refusal redirect; a question asks first.
fn refusal_confidence(text: &str) -> f64 {
    if text.trim_end().ends_with('?') { 0.6 } else { 0.9 }
}

/// Words typed into the answer of a question that reject what was offered.
fn typed_answer(beat: &Beat, text: &str) -> Option<Correction> {
    let typed = text.trim();
    if typed.contains('?') || typed.contains("No answer provided") {
        return None;
    }
    let (rule, sure, _) = SETS.iter().find(|(_, _, set)| set.is_match(typed))?;
    (*rule != "complaint").then(|| correction(beat, typed, "answer", sure - 0.1))
}

fn is_command(text: &str) -> bool {
    text.starts_with('/') && text.split_whitespace().next().is_none_or(|word| word.matches('/').count() == 1)
}

/// Sentences of the program, not of the person.
fn is_marker(text: &str) -> bool {
    text.starts_with("[Request interrupted")
        || text.starts_with("<turn_aborted>")
        || text.starts_with("The user doesn't want")
}

/// "continue", "go on": the interruption corrected nothing.
fn goes_on(text: &str) -> bool {
    let lower = text.to_lowercase();
    let lower = lower.trim_matches(|c: char| !c.is_alphanumeric());
    ["continue", "go on", "go ahead", "resume", "proceed", "keep going", "carry on", "try again", "retry"]
        .iter()
        .any(|word| lower.starts_with(word))
        && lower.chars().count() < 40
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat() -> Beat {
        let (asked, typed) = (None, String::new());
        Beat { id: "m:1".into(), thread: 0, turn: 2, ts: None, what: What::Compaction, asked, typed }
    }

    #[test]
    fn words_after_work_that_correct() {
        let corrections = [
            "no, use the other file",
            "No. That's not what I asked for.",
            "don't use npm, use pnpm instead",
            "actually we need it in the header",
            "undo that please",
            "revert the last change",
            "that's wrong, the rate is 19",
            "why did you delete the test?",
            "since when is this a Python project?",
            "we deploy with Nix here",
            "it still fails with the same error",
            "stop",
        ];
        let none = [
            "add an undo button to the toolbar",
            "you're right, thanks",
            "no problem, go ahead with the release",
            "good catch!",
            "now write the docs",
            "thanks, that works",
            "yes",
            "/review don't forget the tests",
            "Implement the revert command for the history view",
        ];
        for text in corrections {
            assert!(message(&beat(), text, true, false).is_some(), "{text}");
            assert_eq!(message(&beat(), text, false, false), None, "nothing was done yet: {text}");
        }
        for text in none {
            assert_eq!(message(&beat(), text, true, false), None, "{text}");
        }
    }

    #[test]
    fn questions_and_proposals_are_less_sure() {
        let sure = |text| message(&beat(), text, true, false).map_or(0.0, |found| found.confidence);
        for text in [
            "or does it use 20 instead of 30?",
            "here's an idea: instead of the whole text, what about a link",
            "wait, does it only run on main?",
        ] {
            assert!(sure(text) < 0.7, "{text}: {}", sure(text));
        }
        for text in
            ["why did you delete the test?", "use tabs instead of spaces", "wait, that's the old file"]
        {
            assert!(sure(text) >= 0.7, "{text}: {}", sure(text));
        }
        assert_eq!(typed_answer(&beat(), "Wait for results"), None, "an option that was chosen");
        assert!(is_short_no("No.") && !is_short_no("no, use the other file"));
    }

    #[test]
    fn the_first_words_after_an_interruption() {
        let after = |text| message(&beat(), text, true, true).map(|found| found.rule);
        assert_eq!(after("take the second one").as_deref(), Some("interruption"));
        assert_eq!(after("continue"), None);
        assert_eq!(after("no, the other one").as_deref(), Some("negation"));
    }
}
