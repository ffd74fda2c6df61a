//! What a session is called when nobody gave it a title: the first thing it was asked.

use retro_text::{Redacted, redact};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, Kind, Origin, Part};

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

/// Head of the message that hands an accepted plan to a fresh context.
const PLAN: &str = "Implement the following plan:";

/// Bytes at the head of a prompt in which a template says where the typed words are.
const TEMPLATE_BYTES_MAX: usize = 1_000;

/// How good a title the event would be; nothing if it would be none.
pub(crate) fn rank(event: &Event) -> Option<TitleRank> {
    let text = event.text.as_ref();
    match (event.kind, event.origin) {
        // A shell command is typed, but it is no task.
        (Kind::User, Origin::User) if data(event, "shell").is_some() => None,
        (Kind::User, Origin::User) => event.thread.is_main().then_some(TitleRank::Prompt),
        // The task of an agent, or one that the program gave, such as a review.
        (Kind::User, Origin::Agent | Origin::Harness) => Some(TitleRank::Task),
        (Kind::Plan, Origin::Model) if !matches!(event.id.part, Part::Tag(_)) => {
            text.is_some_and(|text| text.starts_with(PLAN)).then_some(TitleRank::Prompt)
        }
        (Kind::Note, Origin::User) => {
            let asks = data(event, "asks_model").and_then(Value::as_bool) == Some(true);
            asks.then_some(TitleRank::Task)
        }
        _ => None,
    }
}

/// The title that the event would be, shortened; nothing if it has no words.
pub(crate) fn of(event: &Event) -> Option<Redacted<String>> {
    let text = event.text.as_ref().map_or("", |text| text.as_str());
    let command = data(event, "command").and_then(Value::as_str);
    let title = match command {
        // Only a message to the model has its arguments as words.
        Some(command) if event.kind == Kind::User => redact(&format!("{command} {}", text.trim())),
        Some(command) => redact(command),
        None => redact(words(text)),
    };
    (!title.trim().is_empty()).then(|| title.head(TITLE_BYTES_MAX))
}

/// The words of a prompt that say what it is about.
fn words(text: &str) -> &str {
    let text = text.trim();
    let text = text.strip_prefix(PLAN).unwrap_or(text).trim_start();
    let text = typed(text).unwrap_or(text);
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

/// What was typed into a template: the block that follows the words "user input".
fn typed(text: &str) -> Option<&str> {
    let mut end = TEMPLATE_BYTES_MAX.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end)?;
    let at = head
        .lines()
        .find(|line| line.trim().trim_matches(['#', '*', ':', ' ']).eq_ignore_ascii_case("user input"))?;
    let after = text.split_once(at)?.1.trim_start();
    let block = after.strip_prefix("```")?.split_once('\n')?.1;
    let typed = block.split_once("```").map_or(block, |(typed, _)| typed).trim();
    (!typed.is_empty() && !typed.starts_with('$')).then_some(typed)
}

fn data<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.data.as_ref()?.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_prompt_are_found_behind_what_is_around_them() {
        assert_eq!(words("  Fix the parser\nand test it "), "Fix the parser\nand test it");
        assert_eq!(words("# Release notes\n\nWrite them."), "Release notes");
        assert_eq!(words("#\n\nWrite them."), "Write them.");
        assert_eq!(
            words("Implement the following plan:\n\n# Plan: split the file\n\n## Context"),
            "Plan: split the file"
        );
        assert_eq!(words("Implement the following plan:\n1. Split it"), "1. Split it");
    }

    #[test]
    fn what_was_typed_into_a_template_is_the_title() {
        let template =
            "---\nname: plan\n---\n## User Input\n\n```text\nUC-01 log in\n```\n\nYou **must** consider it.";
        assert_eq!(words(template), "UC-01 log in");
        assert_eq!(words("## User Input\n\n```text\n$ARGUMENTS\n```\n"), "User Input");
        assert_eq!(words("User input:\nnothing in a block"), "User input:\nnothing in a block");
    }
}
