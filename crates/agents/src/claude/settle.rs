//! How the drafts of a session become its stream.
//!
//! Settling reads only ids, kinds and hints, never texts, arguments or data. The order matters:
//! duplicates are dropped first, so that no later rule counts them twice; threads are named before
//! anything is counted on them; turns are numbered last.

use hashbrown::HashMap;
use retro_model::{Kind, Outcome, Thread};

use super::rule::{Rule, Stop};
use super::{branches, progress, queue, threads, usage};
use crate::Draft;
use crate::fold::{link_parents, merge_repeats, number_turns};

pub(super) fn settle(drafts: &mut Vec<Draft>) {
    threads::name_side_chains(drafts);
    number_occurrences(drafts);
    drop_echoes(drafts);
    merge_repeats(drafts, usage::complete);
    queue::deliver(drafts);
    join_summaries(drafts);
    stop_calls(drafts);
    end_background_calls(drafts);
    let started_by = threads::link_calls(drafts);
    branches::find_rewinds(drafts, &started_by);
    link_parents(drafts);
    threads::hang_on_calls(drafts, &started_by);
    number_turns(drafts);
}

/// Side records have no id: equal ones are distinguished by their order. The fifth equal line of a
/// rewritten log corresponds to the fifth of the log before it.
fn number_occurrences(drafts: &mut [Draft]) {
    let mut seen: HashMap<(String, u32, String), u64> = HashMap::new();
    for draft in drafts {
        let Some(identity) = &mut draft.hint.identity else { continue };
        if identity.starts_with("side:") {
            let id = &draft.event.id;
            let key = (id.source.to_string(), id.revision, identity.clone());
            let occurrence = seen.entry(key).or_default();
            *occurrence += 1;
            identity.push_str(&format!("@{}:{occurrence}", id.source));
        }
    }
}

/// Drops copies: messages of a sub-agent in `agent_progress` records if the sub-agent has its own
/// file, and tokens if another record has them.
fn drop_echoes(drafts: &mut [Draft]) {
    let is_echo = |draft: &&Draft| draft.hint.row == progress::OF_AGENT;
    if !drafts.iter().any(|draft| is_echo(&draft)) {
        return;
    }
    let measured: hashbrown::HashSet<String> = drafts
        .iter()
        .filter(|draft| draft.event.kind == Kind::Usage && !is_echo(draft))
        .filter_map(|draft| draft.event.response.clone())
        .collect();
    let with_file: hashbrown::HashSet<String> = drafts
        .iter()
        .filter_map(|draft| draft.event.id.source.as_str().strip_prefix("agent-"))
        .filter(|key| !key.ends_with(".meta"))
        .map(str::to_owned)
        .collect();
    for draft in drafts.iter_mut().filter(|draft| draft.hint.row == progress::OF_AGENT) {
        draft.hint.fold_only |= match (draft.event.kind, &draft.event.response) {
            (Kind::Usage, Some(response)) => measured.contains(response),
            _ => with_file.contains(draft.event.thread.as_str()),
        };
    }
}

/// Drops a boundary whose summary has its facts.
fn join_summaries(drafts: &mut [Draft]) {
    let joined: hashbrown::HashSet<String> = drafts
        .iter()
        .filter(|draft| !draft.hint.fold_only)
        .filter_map(|draft| match draft.hint.rule() {
            Some(Rule::Summary(uuid)) => Some(uuid.clone()),
            _ => None,
        })
        .collect();
    for draft in drafts {
        if let Some(Rule::Boundary(uuid)) = draft.hint.rule() {
            draft.hint.fold_only |= joined.contains(uuid);
        }
    }
}

/// A result says "rejected" both if the user refused a call and if they cut off a running one. The
/// marker after it tells the two apart.
fn stop_calls(drafts: &mut [Draft]) {
    let is_known = |draft: &Draft| matches!(draft.hint.rule(), Some(Rule::Refused { .. } | Rule::Stopped(_)));
    if !drafts.iter().any(is_known) {
        return;
    }
    let mut refused: HashMap<Thread, Vec<usize>> = HashMap::new();
    for at in 0..drafts.len() {
        let draft = &drafts[at];
        if draft.hint.fold_only {
            continue;
        }
        let waiting = refused.entry(draft.event.thread.clone()).or_default();
        match draft.hint.rule() {
            Some(Rule::Refused { .. }) => waiting.push(at),
            Some(Rule::Stopped(Stop::Cut)) => {
                for stopped in std::mem::take(waiting) {
                    match &mut drafts[stopped].event.result {
                        Some(result) => result.outcome = Outcome::Interrupted,
                        None => drafts[stopped].hint.fold_only = true,
                    }
                }
            }
            Some(Rule::Stopped(Stop::Refused)) => {
                let flagged = |at: &usize| drafts[*at].hint.rule() == Some(&Rule::Refused { flagged: true });
                let only_refused = waiting.iter().any(flagged);
                waiting.clear();
                drafts[at].hint.fold_only = only_refused;
            }
            _ if draft.hint.opens_turn || draft.event.response.is_some() => waiting.clear(),
            _ => {}
        }
    }
}

/// Sets the end of a background call from its notification.
fn end_background_calls(drafts: &mut [Draft]) {
    let mut ends: HashMap<String, (Outcome, Option<i64>)> = HashMap::new();
    for draft in drafts.iter().filter(|draft| !draft.hint.fold_only) {
        if let Some(Rule::Ended { call, outcome }) = draft.hint.rule() {
            let exit_code = draft.event.result.as_ref().and_then(|result| result.exit_code);
            ends.insert(call.clone(), (*outcome, exit_code));
        }
    }
    for draft in drafts {
        let Some(Rule::Background(call)) = draft.hint.rule() else { continue };
        if let (Some((outcome, exit_code)), Some(result)) = (ends.get(call), &mut draft.event.result) {
            result.outcome = *outcome;
            result.exit_code = *exit_code;
        }
    }
}
