//! `tool_result` blocks: the tool's answer, the changed files, and refusals.

use retro_model::{Kind, Origin, Outcome, Part as Piece, SourceKey, ToolResult};
use retro_text::redact_json;
use serde_json::json;
use std::borrow::Cow;

use super::line::{Block, Chain};
use super::outcome::{self, Ending};
use super::rule::Rule;
use super::state::State;
use super::tools;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Json, Out, field};

/// Fields of `toolUseResult` that are in no other field of the event.
const FACTS: &[&str] = &[
    "answers",
    "backgroundTaskId",
    "code",
    "gitOperation",
    "mode",
    "numFiles",
    "numLines",
    "numMatches",
    "query",
    "resumedAgentId",
    "returnCodeInterpretation",
    "status",
    "statusChange",
    "taskId",
    "timedOutAfterMs",
    "url",
    "userModified",
];

pub(super) fn read(chain: &Chain<'_>, block: &Block<'_>, state: &mut State, out: &mut Out) {
    let call_id = field::text(block.json, "tool_use_id").map(id).unwrap_or_default();
    let call = state.close(&call_id);
    let tool = call.as_ref().map(|call| call.name.as_str());
    let facts = chain.json.get("toolUseResult").unwrap_or(&Json::Null);
    let text = &*answer(&block.json["content"]);
    let Ending { outcome, exit_code, refusal } = outcome::ending(chain.json, block.json, text, tool);

    let mut draft = chain.draft("user/tool_result", block.piece.clone(), Kind::ToolResult, origin(tool));
    let asked = call.as_ref().map(|call| call.edits.clone()).unwrap_or_default();
    draft.event.result = Some(Box::new(ToolResult {
        call_id: call_id.clone(),
        outcome,
        exit_code,
        duration_ms: duration_ms(facts),
        truncated: spilled_path(facts, text).is_some() || field::is(facts, "truncated"),
        bytes: text.len() as u64,
        spilled_to: spilled_path(facts, text).and_then(source_of),
        edits: if outcome == Outcome::Ok { tools::changed(facts, text, asked) } else { Vec::new() },
    }));
    draft.event.data = pick(facts, FACTS);
    draft.event.text = words(text);
    if outcome::is_background(facts) {
        draft.hint.look_for(Rule::Background(call_id.clone()));
    }
    if let Some(may_be_cut) = refusal.as_ref().and_then(|refusal| refusal.may_be_cut) {
        draft.hint.look_for(Rule::Refused { flagged: may_be_cut });
    }
    out.push(draft);

    if let Some(refusal) = refusal {
        let origin = if refusal.by_person { Origin::User } else { Origin::Harness };
        let mut denial = chain.draft("user/tool_result", Piece::Tag("denial"), Kind::Denial, origin);
        denial.event.text = refusal.words.and_then(words);
        let mut data = json!({
            "call_id": call_id,
            "tool": tool,
            "kind": chain.json.get("toolDenialKind"),
            "decision": chain.json.get("permissionDecision"),
        });
        if let Some(fields) = data.as_object_mut().filter(|_| denial.event.text.is_some()) {
            // The evidence that a person wrote these words.
            let by = if refusal.is_proven { "field" } else { "sentence" };
            fields.insert("words".to_owned(), by.into());
        }
        denial.event.data = Some(redact_json(data));
        if let Some(may_be_cut) = refusal.may_be_cut {
            denial.hint.look_for(Rule::Refused { flagged: may_be_cut });
        }
        chain.derive(denial, out);
    }
    if outcome != Outcome::Denied {
        subagent(chain, facts, tool, &call_id, out);
    }
    if outcome == Outcome::Ok {
        plan(chain, facts, tool, out);
    }
}

/// The author of a result.
fn origin(tool: Option<&str>) -> Origin {
    match tool {
        Some("WebFetch" | "WebSearch") => Origin::External,
        Some("AskUserQuestion") => Origin::User,
        Some(name) if name.starts_with("mcp__") => Origin::External,
        _ => Origin::Tool,
    }
}

/// The text of a result. Images are named, and their bytes stay in the raw record.
fn answer<'t>(content: &'t Json<'_>) -> Cow<'t, str> {
    match content {
        Json::String(text) => Cow::Borrowed(text),
        Json::Array(blocks) => {
            let parts: Vec<&str> = blocks
                .iter()
                .map(|block| match field::text(block, "type") {
                    Some("image") => "[image]",
                    Some("tool_reference") => field::text(block, "tool_name").unwrap_or_default(),
                    _ => block.as_str().or_else(|| field::text(block, "text")).unwrap_or_default(),
                })
                .collect();
            Cow::Owned(parts.join("\n"))
        }
        _ => Cow::Borrowed(""),
    }
}

fn duration_ms(facts: &Json<'_>) -> Option<u64> {
    field::count(facts, "durationMs").or_else(|| field::count(facts, "totalDurationMs")).or_else(|| {
        let seconds = facts.get("durationSeconds")?.as_f64()?;
        (0.0..1e9).contains(&seconds).then_some((seconds * 1000.0).round() as u64)
    })
}

/// The path where the program saved the whole output.
fn spilled_path<'t>(facts: &'t Json<'t>, text: &'t str) -> Option<&'t str> {
    field::some(facts, "persistedOutputPath").or_else(|| {
        let (_, rest) = text.strip_prefix("<persisted-output>")?.split_once("Full output saved to: ")?;
        rest.lines().next().map(str::trim)
    })
}

/// The source of this file: its name, without the folders of either system.
fn source_of(path: &str) -> Option<String> {
    let name = path.rsplit(['/', '\\']).next()?;
    (!name.is_empty()).then(|| SourceKey::new(&clean(name)).to_string())
}

/// The start of a sub-agent, or its report.
fn subagent(chain: &Chain<'_>, facts: &Json<'_>, tool: Option<&str>, call_id: &str, out: &mut Out) {
    let agent = field::some(facts, "agentId").or_else(|| field::some(facts, "resumedAgentId"));
    if !matches!(tool, Some("Task" | "Agent")) && agent.is_none() {
        return;
    }
    let mut draft = chain.draft("user/tool_result", Piece::Tag("subagent"), Kind::Subagent, Origin::Model);
    draft.event.child = agent.map(id);
    if let Some(agent) = agent.filter(|_| field::text(facts, "resumedAgentId").is_none()) {
        draft.hint.identity = Some(format!("subagent:{agent}"));
    }
    draft.event.data = pick(
        facts,
        &["agentType", "description", "status", "resolvedModel", "totalToolUseCount", "outputFile"],
    );
    draft.hint.look_for(Rule::Subagent(call_id.to_owned()));
    chain.derive(draft, out);
}

/// The task list after the change, or the plan that was shown.
fn plan(chain: &Chain<'_>, facts: &Json<'_>, tool: Option<&str>, out: &mut Out) {
    let Some("TodoWrite" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" | "ExitPlanMode") = tool
    else {
        return;
    };
    let mut draft = chain.draft("user/tool_result", Piece::Tag("plan"), Kind::Plan, Origin::Model);
    draft.event.text = field::some(facts, "plan").and_then(words);
    draft.event.data =
        pick(facts, &["newTodos", "task", "tasks", "taskId", "updatedFields", "statusChange", "filePath"]);
    chain.derive(draft, out);
}
