//! A session as Codex 0.142 writes it, made from a counter.

use serde_json::{Value, json};

use super::logs::prose;

/// The lines of a session with this many answers.
pub(super) fn lines(session: &str, responses: usize) -> impl Iterator<Item = String> {
    let head = [
        json!({"id": session, "timestamp": at(0, 0), "cwd": "/home/dev/code/shop", "originator": "codex_exec",
            "cli_version": "0.142.0", "source": "exec", "model_provider": "openai"}),
        json!({"cwd": "/home/dev/code/shop", "model": "gpt-5.5", "turn_id": format!("{session}-1")}),
    ];
    let [meta, context] = head;
    let head = line(0, "session_meta", &meta) + &line(0, "turn_context", &context);
    std::iter::once(head).chain((1..=responses).map(answer))
}

/// A call, its output, and the tokens so far.
fn answer(number: usize) -> String {
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": format!("call_{number}"),
        "arguments": json!({"cmd": format!("cargo test case_{number}")}).to_string()});
    let output = json!({"type": "function_call_output", "call_id": format!("call_{number}"),
        "output": format!("Process exited with code 0\nOutput:\n{}", prose(number, 240))});
    let said = json!({"type": "message", "role": "assistant",
        "content": [{"type": "output_text", "text": prose(number + 1, 90)}]});
    let tokens = |times: usize| {
        json!({"input_tokens": 900 * times, "cached_input_tokens": 800 * times, "output_tokens": 60 * times,
            "reasoning_output_tokens": 20 * times, "total_tokens": 960 * times})
    };
    let count = json!({"type": "token_count", "rate_limits": Value::Null,
        "info": {"total_token_usage": tokens(number), "last_token_usage": tokens(1), "model_context_window": 272_000}});
    [("response_item", &call), ("response_item", &output), ("response_item", &said), ("event_msg", &count)]
        .map(|(kind, payload)| line(number, kind, payload))
        .concat()
}

fn line(number: usize, kind: &str, payload: &Value) -> String {
    format!("{}\n", json!({"timestamp": at(number / 60, number % 60), "type": kind, "payload": payload}))
}

fn at(minute: usize, second: usize) -> String {
    format!("2026-03-01T{:02}:{:02}:{second:02}.000Z", minute / 60 % 24, minute % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_grow_by_each_answer() {
        let text: String = lines("s", 3).collect();
        let records: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let totals: Vec<_> = records
            .iter()
            .filter_map(|record| record["payload"]["info"]["total_token_usage"]["total_tokens"].as_u64())
            .collect();
        assert_eq!(totals, [960, 1_920, 2_880]);
        assert_eq!(records[0]["payload"]["id"], "s");
    }
}
