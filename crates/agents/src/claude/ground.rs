//! Where and how the program runs: an event at the first record of a file, and after each change.
//!
//! Folder, branch, version and entry point are in every chain record. One session may have several
//! of each: `cd`, worktrees, a resume by a newer version.

use retro_model::{Kind, Origin, Part as Piece};
use retro_text::{redact, redact_json};
use serde_json::{Map, Value};

use super::line::{Chain, SIDE_CHAIN};
use super::side;
use super::state::{Ground, State};
use crate::words::clean;
use crate::{Out, field};

pub(super) fn see(chain: &Chain<'_>, state: &mut State, out: &mut Out) {
    side::link(chain.json.get("forkedFrom").and_then(|from| field::some(from, "sessionId")), out);
    if chain.thread.as_str() == SIDE_CHAIN {
        return;
    }
    if state.ground.as_ref().is_some_and(|ground| is_still(ground, chain)) {
        return;
    }
    let is_first = state.ground.is_none();
    let before = state.ground.take().unwrap_or_default();
    let newest = |name: &str, before: &Option<String>| match field::some(chain.json, name) {
        Some(now) if before.as_deref() != Some(now) => Some(clean(now)),
        _ => before.clone(),
    };
    let now = Ground {
        cwd: newest("cwd", &before.cwd),
        branch: newest("gitBranch", &before.branch),
        version: newest("version", &before.version),
        entrypoint: newest("entrypoint", &before.entrypoint),
    };
    state.ground = Some(now.clone());
    if now == before && !is_first {
        return;
    }
    let mut draft = if is_first {
        chain.draft("session", Piece::Tag("session"), Kind::Session, Origin::Harness)
    } else {
        chain.draft("session/changed", Piece::Tag("note"), Kind::Note, Origin::Harness)
    };
    if is_first {
        // A rewritten log begins at another record, but is the same session.
        draft.hint.identity = Some(format!("session:{}", chain.record.address.source));
    }
    draft.event.cwd = now.cwd.as_deref().filter(|_| now.cwd != before.cwd).map(redact);
    draft.event.branch = now.branch.as_deref().filter(|_| now.branch != before.branch).map(redact);
    let mut data = Map::new();
    for (name, now, before) in
        [("version", &now.version, &before.version), ("entrypoint", &now.entrypoint, &before.entrypoint)]
    {
        if let Some(now) = now.as_deref().filter(|_| now != before) {
            data.insert(name.to_owned(), Value::from(now));
        }
    }
    draft.event.data = (!data.is_empty()).then(|| redact_json(Value::Object(data)));
    out.facts.versions.extend(now.version);
    if let (Some(entrypoint), None) = (now.entrypoint, &out.facts.entrypoint) {
        out.facts.entrypoint = Some((chain.record.address.clone(), entrypoint));
    }
    out.push(draft);
}

/// True if the record repeats the known facts, as nearly all records do.
fn is_still(ground: &Ground, chain: &Chain<'_>) -> bool {
    let known = [
        ("cwd", &ground.cwd),
        ("gitBranch", &ground.branch),
        ("version", &ground.version),
        ("entrypoint", &ground.entrypoint),
    ];
    known
        .into_iter()
        .all(|(name, before)| field::some(chain.json, name).is_none_or(|now| before.as_deref() == Some(now)))
}
