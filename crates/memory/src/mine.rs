//! Runs methods over one session: assigns ids to candidates, then checks, filters and limits them.

use serde::{Deserialize, Serialize};

use crate::candidate::{Candidate, Mined, by_worth};
use crate::decision::words_hash;
use crate::episode::Episode;
use crate::filters::{FILTERS, Filter, Kept, Rule};
use crate::methods::Method;
use crate::screen;

/// Maximum new items of one session, over all methods. The user's rules count separately.
pub const ITEMS_MAX: usize = 3;
/// Maximum rules of the user kept from one session.
const RULES_MAX: usize = 8;

/// All checked findings of methods in a session, before any selection. They are stored, so that a
/// new selection does not read the session again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    /// True if the session was real work.
    pub real: bool,
    /// The findings of each method.
    pub mined: Vec<Mined>,
}

impl Findings {
    /// Runs these methods on a session.
    pub fn of(episode: &Episode, methods: &[&Method]) -> Findings {
        let found = methods.iter().map(|method| checked(episode, method.name, (method.mine)(episode)));
        Findings { real: episode.quality.real, mined: found.collect() }
    }

    /// The best [`ITEMS_MAX`] findings of these methods together, after the requested filters, as
    /// one result per method. `None` if one of the methods was not run.
    pub fn choose(&self, methods: &[&Method], wanted: &[&'static Filter]) -> Option<Vec<Mined>> {
        let of = |method: &&Method| self.mined.iter().find(|mined| mined.method == method.name);
        let found: Option<Vec<&Mined>> = methods.iter().map(of).collect();
        let mut results: Vec<Mined> =
            found?.into_iter().map(|mined| filtered(mined.clone(), wanted)).collect();
        cap(&mut results);
        Some(results)
    }
}

/// Runs methods and selects, with one result per method.
pub fn mine(episode: &Episode, methods: &[&Method], wanted: &[&'static Filter]) -> Vec<Mined> {
    Findings::of(episode, methods).choose(methods, wanted).unwrap_or_default()
}

/// Builds the result of one method from its candidates.
pub fn one(episode: &Episode, method: &str, candidates: Vec<Candidate>, wanted: &[&'static Filter]) -> Mined {
    filtered(checked(episode, method, candidates), wanted)
}

/// Assigns ids to candidates, and drops invalid ones.
fn checked(episode: &Episode, method: &str, mut candidates: Vec<Candidate>) -> Mined {
    for (at, candidate) in candidates.iter_mut().enumerate() {
        candidate.number = at + 1;
        candidate.id = id(episode, method, &candidate.text);
        candidate.risk = screen::risk::of(candidate);
    }
    let mut seen = hashbrown::HashSet::new();
    candidates.retain(|candidate| seen.insert(candidate.id.clone()));
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
    for filter in FILTERS {
        if let Rule::Check(keep) = filter.rule {
            apply(&mut mined, filter, |candidates| keep(candidates, &episode.quotes));
        }
    }
    mined
}

/// The id of a candidate: its session, its method, and its text. It therefore stays the same when
/// the session continues and has more findings.
fn id(episode: &Episode, method: &str, text: &str) -> String {
    let words = words_hash(text);
    format!("{}:{method}:{}", episode.key.id, words.get(..10).unwrap_or_default())
}

/// Applies the requested filters.
fn filtered(mut mined: Mined, wanted: &[&'static Filter]) -> Mined {
    for filter in wanted {
        if let Rule::Choice(keep) = filter.rule {
            apply(&mut mined, filter, keep);
        }
    }
    if mined.candidates.is_empty() {
        mined.notes.push("nothing worth keeping was found".to_owned());
    }
    mined
}

fn apply(mined: &mut Mined, filter: &Filter, keep: impl FnOnce(Vec<Candidate>) -> Kept) {
    let (kept, note) = keep(std::mem::take(&mut mined.candidates));
    mined.candidates = kept;
    mined.notes.extend(note);
    mined.filters_applied.push(filter.name.to_owned());
}

/// Candidates that may be shown unasked come first, because they help without any action.
fn rank(candidate: &Candidate) -> usize {
    let first =
        ["user_rules", "error_fix", "repo_commands", "asked_commands", "reme_refine_poc", "skill_pro"];
    first.iter().position(|method| *method == candidate.method).unwrap_or(first.len())
}

/// Keeps the best of all methods. Of candidates based on the same event only the best stays,
/// because two methods often report the same fact.
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
        let is_rule = |one: &Candidate| one.method == "user_rules";
        let max = if is_rule(candidate) { RULES_MAX } else { ITEMS_MAX };
        let alike = kept.iter().filter(|known| is_rule(known) == is_rule(candidate)).count();
        if alike < max && !kept.iter().any(tells_the_same) {
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
