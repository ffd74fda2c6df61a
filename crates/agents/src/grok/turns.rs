//! Turns: the prompt that a turn answers, its end, and the turns that a rewind abandoned.

use hashbrown::{HashMap, HashSet};
use retro_model::{Address, Kind};
use std::collections::{BTreeMap, VecDeque};

use super::order::{Place, Spine};
use super::rule::{Prompt, Rule};
use crate::Draft;

/// The most by which the two logs may differ on when a turn began.
const BEGIN_SPREAD_MS: i64 = 2000;

/// A prompt, typed or not, and the turn that it opened.
struct Opened {
    at: usize,
    typed: bool,
    turn: Option<String>,
    /// Last draft before the next prompt or process.
    last: usize,
}

/// Finds the turns that never ended, the ends that only the event log has, and the ledger key of
/// each answer.
pub(super) fn end(drafts: &mut [Draft], spine: &Spine, places: &mut [Option<Place>]) {
    let opened = opened(drafts, spine);
    // The position of each turn's end, by the turn's id.
    let mut ends: HashMap<String, usize> = HashMap::new();
    for at in spine.range.clone() {
        if let Some(draft) = drafts.get(at).filter(|draft| matches!(draft.hint.rule(), Some(Rule::Ended)))
            && let Some(turn) = &draft.event.native.turn_id
        {
            ends.entry(turn.clone()).or_insert(at);
        }
    }
    let mut logged = Logged::read(drafts);
    let mut killed = Vec::new();
    for prompt in &opened {
        let began = drafts.get(prompt.at).and_then(|draft| draft.event.ts).map(|ts| ts.as_millis());
        let ended = prompt.turn.as_ref().is_some_and(|turn| ends.contains_key(turn));
        let over = logged.see(began, ended);
        if prompt.typed && !ended && !over {
            killed.push((prompt.at, prompt.last));
        }
    }
    logged.fold_told(drafts);
    let potential: HashMap<Address, usize> = drafts
        .iter()
        .enumerate()
        .filter(|(_, draft)| draft.hint.row == "turn/killed")
        .map(|(at, draft)| (draft.id().address(), at))
        .collect();
    for (prompt, last) in killed {
        let address = drafts.get(prompt).map(|draft| draft.id().address());
        let Some(at) = address.and_then(|address| potential.get(&address)).copied() else { continue };
        if let Some(draft) = drafts.get_mut(at) {
            draft.hint.fold_only = false;
        }
        if let Some(place) = places.get_mut(at) {
            *place = Some(Place::Last(last));
        }
    }
    place_cut_calls(drafts, spine, &opened, &ends, places);
    name_responses(drafts, spine);
}

/// The prompts in order. A prompt does not have its turn's id: the next new id on a later line
/// belongs to it.
fn opened(drafts: &[Draft], spine: &Spine) -> Vec<Opened> {
    let mut opened: Vec<Opened> = Vec::new();
    let mut waiting: VecDeque<usize> = VecDeque::new();
    let mut seen: HashSet<&str> = HashSet::new();
    let mut run = 0;
    for at in spine.range.clone() {
        let Some(draft) = drafts.get(at) else { continue };
        if spine.run(at) != run {
            run = spine.run(at);
            waiting.clear();
        }
        let typed = matches!(draft.hint.rule(), Some(Rule::Prompt(_))) && draft.hint.opens_turn;
        if typed || matches!(draft.hint.rule(), Some(Rule::Opener(_))) {
            waiting.push_back(opened.len());
            opened.push(Opened { at, typed, turn: None, last: at });
        } else if let Some(turn) = draft.event.native.turn_id.as_deref()
            && seen.insert(turn)
            && let Some(prompt) = waiting.pop_front().and_then(|prompt| opened.get_mut(prompt))
        {
            prompt.turn = Some(turn.to_owned());
        }
        if let Some(prompt) = opened.last_mut()
            && spine.run(prompt.at) == run
        {
            prompt.last = at;
        }
    }
    opened
}

/// Turns according to the event log.
#[derive(Default)]
struct Logged {
    turns: Vec<LoggedTurn>,
    /// Start times, sorted.
    begins: Vec<(i64, usize)>,
    /// End times according to the updates, sorted.
    ends: Vec<i64>,
}

struct LoggedTurn {
    began: Option<i64>,
    /// The draft of its end, if it has one.
    over: Option<usize>,
    /// True if the updates have its end.
    told: bool,
}

impl Logged {
    fn read(drafts: &[Draft]) -> Logged {
        let mut logged = Logged::default();
        for (at, draft) in drafts.iter().enumerate() {
            let millis = draft.event.ts.map(|ts| ts.as_millis());
            if matches!(draft.hint.rule(), Some(Rule::TurnBegan)) {
                logged.turns.push(LoggedTurn { began: millis, over: None, told: false });
            } else if matches!(draft.hint.rule(), Some(Rule::TurnOver)) {
                match logged.turns.last_mut().filter(|turn| turn.over.is_none()) {
                    Some(turn) => turn.over = Some(at),
                    None => logged.turns.push(LoggedTurn { began: millis, over: Some(at), told: false }),
                }
            } else if matches!(draft.hint.rule(), Some(Rule::Ended)) && draft.event.copy_of.is_none() {
                logged.ends.extend(millis);
            }
        }
        let begins = logged.turns.iter().enumerate().filter_map(|(at, turn)| Some((turn.began?, at)));
        logged.begins = begins.collect();
        logged.begins.sort_unstable();
        logged.ends.sort_unstable();
        logged
    }

