//! What an agent lets other programs do: call them at its events, show their line, and ask it
//! for one answer. [`crate::Agent::integration`] gives these values; nothing else in the
//! program knows an agent's settings or its command line.

use retro_model::Tokens;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

/// UTF-16 units that a hook may add to the context. Agents cut longer texts.
pub const CONTEXT_UNITS_MAX: usize = 10_000;

/// Seconds that an agent waits for our hook.
const TIMEOUT_SECONDS: u32 = 5;

/// What an agent lets other programs do.
pub struct Integration {
    /// Its file of settings, as a person writes the path.
    pub settings: &'static str,
    /// How that file is written.
    pub form: SettingsForm,
    /// Events at which a hook captures the session.
    pub capture: &'static [&'static str],
    /// Events at which a hook shows memories.
    pub memory: &'static [&'static str],
    /// Events whose hooks may add to the context, sorted.
    pub context: &'static [&'static str],
    /// What a person has to do once the hooks are in the file.
    pub then: Option<&'static str>,
    /// The setting that names the command of its status line.
    pub status_line: Option<&'static str>,
    /// How it is run for one answer.
    pub headless: Option<&'static dyn Headless>,
}

/// How a file of settings is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// A JSON object with `hooks`, lists by event.
    Json,
    /// TOML with `[[hooks.EVENT]]`.
    Toml,
}

impl Integration {
    /// The settings that run `command` at these events.
    pub fn hooks(&self, events: &[&str], command: &str) -> String {
        match self.form {
            SettingsForm::Json => {
                let hook = json!({ "type": "command", "command": command, "timeout": TIMEOUT_SECONDS });
                let list = json!([{ "hooks": [hook] }]);
                let hooks: serde_json::Map<String, Value> =
                    events.iter().map(|event| ((*event).to_owned(), list.clone())).collect();
                pretty(&json!({ "hooks": hooks }))
            }
            SettingsForm::Toml => {
                // A basic string of TOML is written as one of JSON.
                let command = json!(command);
                let one = |event: &&str| {
                    format!(
                        "[[hooks.{event}]]\n[[hooks.{event}.hooks]]\ntype = \"command\"\n\
                         command = {command}\ntimeout = {TIMEOUT_SECONDS}\n"
                    )
                };
                events.iter().map(one).collect::<Vec<_>>().join("\n")
            }
        }
    }

    /// The settings that show the line of `command`.
    pub fn status_line(&self, command: &str) -> Option<String> {
        let setting = self.status_line?;
        Some(pretty(&json!({ setting: { "type": "command", "command": command } })))
    }

    /// What a hook prints so that a text reaches the model; nothing for an event that takes
    /// none, or for a text that the agent would cut.
    pub fn hook_output(&self, text: &str, event: &str) -> String {
        if !self.context.contains(&event) || text.encode_utf16().count() > CONTEXT_UNITS_MAX {
            return String::new();
        }
        let output = HookOutput { hook_event_name: event, additional_context: text };
        serde_json::to_string(&HookAnswer { hook_specific_output: output }).unwrap_or_default()
    }
}

fn pretty(value: &Value) -> String {
    format!("{}\n", serde_json::to_string_pretty(value).unwrap_or_default())
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookAnswer<'a> {
    hook_specific_output: HookOutput<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HookOutput<'a> {
    hook_event_name: &'a str,
    additional_context: &'a str,
}

/// Bytes of the longest id of a session. Agents' own have at most 64; whatever is longer is
/// none, and would be written down with each call.
pub const ID_BYTES_MAX: usize = 1024;

/// What an agent hands to a hook on its standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookInput {
    /// What the user typed; absent at the start of a session.
    pub prompt: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The log of the session.
    pub transcript: Option<String>,
    /// The name of the event, such as `UserPromptSubmit`; empty if it is not given.
    pub event: String,
    /// All of it.
    pub given: Value,
}

impl HookInput {
    /// Reads it; keys in snake case, camel case or with dashes. Nothing of what is no JSON
    /// object.
    pub fn read(json: &str) -> Option<HookInput> {
        let given: Value = serde_json::from_str(json).ok()?;
        let fields = given.as_object()?;
        let text = |names: &[&str]| {
            names
                .iter()
                .filter_map(|name| fields.get(*name)?.as_str())
                .find(|text| !text.is_empty())
                .map(str::to_owned)
        };
        Some(HookInput {
            prompt: text(&["prompt", "userPrompt"]),
            cwd: text(&["cwd", "workspaceRoot"]),
            session_id: text(&["session_id", "sessionId", "thread-id"]).filter(|id| id.len() <= ID_BYTES_MAX),
            transcript: text(&["transcript_path", "transcriptPath"]),
            event: text(&["hook_event_name", "hookEventName"]).unwrap_or_default(),
            given,
        })
    }
}

