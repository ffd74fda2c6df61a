//! The default title of a session: its first request.

use retro_text::{Redacted, redact};
use serde::{Deserialize, Serialize};

use crate::{Asked, Event, Kind, Origin, Request, request};

/// The origin of a title, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitleRank {
    /// The user set it.
    User,
    /// The agent made it.
    Agent,
    /// Taken from another file.
    Elsewhere,
    /// The first real prompt, or the plan that the session executes.
    Prompt,
    /// The command at its beginning, or the task of an agent.
    Task,
}

/// The most bytes of a prompt that are kept as a title.
const TITLE_BYTES_MAX: usize = 200;

/// The rank of the event as a title. `None` if it is unsuitable.
pub(crate) fn rank(event: &Event) -> Option<TitleRank> {
    match event.origin {
        // The task of an agent.
        Origin::Agent => (event.kind == Kind::User).then_some(TitleRank::Task),
        // On a thread of its own: not the request of the session.
        Origin::User if event.kind == Kind::User && !event.thread.is_main() => None,
        // A command of the program, such as a review.
        Origin::Harness => request(event).map(|_| TitleRank::Task),
        _ if event.kind == Kind::Note => request(event).map(|_| TitleRank::Task),
        _ => request(event).map(|_| TitleRank::Prompt),
    }
}

/// The title from the event, shortened. `None` if it has no text.
pub(crate) fn of(event: &Event) -> Option<Redacted<String>> {
    let title = match request(event) {
        Some(Request { asked: Asked::Command, text }) => redact(&text),
        Some(Request { text, .. }) => redact(words(&text)),
        None => redact(words(event.text.as_ref().map_or("", |text| text.as_str()))),
    };
    (!title.trim().is_empty()).then(|| title.head(TITLE_BYTES_MAX))
}

/// The part of a prompt with its subject.
fn words(text: &str) -> &str {
    let text = text.trim();
    // A heading is already a title.
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
