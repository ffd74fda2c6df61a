//! The output of `codex exec --json` (0.80 on): the thread's items as they end, and the sum of its
//! tokens. It has no times, no model, no prompt.
//!
//! A secondary source: `settle` folds it if the thread has a rollout. Each run prints a stream of
//! its own and numbers its items from the start, so the streams of one thread are revisions with
//! nothing in common.

use retro_model::{
    Edit, EditKind, Exactness, Kind, Origin, Outcome, Part as Piece, Tokens, ToolCall, ToolClass, ToolResult,
    Usage,
};
use retro_text::{redact, redact_json, redact_owned};
use serde::{Deserialize, Serialize};

use super::mapping;
use super::rule::Rule;
use super::usage::counted;
use crate::command::one_line;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Draft, Json, Out, Parse, Part, Record, field, state};

pub(super) struct Parser {
    part: Part,
    state: State,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
struct State {
    /// The last sum that was readable.
    sum: Option<Tokens>,
    /// Number of sums so far.
    sums: u64,
}

impl Parser {
    pub(super) fn new(part: &Part, saved: Option<&[u8]>) -> Parser {
        Parser { part: part.clone(), state: state::load(saved) }
    }

    fn draft(
        &self,
        record: &Record<'_>,
        row: &'static str,
        piece: Piece,
        kind: Kind,
        origin: Origin,
    ) -> Draft {
        let mut draft = record.draft(row, piece, kind, origin);
        // Never equal to a record of another run, even with the same content.
        draft.hint.identity = Some(format!("stream~{}:{:?}", self.part.revision, draft.id()));
        draft
    }

    /// The id of an item, made unique among the runs of the thread.
    fn call_id(&self, item: &Json<'_>) -> String {
        let item = field::text(item, "id").unwrap_or_default();
        id(&format!("exec~{}:{item}", self.part.revision))
    }

    fn unknown(&self, record: &Record<'_>, out: &mut Out) {
        let mut draft = self.draft(record, "unknown", Piece::Whole, Kind::Unknown, Origin::Harness);
        draft.event.data = Some(record.json.redacted());
        out.push(draft);
    }
}

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let json = record.json;
        match field::text(json, "type").unwrap_or_default() {
            "thread.started" => {
                let mut draft =
                    self.draft(record, "exec/thread.started", Piece::Whole, Kind::Session, Origin::Harness);
                draft.event.native.uuid = field::some(json, "thread_id").map(id);
                draft.event.data = Some(redact_json(serde_json::json!({ "source": "exec" })));
                out.push(draft);
            }
            "turn.started" => out.fold("exec/turn.started"),
            "item.updated" => out.fold("exec/item.updated"),
            "item.started" => self.begun(record, &json["item"], out),
            "item.completed" => self.item(record, &json["item"], out),
            "turn.completed" => self.sum(record, out),
            "turn.failed" => self.error(record, "exec/turn.failed", &json["error"], out),
            "error" => self.error(record, "exec/error", json, out),
            _ => self.unknown(record, out),
        }
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }
}

impl Parser {
    fn error(&self, record: &Record<'_>, row: &'static str, told: &Json<'_>, out: &mut Out) {
        let mut draft = self.draft(record, row, Piece::Whole, Kind::Error, Origin::Harness);
        draft.event.text = field::some(told, "message").and_then(words);
        out.push(draft);
    }

    /// Adds a draft for a call that begins. It is the only event of a call that never ends.
    fn begun(&self, record: &Record<'_>, item: &Json<'_>, out: &mut Out) {
        const ROW: &str = "exec/item.started";
        let Some(call) = self.call(item) else { return out.fold(ROW) };
        let mut draft = self.draft(record, ROW, Piece::Whole, Kind::ToolCall, Origin::Model);
        draft.hint.fold_only = true;
        draft.hint.look_for(Rule::Begun(call.call_id.clone()));
        draft.event.tool = Some(Box::new(call));
        out.push(draft);
    }

    fn item(&self, record: &Record<'_>, item: &Json<'_>, out: &mut Out) {
        let kind = field::text(item, "type").unwrap_or_default();
        let Some(row) = mapping::named("exec/item.completed/", kind) else {
            return self.unknown(record, out);
        };
        let said = |kind, name| {
            let mut draft = self.draft(record, row, Piece::Whole, kind, Origin::Model);
            draft.event.text = field::some(item, name).and_then(words);
            draft
        };
        match kind {
            "agent_message" => out.push(said(Kind::Assistant, "text")),
            "reasoning" => out.push(said(Kind::Reasoning, "text")),
            "error" => self.error(record, row, item, out),
            "todo_list" => {
                let mut draft = said(Kind::Plan, "text");
                draft.event.data = pick(item, &["items"]);
                out.push(draft);
            }
            _ => {
                let Some(call) = self.call(item) else { return self.unknown(record, out) };
                self.ended(record, row, item, call, out);
            }
        }
    }

