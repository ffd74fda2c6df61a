//! Which of the answers that a model server billed a log may lack, and why, for
//! the adapters alone. The whole path is compared field by field in the tests of
//! the views, with sharper exceptions (`usage_corpus`).

use serde_json::Value;

/// Whether the log of a scenario (`<set>/<name>`) may lack a billed answer.
pub(crate) fn may_be_unlogged(scenario: &str, billed: &Value) -> bool {
    let (set, name) = scenario.split_once('/').unwrap();
    // Broken off before its end, or refused.
    if billed["delivered"] == false || billed["status"].as_i64().unwrap_or(200) != 200 {
        return true;
    }
    match set.split('-').next().unwrap() {
        // Compactions and side calls are never logged, nor is a stream that broke and was tried again.
        "claude" => billed["kind"] != "main" || name == "12-api-errors",
        "codex" => codex(set, name, billed),
        // Nor are those of Grok, and of a turn that was killed nothing is.
        "grok" => billed["kind"] != "main" || name == "14-interrupt",
        _ => false,
    }
}

fn codex(set: &str, name: &str, billed: &Value) -> bool {
    // Made for the program itself, in a thread without a file.
    billed["kind"] == "side"
        // No usage in rollouts at all.
        || matches!(set, "codex-0.8.0" | "codex-0.20.0" | "codex-0.29.0")
        || match (set, name) {
            // The items and tokens of a round are written when it ends.
            ("codex-0.42.0", "14-interrupt" | "14b-sigkill") => true,
            // Chat servers tell no usage to this version.
            ("codex-0.42.0", "01c-chat-wire") => true,
            // An ephemeral run has no file.
            ("codex", "25-mining-call") => true,
            _ => false,
        }
}
