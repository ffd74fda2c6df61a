//! How a call ended: the one test for failure, refusal and interruption.
//!
//! `is_error` is the only sign of success or failure that every version writes. Its absence means
//! success (sub-agent files of 2.1.x omit `toolUseResult`, so the absence of that means nothing).
//! The kind of error is in newer fields (`toolDenialKind`, `permissionDecision`) and, for older
//! versions, in the program's fixed sentences.

use retro_model::Outcome;

use super::words::said_in_refusal;
use crate::{Json, field};

/// The ending of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ending<'t> {
    pub outcome: Outcome,
    pub exit_code: Option<i64>,
    pub refusal: Option<Refusal<'t>>,
}

/// The refusal of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal<'t> {
    /// True if a person refused. Otherwise it was a rule or a hook, or no person was there to ask.
    pub by_person: bool,
    /// The person's comment on the refusal.
    pub words: Option<&'t str>,
    /// True if a field of the record proves it, and not only a sentence of the program.
    pub is_proven: bool,
    /// Set if the same text also appears where a running call was cut off, and only a later marker
    /// distinguishes the two. The flag says whether this version writes the marker in full.
    pub may_be_cut: Option<bool>,
}

/// The program's sentences for calls that a person refused or cut off.
const BY_PERSON: &[&str] = &[
    "The user doesn't want to proceed with this tool use.",
    "The user doesn't want to take this action right now.",
    "User rejected tool use",
];

/// Tools whose errors are the program's own sentences. The answer of a shell, a server, a page or
/// another agent may contain anything, even the program's sentences.
const PLAIN_ERRORS: &[&str] = &[
    "AskUserQuestion",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "KillShell",
    "LS",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "Read",
    "Skill",
    "TaskCreate",
    "TaskUpdate",
    "TodoWrite",
    "Write",
];

/// True if an error of the tool can only be from the program. From 2.0 on, an error of a shell
/// begins with its exit code.
fn speaks_plainly(record: &Json<'_>, tool: Option<&str>) -> bool {
    let is_new = || {
        let major =
            field::some(record, "version").and_then(|version| version.split('.').next()?.parse().ok());
        major.is_some_and(|major: u32| major >= 2)
    };
    match tool {
        Some("Bash" | "PowerShell") => is_new(),
        Some(name) => PLAIN_ERRORS.contains(&name),
        None => false,
    }
}

/// True if the text is the program's for a call that was refused without a person.
fn refused_by_rule(text: &str) -> bool {
    // "to use Bash with command …", in 1.0.117 also "to read /path …"; "auto-denied" if no person
    // can be asked.
    (text.starts_with("Permission to ") && text.contains("denied"))
        || text.starts_with("Claude requested permissions to ")
        || (text.starts_with("PreToolUse:") && text.contains(" hook error"))
        // 1.0.117
        || text.lines().next().is_some_and(|line| line.ends_with(" operation blocked by hook:"))
        // Built-in protection, not marked by any field.
        || text.contains(" is blocked. This path is protected")
}

/// How the call ended. `record` is the whole record, `block` its `tool_result`, `text` the answer
/// attributed to the tool, `tool` the tool's name if known.
pub(super) fn ending<'t>(
    record: &'t Json<'t>,
    block: &Json<'_>,
    text: &'t str,
    tool: Option<&str>,
) -> Ending<'t> {
    let facts = record.get("toolUseResult").unwrap_or(&Json::Null);
    if field::is(block, "is_error") {
        return error(record, facts, text, tool);
    }
    let ended = |outcome, exit_code| Ending { outcome, exit_code, refusal: None };
    if field::is(facts, "interrupted") {
        return ended(Outcome::Interrupted, None);
    }
    if is_background(facts) {
        return ended(Outcome::Unknown, None);
    }
    if tool == Some("NotebookEdit") && field::some(facts, "error").is_some() {
        return ended(Outcome::Failed, None);
    }
    let exit_code = match facts.get("exitCode").and_then(Json::as_i64) {
        Some(code) => Some(code),
        // `No matches found` and similar: a nonzero exit code that is not a failure.
        None if field::some(facts, "returnCodeInterpretation").is_some() => None,
        None if matches!(tool, Some("Bash" | "PowerShell")) => Some(0),
        None => None,
    };
    ended(Outcome::Ok, exit_code)
}

/// True if the call only started a task that continues.
pub(super) fn is_background(facts: &Json<'_>) -> bool {
    field::some(facts, "backgroundTaskId").is_some() || field::text(facts, "status") == Some("async_launched")
}

fn error<'t>(record: &'t Json<'t>, facts: &'t Json<'t>, text: &'t str, tool: Option<&str>) -> Ending<'t> {
    let bare = text.strip_prefix("<tool_use_error>").unwrap_or(text);
    if bare.starts_with("Sibling tool call errored") {
        // 2.1.29 - 2.1.63: it did not run, because a parallel call failed.
        return Ending { outcome: Outcome::Unknown, exit_code: None, refusal: None };
    }
    let kind = field::some(record, "toolDenialKind");
    let decided = record.get("permissionDecision").and_then(|decision| field::text(decision, "decision"));
    let feedback = field::some(record, "userFeedback");
    let is_refusal = |text: &str| BY_PERSON.iter().any(|head| text.starts_with(head));
    let answer = facts.as_str().unwrap_or_default();
    let is_told = matches!(kind, Some("user-rejected")) || feedback.is_some() || decided == Some("reject");
    let by_person = match kind {
        Some("permission-rule") => false,
        // The answer of a tool has the prefix "Error: ". This has none.
        _ if is_refusal(answer) => true,
        _ => is_refusal(bare) && (is_told || (kind.is_none() && speaks_plainly(record, tool))),
    };
    if kind.is_some() || by_person || decided == Some("reject") || refused_by_rule(bare) {
        let words = by_person
            .then(|| feedback.or_else(|| said_in_refusal(text)))
            .flatten()
            .filter(|words| !words.starts_with("The user wants to clarify these questions."));
        let may_be_cut = (by_person && words.is_none()).then_some(kind.is_some());
        let refusal = Refusal { by_person, words, is_proven: is_told, may_be_cut };
        return Ending { outcome: Outcome::Denied, exit_code: None, refusal: Some(refusal) };
    }
    Ending { outcome: Outcome::Failed, exit_code: exit_code(text), refusal: None }
}

