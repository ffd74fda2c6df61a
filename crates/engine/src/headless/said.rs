//! What the programs print: the answer, the tokens, the error.

use retro_model::Tokens;
use serde_json::Value;

/// What a program said.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    /// Its answer.
    pub answer: String,
    /// What it used.
    pub tokens: Tokens,
    /// The model, where it is named.
    pub model: Option<String>,
    /// Why there is no answer.
    pub error: Option<String>,
}

/// The stream of `codex exec --json` and the file of its last message. A turn reports the
/// tokens of the whole thread so far, so the last report counts.
pub(super) fn by_codex(stream: &str, answer: Option<String>) -> Said {
    let mut said = Said::default();
    for record in stream.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        match record["type"].as_str() {
            Some("turn.completed") => said.tokens = of_codex(&record["usage"]),
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

fn of_codex(usage: &Value) -> Tokens {
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

/// The object that `claude -p --output-format json` prints, or the last of a list of them.
pub(super) fn by_claude(printed: &str) -> Said {
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
    let answer = text(&result["result"]);
    let failed =
        result["is_error"] == true || result["subtype"].as_str().is_some_and(|sort| sort != "success");
    let error = failed.then(|| match answer.trim() {
        "" => text(&result["subtype"]),
        words => retro_memory::shortened(words, 300),
    });
    let models = result["modelUsage"].as_object();
    let model = models.and_then(|models| models.keys().next().cloned());
    Said { answer, tokens, model, error }
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

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
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
        let said = by_codex(stream, None);
        assert_eq!(said.answer, "{}");
        assert_eq!(
            said.tokens,
            Tokens { input: 10, cache_read: 20, output: 5, reasoning: 2, ..Tokens::default() }
        );
        let failed = by_codex(r#"{"type":"turn.failed","error":{"message":"no quota"}}"#, None);
        assert_eq!(failed.error.as_deref(), Some("no quota"));
    }

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
            let said = by_claude(&printed);
            assert_eq!((said.answer.as_str(), said.tokens, said.error), ("{}", expected, None));
        }
        assert!(by_claude("Invalid API key").error.is_some());
    }
}
