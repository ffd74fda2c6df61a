//! The author of an event's text: the words that a person typed, and the request of a turn.
//!
//! There are two functions. [`typed`] gives the words that a person typed by hand, and nothing that
//! a tool, a page, an issue, an editor, another agent or a program that composes prompts could have
//! chosen: corrections and rules are based on these. [`request`] gives the task of a turn, from any
//! author: titles, digests and outcomes need that.
//!
//! Adapters set fields from the record (`origin`, and in `data` `accepted`, `composed`, `command`,
//! `asks_model`, `shell`, `words`). The rest follows from the text itself ([`retro_text::typed`]).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Event, Kind, Origin, Part};

/// The origin of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    /// A person typed it.
    Typed,
    /// A plan that a person accepted, executed in a fresh context.
    Plan,
    /// A command of the user, of a plugin, or of the program.
    Command,
    /// Typed into a template.
    Template,
    /// Composed by a program, or wrapped by the application where it was typed.
    Application,
}

impl Asked {
    /// Its name in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Asked::Typed => "typed",
            Asked::Plan => "plan",
            Asked::Command => "command",
            Asked::Template => "template",
            Asked::Application => "application",
        }
    }
}

/// The task that a turn was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'e> {
    /// The origin of the task.
    pub asked: Asked,
    /// Its text, without the parts that an application added.
    pub text: Cow<'e, str>,
}

/// A template must mark the position of the typed words within this many bytes from the start.
const TEMPLATE_BYTES_MAX: usize = 16 * 1024;

/// Head of the message that passes an accepted plan to a fresh context.
pub(crate) const PLAN: &str = "Implement the following plan:";

/// The task that the event gives to the agent. `None` if it has none.
pub fn request(event: &Event) -> Option<Request<'_>> {
    let text = event.text.as_ref().map_or("", |text| text.trim());
    let command = field(event, "command").and_then(Value::as_str);
    let (asked, text) = match (event.kind, event.origin) {
        // A shell command is typed, but is not a task.
        (Kind::User, _) if field(event, "shell").is_some() => return None,
        (Kind::User, Origin::User) => match command {
            Some(command) => (Asked::Command, Cow::Owned(format!("{command} {text}"))),
            None => {
                let (asked, text) = message(event, text);
                (asked, Cow::Borrowed(text))
            }
        },
        // A command of the program, such as a review.
        (Kind::User, Origin::Harness) => (Asked::Command, Cow::Borrowed(text)),
        (Kind::Plan, Origin::Model) if !matches!(event.id.part, Part::Tag(_)) => {
            let is_accepted = field(event, "accepted").and_then(Value::as_bool) == Some(true);
            let plan = text.strip_prefix(PLAN).or(is_accepted.then_some(text))?;
            (Asked::Plan, Cow::Borrowed(plan.trim()))
        }
        (Kind::Note, Origin::User) => {
            let asks = field(event, "asks_model").and_then(Value::as_bool) == Some(true);
            (Asked::Command, Cow::Borrowed(command.filter(|_| asks)?))
        }
        _ => return None,
    };
    (!text.trim().is_empty()).then_some(Request { asked, text })
}

fn message<'e>(event: &Event, text: &'e str) -> (Asked, &'e str) {
    let bare = retro_text::typed::unwrapped(text);
    if is_composed(event) || bare != text {
        return (Asked::Application, bare);
    }
    match template(text) {
        // The template has no arguments, so it is itself the request.
        Some(("", _)) => (Asked::Template, text),
        Some((typed, _)) => (Asked::Template, typed),
        None => (Asked::Typed, text),
    }
}

/// The texts of the event that a person typed, in order.
pub fn typed(event: &Event) -> Vec<Cow<'_, str>> {
    if event.origin != Origin::User || field(event, "shell").is_some() || is_composed(event) {
        return Vec::new();
    }
    let text = event.text.as_ref().map_or("", |text| text.as_str());
    let spans = |text: &'_ str| retro_text::typed::typed(text);
    match event.kind {
        Kind::User => {
            // The author of a template is not the user. Its block may also be pasted text, unless
            // the message begins with it.
            let text = match template(text) {
                Some((typed, opens)) => {
                    if opens {
                        typed
                    } else {
                        ""
                    }
                }
                None => text,
            };
            spans(text).into_iter().filter_map(|span| text.get(span).map(Cow::Borrowed)).collect()
        }
        // Only if the adapter marked the text as a person's.
        Kind::Denial if field(event, "words").and_then(Value::as_str).is_some() => {
            spans(text).into_iter().filter_map(|span| text.get(span).map(Cow::Borrowed)).collect()
        }
        // Only the answers: the questions are the model's.
        Kind::ToolResult => {
            let answers = field(event, "answers").and_then(Value::as_object);
            let answers = answers.into_iter().flat_map(|answers| answers.values());
            answers.filter_map(Value::as_str).map(|answer| Cow::Owned(answer.to_owned())).collect()
        }
        _ => Vec::new(),
    }
}

/// True if a field of the record proves that a refusal's text is a person's. If only a sentence of
/// the program shows it, the text may be a correction, but not a rule.
pub fn is_proven(event: &Event) -> bool {
    field(event, "words").and_then(Value::as_str) == Some("field")
}

/// True if a program composed the message.
fn is_composed(event: &Event) -> bool {
    field(event, "composed").and_then(Value::as_bool) == Some(true)
}

