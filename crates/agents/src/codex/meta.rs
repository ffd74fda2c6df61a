//! The facts about a thread, and where its turns begin: `session_meta`, the header of bare files,
//! `turn_context`, `task_started`.

use retro_model::{Address, Facts, Kind, Link, LinkKind, Origin, Part as Piece};
use retro_text::{redact, redact_json};
use serde_json::json;

use super::line::Line;
use super::rule::Rule;
use super::state::{Asker, State};
use super::tier;
use crate::json::pick;
use crate::words::{clean, id};
use crate::{Json, Out, Part, field};

/// Fields of `session_meta` that are in no other field of the event. They exclude the system prompt
/// and the tool schemas, tens of kilobytes in every file.
const FACTS: &[&str] = &[
    "agent_nickname",
    "agent_path",
    "agent_role",
    "cli_version",
    "forked_from_id",
    "forked_from_ordinal_exclusive",
    "git",
    "history_base",
    "history_mode",
    "memory_mode",
    "model_provider",
    "originator",
    "parent_thread_id",
    "session_id",
    "source",
    "subagent_history_start_ordinal",
    "thread_source",
];

/// Reads `session_meta`: the thread's own, a resume mark, or the parent's in a fork.
pub(super) fn session(line: &Line<'_>, part: &Part, state: &mut State, out: &mut Out) {
    let Some(thread) = field::some(line.payload, "id").filter(|_| !line.bare) else {
        return line.unknown(out);
    };
    match state.chain.first() {
        None => first(line, part, thread, state, out),
        // The desktop app writes it again at each start (0.137 on).
        Some(own) if own == thread => {
            let mut draft = line.nameless("session_meta", Piece::Whole, Kind::Note, Origin::Harness);
            line.identify(&mut draft, "resumed", thread);
            draft.event.data = pick(line.payload, &["cli_version", "originator", "source"]);
            state.composed = is_composed(line.payload);
            tell_program(line, out);
            out.push(draft);
        }
        Some(_) => {
            state.descends_from(thread);
            if state.inherited_below.is_none() {
                state.copied_at = line.ts.map(|ts| ts.as_millis());
            }
            out.fold("session_meta");
        }
    }
}

fn first(line: &Line<'_>, part: &Part, thread: &str, state: &mut State, out: &mut Out) {
    let meta = line.payload;
    state.chain = vec![thread.to_owned()];
    state.inherited_below = field::count(meta, "subagent_history_start_ordinal");
    state.cwd = field::some(meta, "cwd").map(redact);
    state.composed = is_composed(meta);
    let spawned = meta.get("source").and_then(|source| source.get("subagent"));
    state.asker = match spawned {
        None => Asker::Person,
        Some(how) if how.get("thread_spawn").is_some() => Asker::Agent,
        Some(_) => Asker::Harness,
    };
    let parent = field::some(meta, "parent_thread_id")
        .or_else(|| spawned.and_then(|how| field::some(how.get("thread_spawn")?, "parent_thread_id")))
        .filter(|parent| *parent != thread);
    let forked_from = field::some(meta, "forked_from_id").filter(|from| *from != thread);
    link(LinkKind::Parent, parent, out);
    // A child that inherited its parent's history counts as a child, not as a fork.
    link(LinkKind::ForkedFrom, forked_from.filter(|_| parent.is_none()), out);

    let base = meta.get("history_base").filter(|base| base.is_object());
    // Another file of the thread: the user went back, and it begins inside an earlier file.
    let went_back = !part.source.is_main() && base.is_some();
    let (piece, kind, origin) = match went_back {
        true => (Piece::Tag("rewind"), Kind::Rewind, Origin::User),
        false => (Piece::Whole, Kind::Session, Origin::Harness),
    };
    let mut draft = line.nameless("session_meta", piece, kind, origin);
    line.identify(&mut draft, "thread", thread);
    draft.event.native.uuid = Some(id(thread));
    draft.event.native.message_id = None;
    draft.event.cwd = state.cwd.clone();
    draft.event.branch = meta.get("git").and_then(|git| field::some(git, "branch")).map(redact);
    draft.event.data = pick(meta, FACTS);
    if let Some(base) = base {
        draft.hint.look_for(Rule::Base {
            thread: field::some(base, "thread_id").unwrap_or_default().to_owned(),
            offset: field::count(base, "end_byte_offset").unwrap_or(u64::MAX),
        });
    }
    out.facts.see(field::time(meta, "timestamp"));
    tell_program(line, out);
    out.push(draft);
}

