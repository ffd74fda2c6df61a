//! # What
//! Whether the person's last message sounds pleased.
//! # Why
//! A cheap hint at how the work was received.
//! # How
//! The last message the person typed: `positive` if it has words such as thanks, perfect,
//! works, lgtm and no bad ones; `negative` if it has words such as broken, wrong, doesn't
//! work, still failing, undo, revert and no good ones; `neutral` otherwise. Whole words
//! only, and only in a message that follows work.
//! # Limits
//! English words; irony is not seen. Confidence 0.4.

use std::sync::LazyLock;

use regex::Regex;

use super::Looked;
use crate::Reading;
use crate::trace::{Beat, Trace, What};

pub(crate) const DOC: &str = include_str!("satisfaction.rs");

static GOOD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:thanks|thank you|thx|nice|great|perfect|awesome|amazing|love it|works(?: now| fine| great| well)?|fixed it|ship it|lgtm|looks good|well done)\b").ok()
});
static BAD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:broken|wrong|(?:doesn'?t|does not|didn'?t|not) work(?:ing)?|still fail(?:s|ing)?|that'?s bad|terrible|hate|undo (?:that|this|it)|revert (?:that|this|it)|not what i)\b").ok()
});

/// Whether the words sound pleased. `None` if they are neither, or both.
pub(crate) fn is_pleased(text: &str) -> Option<bool> {
    let has = |words: &LazyLock<Option<Regex>>| words.as_ref().is_some_and(|words| words.is_match(text));
    match (has(&GOOD), has(&BAD)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// The last message of the person that follows work.
pub(crate) fn last_words(trace: &Trace) -> Option<(&Beat, &str)> {
    let (last, _) = trace.prompts().filter(|(beat, _)| !beat.typed.is_empty()).last()?;
    let text = last.typed.as_str();
    let at = trace.beats.iter().position(|beat| beat.id == last.id)?;
    let acted = trace.beats.get(..at)?.iter().any(|beat| matches!(beat.what, What::Call(_)));
    acted.then_some((last, text))
}

pub(crate) fn user_satisfaction_lexical(looked: &Looked<'_>) -> Reading {
    let Some((beat, text)) = last_words(looked.trace) else {
        return Reading::none("no_message_after_work");
    };
    let label = match is_pleased(text) {
        Some(true) => "positive",
        Some(false) => "negative",
        None => "neutral",
    };
    Reading::of(label).sure(0.4).because([beat.id.as_str()])
}
