//! How the drafts of a thread become its stream.
//!
//! Settling looks at ids, kinds and hints alone, never at texts, arguments or
//! data. The order matters: what an earlier revision had is dropped first, so
//! that no later rule counts it twice; what is said twice is joined before turns
//! are known by it; turns are numbered last.

use hashbrown::{HashMap, HashSet};
use retro_model::{Kind, SessionKey};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::rule::Rule;
use super::{joins, lines, names, pairs};
use crate::Draft;
use crate::fold::{merge_repeats, number_turns};

pub(super) fn settle(session: &SessionKey, drafts: &mut [Draft]) {
    number_occurrences(drafts);
    fold_streams(drafts);
    let repeats = merge_repeats(drafts, complete);
    pairs::join_utterances(drafts, &repeats);
    pairs::join_summaries(drafts);
    joins::join_calls(drafts, &repeats);
    joins::keep_interruptions(drafts, &repeats);
    pairs::put_prompts_first(drafts);
    joins::name_responses(drafts);
    lines::find_abandoned(session, drafts);
    number_turns(drafts);
}

/// Identities name a record by what it says and when. Records that say the same
/// at the same time are distinguished by their order, so that the second of two is
/// the second again when the file was rewritten.
fn number_occurrences(drafts: &mut [Draft]) {
    // By hash: there is one for nearly every record of a session.
    let mut seen: HashMap<u64, u32> = HashMap::with_capacity(drafts.len());
    for draft in drafts {
        let id = &draft.event.id;
        let Some(identity) = draft.hint.identity.as_mut().filter(|identity| !identity.starts_with("usage|"))
        else {
            continue;
        };
        let revision = xxh3_64_with_seed(id.source.as_str().as_bytes(), id.revision.into());
        let nth = seen.entry(xxh3_64_with_seed(identity.as_bytes(), revision)).or_default();
        *nth += 1;
        let mut number = itoa::Buffer::new();
        for piece in ["|", id.source.as_str(), "#", number.format(*nth)] {
            identity.push_str(piece);
        }
    }
}

/// What `codex exec --json` printed is all in the rollout, apart from errors; it
/// gives events only where there is none.
fn fold_streams(drafts: &mut [Draft]) {
    let is_rollout = |draft: &Draft| !matches!(draft.event.id.source.as_str(), names::EXEC | names::STATE);
    let has_rollout = drafts.iter().any(is_rollout);
    let ended: HashSet<String> = drafts
        .iter()
        .filter(|draft| draft.event.kind == Kind::ToolResult)
        .filter_map(|draft| match draft.hint.rule() {
            Some(Rule::Streamed(call)) => Some(call.clone()),
            _ => None,
        })
        .collect();
    for draft in drafts.iter_mut().filter(|draft| draft.event.id.source.as_str() == names::EXEC) {
        if has_rollout {
            draft.hint.fold_only |= !matches!(draft.hint.row, "exec/error" | "exec/item.completed/error");
        } else if let Some(Rule::Begun(call)) = draft.hint.rule() {
            draft.hint.fold_only = ended.contains(call);
        }
    }
}

/// What a later record of the same thing adds to the first.
fn complete(first: &mut Draft, later: &Draft) {
    if let (Some(ours), Some(theirs)) = (&mut first.event.usage, &later.event.usage) {
        ours.own = ours.own.max(theirs.own);
    }
    if first.event.model.is_none() {
        first.event.model = later.event.model.clone();
    }
}
