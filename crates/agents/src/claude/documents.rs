//! Small documents beside the logs: files with one JSON value each.

use retro_model::{Kind, Origin, Part as Piece, TitleRank};

use super::rule::Rule;
use crate::identity::fingerprint;
use crate::json::pick;
use crate::words::{id, words};
use crate::{Json, Out, Record, field};

/// Reads the document of the source `key`.
pub(super) fn read(key: &str, record: &Record<'_>, out: &mut Out) {
    if let Some(agent) = key.strip_prefix("agent-").and_then(|key| key.strip_suffix(".meta")) {
        return meta(agent, record, out);
    }
    if key == "custom-title" {
        if let Some(title) = field::some(record.json, "customTitle").and_then(words) {
            out.facts.title(TitleRank::User, record.address, &title);
        }
        return out.fold("file/custom-title");
    }
    if key.starts_with("todos") {
        return out.fold("file/todos");
    }
    if key.starts_with("task-") {
        return out.fold("file/task");
    }
    let (row, kind) = match key.starts_with("wf_") {
        true => ("file/workflow", Kind::Note),
        false => ("unknown", Kind::Unknown),
    };
    let mut draft = record.draft(row, Piece::Whole, kind, Origin::Harness);
    draft.event.data = match kind {
        Kind::Note => pick(record.json, &["runId", "status", "name", "summary"]),
        _ => Some(record.json.redacted()),
    };
    draft.hint.identity = Some(format!("side:{:x}", fingerprint(record.json)));
    out.push(draft);
}

/// Reads `agent-<id>.meta.json` (2.1.325), which names the call that started the sub-agent. The
/// call's result has the same fact, but may be missing.
fn meta(agent: &str, record: &Record<'_>, out: &mut Out) {
    let mut draft = record.draft("file/meta", Piece::Whole, Kind::Subagent, Origin::Model);
    draft.event.child = Some(id(agent));
    draft.event.data = pick(record.json, &["agentType", "description", "model", "requestShape", "finished"]);
    draft.hint.identity = Some(format!("subagent:{agent}"));
    let call = record.json.get("toolUseId").and_then(Json::as_str).unwrap_or_default();
    draft.hint.look_for(Rule::Subagent(call.to_owned()));
    out.push(draft);
}
