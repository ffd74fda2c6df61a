//! Files beside the three logs: documents of one JSON value, rewind points and
//! ratings.

use retro_model::{Kind, Link, LinkKind, Origin, Part as Piece, TitleRank};
use retro_text::redact;

use super::chat;
use super::line::{unknown, without};
use super::rule::Rule;
use super::side::spawned;
use crate::json::pick;
use crate::words::{id, words};
use crate::{Out, Record, field};

/// Reads a record of the source `key`.
pub(super) fn read(key: &str, session: &str, record: &Record<'_>, out: &mut Out) {
    match key {
        "summary" => summary(record, out),
        "usage" => out.fold("file/usage"),
        "plan" => out.fold("file/plan"),
        "signals" => out.fold("file/signals"),
        "rewind_points" => out.fold("file/rewind_points"),
        "feedback" => feedback(record, out),
        _ if key.ends_with(".output") => out.fold("file/output"),
        _ => match (key.strip_suffix(".meta"), key.strip_prefix("checkpoint-")) {
            (Some(child), _) => meta(child, session, record, out),
            (_, Some(checkpoint)) => self::checkpoint(checkpoint, record, out),
            _ => unknown(record, out),
        },
    }
}

/// Reads the session's own facts.
fn summary(record: &Record<'_>, out: &mut Out) {
    let json = record.json;
    let info = json.get("info").unwrap_or(json);
    let kind = field::some(json, "session_kind");
    let mut draft = record.draft("file/summary", Piece::Whole, Kind::Session, Origin::Harness);
    draft.event.ts = field::time(json, "created_at");
    draft.event.cwd = field::some(info, "cwd").map(redact);
    draft.event.branch = field::some(json, "head_branch").map(redact);
    draft.event.data = pick(
        json,
        &[
            "session_kind",
            "parent_session_id",
            "forked_at",
            "agent_name",
            "current_model_id",
            "chat_format_version",
            "sandbox_profile",
            "head_commit",
            "git_root_dir",
            "git_remotes",
            "worktree_label",
            "previous_cwd",
            "hidden",
        ],
    );
    draft.hint.look_for(Rule::Session {
        is_subagent: kind == Some("subagent"),
        is_headless: kind == Some("headless"),
    });
    out.facts.see(field::time(json, "last_active_at"));
    if let Some(kind) = kind {
        out.facts.entrypoint = Some((record.address.clone(), id(kind)));
    }
    if let Some(parent) = field::some(json, "parent_session_id") {
        let kind = if kind == Some("subagent") { LinkKind::Parent } else { LinkKind::ForkedFrom };
        out.facts.links.insert(Link { kind, session_id: id(parent) });
    }
    let title = field::some(json, "generated_title").or_else(|| field::some(json, "session_summary"));
    if let Some(title) = title.and_then(words) {
        let rank = if field::is(json, "title_is_manual") { TitleRank::User } else { TitleRank::Agent };
        out.facts.title(rank, record.address, &title);
    }
    out.push(draft);
}

/// Reads the facts about a sub-agent from its parent's folder.
fn meta(child: &str, session: &str, record: &Record<'_>, out: &mut Out) {
    let json = record.json;
    let child = field::some(json, "child_session_id").unwrap_or(child);
    if field::some(json, "parent_session_id").is_none_or(|parent| parent == session) {
        out.facts.links.insert(Link { kind: LinkKind::Child, session_id: id(child) });
    }
    let mut draft = record.draft("file/meta", Piece::Whole, Kind::Subagent, Origin::Model);
    draft.event.ts = field::time(json, "started_at");
    draft.event.child = Some(id(child));
    draft.event.data =
        without(json, &["subagent_id", "child_session_id", "parent_session_id", "attempt_id", "prompt"]);
    draft.hint.identity = Some(spawned(child, field::some(json, "attempt_id")));
    draft.hint.look_for(Rule::Spawned(id(child)));
    out.push(draft);
}

/// Reads the history after a compaction.
fn checkpoint(key: &str, record: &Record<'_>, out: &mut Out) {
    let Some(text) = chat::summary_in(field::list(record.json, "compacted_history")) else {
        return out.fold("file/checkpoint");
    };
    let mut draft = chat::as_summary(record, "file/checkpoint", &text);
    let id = id(field::some(record.json, "checkpoint_id").unwrap_or(key));
    draft.hint.look_for(Rule::Summary(Some(id).filter(|id| !id.is_empty())));
    out.push(draft);
}

/// Reads the user's rating of an answer.
fn feedback(record: &Record<'_>, out: &mut Out) {
    let mut draft = record.draft("feedback", Piece::Whole, Kind::Note, Origin::User);
    draft.event.ts = ["timestamp", "ts", "created_at"].iter().find_map(|name| field::time(record.json, name));
    draft.event.text = ["comment", "feedback", "text"]
        .iter()
        .find_map(|name| field::some(record.json, name))
        .and_then(words);
    draft.event.data =
        without(record.json, &["timestamp", "ts", "created_at", "comment", "feedback", "text"]);
    out.push(draft);
}
