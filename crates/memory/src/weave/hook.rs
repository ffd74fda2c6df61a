//! What hooks of Claude Code and Codex hand us, and what they take.

use serde::Serialize;
use serde_json::Value;

use super::BLOCK_CHARS_MAX;

/// Events whose hooks may add something to the context, sorted.
const EVENTS: &[&str] = &["PostToolUse", "SessionStart", "UserPromptSubmit"];

/// What a hook says about the moment that it is called in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookInput {
    /// What the user typed; absent at the start of a session.
    pub prompt: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The name of the event, such as `UserPromptSubmit`; empty if it is not given.
    pub event: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    hook_specific_output: Output<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Output<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// Reads what a hook gets on its standard input; keys in snake case or camel case. Bad JSON
/// says nothing.
pub fn hook_input(json: &str) -> Option<HookInput> {
    let Value::Object(fields) = serde_json::from_str(json).ok()? else { return None };
    let text = |names: [&str; 2]| {
        names
            .into_iter()
            .filter_map(|name| fields.get(name)?.as_str())
            .find(|text| !text.is_empty())
            .map(str::to_owned)
    };
    Some(HookInput {
        prompt: text(["prompt", "userPrompt"]),
        cwd: text(["cwd", "workspaceRoot"]),
        session_id: text(["session_id", "sessionId"]),
        event: text(["hook_event_name", "hookEventName"]).unwrap_or_default(),
    })
}

/// What a hook prints so that the block reaches the model; nothing at all without a block,
/// for an event that takes none, or for a block that the agent would cut.
pub fn hook_output(block: Option<&str>, event: &str) -> String {
    let Some(block) = block else { return String::new() };
    if !EVENTS.contains(&event) || block.encode_utf16().count() > BLOCK_CHARS_MAX {
        return String::new();
    }
    let output = Output { hook_event_name: event, additional_context: block };
    serde_json::to_string(&Answer { hook_specific_output: output }).unwrap_or_default()
}

/// Whether Grok called: it runs the hooks of Claude Code and drops what they print.
pub fn is_grok(env: impl Fn(&str) -> Option<String>) -> bool {
    env("GROK_SESSION_ID").is_some_and(|id| !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_of_the_input_are_read() {
        let snake = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"fix it"}"#;
        let camel = r#"{"sessionId":"s","cwd":"/w","hookEventName":"UserPromptSubmit","prompt":"fix it"}"#;
        let text = |text: &str| Some(text.to_owned());
        let input = HookInput {
            prompt: text("fix it"),
            cwd: text("/w"),
            session_id: text("s"),
            event: "UserPromptSubmit".to_owned(),
        };
        assert_eq!(hook_input(snake), Some(input.clone()));
        assert_eq!(hook_input(camel), Some(input));
        assert_eq!(hook_input("{}"), Some(HookInput::default()));
        assert_eq!(hook_input(r#"{"prompt":5,"cwd":null}"#), Some(HookInput::default()));
    }

    #[test]
    fn bad_json_says_nothing() {
        for bad in ["", "{", "[]", "null", "\"a\"", "{\"prompt\":\"\\ud800\"}", "{\"prompt\":\"a\"} x"] {
            assert_eq!(hook_input(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_output_follows_the_contract_to_the_letter() {
        assert_eq!(
            hook_output(Some("<retro>\n\"a\"\n</retro>"), "UserPromptSubmit"),
            r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"<retro>\n\"a\"\n</retro>"}}"#
        );
        assert_eq!(
            hook_output(Some("a"), "SessionStart"),
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"a"}}"#
        );
        assert_eq!(hook_output(None, "UserPromptSubmit"), "");
        assert_eq!(hook_output(Some("a"), "Stop"), "", "it would keep the agent working");
        assert_eq!(hook_output(Some("a"), ""), "");
        assert_eq!(hook_output(Some(&"a".repeat(10_001)), "SessionStart"), "");
        assert!(!hook_output(Some(&"a".repeat(10_000)), "SessionStart").is_empty());
        assert!(EVENTS.is_sorted());
    }

    #[test]
    fn grok_is_known_by_its_variable() {
        assert!(is_grok(|name| (name == "GROK_SESSION_ID").then(|| "g".to_owned())));
        assert!(!is_grok(|_| None));
        assert!(!is_grok(|_| Some(String::new())));
    }
}