    fn call(&self, item: &Json<'_>) -> Option<ToolCall> {
        let (name, class) = match field::text(item, "type")? {
            "command_execution" => ("exec_command".to_owned(), ToolClass::Shell),
            "file_change" => ("apply_patch".to_owned(), ToolClass::Edit),
            "mcp_tool_call" => {
                let part = |name| field::text(item, name).unwrap_or_default();
                (clean(&format!("mcp__{}__{}", part("server"), part("tool"))), ToolClass::Mcp)
            }
            "web_search" => ("web_search".to_owned(), ToolClass::Web),
            "collab_tool_call" => {
                (field::some(item, "tool").map(clean).unwrap_or_default(), ToolClass::Subagent)
            }
            _ => return None,
        };
        let change = |change: &Json<'_>| {
            let kind = match field::text(change, "kind") {
                Some("add") => EditKind::Create,
                Some("delete") => EditKind::Delete,
                _ => EditKind::Update,
            };
            Some(Edit {
                path: redact(field::some(change, "path")?),
                to: None,
                kind,
                added: None,
                removed: None,
            })
        };
        let edits: Vec<Edit> = field::list(item, "changes").iter().filter_map(change).collect();
        Some(ToolCall {
            call_id: self.call_id(item),
            parent_call: None,
            name,
            class,
            args: item.get("arguments").or_else(|| item.get("action")).map(Json::redacted),
            command: field::some(item, "command").map(|command| redact_owned(one_line(command))),
            cwd: None,
            paths: super::tools::written(&edits).collect(),
            edits,
        })
    }

    fn ended(&self, record: &Record<'_>, row: &'static str, item: &Json<'_>, call: ToolCall, out: &mut Out) {
        let exit_code = item.get("exit_code").and_then(Json::as_i64);
        let outcome = match (field::text(item, "status"), exit_code) {
            (Some("failed"), _) => Outcome::Failed,
            (Some("declined"), _) => Outcome::Denied,
            (Some("in_progress"), _) => Outcome::Unknown,
            (_, Some(code)) if code != 0 => Outcome::Failed,
            _ => Outcome::Ok,
        };
        let output =
            field::list(&item["result"], "content").iter().filter_map(|part| field::text(part, "text"));
        let text = match field::text(item, "aggregated_output") {
            Some(text) => text.to_owned(),
            None => output.collect::<Vec<_>>().join("\n"),
        };
        let origin = match call.class {
            ToolClass::Mcp | ToolClass::Web => Origin::External,
            _ => Origin::Tool,
        };
        let result = ToolResult {
            call_id: call.call_id.clone(),
            outcome,
            exit_code: exit_code.filter(|code| *code >= 0),
            duration_ms: None,
            truncated: false,
            bytes: text.len() as u64,
            spilled_to: None,
            edits: if outcome == Outcome::Ok { call.edits.clone() } else { Vec::new() },
        };
        let ended = Rule::Streamed(call.call_id.clone());
        let mut draft = self.draft(record, row, Piece::Tag("call"), Kind::ToolCall, Origin::Model);
        draft.event.tool = Some(Box::new(call));
        out.push(draft);
        let mut draft = self.draft(record, row, Piece::Tag("result"), Kind::ToolResult, origin);
        draft.event.result = Some(Box::new(result));
        draft.event.text = (!text.is_empty()).then(|| redact_owned(text));
        draft.hint.look_for(ended);
        out.push(draft);
    }

    /// Adds the tokens since the previous sum. The first sum of a run may include tokens of an
    /// earlier run of the thread, which the stream does not show.
    fn sum(&mut self, record: &Record<'_>, out: &mut Out) {
        const ROW: &str = "exec/turn.completed";
        let Some(told) = record.json.get("usage").filter(|usage| usage.is_object()) else {
            return out.fold(ROW);
        };
        let mut counted = counted(told);
        let sum = counted.usage.tokens;
        // If this sum cannot be read, its tokens are counted in the next one.
        let tokens = if counted.is_whole() {
            sum.minus_or_zero(&self.state.sum.replace(sum).unwrap_or_default())
        } else {
            Tokens::default()
        };
        self.state.sums += 1;
        counted.usage = Usage { tokens, exactness: Exactness::Estimated, own: 1, ..Usage::default() };
        let usage = counted.of_record(record, out);
        let Part { session, revision, .. } = &self.part;
        let mut draft = self.draft(record, ROW, Piece::Whole, Kind::Usage, Origin::Harness);
        draft.event.response = Some(format!("codex:{}:exec~{revision}:{}", id(&session.id), self.state.sums));
        draft.event.usage = Some(Box::new(usage));
        out.push(draft);
    }
}
