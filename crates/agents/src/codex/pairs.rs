//! Messages are logged twice. This joins both copies.

use hashbrown::{HashMap, HashSet};
use retro_model::{Kind, Origin, SourceKey};
use std::collections::BTreeSet;
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::rule::Rule;
use crate::Draft;

/// The most records between the two copies of a message. No log so far has more than 4 (0.34 -
/// 0.166). 0.42 writes the items of a round only when its tools are done.
const NEAR: u64 = 64;

type Place = (SourceKey, u32);

/// A hash of a text and its position.
fn said_at(draft: &Draft, print: u64) -> u64 {
    let id = &draft.event.id;
    xxh3_64_with_seed(
        &print.to_le_bytes(),
        xxh3_64_with_seed(id.source.as_str().as_bytes(), id.revision.into()),
    )
}

fn place(draft: &Draft) -> Place {
    (draft.event.id.source.clone(), draft.event.id.revision)
}

/// Restores drafts that were held back and have no other copy.
pub(super) fn join_utterances(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    bring_out_prompts(drafts, repeats);
    bring_out_answers(drafts, repeats);
    bring_out_thoughts(drafts, repeats);
}

/// Restores prompts. A message in the user role is the user's if its event confirms it. One without
/// an event is the program's, unless the log has no such events at all (clients that only keep
/// items).
fn bring_out_prompts(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    let mut told: HashSet<(Place, u64)> = HashSet::new();
    let mut tells = false;
    for draft in drafts.iter() {
        if let Some(Rule::Said(record)) = draft.hint.rule() {
            tells = true;
            told.extend(record.map(|record| (place(draft), record)));
        }
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        let is_kept = draft.hint.rule() == Some(&Rule::Held) && !repeats.contains(&at);
        if !is_kept || told.contains(&(place(draft), draft.event.id.record)) {
            continue;
        }
        draft.hint.fold_only = false;
        if !tells && draft.event.kind == Kind::Note {
            draft.event.kind = Kind::User;
            draft.event.origin = Origin::User;
        }
        draft.hint.opens_turn = draft.event.kind == Kind::User;
    }
}

fn bring_out_answers(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    let mut words: HashMap<u64, Vec<u64>> = HashMap::new();
    for draft in drafts.iter() {
        if let Some(Rule::Words(print)) = draft.hint.rule() {
            let records = words.entry(said_at(draft, *print)).or_default();
            let here = draft.event.id.record;
            if let Err(order) = records.binary_search(&here) {
                records.insert(order, here);
            }
        }
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        let Some(Rule::WordsAgain(print)) = draft.hint.rule() else { continue };
        let here = draft.event.id.record;
        let twin = words.get_mut(&said_at(draft, *print)).and_then(|records| {
            // The event usually comes first. The result of a review is the reverse.
            let after = records.partition_point(|record| *record < here);
            let is_near = |at: &usize| records.get(*at).is_some_and(|record| record.abs_diff(here) <= NEAR);
            let twin = Some(after).filter(is_near).or(after.checked_sub(1).filter(is_near))?;
            Some(records.remove(twin))
        });
        if twin.is_none() {
            draft.hint.fold_only = repeats.contains(&at);
        }
    }
}

fn bring_out_thoughts(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    let mut thoughts: HashMap<(Place, u64), BTreeSet<u64>> = HashMap::new();
    for draft in drafts.iter() {
        let Some(Rule::Thought(prints)) = draft.hint.rule() else { continue };
        for print in prints {
            thoughts.entry((place(draft), *print)).or_default().insert(draft.event.id.record);
        }
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        let Some(Rule::ThoughtAgain(prints)) = draft.hint.rule() else { continue };
        let here = draft.event.id.record;
        let near = here.saturating_sub(NEAR)..=here.saturating_add(NEAR);
        let is_told = prints.iter().any(|print| {
            let records = thoughts.get(&(place(draft), *print));
            records.is_some_and(|records| records.range(near.clone()).next().is_some())
        });
        if !is_told {
            draft.hint.fold_only = repeats.contains(&at);
        }
    }
}

/// Drops the answer that repeats the summary of the compaction after it (0.166). If the program was
/// killed in between, that answer is the only copy and stays.
pub(super) fn join_summaries(drafts: &mut [Draft]) {
    if drafts.iter().all(|draft| draft.hint.rule() != Some(&Rule::Summary)) {
        return;
    }
    let mut open: HashMap<Place, usize> = HashMap::new();
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else { break };
        let place = place(draft);
        match draft.hint.rule() {
            Some(Rule::Summary) => {
                open.insert(place, at);
            }
            Some(Rule::Compacted) => {
                if let Some(summary) = open.remove(&place).and_then(|summary| drafts.get_mut(summary)) {
                    summary.hint.fold_only = true;
                }
            }
            _ if draft.hint.opens_turn => {
                open.remove(&place);
            }
            _ => {}
        }
    }
}

/// Moves a prompt before the images that came with it, and a command that the user ran before its
/// result. The log has them in reverse order.
pub(super) fn put_prompts_first(drafts: &mut [Draft]) {
    const FEW: usize = 64;
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else { break };
        let here = &draft.event.id;
        // The kind of draft that precedes it in the log, and in which record.
        let is_image = |rule: &Rule| *rule == Rule::Image;
        let is_own_act = |rule: &Rule| matches!(rule, Rule::OwnAct(_));
        let (is_late, record): (&dyn Fn(&Rule) -> bool, _) = match draft.hint.rule() {
            Some(Rule::Said(record)) => (&is_image, *record),
            Some(Rule::Shell) => (&is_own_act, here.record.checked_sub(1)),
            _ => continue,
        };
        let is_before = |other: &Draft| {
            let there = &other.event.id;
            other.hint.rule().is_some_and(is_late)
                && Some(there.record) == record
                && (&there.source, there.revision) == (&here.source, here.revision)
        };
        let from = at.saturating_sub(FEW);
        let first = drafts.get(from..at).and_then(|before| before.iter().position(is_before));
        if let Some(range) = first.and_then(|first| drafts.get_mut(from + first..=at)) {
            range.rotate_right(1);
        }
    }
}
