//! How the drafts of a thread become its stream.
//!
//! Settling reads only ids, kinds and hints, never texts, arguments or data. The order matters:
//! records of an earlier revision are dropped first, so that no later rule counts them twice;
//! double messages are joined before turns are found by them; turns are numbered last.

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

/// Numbers equal identities. An identity is a record's content and time. Records with the same
/// content and time are distinguished by their order, so that the second of two is still the second
/// after the file is rewritten.
fn number_occurrences(drafts: &mut [Draft]) {
    // Keyed by hash, because nearly every record of a session has one.
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

/// Folds the output of `codex exec --json` if there is a rollout, which has all of it apart from
/// errors.
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

/// Adds facts of a later copy of the same record to the first.
fn complete(first: &mut Draft, later: &Draft) {
    if let (Some(ours), Some(theirs)) = (&mut first.event.usage, &later.event.usage) {
        ours.own = ours.own.max(theirs.own);
    }
    if first.event.model.is_none() {
        first.event.model = later.event.model.clone();
    }
}
