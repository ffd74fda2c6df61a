//! Joins related drafts: pieces of one message, calls and their results, background tasks,
//! sub-agents and the calls that started them, refusals that several files have, compactions and
//! their summaries.

use hashbrown::hash_map::Entry;
use hashbrown::{HashMap, HashSet};
use retro_model::{EventId, Kind, Origin, Outcome, ToolClass};

use super::order::{Place, Spine};
use super::rule::{Prompt, Rule};
use crate::Draft;

/// A prompt that may have more blocks.
struct OpenPrompt {
    index: Option<u64>,
    run: u32,
    /// Its first text block.
    text: Option<usize>,
}

/// Joins the chunks of an answer into one event, and those of a prompt into another.
pub(super) fn utterances(drafts: &mut [Draft], spine: &Spine) {
    // First piece of each current message, by the facts that identify its answer.
    let mut said: HashMap<(Kind, Option<String>, i64), usize> = HashMap::new();
    let mut prompt: Option<OpenPrompt> = None;
    for at in spine.range.clone() {
        let Some(draft) = drafts.get(at) else { continue };
        if let Some(&Rule::Prompt(Prompt { index, .. })) = draft.hint.rule() {
            let run = spine.run(at);
            let is_text = draft.event.kind == Kind::User;
            let goes_on = |open: &&mut OpenPrompt| open.index == index && open.run == run && index.is_some();
            match prompt.as_mut().filter(goes_on) {
                Some(open) => {
                    if let Some(draft) = drafts.get_mut(at) {
                        draft.hint.opens_turn = false;
                    }
                    match open.text {
                        Some(first) if is_text => go_on(drafts, first, at, "\n"),
                        None if is_text => open.text = Some(at),
                        _ => {}
                    }
                }
                None => {
                    prompt = Some(OpenPrompt { index, run, text: is_text.then_some(at) });
                    if let Some(first) = drafts.get_mut(at) {
                        first.hint.opens_turn = true;
                    }
                }
            }
            said.clear();
            continue;
        }
        if draft.hint.fold_only {
            continue;
        }
        if draft.event.native.turn_id.is_some() || matches!(draft.hint.rule(), Some(Rule::Rewind(_))) {
            prompt = None;
        }
        match draft.hint.rule() {
            Some(Rule::Said { stream, .. }) => {
                match said.entry((draft.event.kind, draft.event.native.turn_id.clone(), *stream)) {
                    Entry::Vacant(new) => {
                        new.insert(at);
                    }
                    Entry::Occupied(first) => go_on(drafts, *first.get(), at, ""),
                }
            }
            // After a result the model is called again, which begins another answer.
            Some(Rule::Ended) => said.clear(),
            _ if draft.event.result.is_some() => said.clear(),
            _ => {}
        }
    }
}

/// Marks the draft at `at` as a later piece of the one at `first`.
fn go_on(drafts: &mut [Draft], first: usize, at: usize, between: &'static str) {
    let Some(id) = drafts.get(at).map(|draft| draft.id().clone()) else { return };
    if let Some(first) = drafts.get_mut(first) {
        first.hint.text_also.push((between, id));
    }
    if let Some(later) = drafts.get_mut(at) {
        later.hint.fold_only = true;
    }
}

/// Joins background commands: a call with its task, and the call's end with the task's end.
pub(super) fn tasks(drafts: &mut [Draft], spine: &Spine) {
    let mut call_of: HashMap<String, String> = HashMap::new();
    for draft in spine.range.clone().filter_map(|at| drafts.get(at)) {
        if let (Some(Rule::Task(task) | Rule::Background(task)), Some(result)) =
            (draft.hint.rule(), &draft.event.result)
        {
            call_of.entry(task.clone()).or_insert_with(|| result.call_id.clone());
        }
    }
    let mut ends: HashMap<String, (Outcome, Option<i64>)> = HashMap::new();
    for draft in drafts.iter_mut() {
        let Some(Rule::TaskEnded(task)) = draft.hint.rule() else { continue };
        if let Some(result) = &mut draft.event.result {
            if let Some(call) = call_of.get(task) {
                result.call_id.clone_from(call);
            }
            ends.insert(task.clone(), (result.outcome, result.exit_code));
        }
    }
    for draft in drafts.iter_mut() {
        let Some(Rule::Background(task)) = draft.hint.rule() else { continue };
        if let (Some((outcome, exit_code)), Some(result)) = (ends.get(task), &mut draft.event.result) {
            result.outcome = *outcome;
            result.exit_code = *exit_code;
        }
    }
}

