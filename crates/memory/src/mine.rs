//! Running methods over one session: candidates with ids, checked, filtered and few.

use crate::candidate::{Candidate, Mined, by_worth};
use crate::episode::Episode;
use crate::filters::{self, Filter};
use crate::methods::Method;

/// New items of one session, over all methods together.
pub const ITEMS_MAX: usize = 3;

/// Filters that are always applied, in this order.
const ALWAYS: &[&str] = &["grounded", "no_secrets"];

/// What the methods make of a session, one result each. Together they keep the best
/// [`ITEMS_MAX`].
pub fn mine(episode: &Episode, methods: &[&Method], wanted: &[&'static Filter]) -> Vec<Mined> {
    let mut results: Vec<Mined> =
        methods.iter().map(|method| one(episode, method.name, (method.mine)(episode), wanted)).collect();
    cap(&mut results);
    results
}

/// The result of one method, from its candidates.
pub fn one(
    episode: &Episode,
    method: &str,
    mut candidates: Vec<Candidate>,
    wanted: &[&'static Filter],
) -> Mined {
    for (at, candidate) in candidates.iter_mut().enumerate() {
        candidate.id = format!("{}:{method}:{}", episode.key.id, at + 1);
    }
    let always = ALWAYS.iter().filter_map(|name| filters::by_name(name));
    let asked = wanted.iter().copied().filter(|filter| !ALWAYS.contains(&filter.name));
    let mut mined = Mined {
        session_id: episode.key.id.clone(),
        agent: episode.key.agent.clone(),
        host: episode.key.agent.clone(),
        method: method.to_owned(),
        task_summary: episode.task_summary(),
        candidates,
        notes: Vec::new(),
        filters_applied: Vec::new(),
    };
    for filter in always.chain(asked) {
        let (kept, note) = (filter.keep)(std::mem::take(&mut mined.candidates), &episode.quotes);
        mined.candidates = kept;
        mined.notes.extend(note);
        mined.filters_applied.push(filter.name.to_owned());
    }
    if mined.candidates.is_empty() {
        mined.notes.push("nothing worth keeping was found".to_owned());
    }
    mined
}

/// What may be shown unasked comes first: it is of use to the next session by itself.
fn rank(candidate: &Candidate) -> usize {
    let first = ["user_rules", "error_fix", "repo_commands", "reme_refine_poc", "skill_pro"];
    first.iter().position(|method| *method == candidate.method).unwrap_or(first.len())
}

/// Keeps the best of all methods together. Of candidates that rest on the same event only
/// the best stays: two methods often tell the same thing.
fn cap(results: &mut [Mined]) {
    let mut all: Vec<&Candidate> = results.iter().flat_map(|mined| &mined.candidates).collect();
    all.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| by_worth(a, b)));
    let mut kept: Vec<&Candidate> = Vec::new();
    for candidate in all {
        let tells_the_same = |known: &&Candidate| {
            known.method != candidate.method
                && rank(candidate) > 2
                && known.evidence_refs.iter().any(|event| candidate.evidence_refs.contains(event))
        };
        if kept.len() < ITEMS_MAX && !kept.iter().any(tells_the_same) {
            kept.push(candidate);
        }
    }
    let ids: Vec<String> = kept.iter().map(|candidate| candidate.id.clone()).collect();
    for mined in results {
        let before = mined.candidates.len();
        mined.candidates.retain(|candidate| ids.contains(&candidate.id));
        let dropped = before - mined.candidates.len();
        if dropped > 0 {
            mined.notes.push(format!("{dropped} left out: a session adds at most {ITEMS_MAX} items"));
        }
    }
}
