//! The integrations of Claude Code, as of 2.1: hooks and the status line in `settings.json`, and
//! `claude -p` for one answer.

use retro_model::Tokens;
use serde_json::Value;
use std::ffi::OsString;

use crate::integration::{Headless, Integration, RunFiles, Said, SettingsForm};

pub(super) static INTEGRATION: Integration = Integration {
    settings: "~/.claude/settings.json",
    form: SettingsForm::Json,
    capture: &["Stop", "SessionEnd"],
    memory: &["SessionStart", "UserPromptSubmit"],
    context: &["PostToolUse", "SessionStart", "UserPromptSubmit"],
    then: None,
    status_line: Some("statusLine"),
    headless: Some(&Print),
};

/// Runs `claude -p` for one answer.
struct Print;

impl Headless for Print {
    fn program(&self) -> &'static str {
        "claude"
    }

    fn provider(&self) -> &'static str {
        "anthropic"
    }

    fn arguments(&self, _: &RunFiles<'_>) -> Vec<OsString> {
        ["-p", "--no-session-persistence", "--output-format", "json"].map(OsString::from).to_vec()
    }

    /// The output is one object, or a list whose last result counts.
    fn said(&self, printed: &str, _: Option<String>) -> Said {
        let Some(result) = result_of(printed) else {
            return Said { error: Some("it printed no result".to_owned()), ..Said::default() };
        };
        let usage = &result["usage"];
        let count = |value: &Value, name: &str| value[name].as_u64().unwrap_or(0);
        let split = &usage["cache_creation"];
        let (short, long) =
            (count(split, "ephemeral_5m_input_tokens"), count(split, "ephemeral_1h_input_tokens"));
        let tokens = Tokens {
            input: count(usage, "input_tokens"),
            cache_read: count(usage, "cache_read_input_tokens"),
            cache_write_5m: short,
            cache_write_1h: long,
            cache_write_unsplit: count(usage, "cache_creation_input_tokens").saturating_sub(short + long),
            output: count(usage, "output_tokens"),
            ..Tokens::default()
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let answer = text(&result["result"]);
        let failed =
            result["is_error"] == true || result["subtype"].as_str().is_some_and(|sort| sort != "success");
        let error = failed.then(|| match answer.trim() {
            "" => text(&result["subtype"]),
            words => words.to_owned(),
        });
        let models = result["modelUsage"].as_object();
        let model = models.and_then(|models| models.keys().next().cloned());
        Said { answer, tokens, model, error }
    }
}

fn result_of(printed: &str) -> Option<Value> {
    let is_result = |value: &Value| value["type"] == "result" || value["result"].is_string();
    let whole = serde_json::from_str::<Value>(printed.trim()).ok();
    let found = match whole {
        Some(Value::Array(values)) => values.into_iter().rfind(is_result),
        Some(value) => Some(value).filter(is_result),
        None => None,
    };
    found.or_else(|| {
        let lines = printed.lines().rev().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.into_iter().find(is_result)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_is_found_alone_or_in_a_list() {
        let result = r#"{"type":"result","subtype":"success","is_error":false,"result":"{}","usage":{"input_tokens":3,"cache_creation_input_tokens":9,"cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7},"cache_read_input_tokens":5,"output_tokens":4}}"#;
        let expected = Tokens {
            input: 3,
            cache_read: 5,
            cache_write_5m: 2,
            cache_write_1h: 7,
            output: 4,
            ..Tokens::default()
        };
        for printed in
            [result.to_owned(), format!("[{{\"type\":\"system\"}},{result}]"), format!("warning\n{result}\n")]
        {
            let said = Print.said(&printed, None);
            assert_eq!((said.answer.as_str(), said.tokens, said.error), ("{}", expected, None));
        }
        assert!(Print.said("Invalid API key", None).error.is_some());
    }
}
