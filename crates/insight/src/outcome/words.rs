//! Words about the ending of the work. Only whole words match.

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

static CODE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)^\W*(?:please |can you |could you |now )*(?:fix|implement|refactor|migrate|build|debug)\b",
    )
    .ok()
});
static DOCUMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:docs?|documents?|documentation|readme|changelog|notes?|specs?|specification|plan|markdown|guide|text)\b|\.(?:md|mdx|txt|rst|adoc)\b").ok()
});
static REST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:still (?:fail(?:s|ing)?|broken|red|not working)|not (?:yet |fully )?(?:working|fixed|resolved|finished)|partially (?:done|complete|implemented|fixed)|(?:have|has|was|were|did)(?:n't| not) (?:been )?(?:able to )?(?:run|tested|verified|verify|test))\b").ok()
});

static ENVIRONMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)command not found|not recognized as|permission denied|operation not permitted|read-only file system|could not resolve host|no module named '?pytest|sandbox|network is unreachable|connection refused|no space left|ENOTFOUND|EACCES").ok()
});

static WAITS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:tell me when|let me know (?:when|once)|waiting (?:on|for) (?:you|your)|need you to|please (?:provide|send|check out|switch|run|confirm|share|tell)|once you (?:send|provide|tell|have))\b").ok()
});

static NEXT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(?:now|next|also|but|please|can you|could you|let'?s)\b").ok());
static QUESTION: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)^\W*(?:so |and |but |ok(?:ay)?,? )*(?:what|where|why|when|who|which|how|is|are|does|do|did|was|were|should|would|can you explain|could you explain)\b[^\n]{3,300}\?\s*$|^[^\n]{4,200}[？]\s*$").ok()
});
static ANNOUNCEMENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:^|[.!\n]\s*)(?:(?:now|next|then|first|ok(?:ay)?|good|great|perfect)[,.!]?\s+)*(?:let me|i'?ll(?: now)?|i will(?: now)?|i'?m going to|let'?s)\s[^.!?\n]{3,160}[.:…]?\s*$").ok()
});

/// True if the whole message is a question without a task.
pub(super) fn is_question(text: &str) -> bool {
    is(&QUESTION, text.trim())
}

/// True if the words ask for more.
pub(super) fn goes_on(text: &str) -> bool {
    is(&NEXT, text)
}

/// True if the last sentence announces work instead of reporting it. An offer does not count.
pub(super) fn is_announcement(text: &str) -> bool {
    let text = text.trim_end();
    text.ends_with(':') || (is(&ANNOUNCEMENT, text) && !text.to_lowercase().contains("let me know"))
}

/// True for an error of the machine, not of the work.
pub(super) fn is_about_environment(text: &str) -> bool {
    is(&ENVIRONMENT, text)
}

/// True for a message that needs no answer.
pub(super) fn is_farewell(text: &str) -> bool {
    is(&FAREWELL, text.trim())
}

/// True if the agent says that another person has to act first.
pub(super) fn waits(text: &str) -> bool {
    is(&WAITS, text)
}

/// True if a failure is attributed to other causes.
pub(super) fn is_unrelated(text: &str) -> bool {
    is(&UNRELATED, text)
}

/// True if the agent says that it could not do the task.
pub(super) fn is_inability(text: &str) -> bool {
    is(&INABILITY, text)
}

/// True if the answer says that a part does not work, is not done or was not tried.
pub(super) fn admits_rest(text: &str) -> bool {
    is(&REST, text)
}

/// True if the person asks for work on code, and names no document.
pub(super) fn wants_code(text: &str) -> bool {
    is(&CODE, text.trim()) && !is(&DOCUMENT, text)
}

/// True if the person asks for a change.
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
        assert!(is_announcement("The build passes. Now let me deploy it.") && is_announcement("Next steps:"));
        assert!(!is_announcement("Done. Let me know if you want more.") && !is_announcement("It rounds up."));
        assert!(is_question("Where does the logic come from?") && is_question("これは何の値？"));
        assert!(!is_question("Can you fix the parser?") && !is_question("why not\nfix it?"));
        assert!(goes_on("great, now add tests") && !goes_on("great work"));
        assert!(wants_change("please add a button") && !wants_change("what does add do?"));
    }
}