/// A call and its position.
struct Call {
    at: usize,
    id: EventId,
    class: ToolClass,
}

/// Adds paths to each call, the outcome, duration and final text to each result, and a result to
/// calls that have none.
pub(super) fn calls(drafts: &mut [Draft], spine: &Spine, places: &mut [Option<Place>]) {
    let mut known: HashMap<String, Call> = HashMap::new();
    let mut pending = Vec::new();
    for at in spine.range.clone() {
        let Some(draft) = drafts.get(at) else { continue };
        let Some(tool) = &draft.event.tool else { continue };
        if matches!(draft.hint.rule(), Some(Rule::Call { .. })) {
            let call = Call { at, id: draft.id().clone(), class: tool.class };
            known.entry(tool.call_id.clone()).or_insert(call);
        } else {
            pending.push((tool.call_id.clone(), tool.paths.clone(), tool.edits.clone()));
        }
    }
    for (call_id, paths, edits) in pending {
        let call = known.get(&call_id).and_then(|call| drafts.get_mut(call.at));
        if let Some(tool) = call.and_then(|draft| draft.event.tool.as_mut()) {
            if tool.paths.is_empty() {
                tool.paths = paths;
            }
            if tool.edits.is_empty() {
                tool.edits = edits;
            }
        }
    }
    let ended = endings(drafts);
    let final_words = final_words(drafts);
    let mut answered: HashSet<String> = HashSet::new();
    for draft in drafts.iter_mut() {
        let is_update = draft.hint.row == "tool_call_update/result" || draft.hint.row == "task_completed";
        let is_chat = matches!(draft.hint.rule(), Some(Rule::ChatResult));
        let started = matches!(draft.hint.rule(), Some(Rule::Background(_)));
        let refused = matches!(draft.hint.rule(), Some(Rule::RefusedCall));
        let Some(result) = draft.event.result.as_mut().filter(|_| is_update || is_chat) else { continue };
        if let Some((outcome, duration_ms)) =
            ended.get(&result.call_id).filter(|_| draft.hint.row != "task_completed")
        {
            // A command that started well in the background may still fail. Its task has the
            // outcome.
            let only_started = started && *outcome == Outcome::Ok;
            if !refused && !only_started && *outcome != Outcome::Unknown {
                result.outcome = *outcome;
            }
            result.duration_ms = result.duration_ms.or(*duration_ms);
            if *outcome != Outcome::Ok {
                result.edits.clear();
            }
        }
        if draft.hint.row == "tool_call_update/result" {
            if let Some((id, bytes)) = final_words.get(&result.call_id) {
                result.bytes = *bytes;
                draft.hint.text_from = Some(Box::new(id.clone()));
            }
            answered.insert(result.call_id.clone());
        }
        if let Some(call) = known.get(&result.call_id) {
            draft.event.origin = match call.class {
                ToolClass::Mcp | ToolClass::Web => Origin::External,
                ToolClass::Ask => Origin::User,
                _ => Origin::Tool,
            };
            draft.event.parent = Some(call.id.clone());
        }
    }
    for (at, draft) in drafts.iter_mut().enumerate() {
        let is_chat = matches!(draft.hint.rule(), Some(Rule::ChatResult));
        let Some(result) = draft.event.result.as_ref().filter(|_| is_chat) else { continue };
        if answered.contains(&result.call_id) {
            draft.hint.fold_only = true;
        } else if let (Some(call), Some(place)) = (known.get(&result.call_id), places.get_mut(at)) {
            *place = Some(Place::After(call.at));
        }
    }
    let told: HashSet<String> = drafts
        .iter()
        .filter(|draft| matches!(draft.hint.rule(), Some(Rule::ChatResult)) && !draft.hint.fold_only)
        .filter_map(|draft| Some(draft.event.result.as_ref()?.call_id.clone()))
        .collect();
    for draft in drafts.iter_mut().filter(|draft| draft.hint.row == "call/unanswered") {
        let Some(result) = &mut draft.event.result else { continue };
        if result.call_id.is_empty() || answered.contains(&result.call_id) || told.contains(&result.call_id) {
            continue;
        }
        if let Some((outcome, duration_ms)) = ended.get(&result.call_id) {
            (result.outcome, result.duration_ms) = (*outcome, *duration_ms);
        }
        draft.event.parent = known.get(&result.call_id).map(|call| call.id.clone());
        draft.hint.fold_only = false;
    }
}