/// How an agent's program is run for one answer, without a session of its own.
pub trait Headless: Sync {
    /// The program.
    fn program(&self) -> &'static str;

    /// Who answers it.
    fn provider(&self) -> &'static str;

    /// Its arguments. The question comes on standard input.
    fn arguments(&self, run: &RunFiles<'_>) -> Vec<OsString>;

    /// Reads what it printed. `answer` is what it wrote into the file of the answer.
    fn said(&self, printed: &str, answer: Option<String>) -> Said;
}

/// The files of a run.
#[derive(Debug, Clone, Copy)]
pub struct RunFiles<'a> {
    /// The folder it works in, which is empty.
    pub work: &'a Path,
    /// The JSON schema of the answer.
    pub schema: &'a Path,
    /// Where it may write the answer.
    pub answer: &'a Path,
}

/// What a program said.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// Its answer.
    pub answer: String,
    /// What it used.
    pub tokens: Tokens,
    /// The model, where it is named.
    pub model: Option<String>,
    /// Why there is no answer.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;

    fn of(agent: &str) -> &'static Integration {
        by_name(agent).and_then(|agent| agent.integration()).unwrap()
    }

    #[test]
    fn each_spelling_of_the_input_is_read() {
        let snake = r#"{"session_id":"s","transcript_path":"/t","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"fix it"}"#;
        let camel = r#"{"sessionId":"s","transcriptPath":"/t","cwd":"/w","hookEventName":"UserPromptSubmit","prompt":"fix it"}"#;
        let text = |text: &str| Some(text.to_owned());
        for json in [snake, camel] {
            let input = HookInput::read(json).unwrap();
            assert_eq!((input.prompt, input.cwd), (text("fix it"), text("/w")));
            assert_eq!((input.session_id, input.transcript), (text("s"), text("/t")));
            assert_eq!(input.event, "UserPromptSubmit");
        }
        assert_eq!(HookInput::read(r#"{"thread-id":"t1"}"#).unwrap().session_id, text("t1"));
        let endless = format!(r#"{{"session_id":"{}"}}"#, "x".repeat(ID_BYTES_MAX + 1));
        assert_eq!(HookInput::read(&endless).unwrap().session_id, None, "no session has such an id");
        let empty = HookInput::read(r#"{"prompt":5,"cwd":null,"session_id":""}"#).unwrap();
        assert_eq!((empty.prompt, empty.cwd, empty.session_id), (None, None, None));
    }

    #[test]
    fn what_is_no_object_gives_nothing() {
        for bad in ["", "{", "[]", "null", "\"a\"", "{\"prompt\":\"\\ud800\"}", "{\"prompt\":\"a\"} x"] {
            assert_eq!(HookInput::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_hook_prints_what_its_event_takes() {
        for agent in ["claude", "codex"] {
            let integration = of(agent);
            assert_eq!(
                integration.hook_output("<retro>\n\"a\"\n</retro>", "UserPromptSubmit"),
                r#"{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"<retro>\n\"a\"\n</retro>"}}"#
            );
            assert_eq!(integration.hook_output("a", "Stop"), "", "it would keep the agent working");
            assert_eq!(integration.hook_output("a", ""), "");
            assert_eq!(integration.hook_output(&"a".repeat(10_001), "SessionStart"), "");
            assert!(!integration.hook_output(&"a".repeat(10_000), "SessionStart").is_empty());
        }
    }

    #[test]
    fn settings_are_written_in_the_form_of_each_agent() {
        let json: Value =
            serde_json::from_str(&of("claude").hooks(&["Stop"], "/a \"b\"/retro sync --hook")).unwrap();
        let hook = &json["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!((&hook["command"], &hook["timeout"]), (&json!("/a \"b\"/retro sync --hook"), &json!(5)));
        let toml = of("codex").hooks(&["SessionStart", "UserPromptSubmit"], "/a \"b\"/retro");
        assert_eq!(toml.matches("command = \"/a \\\"b\\\"/retro\"\n").count(), 2, "{toml}");
        assert!(toml.starts_with("[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\n"), "{toml}");
        assert!(of("claude").status_line("retro statusline").unwrap().contains("\"statusLine\""));
        assert_eq!(of("codex").status_line("retro statusline"), None);
    }

    #[test]
    fn every_agent_that_shows_memories_lists_its_events_in_order() {
        for agent in crate::AGENTS.iter().filter_map(|agent| agent.integration()) {
            assert!(
                agent.context.is_sorted() && agent.memory.iter().all(|event| agent.context.contains(event))
            );
        }
    }
}