/// The code in `Exit code N`, with which 2.x begins the result of a failed command.
fn exit_code(text: &str) -> Option<i64> {
    text.strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    fn of(record: Json<'_>, block: Json<'_>, text: &str, tool: &str) -> (Outcome, Option<i64>) {
        let ending = ending(&record, &block, text, Some(tool));
        (ending.outcome, ending.exit_code)
    }

    #[test]
    fn errors_are_failures_with_their_code_where_the_log_has_one() {
        let error = json!({ "is_error": true });
        let none = json!({});
        assert_eq!(
            of(none.clone(), error.clone(), "Exit code 101\nboom", "Bash"),
            (Outcome::Failed, Some(101))
        );
        assert_eq!(of(none.clone(), error.clone(), "boom", "Bash"), (Outcome::Failed, None));
        assert_eq!(
            of(
                none.clone(),
                error.clone(),
                "<tool_use_error>Sibling tool call errored</tool_use_error>",
                "Bash"
            ),
            (Outcome::Unknown, None)
        );
        assert_eq!(of(none.clone(), json!({}), "fine", "Bash"), (Outcome::Ok, Some(0)));
        assert_eq!(of(none, json!({}), "fine", "Read"), (Outcome::Ok, None));
        let grep = json!({ "toolUseResult": { "returnCodeInterpretation": "No matches found" } });
        assert_eq!(of(grep, json!({ "is_error": false }), "", "Bash"), (Outcome::Ok, None));
        let cut = json!({ "toolUseResult": { "interrupted": true } });
        assert_eq!(of(cut, json!({ "is_error": false }), "", "Bash"), (Outcome::Interrupted, None));
    }

    #[test]
    fn every_way_to_refuse_is_a_denial() {
        let error = json!({ "is_error": true });
        for text in [
            "Permission to use Bash with command make clean has been denied.",
            "Permission to read /w/key.txt has been denied.",
            "Permission to use Write has been auto-denied (prompts unavailable).",
            "Claude requested permissions to write to /etc/x, but you haven't granted it yet.",
            "PreToolUse:Bash hook error: not here",
            "Bash operation blocked by hook:\n- not here",
            "Remove-Item on system path 'Q:' is blocked. This path is protected from removal.",
        ] {
            let record = json!({});
            let ending = ending(&record, &error, text, Some("Bash"));
            assert_eq!(ending.outcome, Outcome::Denied, "{text}");
            assert!(!ending.refusal.unwrap().by_person, "{text}");
        }
        let by_field = json!({ "permissionDecision": { "decision": "reject" } });
        let text = "<tool_use_error>File is in a folder that is denied.</tool_use_error>";
        assert_eq!(ending(&by_field, &error, text, None).outcome, Outcome::Denied);
    }

    #[test]
    fn what_a_tool_answered_refuses_nothing() {
        let error = json!({ "is_error": true });
        let said =
            "The user doesn't want to proceed with this tool use. To tell you, the user said:\nuse sed";
        let none = json!({});
        for tool in ["mcp__web__get", "WebFetch", "Bash", "Task", "Agent", "BashOutput"] {
            let ending = ending(&none, &error, said, Some(tool));
            assert_eq!((ending.outcome, ending.refusal), (Outcome::Failed, None), "{tool}");
        }
        assert_eq!(ending(&none, &error, said, None).refusal, None, "a result without a call");
        let record = json!({ "version": "2.0.42" });
        assert!(
            ending(&record, &error, said, Some("Bash")).refusal.is_some(),
            "an exit code would come first"
        );
        let record = json!({ "toolDenialKind": "permission-rule" });
        let by_rule = ending(&record, &error, said, Some("Edit")).refusal.unwrap();
        assert_eq!((by_rule.by_person, by_rule.words), (false, None));
    }

    #[test]
    fn a_persons_refusal_has_their_words_or_may_be_a_cut() {
        let error = json!({ "is_error": true });
        let record = json!({});
        let said =
            "The user doesn't want to proceed with this tool use. To tell you, the user said:\nuse sed";
        let refusal = ending(&record, &error, said, Some("Edit")).refusal.unwrap();
        assert_eq!((refusal.by_person, refusal.words, refusal.may_be_cut), (true, Some("use sed"), None));
        assert!(!refusal.is_proven, "a sentence alone");
        let told = json!({ "toolDenialKind": "user-rejected" });
        let refusal = ending(&told, &error, said, Some("mcp__web__get")).refusal.unwrap();
        assert_eq!((refusal.words, refusal.is_proven), (Some("use sed"), true));
        let record = json!({ "toolDenialKind": "user-rejected", "toolUseResult": "User rejected tool use" });
        let silent = "The user doesn't want to proceed with this tool use. STOP.";
        let refusal = ending(&record, &error, silent, None).refusal.unwrap();
        assert_eq!((refusal.words, refusal.may_be_cut), (None, Some(true)));
    }
}