/// How calls ended and how long they ran, according to the event log.
fn endings(drafts: &[Draft]) -> HashMap<String, (Outcome, Option<u64>)> {
    let rows = drafts.iter().filter(|draft| matches!(draft.hint.rule(), Some(Rule::Completed)));
    rows.filter_map(|draft| {
        let result = draft.event.result.as_ref()?;
        Some((result.call_id.clone(), (result.outcome, result.duration_ms)))
    })
    .collect()
}

/// Results as the model received them, with their size.
fn final_words(drafts: &[Draft]) -> HashMap<String, (EventId, u64)> {
    let mut words = HashMap::new();
    for draft in drafts.iter().filter(|draft| matches!(draft.hint.rule(), Some(Rule::ChatResult))) {
        if let Some(result) = draft.event.result.as_ref().filter(|result| result.bytes > 0) {
            words.entry(result.call_id.clone()).or_insert_with(|| (draft.id().clone(), result.bytes));
        }
    }
    words
}

/// Links each sub-agent to the call that started it: the call whose result names it, else the
/// nearest one before its start.
pub(super) fn subagents(drafts: &mut [Draft], spine: &Spine) {
    let mut child_of: HashMap<String, String> = HashMap::new();
    for draft in drafts.iter() {
        if let (Some(result), Some(child)) = (&draft.event.result, &draft.event.child) {
            child_of.insert(result.call_id.clone(), child.clone());
        }
    }
    let mut starts: Vec<usize> = Vec::new();
    let mut parent_of: HashMap<String, EventId> = HashMap::new();
    for at in spine.range.clone() {
        let Some(draft) = drafts.get_mut(at) else { continue };
        if let Some(tool) = draft.event.tool.as_ref().filter(|tool| tool.class == ToolClass::Subagent) {
            match child_of.get(&tool.call_id) {
                Some(child) => {
                    parent_of.entry(child.clone()).or_insert_with(|| draft.event.id.clone());
                    draft.event.child = Some(child.clone());
                }
                None => starts.push(at),
            }
        } else if let Some(Rule::Spawned(child)) = draft.hint.rule()
            && !parent_of.contains_key(child)
            && let child = child.clone()
            && let Some(call) = starts.pop().and_then(|start| drafts.get_mut(start))
        {
            parent_of.insert(child.clone(), call.event.id.clone());
            call.event.child = Some(child);
        }
    }
    for draft in drafts.iter_mut().filter(|draft| draft.event.kind == Kind::Subagent) {
        draft.event.parent = draft.event.child.as_ref().and_then(|child| parent_of.get(child)).cloned();
    }
}

