//! The data that an agent passes to its status line (Claude Code's contract, 2.1.325). Every field
//! may be absent, null or of another type. Unreadable fields count as absent.

use retro_model::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// Data from the agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StatusInput {
    /// The session's id.
    pub session_id: Option<String>,
    /// The model's display name.
    pub model: Option<String>,
    /// The agent's own estimate for the session, in dollars at list price.
    pub cost_usd: Option<f64>,
    /// How long the session has been running.
    pub duration_ms: Option<i64>,
    /// Used share of the context window, in percent.
    pub context_percent: Option<f64>,
    /// Windows of the account's allowance, if any.
    pub limits: Vec<StatusLimit>,
}

/// One window of an allowance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatusLimit {
    /// `5h` or `7d`.
    pub window: &'static str,
    /// The used share, in percent.
    pub used_percent: f64,
    /// When it resets.
    pub resets_at: Option<Timestamp>,
}

impl StatusInput {
    /// Parses the text from stdin. Never fails.
    pub fn read(text: &str) -> StatusInput {
        let json: Value = serde_json::from_str(text.trim()).unwrap_or_default();
        let at = |path: &str| json.pointer(path);
        let text = |path: &str| {
            at(path).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        let number = |path: &str| at(path).and_then(Value::as_f64).filter(|number| *number >= 0.0);
        let limit = |(window, name): (&'static str, &str)| {
            Some(StatusLimit {
                window,
                used_percent: number(&format!("/rate_limits/{name}/used_percentage"))?,
                resets_at: at(&format!("/rate_limits/{name}/resets_at")).and_then(instant),
            })
        };
        StatusInput {
            session_id: text("/session_id"),
            model: text("/model/display_name").or_else(|| text("/model/id")),
            cost_usd: number("/cost/total_cost_usd"),
            duration_ms: at("/cost/total_duration_ms").and_then(Value::as_i64).filter(|ms| *ms >= 0),
            context_percent: number("/context_window/used_percentage"),
            limits: [("5h", "five_hour"), ("7d", "seven_day")].into_iter().filter_map(limit).collect(),
        }
    }
}

/// Parses seconds since 1970, or a time as text.
fn instant(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text),
        value => Timestamp::from_millis((value.as_f64()? as i64).checked_mul(1000)?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_handed_over_is_read() {
        let input = StatusInput::read(
            r#"{"session_id":"s1","model":{"id":"claude-opus-5","display_name":"Opus 5"},"new_field":[1],
            "cost":{"total_cost_usd":0.25,"total_duration_ms":60000},"context_window":{"used_percentage":40},
            "rate_limits":{"five_hour":{"used_percentage":42.5,"resets_at":1772373600},
            "seven_day":{"used_percentage":7,"resets_at":"2026-03-05T10:00:00Z"}}}"#,
        );
        assert_eq!((input.session_id.as_deref(), input.model.as_deref()), (Some("s1"), Some("Opus 5")));
        assert_eq!((input.cost_usd, input.duration_ms), (Some(0.25), Some(60_000)));
        assert_eq!(input.context_percent, Some(40.0));
        let limits: Vec<(&str, f64)> = input.limits.iter().map(|l| (l.window, l.used_percent)).collect();
        assert_eq!(limits, [("5h", 42.5), ("7d", 7.0)]);
        assert!(input.limits.iter().all(|limit| limit.resets_at.is_some()));
    }

    #[test]
    fn whatever_stands_there_is_survived() {
        for text in
            ["", "  ", "no json", "[]", "null", "{\"model\":null}", "{\"model\":\"x\",\"cost\":7}", "{\"a\":"]
        {
            assert_eq!(StatusInput::read(text), StatusInput::default(), "{text}");
        }
        let odd = StatusInput::read(
            r#"{"model":{"id":"m"},"cost":{"total_cost_usd":"1","total_duration_ms":-5},
            "context_window":{"used_percentage":null},"rate_limits":{"five_hour":{"used_percentage":"x"}}}"#,
        );
        assert_eq!(odd, StatusInput { model: Some("m".into()), ..StatusInput::default() });
    }
}
