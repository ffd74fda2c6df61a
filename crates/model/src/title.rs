//! What a session is called when nobody gave it a title: the first thing it was asked.

use retro_text::{Redacted, redact};
use serde::{Deserialize, Serialize};

use crate::{Asked, Event, Kind, Origin, Request, request};

/// Where a title comes from, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleRank {
    /// The user set it.
    User,
    /// The agent made it.
    Agent,
    /// Stands in another file.
    Elsewhere,
    /// The first real prompt, or the plan that the session carries out.
    Prompt,
    /// The command it began with, or the task of an agent.
    Task,
}

/// Bytes of a prompt that are kept as a title.
const TITLE_BYTES_MAX: usize = 200;

/// How good a title the event would be; nothing if it would be none.
pub(crate) fn rank(event: &Event) -> Option<TitleRank> {
    match event.origin {
        // The task of an agent.
        Origin::Agent => (event.kind == Kind::User).then_some(TitleRank::Task),
        // Of a thread of its own: not what the session was asked.
        Origin::User if event.kind == Kind::User && !event.thread.is_main() => None,
        // One that the program gave, such as a review.
        Origin::Harness => request(event).map(|_| TitleRank::Task),
        _ if event.kind == Kind::Note => request(event).map(|_| TitleRank::Task),
        _ => request(event).map(|_| TitleRank::Prompt),
    }
}

/// The title that the event would be, shortened; nothing if it has no words.
pub(crate) fn of(event: &Event) -> Option<Redacted<String>> {
    let title = match request(event) {
        Some(Request { asked: Asked::Command, text }) => redact(&text),
        Some(Request { text, .. }) => redact(words(&text)),
        None => redact(words(event.text.as_ref().map_or("", |text| text.as_str()))),
    };
    (!title.trim().is_empty()).then(|| title.head(TITLE_BYTES_MAX))
}

/// The words of a prompt that say what it is about.
fn words(text: &str) -> &str {
    let text = text.trim();
    // A heading is a title already.
    match text.strip_prefix('#') {
        Some(heading) => {
            let heading = heading.trim_start_matches('#');
            let line = heading.lines().next().unwrap_or_default().trim();
            if line.is_empty() { heading.trim() } else { line }
        }
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_prompt_are_found_behind_what_is_around_them() {
        assert_eq!(words("  Fix the parser\nand test it "), "Fix the parser\nand test it");
        assert_eq!(words("# Release notes\n\nWrite them."), "Release notes");
        assert_eq!(words("#\n\nWrite them."), "Write them.");
    }
}