fn link(kind: LinkKind, other: Option<&str>, out: &mut Out) {
    if let Some(other) = other {
        out.facts.links.insert(Link { kind, session_id: id(other) });
    }
}

/// True if the program that runs the thread composes the prompts. A person cannot type into
/// `codex exec`, an MCP server or the SDK.
fn is_composed(meta: &Json<'_>) -> bool {
    let originator = field::text(meta, "originator").unwrap_or_default();
    matches!(field::text(meta, "source"), Some("exec" | "mcp"))
        || originator.contains("exec")
        || originator.contains("sdk")
}

/// Records which program wrote this, and how it was started.
fn tell_program(line: &Line<'_>, out: &mut Out) {
    if let Some(version) = field::some(line.payload, "cli_version") {
        out.facts.versions.insert(clean(version));
    }
    let entrypoint = match line.payload.get("source") {
        Some(Json::String(source)) => Some(clean(source)),
        Some(Json::Object(source)) => source.iter().next().map(|(key, _)| clean(key)),
        _ => field::some(line.payload, "originator").map(clean),
    };
    if let Some(entrypoint) = entrypoint {
        let at: Address = line.record.address.clone();
        out.facts.merge(&Facts { entrypoint: Some((at, entrypoint)), ..Facts::default() });
    }
}

/// Reads a bare record without a type: the header of a file of 0.8 - 0.29, or a state line.
pub(super) fn bare(line: &Line<'_>, state: &mut State, out: &mut Out) {
    let json = line.payload;
    if field::text(json, "record_type") == Some("state") {
        return out.fold("record_type/state");
    }
    let Some(thread) = field::some(json, "id").filter(|_| line.ts.is_some()) else {
        return line.unknown(out);
    };
    state.chain = vec![thread.to_owned()];
    let mut draft = line.nameless("header", Piece::Whole, Kind::Session, Origin::Harness);
    line.identify(&mut draft, "thread", thread);
    draft.event.native.uuid = Some(id(thread));
    draft.event.native.message_id = None;
    draft.event.branch = json.get("git").and_then(|git| field::some(git, "branch")).map(redact);
    draft.event.data = pick(json, &["git"]);
    out.push(draft);
}

/// Reads the start of a turn.
pub(super) fn turn_started(line: &Line<'_>, state: &mut State, out: &mut Out) {
    state.recorded = false;
    enter(field::some(line.payload, "turn_id"), state);
    out.fold("event_msg/task_started");
}

fn enter(turn: Option<&str>, state: &mut State) {
    if turn.is_some() && turn != state.turn.as_deref() {
        state.turn = turn.map(id);
        state.responses = 0;
    }
}

/// Reads the settings of the following responses. Written at the start of a turn, and up to 0.98
/// after every round of tools.
pub(super) fn turn_context(line: &Line<'_>, state: &mut State, out: &mut Out) {
    enter(field::some(line.payload, "turn_id"), state);
    if let Some(tier) = tier::said(line.payload) {
        state.tier = tier;
    }
    if let Some(cwd) = field::some(line.payload, "cwd")
        && state.cwd.as_ref().is_none_or(|known| known.as_str() != cwd)
    {
        state.cwd = Some(redact(cwd));
    }
    let (model, effort) = (field::some(line.payload, "model"), field::some(line.payload, "effort"));
    let same =
        model.is_none_or(|model| state.model.as_deref() == Some(model)) && state.effort.as_deref() == effort;
    if same {
        return out.fold("turn_context");
    }
    state.effort = effort.map(clean);
    state.model = model.map(clean).or_else(|| state.model.take());
    let mut draft = line.nameless("turn_context", Piece::Whole, Kind::Model, Origin::Harness);
    line.identify(
        &mut draft,
        "model",
        &format!("{} {}", model.unwrap_or_default(), effort.unwrap_or_default()),
    );
    draft.event.model = state.model.clone();
    let sandbox = line.payload.get("sandbox_policy");
    let sandbox =
        sandbox.and_then(|policy| field::some(policy, "type").or_else(|| field::some(policy, "mode")));
    draft.event.data = Some(redact_json(json!({
        "effort": effort,
        "approval_policy": line.payload.get("approval_policy"),
        "sandbox": sandbox,
    })));
    out.push(draft);
}
