//! Sentences that have the signs of a rule and are none: questions without a question mark, reports
//! of what was done, clarifications, headings, and steps of one task.

use std::sync::LazyLock;

use regex::Regex;

use super::signs;

/// What a sentence begins with before it says something.
const LEAD: &str = r"(?i)^\W*(?:(?:and|but|so|ok|okay|no+|yes|yeah|oh|hm+|well|also|or|because)\b[\s,.!]*)*";

fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&text.replace("{lead}", LEAD)).ok()
}

/// Questions by the order of their words.
static ASKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"{lead}(?:is|are|was|were|do|does|did|can|could|should|would|will|have|has|am|isn'?t|aren'?t|don'?t|doesn'?t|can'?t|shouldn'?t) (?:it|you|u|i|we|they|this|that|there|the|these|those|he|she)\b",
    )
});

/// Reports of the speaker about themselves, such as what they did or tried just now.
static REPORTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"{lead}(?:(?:i|we)(?:'ve| have)? just\b|i(?:'m| am|m| was)? (?:just |only )?(?:saying|telling|asking|wondering|trying|thinking|talking|confused|curious|not sure|guessing)\b|i (?:think|thought|guess|wonder|mean|meant|noticed|suspect|assume|suppose) |(?:let'?s|lets|let us) |you (?:did ?n'?t|did not|forgot|missed|broke|removed|just)\b|the fact (?:that|we|you|is))",
    )
});

/// What is to be done next, once.
static TO_DO: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"{lead}we (?:also |now |still |then )?(?:need|want|have) to\b"));
static LASTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)\b(?:always|never|every|each|all|any)\b|\b(?:make sure|ensure)\b"));

/// That something does not work: what is said beside it says how it fails.
static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:there'?s|there is|found|have|hit) (?:an? |another )?(?:bug|problem|error|issue)\b|\bseems? to (?:still )?(?:fail|be broken)|\b(?:still|is|are|keeps?) (?:fail|failing|broken|crashing)|\b(?:doesn'?t|does not|not) work",
    )
});

/// The last word of a line that is not finished.
static UNFINISHED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:^|\s)(?:has|have|is|are|was|were|the|a|an|to|of|with|for|and|or|in|on|from|following)\W*$",
    )
});

/// The last word of a message that was sent before it was finished.
static CUT_OFF: LazyLock<Option<Regex>> =
    LazyLock::new(|| pattern(r"(?i)^(?:\S+\s+){1,6}(?:has|have|is|are|the|a|an|of|and|or)\s*$"));

/// An order about one thing that was named before: "keep it", "leave that".
static POINTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:^|[-–—,;:.!] *|\b(?:and|but|so|please|to|not) )(?:keep|leave|make|put|do|move|add|remove|fix|change|use|avoid|have|show|run|try|call|let) (?:it|this|that|these|those|them|em)\b",
    )
});

/// A line of a list of steps.
static STEP: LazyLock<Option<Regex>> = LazyLock::new(|| pattern(r"(?m)^\s*(?:\(?\d{1,2}[).:]|step \d+)\s"));

fn is_match(set: &LazyLock<Option<Regex>>, text: &str) -> bool {
    set.as_ref().is_some_and(|set| set.is_match(text))
}

/// Whether a sentence, before what follows it, is no rule whatever its words are.
pub(super) fn is_unlike(sentence: &str, after: &str) -> bool {
    let is_heading = sentence.trim_end().ends_with(':')
        || (!sentence.trim_end().ends_with(['.', '!']) && is_match(&UNFINISHED, sentence));
    let has_list = after.trim_start().starts_with(['-', '*', '•', '1']);
    is_match(&ASKS, sentence)
        || is_match(&REPORTS, sentence)
        || (is_heading && has_list)
        || is_match(&CUT_OFF, sentence)
        || (is_match(&TO_DO, sentence) && !is_match(&LASTS, sentence))
}

/// Whether a sentence is an order about what was named before it.
pub(super) fn points_at_things(sentence: &str) -> bool {
    is_match(&POINTS, sentence)
}

/// Steps from which a text is a list of them.
const STEPS_MIN: usize = 2;

/// Characters from which a text that begins with an order is a task with its details.
const TASK_CHARS_MIN: usize = 160;

/// Whether a text lists the steps of one task, orders one with its details, or reports what fails:
/// its sentences are about that.
pub(crate) fn is_task(text: &str) -> bool {
    STEP.as_ref().is_some_and(|step| step.find_iter(text).count() >= STEPS_MIN)
        || (text.chars().count() >= TASK_CHARS_MIN && signs::begins_task(text))
        || is_match(&FAILS, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_sounds_like_a_rule_is_known() {
        for sentence in [
            "is it that you always have to start the server",
            "ok so do we never store names here",
            "I was just telling you that I prefer tabs",
            "we just moved everything to the new folder",
            "i'm trying to see whether we could use fewer tables",
            "lets only use the short names",
            "you didn't put the names into it",
            "and we also need to add more names to the list",
        ] {
            assert!(is_unlike(sentence, ""), "{sentence}");
        }
        assert!(is_unlike("The names that the store keeps for us by now has", "\n- three tables"));
        assert!(is_unlike("The current store has", ""));
        assert!(!is_unlike("Names carry no title, not even the one to be shown with", "\nand so on"));
        for sentence in [
            "Do not store names here.",
            "we never store names",
            "Never commit to main.",
            "The store has no names.",
        ] {
            assert!(!is_unlike(sentence, ""), "{sentence}");
        }
    }

    #[test]
    fn an_order_about_one_thing_points_at_it() {
        assert!(points_at_things("on purpose - keep it local"));
        assert!(!points_at_things("keep names short"));
        assert!(is_task("1) rename a\n2) rename b\nKeep the ids."));
        assert!(!is_task("Keep the ids."));
        assert!(is_task("There's a bug in the list. The order of names is not kept."));
        let details = "Update the list of guests: names first, keep the order, no totals, ".repeat(3);
        assert!(is_task(&details));
    }
}