    /// True if the turn that a prompt of that time opened has an end here.
    fn see(&mut self, began: Option<i64>, ended: bool) -> bool {
        let Some(began) = began else { return false };
        let next = self.begins.partition_point(|(other, _)| *other < began);
        let around = self.begins.get(next.saturating_sub(1)..).unwrap_or_default().iter().take(2);
        let distance = |other: i64| other.saturating_sub(began).saturating_abs();
        let nearest = around.min_by_key(|(other, _)| distance(*other));
        let Some((_, at)) = nearest.filter(|(other, _)| distance(*other) <= BEGIN_SPREAD_MS) else {
            return false;
        };
        match self.turns.get_mut(*at) {
            Some(turn) => {
                turn.told |= ended;
                turn.over.is_some()
            }
            None => false,
        }
    }

    /// Folds the ends that the updates also have.
    fn fold_told(&self, drafts: &mut [Draft]) {
        for (at, turn) in self.turns.iter().enumerate() {
            let next = self.turns.get(at + 1).and_then(|next| next.began).unwrap_or(i64::MAX);
            let is_within = |began: i64| {
                let end = self.ends.partition_point(|end| *end < began);
                self.ends.get(end).is_some_and(|end| *end < next)
            };
            if let Some(over) = turn.over.and_then(|over| drafts.get_mut(over)) {
                over.hint.fold_only |= turn.told || turn.began.is_some_and(is_within);
            }
        }
    }
}

/// Places the ends of unanswered calls: they were cut off when their turn ended.
fn place_cut_calls(
    drafts: &[Draft],
    spine: &Spine,
    opened: &[Opened],
    ends: &HashMap<String, usize>,
    places: &mut [Option<Place>],
) {
    for at in spine.range.clone() {
        let Some(draft) = drafts.get(at) else { continue };
        if draft.hint.row != "call/unanswered" || draft.hint.fold_only {
            continue;
        }
        let end =
            draft.event.native.turn_id.as_ref().and_then(|turn| ends.get(turn)).filter(|end| **end > at);
        let last = || {
            let before = opened.partition_point(|prompt| prompt.at < at).checked_sub(1)?;
            opened.get(before).map(|prompt| prompt.last.max(at))
        };
        if let Some(place) = places.get_mut(at) {
            *place = match end {
                Some(end) => Some(Place::Before(*end)),
                None => last().map(Place::After),
            };
        }
    }
}

/// Counts an answer under its turn, or under its model if the turn has several.
fn name_responses(drafts: &mut [Draft], spine: &Spine) {
    let mut rows: HashMap<String, HashSet<String>> = HashMap::new();
    for draft in
        spine.range.clone().filter_map(|at| drafts.get(at)).filter(|draft| draft.event.kind == Kind::Usage)
    {
        if let (Some(turn), Some(row)) = (&draft.event.native.turn_id, &draft.event.response) {
            rows.entry(turn.clone()).or_default().insert(row.clone());
        }
    }
    for at in spine.range.clone() {
        let Some(draft) = drafts.get_mut(at).filter(|draft| draft.event.kind != Kind::Usage) else {
            continue;
        };
        let Some(key) = draft.event.response.take() else { continue };
        let rows = draft.event.native.turn_id.as_ref().and_then(|turn| rows.get(turn));
        draft.event.response = match rows {
            Some(rows) if rows.contains(&key) => Some(key),
            Some(rows) if rows.len() == 1 => rows.iter().next().cloned(),
            _ => None,
        };
    }
}

/// Folds model changes in the event log that repeat the updates.
pub(super) fn name_models(drafts: &mut [Draft]) {
    let mut current: Option<String> = None;
    for draft in drafts.iter_mut().filter(|draft| draft.event.kind == Kind::Model && !draft.hint.fold_only) {
        if matches!(draft.hint.rule(), Some(Rule::Model)) && draft.event.model == current {
            draft.hint.fold_only = true;
        }
        current.clone_from(&draft.event.model);
    }
}

/// After a rewind, marks the prompts from its index on, and everything they led to, as dead.
pub(super) fn bury(drafts: &mut [Draft]) {
    // Position of the first prompt with each index that is still alive.
    let mut alive: BTreeMap<u64, usize> = BTreeMap::new();
    for at in 0..drafts.len() {
        let Some(draft) = drafts.get(at) else { continue };
        let target = match draft.hint.rule() {
            Some(Rule::Prompt(Prompt { index: Some(index), .. }) | Rule::Opener(Some(index))) => {
                alive.entry(*index).or_insert(at);
                continue;
            }
            Some(Rule::Rewind(target)) => target,
            _ => continue,
        };
        let first = alive.split_off(target).into_values().min();
        for dead in first.and_then(|first| drafts.get_mut(first..at)).into_iter().flatten() {
            dead.event.live = false;
        }
    }
}
