//! Finds the messages that correct the agent.
//!
//! Only words that the person typed count ([`Beat::typed`]). A message is weighed: by its words
//! (`words`, and `tongues` for languages other than English), and by signs in the log that do not
//! depend on the language. It comes after the agent acted. It names a file that was just edited,
//! repeats an earlier request, or follows an interruption or a refusal. The next steps edit the
//! same files or run the same commands again. None of these is enough by itself. A message that is
//! sent more than once is a template, not a correction.

mod tongues;
mod words;

use std::sync::LazyLock;

use hashbrown::HashMap;
use regex::RegexSet;
use retro_text::tongue::is_spaced;
use serde::{Deserialize, Serialize};

use crate::trace::{Beat, Call, PARTS, Speaker, Trace, What, cut};

/// A correction of the agent by the person.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correction {
    /// The event that contains it.
    pub event_id: String,
    /// The person's words, shortened.
    pub text: String,
    /// The confidence that this is a correction.
    pub confidence: f64,
    /// The evidence: `refusal`, `interruption`, `answer`, `negation`, `redirection`, `undo`,
    /// `complaint`.
    pub rule: String,
}

/// The most characters of a correction's text.
const TEXT_CHARS_MAX: usize = 160;
/// The least weight of a correction.
const CORRECTS: f64 = 0.65;
/// The weights of signs in the log.
const AFTER_REFUSAL: f64 = 1.2;
const AFTER_INTERRUPTION: f64 = 0.6;
const ASKED_AGAIN: f64 = 0.8;
const NAMES_WORK: f64 = 0.3;
const WORK_REDONE: f64 = 0.2;
/// The confidence of a correction that only reports a wrong result. Such a report gives no rule.
const REPORTED: f64 = 0.55;
/// The confidence of one that rejects, in words that no table below has.
const REJECTED: f64 = 0.65;
/// The confidence if the log is stronger evidence than the words.
const SHOWN_BY_LOG: f64 = 0.5;
/// A longer message is a task of its own.
const LONG_CHARS: usize = 700;

/// The message names the agent's mistake.
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
/// The message demands another way.
const REDIRECTION: &[&str] = &[
    r"(?i)^\s*(?:please )?(?:don'?t|do not|never|stop|avoid)\b",
    r"(?i)\b(?:don'?t|do not|never|please stop) (?:use|do|add|run|touch|change|create|delete|remove|edit|commit|push|write|put|call|make|mock|skip)\b",
    r"(?i)\b(?:use|prefer|try) .{1,60}\binstead\b",
    r"(?i)\binstead of\b",
    r"(?i)^\s*actually\b",
    r"(?i)\b(?:we|this project|this repo|our team) (?:use|uses|deploy|deploys|run|runs|always|never|prefer|don'?t)\b.{0,60}\b(?:here|not|in this|with)\b",
    r"(?i)\bshould(?:n'?t| not| have been| be)\b.{0,80}\b(?:not|instead|rather)\b",
];
/// The message demands an undo.
const UNDO: &[&str] = &[
    r"(?i)^\s*(?:please |can you |ok,? |now )?(?:undo|revert|roll ?back|put (?:it|that) back|restore)\b",
    r"(?i)\b(?:undo|revert|roll ?back) (?:that|this|it|your|the (?:last|change|changes|edit|commit))\b",
];
/// The message reports that something does not work.
const COMPLAINT: &[&str] = &[
    r"(?i)\b(?:still|again)\b.{0,30}\b(?:fails?|failing|broken|wrong|not working|doesn'?t work|the same|error)\b",
    r"(?i)\b(?:doesn'?t|does not|didn'?t|did not|isn'?t|is not|not) work(?:ing)?\b",
];
/// A thought or a proposal. It may correct, or only think aloud.
const SOFT: &[&str] =
    &[r"(?i)\b(?:what about|how about|an idea|maybe|perhaps|i think|i wonder|(?:could|can|should) we)\b"];