/// Of several records of one refusal, only the result's is kept. Records of permissions and hooks
/// name only the tool.
pub(super) fn denials(drafts: &mut [Draft]) {
    let named = drafts.iter().filter_map(|draft| {
        let tool = draft.event.tool.as_ref().filter(|tool| !tool.name.is_empty())?;
        Some((tool.call_id.clone(), (tool.name.clone(), draft.id().clone())))
    });
    // The updates come before the chat, which repeats the same calls.
    let mut calls: HashMap<String, (String, EventId)> = HashMap::new();
    named.for_each(|(call_id, call)| {
        calls.entry(call_id).or_insert(call);
    });
    let mut of_call = HashSet::new();
    // Times of the refused calls, by tool.
    let mut refused: HashMap<String, Vec<Option<i64>>> = HashMap::new();
    for draft in drafts.iter_mut() {
        let Some(Rule::Denied(call)) = draft.hint.rule() else { continue };
        let call = call.clone();
        let (name, id) = calls.get(&call).cloned().unzip();
        draft.event.parent = id;
        if of_call.insert(call) {
            let ts = draft.event.ts.map(|ts| ts.as_millis());
            refused.entry(name.unwrap_or_default()).or_default().push(ts);
        } else {
            draft.hint.fold_only = true;
        }
    }
    // Each family of records has every refusal at most once, and in order.
    let mut told: HashMap<(&'static str, String), usize> = HashMap::new();
    for draft in drafts.iter_mut() {
        let Some(Rule::Refused(tool)) = draft.hint.rule() else { continue };
        let at = draft.event.ts.map(|ts| ts.as_millis());
        let is_earlier =
            |ts: &Option<i64>| at.zip(*ts).is_some_and(|(at, ts)| ts < at.saturating_sub(REFUSAL_SPREAD_MS));
        let Some(of_tool) = refused.get(tool) else { continue };
        let next = told.entry((draft.hint.row, tool.clone())).or_default();
        while of_tool.get(*next).is_some_and(is_earlier) {
            *next += 1;
        }
        if of_tool.get(*next).is_some() {
            *next += 1;
            draft.hint.fold_only = true;
        }
    }
}

/// The most time by which the record of a refused call may precede that of its permission.
const REFUSAL_SPREAD_MS: i64 = 1000;

/// Takes the summary of each compaction from its checkpoint, else from the chat. The last
/// compaction gets the chat's last summary.
pub(super) fn summaries(drafts: &mut [Draft]) {
    let mut of_checkpoint: HashMap<String, EventId> = HashMap::new();
    let mut of_chat: Vec<EventId> = Vec::new();
    for draft in drafts.iter() {
        match draft.hint.rule() {
            Some(Rule::Summary(None)) => of_chat.push(draft.id().clone()),
            Some(Rule::Summary(Some(checkpoint))) => {
                of_checkpoint.insert(checkpoint.clone(), draft.id().clone());
            }
            _ => {}
        }
    }
    let mut checkpoint = None;
    let mut wanting: Vec<usize> = Vec::new();
    for (at, draft) in drafts.iter_mut().enumerate() {
        if let Some(Rule::Checkpoint(id)) = draft.hint.rule() {
            checkpoint = of_checkpoint.get(id).cloned();
        } else if draft.hint.row == "auto_compact_completed" {
            draft.hint.text_from = checkpoint.take().map(Box::new);
            wanting.push(at);
        }
    }
    // The chat has only the newest summaries, one for each compaction.
    for (at, id) in wanting.into_iter().rev().zip(of_chat.into_iter().rev()) {
        if let Some(draft) = drafts.get_mut(at).filter(|draft| draft.hint.text_from.is_none()) {
            draft.hint.text_from = Some(Box::new(id));
        }
    }
}

/// Keeps one event of a text typed while the model worked: the prompt, the chat's item, or the
/// event log's record.
pub(super) fn interjections(drafts: &mut [Draft]) {
    let mut said = HashSet::new();
    for draft in drafts.iter() {
        if let Some(Rule::Prompt(prompt)) = draft.hint.rule() {
            said.extend(prompt.print);
        }
    }
    for draft in drafts.iter_mut() {
        if let Some(Rule::Interjected(print)) = draft.hint.rule() {
            draft.hint.fold_only |= !said.insert(*print);
        }
    }
}
