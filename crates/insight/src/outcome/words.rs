//! Words that say how something ended. Whole words only.

use std::sync::LazyLock;

use regex::Regex;

fn is(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

static FAREWELL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:thanks?|thank you|thx|great|perfect|awesome|nice|lgtm|looks good|cool|ok(?:ay)?|bye|/exit|/quit|exit|quit|done)\b.{0,40}$").ok()
});
static UNRELATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:pre-?existing|unrelated|already (?:failing|failed|broken)|(?:existed|failing|failed) before|not (?:caused|related|introduced)|known (?:issue|failure|flake)|flaky)\b").ok()
});
static INABILITY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i (?:can(?:no|')t|could(?: not|n't)|was(?: not|n't) able to|am unable to|don't have (?:access|permission))|unable to (?:run|access|complete|fetch|reach)|(?:is|are) not (?:allowed|permitted)|tell me when|waiting (?:on|for)|(?:is|was|are|were) (?:blocked|denied)|permission denied|need you to)\b").ok()
});
static CHANGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:(?:please|can you|could you|let'?s|now|ok(?:ay)?,?|i (?:want|need|would like) (?:you )?to|we need to) )*(?:fix|add|implement|change|refactor|create|write|remove|rename|delete|replace|migrate|upgrade|convert|move|improve|update)\b").ok()
});

static ENVIRONMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)command not found|not recognized as|permission denied|operation not permitted|read-only file system|could not resolve host|no module named '?pytest|sandbox|network is unreachable|connection refused|no space left|ENOTFOUND|EACCES").ok()
});

/// An error of the machine, not of the work.
pub(super) fn is_about_environment(text: &str) -> bool {
    is(&ENVIRONMENT, text)
}

/// A message that needs no answer.
pub(super) fn is_farewell(text: &str) -> bool {
    is(&FAREWELL, text.trim())
}

/// A failure is said to have other reasons.
pub(super) fn is_unrelated(text: &str) -> bool {
    is(&UNRELATED, text)
}

/// The agent says that it could not do it.
pub(super) fn is_inability(text: &str) -> bool {
    is(&INABILITY, text)
}

/// The person asks for a change.
pub(super) fn wants_change(text: &str) -> bool {
    is(&CHANGE, text.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_decide() {
        assert!(is_farewell("Thanks, that's it!") && is_farewell("ok"));
        assert!(
            !is_farewell("okta login fails")
                && !is_farewell("thanks, now please also write the migration for the old tables")
        );
        assert!(is_unrelated("two failures are pre-existing") && !is_unrelated("all green"));
        assert!(is_inability("I couldn't run it") && !is_inability("It can't be faster"));
        assert!(wants_change("please add a button") && !wants_change("what does add do?"));
    }
}