/// Questions that are reproaches.
const REPROACH: &[&str] =
    &[r"(?i)\b(?:why (?:did|are|would|have) you|since when|did ?n'?t i|who told you)\b"];
/// Thanks, agreement, or the next task.
const PRAISE: &[&str] = &[
    r"(?i)^\s*(?:no (?:problem|worries|need)|not bad|no,? (?:that'?s|it'?s|all) (?:fine|good|ok|okay|perfect|great)|no thanks)\b",
    r"(?i)^\s*(?:thanks|thank you|great|perfect|nice|awesome|lgtm|looks good|you'?re right|good catch|yes|yep|yeah|ok|okay|sure)\b",
];

static SETS: LazyLock<Vec<(&'static str, f64, RegexSet)>> = LazyLock::new(|| {
    let sets: [(&str, f64, &[&str]); 4] = [
        ("undo", 0.8, UNDO),
        ("negation", 0.8, NEGATION),
        ("redirection", 0.7, REDIRECTION),
        ("complaint", REPORTED, COMPLAINT),
    ];
    sets.into_iter()
        .filter_map(|(name, sure, patterns)| Some((name, sure, RegexSet::new(patterns).ok()?)))
        .collect()
});
static SOFTS: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(SOFT).ok());
static REPROACHES: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(REPROACH).ok());
static PRAISES: LazyLock<Option<RegexSet>> = LazyLock::new(|| RegexSet::new(PRAISE).ok());

/// The agent's actions since the person last spoke.
#[derive(Default)]
struct Before<'a> {
    acted: bool,
    cut_off: bool,
    refused: bool,
    asked: bool,
    work: Work<'a>,
}

/// Files that were edited, and commands that ran.
#[derive(Default)]
struct Work<'a> {
    files: Vec<&'a str>,
    commands: Vec<&'a str>,
}

impl<'a> Work<'a> {
    fn add(&mut self, call: &'a Call) {
        self.files.extend(call.edits.iter().map(|edit| edit.path.as_str()));
        self.commands.extend(call.command.as_deref());
    }

