//! The integrations of an agent: its hooks, its status line, and a headless run for one answer.
//! [`crate::Agent::integration`] gives these values. No other code knows an agent's settings or its
//! command line.

use retro_model::Tokens;
use serde::Serialize;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::path::Path;

/// UTF-16 units that a hook may add to the context. Agents cut longer texts.
pub const CONTEXT_UNITS_MAX: usize = 10_000;

/// Seconds that an agent waits for retro's hook.
const TIMEOUT_SECONDS: u32 = 5;

/// The integrations that an agent offers to other programs.
pub struct Integration {
    /// The path of its settings file, as a person writes it.
    pub settings: &'static str,
    /// The syntax of that file.
    pub form: SettingsForm,
    /// Events on which a hook captures the session.
    pub capture: &'static [&'static str],
    /// Events on which a hook shows memories.
    pub memory: &'static [&'static str],
    /// Events whose hooks may add to the context, sorted.
    pub context: &'static [&'static str],
    /// A step that the user must take after adding the hooks, such as confirming them.
    pub then: Option<&'static str>,
    /// The setting that names the status line's command.
    pub status_line: Option<&'static str>,
    /// How to run the agent for one answer.
    pub headless: Option<&'static dyn Headless>,
}

/// The syntax of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsForm {
    /// A JSON object with `hooks`, which maps events to lists.
    Json,
    /// TOML with one `[[hooks.EVENT]]` table per hook.
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
                // A TOML basic string has the same syntax as a JSON string.
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

    /// The settings that show the output of `command` in the status line.
    pub fn status_line(&self, command: &str) -> Option<String> {
        let setting = self.status_line?;
        Some(pretty(&json!({ setting: { "type": "command", "command": command } })))
    }

    /// The output with which a hook adds a text to the model's context. Empty if the event takes no
    /// context, or if the agent would cut the text.
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

/// Bytes of the longest session id. Agents' own ids have at most 64. A longer one is not an id, and
/// would be stored with each call.
pub const ID_BYTES_MAX: usize = 1024;

/// The input that an agent gives to a hook on standard input.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HookInput {
    /// The prompt that the user typed. `None` at the start of a session.
    pub prompt: Option<String>,
    /// The working directory of the session.
    pub cwd: Option<String>,
    /// The agent's id of the session.
    pub session_id: Option<String>,
    /// The path of the session's log.
    pub transcript: Option<String>,
    /// The name of the event, such as `UserPromptSubmit`. Empty if it is not given.
    pub event: String,
    /// The whole input object.
    pub given: Value,
}

impl HookInput {
    /// Reads the input, with keys in snake case, camel case or kebab case. `None` if it is not a
    /// JSON object.
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

/// How to run an agent's program for one answer, without creating a session.
pub trait Headless: Sync {
    /// The name of the executable.
    fn program(&self) -> &'static str;

    /// The company that serves the model.
    fn provider(&self) -> &'static str;

    /// The program's arguments. The prompt comes on standard input.
    fn arguments(&self, run: &RunFiles<'_>) -> Vec<OsString>;

    /// Parses the program's output. `answer` is the content of the answer file, if the program
    /// wrote it.
    fn said(&self, printed: &str, answer: Option<String>) -> Said;
}

/// The paths of one run.
#[derive(Debug, Clone, Copy)]
pub struct RunFiles<'a> {
    /// The working directory, which is empty.
    pub work: &'a Path,
    /// The JSON schema of the answer.
    pub schema: &'a Path,
    /// A file for the answer, if the program writes one.
    pub answer: &'a Path,
}

/// The result of a run.
#[derive(Debug, Default, PartialEq)]
pub struct Said {
    /// The text of the answer.
    pub answer: String,
    /// The tokens that the run used.
    pub tokens: Tokens,
    /// The model, if the output names it.
    pub model: Option<String>,
    /// The error message if there is no answer.
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
