//! Joins calls with their results, and both with the program's own records of them.

use hashbrown::{HashMap, HashSet};
use retro_model::{Kind, Outcome, SourceKey, ToolClass, ToolResult};
use xxhash_rust::xxh3::xxh3_64;

use super::cell::Inside;
use super::rule::Rule;
use crate::Draft;

/// Positions of the drafts of calls, by the hash of the call's id. Ids may repeat in a long log: a
/// reference means the nearest one before it, else the first after it.
#[derive(Default)]
struct Places {
    first: HashMap<u64, usize>,
    /// All positions of ids that occur more than once, ascending.
    several: HashMap<u64, Vec<usize>>,
}

impl Places {
    fn add(&mut self, call: &str, at: usize) {
        let call = xxh3_64(call.as_bytes());
        let first = *self.first.entry(call).or_insert(at);
        if first != at {
            let places = self.several.entry(call).or_insert_with(|| vec![first]);
            let order = places.partition_point(|place| *place < at);
            places.insert(order, at);
        }
    }

    fn near(&self, call: &str, at: usize) -> Option<usize> {
        let call = xxh3_64(call.as_bytes());
        let first = self.first.get(&call)?;
        let places = self.several.get(&call).map_or(std::slice::from_ref(first), Vec::as_slice);
        let after = places.partition_point(|place| *place < at);
        places.get(after.wrapping_sub(1)).or_else(|| places.get(after)).copied()
    }
}

/// Completes calls and results, adds those that the conversation lacks, and links each result to
/// its call.
pub(super) fn join_calls(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    leave_inside_to_items(drafts, repeats);
    let (mut calls, mut results) = (Places::default(), Places::default());
    for (at, draft) in drafts.iter().enumerate().filter(|(_, draft)| !draft.hint.fold_only) {
        if let Some(call) = &draft.event.tool {
            calls.add(&call.call_id, at);
        }
        if let Some(result) = &draft.event.result {
            results.add(&result.call_id, at);
        }
    }
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else { break };
        let Some(Rule::Act(call)) =
            draft.hint.rule().filter(|_| draft.hint.fold_only && !repeats.contains(&at))
        else {
            continue;
        };
        let call = call.clone();
        let places = if draft.event.kind == Kind::ToolCall { &mut calls } else { &mut results };
        match places.near(&call, at) {
            Some(known) => {
                let told = draft.clone();
                if let Some(known) = drafts.get_mut(known) {
                    complete(known, &told);
                }
            }
            None => {
                places.add(&call, at);
                if let Some(draft) = drafts.get_mut(at) {
                    draft.hint.fold_only = false;
                }
            }
        }
    }
    end_polled_commands(drafts, &results);
    name_children(drafts, &calls);
    hang_on_calls(drafts, &calls);
}

/// Drops the calls read from a script if the program recorded them as well. Calls of a kind that it
/// usually records are dropped too, unless the script certainly made them.
fn leave_inside_to_items(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    if !drafts.iter().any(|draft| matches!(draft.hint.rule(), Some(Rule::Inside { .. }))) {
        return;
    }
    let mut told: HashSet<(u64, ToolClass)> = HashSet::new();
    let mut kinds: HashSet<ToolClass> = HashSet::new();
    for (at, draft) in drafts.iter().enumerate() {
        if let (Some(Rule::Act(_)), Some(call)) = (draft.hint.rule(), &draft.event.tool)
            && let Some(script) = call.parent_call.as_deref().filter(|_| !repeats.contains(&at))
        {
            told.insert((xxh3_64(script.as_bytes()), call.class));
            kinds.insert(call.class);
        }
    }
    for draft in drafts {
        if let Some(Rule::Inside { script, class, inside }) = draft.hint.rule() {
            let is_told = told.contains(&(xxh3_64(script.as_bytes()), *class));
            draft.hint.fold_only |= is_told || *inside == Inside::Unread && kinds.contains(class);
        }
    }
}

/// Adds the program's own record of a call or a result.
fn complete(known: &mut Draft, told: &Draft) {
    if let (Some(call), Some(more)) = (&mut known.event.tool, &told.event.tool) {
        for path in &more.paths {
            // A patch may use any form of a path. The program records full paths.
            if call.edits.is_empty() && !call.paths.contains(path) {
                call.paths.push(path.clone());
            }
        }
        if call.cwd.is_none() {
            call.cwd = more.cwd.clone();
        }
        if known.event.child.is_none() {
            known.event.child = told.event.child.clone();
        }
    }
    if let (Some(result), Some(more)) = (&mut known.event.result, &told.event.result) {
        if result.outcome != Outcome::Interrupted {
            result.exit_code = result.exit_code.or(more.exit_code);
        }
        result.duration_ms = result.duration_ms.or(more.duration_ms);
        result.outcome = match (result.outcome, more.outcome) {
            (Outcome::Unknown, more) => more,
            // Only the program's record shows that an MCP call failed.
            (Outcome::Ok, Outcome::Failed) => Outcome::Failed,
            (known, _) => known,
        };
        if !more.edits.is_empty() {
            result.edits = more.edits.clone();
        }
    }
}