    /// The work in these beats, up to the next request.
    fn until_request(beats: &[&'a Beat]) -> Work<'a> {
        let mut work = Work::default();
        for beat in beats.iter().take_while(|beat| !beat.is_request()) {
            if let What::Call(call) = &beat.what {
                work.add(call);
            }
        }
        work
    }

    fn meets(&self, other: &Work<'_>) -> bool {
        self.files.iter().any(|file| other.files.contains(file))
            || self.commands.iter().any(|command| other.commands.contains(command))
    }

    /// True if a text names one of the files.
    fn is_named(&self, text: &str) -> bool {
        let names = self.files.iter().filter_map(|file| file.rsplit(['/', '\\']).next());
        names.filter(|name| name.len() >= NAME_BYTES_MIN).any(|name| text.contains(name))
    }
}

/// The shortest file name that identifies a file, in bytes.
const NAME_BYTES_MIN: usize = 5;

/// The corrections of a session, in order.
pub(crate) fn find(trace: &Trace) -> Vec<Correction> {
    let mut found: Vec<Correction> = Vec::new();
    let repeated = repeated(trace);
    let beats: Vec<&Beat> = trace.beats.iter().filter(|beat| beat.thread == 0).collect();
    let mut before = Before::default();
    let mut requests: Vec<Vec<String>> = Vec::new();
    for (at, beat) in beats.iter().enumerate() {
        match &beat.what {
            What::Call(call) => {
                before.acted = true;
                before.work.add(call);
            }
            What::Said { by: Speaker::Model, text } => {
                before.acted = true;
                before.asked = text.trim_end().ends_with('?');
            }
            What::Interruption => before.cut_off = true,
            What::Denial { by_person: true, .. } => {
                before.refused = true;
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
                let is_none =
                    text.is_empty() || repeated.contains_key(text) || (before.asked && is_short_no(text));
                if !is_none {
                    let after = Work::until_request(beats.get(at + 1..).unwrap_or_default());
                    found.extend(message(beat, text, &before, &after, &requests));
                }
                requests.push(terms(text));
                before = Before::default();
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

/// A message is a correction if it follows work, and its words and the log are enough evidence.
fn message(
    beat: &Beat,
    text: &str,
    before: &Before<'_>,
    after: &Work<'_>,
    requests: &[Vec<String>],
) -> Option<Correction> {
    if !before.acted && !before.cut_off && !before.refused {
        return None;
    }
    let typed = text.trim();
    // A choice from a list (`1`, `2b`) is not about the work.
    let is_choice = typed.chars().filter(|c| c.is_alphabetic()).count() < 2;
    if is_choice || is_command(typed) || is_marker(typed) || goes_on(typed) {
        return None;
    }
    let by_words = words::weigh(typed);
    let is = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    let is_again = asks_again(&terms(typed), requests);
    let by_log = is(before.refused, AFTER_REFUSAL)
        + is(before.cut_off && !before.refused, AFTER_INTERRUPTION)
        + is(is_again, ASKED_AGAIN)
        + is(before.work.is_named(typed), NAMES_WORK)
        + is(before.work.meets(after), WORK_REDONE);
    let praises = PRAISES.as_ref().is_some_and(|praises| praises.is_match(typed));
    let named = SETS.iter().find(|(_, _, set)| set.is_match(first_sentences(typed)));
    let weight = by_words.weight + by_log;
    if weight < CORRECTS || (praises && !matches!(named, Some(("undo", _, _))) && !by_words.reports) {
        return None;
    }
    let (rule, sure) = match named {
        Some((rule, sure, _)) if !praises => (*rule, *sure),
        _ if by_words.weight < CORRECTS && is_again => ("repetition", SHOWN_BY_LOG),
        _ if by_words.weight < CORRECTS && before.cut_off => ("interruption", SHOWN_BY_LOG),
        _ if by_words.weight < CORRECTS => ("rework", SHOWN_BY_LOG),
        _ if by_words.rejects => ("negation", REJECTED),
        _ => ("complaint", REPORTED),
    };
    let is_report = sure <= REPORTED;
    let sure = if typed.chars().count() > LONG_CHARS { sure - 0.3 } else { sure };
    let sure = if is_said_aloud(typed) { sure - 0.25 } else { sure };
    let sure = if before.cut_off && !is_report { (sure + 0.15).min(0.95) } else { sure };
    Some(correction(beat, typed, rule, sure))
}

/// The terms of a message, for comparison with others: its longer words, or pairs of letters if the
/// script does not separate words.
fn terms(text: &str) -> Vec<String> {
    let mut terms: Vec<String> = match is_spaced(text) {
        true => {
            let words = retro_text::tongue::words(text);
            words.split(' ').filter(|word| word.chars().count() >= 4).map(str::to_owned).collect()
        }
        false => {
            let letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
            letters.windows(2).map(|pair| pair.iter().collect()).collect()
        }
    };
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Two requests are the same if they share this many terms, and this part of all their terms.
const SHARED_MIN: usize = 4;
const SHARED_SHARE: f64 = 0.5;

/// True if an earlier request asked for the same in other words.
fn asks_again(terms: &[String], requests: &[Vec<String>]) -> bool {
    requests.iter().any(|earlier| {
        let shared = terms.iter().filter(|term| earlier.binary_search(term).is_ok()).count();
        let all = terms.len() + earlier.len() - shared;
        shared >= SHARED_MIN && shared as f64 >= SHARED_SHARE * all as f64 && shared < all
    })
}

/// True for a question without a reproach, or a proposal.
fn is_said_aloud(text: &str) -> bool {
    let has = |set: &LazyLock<Option<RegexSet>>| set.as_ref().is_some_and(|set| set.is_match(text));
    (text.ends_with('?') && !has(&REPROACHES)) || has(&SOFTS)
}

/// A bare "no" to a question of the agent is an answer.
fn is_short_no(text: &str) -> bool {
    let word = text.trim().trim_end_matches(['.', '!']).to_lowercase();
    matches!(word.as_str(), "no" | "nope" | "nah" | "no thanks" | "not now" | "stop")
}

/// The beginning of a message shows its purpose.
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

/// Words given with a refusal redirect, but a question asks first.
fn refusal_confidence(text: &str) -> f64 {
    if text.trim_end().ends_with('?') { 0.6 } else { 0.9 }
}

/// Words typed as the answer to a question that reject the options.
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

    /// Judges a message after the agent acted.
    fn message(beat: &Beat, text: &str, acted: bool, cut_off: bool) -> Option<Correction> {
        let before = Before { acted, cut_off, ..Before::default() };
        super::message(beat, text, &before, &Work::default(), &[])
    }

    #[test]
    fn words_of_other_languages_correct() {
        for text in [
            "Nein, ich meinte den unteren Knopf.",
            "Das Fenster geht immer noch nicht auf.",
            "Pourquoi tu as supprimé le menu, je n'ai pas demandé ça",
            "Sigue sin abrir el archivo",
            "ainda não aparece o total",
            "Non funziona, il totale manca ancora",
            "кнопка всё ещё не работает",
            "nadal nie działa",
            "butonu geri al, yanlış oldu",
            "違います。右側のボタンです。",
            "合計がまだ表示されません。",
            "不对，应该是右边的按钮",
            "아니요, 오른쪽 버튼이요",
        ] {
            let found = message(&beat(), text, true, false);
            assert!(found.is_some(), "{text}");
        }
        for text in [
            "Danke, jetzt bitte noch eine Übersicht.",
            "Comment marche le calcul ?",
            "Ahora agrega un filtro por fecha",
            "次にヘルプを書いてください。",
            "这个按钮是做什么的？",
            "이제 목록도 만들어 주세요",
        ] {
            assert_eq!(message(&beat(), text, true, false), None, "{text}");
        }
    }

    #[test]
    fn a_report_is_no_rule() {
        for text in [
            "the total still shows 0, it doesn't add up",
            "It says 'no such table'. It doesn't load.",
            "合計がまだ表示されません。",
        ] {
            let found = message(&beat(), text, true, false).map(|found| found.confidence);
            assert!(found.is_some_and(|sure| sure < 0.6), "{text}: {found:?}");
        }
    }

    #[test]
    fn the_log_speaks_in_every_language() {
        let weighed = |text: &str, before: &Before<'_>, requests: &[Vec<String>]| {
            super::message(&beat(), text, before, &Work::default(), requests).map(|found| found.rule)
        };
        let acted = || Before { acted: true, ..Before::default() };
        let asked = [terms("η λίστα των πελατών πρέπει να είναι ταξινομημένη κατά όνομα")];
        let again = "η λίστα των πελατών πρέπει να είναι πράγματι ταξινομημένη κατά όνομα";
        assert_eq!(weighed(again, &acted(), &[]), None);
        assert_eq!(weighed(again, &acted(), &asked).as_deref(), Some("repetition"));
        let refused = Before { refused: true, ..acted() };
        assert_eq!(weighed("το άλλο αρχείο", &refused, &[]).as_deref(), Some("rework"));
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
        assert_eq!(after("not the second one, it has no header").as_deref(), Some("interruption"));
        // An interruption alone is not a correction.
        for goes_on in ["continue", "take the second one", "implement", "commit", "run python main.py"] {
            assert_eq!(after(goes_on), None, "{goes_on}");
        }
        assert_eq!(after("no, the other one").as_deref(), Some("negation"));
    }
}
