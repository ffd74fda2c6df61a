//! Side records: all records without a uuid. They hold state of the program, mostly repeated, and a
//! few facts about the session that no other record has.

use retro_model::{Kind, Link, LinkKind, Origin, Part as Piece, Thread, TitleRank};
use retro_text::redact;

use super::line::unknown;
use super::state::State;
use super::{mapping, queue, usage};
use crate::identity::fingerprint;
use crate::json::pick;
use crate::words::{clean, id, words};
use crate::{Json, Out, Record, TitleOf, field};

pub(super) fn read(kind: &str, record: &Record<'_>, home: &Thread, state: &mut State, out: &mut Out) {
    let Some(row) = mapping::side(kind) else {
        return unknown(record, home, out);
    };
    let json = record.json;
    if row.gives.is_empty() {
        // `api-request` and its parts: copies of data in the chain, and proof that this session
        // requested a response.
        if kind == "api-request"
            && let Some(request) = field::some(json, "id")
        {
            state.request(request);
        }
        return out.fold(row.record);
    }
    if kind == "cost-state" {
        return usage::total(record, home, out);
    }
    let origin = match kind {
        "custom-title" | "tag" => Origin::User,
        "ai-title" | "summary" => Origin::Model,
        _ => Origin::Harness,
    };
    let mut draft = record.draft(row.record, Piece::Whole, Kind::Note, origin);
    draft.event.thread = home.clone();
    draft.event.ts = field::time(json, "timestamp");
    draft.hint.identity = Some(format!("side:{:x}", fingerprint(json)));
    draft.event.data = pick(json, facts(kind));
    match kind {
        "ai-title" => {
            draft.event.text = field::some(json, "aiTitle").and_then(words);
            if let Some(title) = &draft.event.text {
                out.facts.title(TitleRank::Agent, record.address, title);
            }
        }
        "custom-title" => {
            draft.event.text = field::some(json, "customTitle").and_then(words);
            if let Some(title) = &draft.event.text {
                out.facts.title(TitleRank::User, record.address, title);
            }
        }
        // A title of the conversation that ends at its leaf. If it precedes the first record of a
        // conversation, it is another session's, and the index must find that session.
        "summary" => {
            draft.event.text = field::some(json, "summary").and_then(words);
            if let Some(title) = draft.event.text.as_ref().filter(|_| state.ground.is_some()) {
                out.facts.title(TitleRank::Agent, record.address, title);
            }
        }
        "queue-operation" => {
            state.first_queued = state.first_queued.or(draft.event.ts);
            draft.hint.look_for(queue::step(json));
            out.push(draft);
            return queue::prompt(row.record, record, home, out);
        }
        "relocated" => moved(field::some(json, "relocatedCwd"), &mut draft.event.cwd, state),
        "worktree-state" => {
            let tree = json.get("worktreeSession").unwrap_or(&Json::Null);
            let path = ["worktreePath", "path", "cwd"].into_iter().find_map(|name| field::some(tree, name));
            moved(path, &mut draft.event.cwd, state);
        }
        "continued-in" => {
            if let Some(next) = field::some(json, "continuedInSessionId") {
                out.facts.links.insert(Link { kind: LinkKind::ContinuedIn, session_id: id(next) });
            }
        }
        "derived-from" => {
            for from in field::list(json, "sessions") {
                link(from.as_str().or_else(|| field::some(from, "sessionId")), out);
            }
        }
        "result" => draft.event.data = draft.event.data.or_else(|| Some(json.redacted())),
        _ => {}
    }
    out.push(draft);
}

/// Titles in a log that contains only summaries of other conversations.
pub(super) fn summaries(name: &str, bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
    if !name.ends_with(".jsonl") || name.ends_with("history.jsonl") {
        return Vec::new();
    }
    let bytes = bytes();
    let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let title = |record: serde_json::Value| {
        let text = |name: &str| record.get(name).and_then(serde_json::Value::as_str);
        let (title, leaf) = (text("summary")?, text("leafUuid")?);
        (text("type") == Some("summary")).then(|| TitleOf {
            of: id(leaf),
            is_leaf: true,
            title: redact(title),
        })
    };
    records.filter_map(title).collect()
}

/// Records that this session began as a copy of another.
pub(super) fn link(session_id: Option<&str>, out: &mut Out) {
    if let Some(session_id) = session_id {
        out.facts.links.insert(Link { kind: LinkKind::ForkedFrom, session_id: id(session_id) });
    }
}

/// Records that the session continues in another folder.
fn moved(path: Option<&str>, cwd: &mut Option<retro_text::Redacted<String>>, state: &mut State) {
    if let Some(path) = path {
        *cwd = Some(redact(path));
        if let Some(ground) = &mut state.ground {
            ground.cwd = Some(clean(path));
        }
    }
}

/// The fields of a record worth keeping. Copies of prompts are left out.
fn facts(kind: &str) -> &'static [&'static str] {
    match kind {
        "agent-color" => &["agentColor"],
        "agent-name" => &["agentName"],
        "continued-in" => &["continuedInSessionId"],
        "derived-from" => &["sessions"],
        "file-history-delta" => &["messageId", "trackingPath", "backup"],
        "file-history-snapshot" => &["messageId", "isSnapshotUpdate"],
        "frame-link" => &["path", "frameUrl", "title"],
        "last-prompt" => &["leafUuid"],
        "mode" => &["mode"],
        "permission-mode" => &["permissionMode"],
        "pr-link" => &["prNumber", "prUrl", "prRepository"],
        "queue-operation" => &["operation", "reason", "commandUuid", "deliveryId"],
        "relocated" => &["relocatedCwd"],
        "started" | "result" => &["agentId", "key"],
        "summary" => &["leafUuid"],
        "tag" => &["tag"],
        "tools-used" => &["tools"],
        "worktree-state" => &["worktreeSession"],
        _ => &[],
    }
}