/// A command that was polled ends in the output of a later call. That ending is also the ending of
/// its first call (0.98 on).
fn end_polled_commands(drafts: &mut [Draft], results: &Places) {
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at).filter(|draft| !draft.hint.fold_only) else { continue };
        let (Some(Rule::Ends(first)), Some(ToolResult { outcome, exit_code, .. })) =
            (draft.hint.rule(), draft.event.result.as_deref())
        else {
            continue;
        };
        let (outcome, exit_code) = (*outcome, *exit_code);
        let first = results.near(first, at).filter(|first| *first < at);
        if let Some(result) =
            first.and_then(|first| drafts.get_mut(first)).and_then(|first| first.event.result.as_mut())
            && result.outcome == Outcome::Unknown
        {
            result.outcome = outcome;
            result.exit_code = exit_code;
        }
    }
}

/// Stores in each call the thread that it started.
fn name_children(drafts: &mut [Draft], calls: &Places) {
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at).filter(|draft| draft.event.child.is_some()) else { continue };
        let call = match (&draft.event.result, draft.hint.rule()) {
            (Some(result), _) => Some(&result.call_id),
            (None, Some(Rule::Child(call))) => Some(call),
            _ => None,
        };
        let child = draft.event.child.clone();
        let call = call.and_then(|call| calls.near(call, at)).filter(|call| *call != at);
        if let Some(call) =
            call.and_then(|call| drafts.get_mut(call)).filter(|call| call.event.child.is_none())
        {
            call.event.child = child;
        }
    }
}

fn hang_on_calls(drafts: &mut [Draft], calls: &Places) {
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else { break };
        let above = match (&draft.event.tool, &draft.event.result) {
            (Some(call), _) => call.parent_call.as_deref(),
            (_, Some(result)) => Some(result.call_id.as_str()),
            _ => None,
        };
        let above = above.and_then(|call| calls.near(call, at)).filter(|above| *above != at);
        let parent = above.and_then(|above| drafts.get(above)).map(|above| above.id().clone());
        if let Some(draft) = drafts.get_mut(at) {
            draft.event.parent = parent;
        }
    }
}

/// Keeps one interruption: that of a call that was cut off only if the turn has none (0.80).
pub(super) fn keep_interruptions(drafts: &mut [Draft], repeats: &HashSet<usize>) {
    if drafts.iter().all(|draft| draft.hint.rule() != Some(&Rule::Cut)) {
        return;
    }
    let mut open: HashMap<(SourceKey, u32), usize> = HashMap::new();
    let mut kept: Vec<usize> = Vec::new();
    for (at, draft) in drafts.iter().enumerate() {
        let place = (draft.event.id.source.clone(), draft.event.id.revision);
        match draft.hint.rule() {
            Some(Rule::Cut) if !repeats.contains(&at) => {
                open.entry(place).or_insert(at);
            }
            Some(Rule::Aborted) => {
                open.remove(&place);
            }
            _ if draft.hint.opens_turn && !draft.hint.fold_only => kept.extend(open.remove(&place)),
            _ => {}
        }
    }
    kept.extend(open.into_values());
    for at in kept {
        if let Some(draft) = drafts.get_mut(at) {
            draft.hint.fold_only = false;
        }
    }
}

/// Assigns each output of the model to its response. The tokens of a response follow its items,
/// except in 0.42, where they precede them.
pub(super) fn name_responses(drafts: &mut [Draft]) {
    let mut place = None;
    let mut waiting: Vec<usize> = Vec::new();
    let mut current: Option<String> = None;
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at).filter(|draft| !draft.hint.fold_only) else { continue };
        let is_here = |(source, copy_of): &(SourceKey, Option<String>)| {
            *source == draft.event.id.source && *copy_of == draft.event.copy_of
        };
        if !place.as_ref().is_some_and(is_here) || draft.hint.opens_turn {
            waiting.clear();
            current = None;
            place = Some((draft.event.id.source.clone(), draft.event.copy_of.clone()));
        }
        match draft.event.kind {
            Kind::Usage => {
                let response = draft.event.response.clone();
                current = if waiting.is_empty() { response.clone() } else { None };
                for made in waiting.drain(..) {
                    if let Some(made) = drafts.get_mut(made) {
                        made.event.response = response.clone();
                    }
                }
            }
            // The program's own records are not items of a response.
            Kind::Assistant | Kind::Reasoning | Kind::ToolCall | Kind::Compaction
                if !matches!(draft.hint.rule(), Some(Rule::Act(_))) =>
            {
                match current.clone() {
                    Some(response) => {
                        if let Some(draft) = drafts.get_mut(at) {
                            draft.event.response = Some(response);
                        }
                    }
                    None => waiting.push(at),
                }
            }
            _ => {}
        }
    }
}
