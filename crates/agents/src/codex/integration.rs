//! The integrations of Codex, as of 0.130: hooks in `config.toml`, and `codex exec` for one answer.

use retro_model::Tokens;
use serde_json::Value;
use std::ffi::OsString;

use crate::integration::{Headless, Integration, RunFiles, Said, SettingsForm};

pub(super) static INTEGRATION: Integration = Integration {
    settings: "~/.codex/config.toml",
    form: SettingsForm::Toml,
    capture: &[],
    memory: &["SessionStart", "UserPromptSubmit"],
    context: &["PostToolUse", "SessionStart", "UserPromptSubmit"],
    then: Some("trust the hook once"),
    status_line: None,
    headless: Some(&Exec),
};

/// Runs `codex exec` for one answer.
struct Exec;

impl Headless for Exec {
    fn program(&self) -> &'static str {
        "codex"
    }

    fn provider(&self) -> &'static str {
        "openai"
    }

    fn arguments(&self, run: &RunFiles<'_>) -> Vec<OsString> {
        let plain =
            ["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules", "-s", "read-only"];
        let mut words: Vec<OsString> = plain.map(OsString::from).to_vec();
        words.extend(["--output-schema".into(), run.schema.into()]);
        words.extend(["-o".into(), run.answer.into(), "-C".into(), run.work.into(), "-".into()]);
        words
    }

    /// Reads a stream of records. A turn reports the tokens of the whole thread so far, so the last
    /// report counts.
    fn said(&self, printed: &str, answer: Option<String>) -> Said {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut said = Said::default();
        for record in printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match record["type"].as_str() {
                Some("turn.completed") => said.tokens = tokens(&record["usage"]),
                Some("item.completed") if record["item"]["type"] == "agent_message" => {
                    said.answer = text(&record["item"]["text"]);
                }
                Some("turn.failed") => said.error = Some(text(&record["error"]["message"])),
                _ => {}
            }
        }
        if let Some(answer) = answer {
            said.answer = answer;
        }
        said
    }
}

fn tokens(usage: &Value) -> Tokens {
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let (cached, written) = (count("cached_input_tokens"), count("cache_write_input_tokens"));
    Tokens {
        input: count("input_tokens").saturating_sub(cached).saturating_sub(written),
        cache_read: cached,
        cache_write_unsplit: written,
        output: count("output_tokens"),
        reasoning: count("reasoning_output_tokens"),
        ..Tokens::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_report_of_a_thread_counts() {
        let stream = concat!(
            r#"{"type":"thread.started","thread_id":"t"}"#,
            "\n",
            r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"{}"}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":1}}"#,
            "\n",
            r#"{"type":"turn.completed","usage":{"input_tokens":30,"cached_input_tokens":20,"output_tokens":5,"reasoning_output_tokens":2}}"#,
            "\n",
            "not json\n",
        );
        let said = Exec.said(stream, None);
        assert_eq!(said.answer, "{}");
        assert_eq!(
            said.tokens,
            Tokens { input: 10, cache_read: 20, output: 5, reasoning: 2, ..Tokens::default() }
        );
        let failed = Exec.said(r#"{"type":"turn.failed","error":{"message":"no quota"}}"#, None);
        assert_eq!(failed.error.as_deref(), Some("no quota"));
    }
}