/// The input of a template: the block after the words "user input" near its beginning, and whether
/// only front matter precedes these words.
pub(crate) fn template(text: &str) -> Option<(&str, bool)> {
    let text = text.trim_start();
    let matter = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")).map(|(_, rest)| rest);
    let body = matter.unwrap_or(text);
    let is_head =
        |line: &str| line.trim().trim_matches(['#', '*', ':', ' ']).eq_ignore_ascii_case("user input");
    let mut at = 0;
    let head = body.split_inclusive('\n').take_while(|line| {
        at += line.len();
        at <= TEMPLATE_BYTES_MAX
    });
    let before: usize = head.take_while(|line| !is_head(line)).map(str::len).sum();
    let after = body.get(before..)?.split_once('\n').filter(|(line, _)| is_head(line))?.1;
    let block = after.trim_start().strip_prefix("```")?.split_once('\n')?.1;
    let typed = block.split_once("```").map_or(block, |(typed, _)| typed).trim();
    let opens = body.get(..before)?.trim().is_empty();
    // A template without input shows the name of the placeholder.
    let typed = if typed.starts_with('$') { "" } else { typed };
    Some((typed, opens))
}

fn field<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.data.as_ref()?.get(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(kind: &str, origin: &str, text: &str, data: Value) -> Event {
        let raw = json!({ "source": "m", "revision": 1, "record": 1, "offset": 0, "length": 4 });
        serde_json::from_value(json!({ "id": "m:1", "seq": 1, "turn": 1, "thread": "main", "live": true,
            "kind": kind, "origin": origin, "text": text, "raw": raw, "data": data }))
        .unwrap()
    }

    fn asked(event: &Event) -> Option<(Asked, String)> {
        request(event).map(|request| (request.asked, request.text.into_owned()))
    }

    #[test]
    fn a_request_says_how_it_came_to_be() {
        let said = |asked, text: &str| Some((asked, text.to_owned()));
        let of = |kind, origin, text, data| asked(&event(kind, origin, text, data));
        assert_eq!(of("user", "user", " Fix it ", json!(null)), said(Asked::Typed, "Fix it"));
        assert_eq!(
            of("user", "user", "<system_instruction>X</system_instruction>\nFix it", json!(null)),
            said(Asked::Application, "Fix it")
        );
        assert_eq!(
            of("user", "user", "Judge this", json!({ "composed": true })),
            said(Asked::Application, "Judge this")
        );
        assert_eq!(
            of("user", "user", "the tests", json!({ "command": "/fix" })),
            said(Asked::Command, "/fix the tests")
        );
        assert_eq!(of("user", "user", "ls", json!({ "shell": true })), None);
        let bare = json!({ "command": "/commit", "asks_model": true });
        assert_eq!(of("note", "user", "<command-message>x", bare), said(Asked::Command, "/commit"));
        let local = json!({ "command": "/model", "asks_model": false });
        assert_eq!(of("note", "user", "<command-name>x", local), None);
        assert_eq!(
            of("plan", "model", "Implement the following plan:\n\n# Split", json!(null)),
            said(Asked::Plan, "# Split")
        );
        assert_eq!(of("plan", "model", "a list", json!(null)), None);
        assert_eq!(of("plan", "model", "# Split", json!({ "accepted": true })), said(Asked::Plan, "# Split"));
        assert_eq!(of("user", "agent", "a task", json!(null)), None);
        assert_eq!(of("note", "harness", "Stop hook", json!(null)), None);
        let template = "---\nname: x\n---\n## User Input\n\n```text\nlog in\n```\n\nYou must.";
        assert_eq!(of("user", "user", template, json!(null)), said(Asked::Template, "log in"));
    }

    #[test]
    fn only_a_persons_words_are_typed() {
        let of = |kind, origin, text, data| {
            let event = event(kind, origin, text, data);
            typed(&event).into_iter().map(Cow::into_owned).collect::<Vec<String>>()
        };
        assert_eq!(of("user", "user", "Fix\n<issue>X</issue>\nnow", json!(null)), ["Fix", "now"]);
        assert_eq!(of("user", "user", "Fix", json!({ "composed": true })), [""; 0]);
        assert_eq!(of("user", "user", "ls", json!({ "shell": true })), [""; 0]);
        assert_eq!(of("user", "harness", "Review", json!(null)), [""; 0]);
        assert_eq!(of("plan", "model", "Implement the following plan:\nX", json!(null)), [""; 0]);
        assert_eq!(of("denial", "user", "use sed", json!({ "words": "field" })), ["use sed"]);
        assert_eq!(of("denial", "user", "use sed", json!({})), [""; 0]);
        let answers = json!({ "answers": { "Which?": "none of these" } });
        assert_eq!(of("tool_result", "user", "Which? X", answers), ["none of these"]);
        assert_eq!(of("tool_result", "external", "X", json!(null)), [""; 0]);
    }

    #[test]
    fn what_was_typed_into_a_template() {
        for empty in [
            "## User Input\n\n```text\n$ARGUMENTS\n```\nNever do X.",
            "## User Input\n```\n\n```\nNever do X.",
        ] {
            assert_eq!(template(empty), Some(("", true)));
            let event = event("user", "user", empty, json!(null));
            assert_eq!((typed(&event).len(), asked(&event)), (0, Some((Asked::Template, empty.to_owned()))));
        }
        assert_eq!(template("User input:\nnothing in a block"), None);
        assert_eq!(template("# User Input\n```\nX\n```"), Some(("X", true)));
        let pasted = "Always do this:\n## User Input\n\n```\nX\n```";
        assert_eq!(template(pasted), Some(("X", false)));
        assert_eq!(typed(&event("user", "user", pasted, json!(null))), [""; 0]);
    }
}
