//! The parts that were abandoned when the user went back.
//!
//! Up to 0.146 a record in the same file shows it: `thread_rolled_back`, with a number of turns.
//! From 0.166 on, a new file of the thread begins inside another, at a byte offset. Everything
//! after that offset in the other file is abandoned.

use hashbrown::HashMap;
use retro_model::{SessionKey, SourceKey};
use std::collections::BTreeMap;

use super::names;
use super::rule::Rule;
use crate::Draft;

pub(super) fn find_abandoned(session: &SessionKey, drafts: &mut [Draft]) {
    let mut bases: BTreeMap<SourceKey, (SourceKey, u64)> = BTreeMap::new();
    for draft in drafts.iter().filter(|draft| !draft.event.id.source.is_main()) {
        if let Some(Rule::Base { thread, offset }) = draft.hint.rule() {
            let from = if *thread == session.id { SourceKey::main() } else { SourceKey::new(thread) };
            bases.entry(draft.event.id.source.clone()).or_insert((from, *offset));
        }
    }
    if let Some(ends) = path(&bases) {
        for draft in drafts.iter_mut() {
            let source = &draft.event.id.source;
            let is_rollout = !matches!(source.as_str(), names::EXEC | names::STATE);
            let end = ends.get(source).copied().or((!source.is_main()).then_some(0));
            if let Some(end) = end.filter(|_| is_rollout) {
                draft.event.live = draft.event.raw.offset < end;
            }
        }
    }
    roll_back(drafts);
}

/// How far each file is part of the current conversation. The newest file is the current one,
/// because its id begins with its time.
fn path(bases: &BTreeMap<SourceKey, (SourceKey, u64)>) -> Option<HashMap<SourceKey, u64>> {
    let (newest, _) = bases.last_key_value()?;
    let mut ends = HashMap::from([(newest.clone(), u64::MAX)]);
    let mut at = newest;
    while let Some((from, offset)) = bases.get(at) {
        if ends.insert(from.clone(), *offset).is_some() {
            break;
        }
        at = from;
    }
    Some(ends)
}

fn roll_back(drafts: &mut [Draft]) {
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at).filter(|draft| !draft.hint.fold_only) else { continue };
        let Some(Rule::RolledBack(turns)) = draft.hint.rule() else { continue };
        let turns = usize::try_from(*turns).unwrap_or(usize::MAX);
        let source = draft.event.id.source.clone();
        let opens = |draft: &Draft| {
            draft.hint.opens_turn
                && !draft.hint.fold_only
                && draft.event.live
                && draft.event.id.source == source
        };
        let before = drafts.get(..at).unwrap_or_default();
        let begins: Vec<usize> =
            before.iter().enumerate().filter(|(_, draft)| opens(draft)).map(|(at, _)| at).collect();
        let Some(from) =
            turns.checked_sub(1).and_then(|back| begins.iter().rev().nth(back).or(begins.first()))
        else {
            continue;
        };
        for draft in
            drafts.get_mut(*from..at).into_iter().flatten().filter(|draft| draft.event.id.source == source)
        {
            draft.event.live = false;
        }
    }
}
