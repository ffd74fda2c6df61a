//! Sub-agents: the thread of each record of an inline side chain, and the call that started each
//! thread.

use hashbrown::HashMap;
use retro_model::{Event, EventId, Kind, Thread};
use std::collections::{BTreeMap, VecDeque};

use super::line::SIDE_CHAIN;
use super::rule::Rule;
use crate::Draft;

/// The call that started each thread.
pub(super) type StartedBy = HashMap<Thread, Call>;

/// A call that started a thread.
pub(super) struct Call {
    pub id: EventId,
    /// Id of its record.
    pub uuid: Option<String>,
    /// The thread of the call.
    pub thread: Thread,
}

/// 1.0.x writes sub-agents into the main log, flagged but without an id: a thread is a root with
/// all its descendants, and is named after the root's uuid.
pub(super) fn name_side_chains(drafts: &mut [Draft]) {
    // A record comes after its parent, so one pass finds all roots.
    let mut roots: HashMap<String, String> = HashMap::new();
    for draft in drafts.iter_mut().filter(|draft| draft.event.thread.as_str() == SIDE_CHAIN) {
        let Some(uuid) = draft.event.native.uuid.clone() else { continue };
        let above = draft.hint.hangs_on.as_ref().and_then(|above| roots.get(above)).cloned();
        let root = roots.entry(uuid.clone()).or_insert_with(|| above.unwrap_or(uuid));
        draft.event.thread = Thread::sub(format!("{SIDE_CHAIN}-{root}"));
    }
}

/// Links calls and the threads that they started: by the id in the result, meta file or progress
/// record, else by the task (in 1.0.x the first text of the side chain is the prompt of the call).
/// Sets `child` on both.
pub(super) fn link_calls(drafts: &mut [Draft]) -> StartedBy {
    let mut calls: HashMap<String, usize> = HashMap::new();
    let mut by_task: HashMap<u64, VecDeque<usize>> = HashMap::new();
    for (at, draft) in drafts.iter().enumerate().filter(|(_, draft)| !draft.hint.fold_only) {
        let Some(call) = &draft.event.tool else { continue };
        calls.entry(call.call_id.clone()).or_insert(at);
        if let Some(Rule::Starts(task)) = draft.hint.rule() {
            by_task.entry(*task).or_default().push_back(at);
        }
    }
    let mut started_by: BTreeMap<Thread, usize> = BTreeMap::new();
    for draft in drafts.iter() {
        let (call, thread) = match draft.hint.rule() {
            Some(Rule::Progress(call)) => (call, Some(draft.event.thread.clone())),
            Some(Rule::Subagent(call)) => (call, draft.event.child.as_deref().map(Thread::sub)),
            _ => continue,
        };
        if let (Some(&at), Some(thread)) = (calls.get(call), thread) {
            started_by.entry(thread).or_insert(at);
        }
    }
    for draft in drafts.iter().filter(|draft| !draft.hint.fold_only && draft.hint.hangs_on.is_none()) {
        if let Some(Rule::Task(task)) = draft.hint.rule()
            && !started_by.contains_key(&draft.event.thread)
            && let Some(at) = by_task.get_mut(task).and_then(VecDeque::pop_front)
        {
            started_by.insert(draft.event.thread.clone(), at);
        }
    }
    let mut children: HashMap<String, String> = HashMap::new();
    for (thread, &at) in &started_by {
        let call = &mut drafts[at].event;
        // A call starts one thread. If a log names several, the first by name counts.
        let child = call.child.get_or_insert_with(|| thread.as_str().to_owned());
        if let Some(tool) = &call.tool {
            children.insert(tool.call_id.clone(), child.clone());
        }
    }
    for draft in drafts.iter_mut().filter(|draft| draft.event.kind == Kind::Subagent) {
        if let (None, Some(Rule::Subagent(call))) = (&draft.event.child, draft.hint.rule()) {
            draft.event.child = children.get(call).cloned();
        }
    }
    let call = |event: &Event| Call {
        id: event.id.clone(),
        uuid: event.native.uuid.clone(),
        thread: event.thread.clone(),
    };
    started_by.into_iter().map(|(thread, at)| (thread, call(&drafts[at].event))).collect()
}

/// Sets the call as the parent of the first event of its thread.
pub(super) fn hang_on_calls(drafts: &mut [Draft], started_by: &StartedBy) {
    for draft in drafts.iter_mut() {
        if draft.event.parent.is_none()
            && draft.hint.hangs_on.is_none()
            && let Some(call) = started_by.get(&draft.event.thread)
        {
            draft.event.parent = Some(call.id.clone());
        }
    }
}
