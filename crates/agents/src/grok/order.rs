//! The order of a session's drafts.
//!
//! Lines of `updates.jsonl` are not in the order of the events: a result may be written after later
//! lines. Within one process the line numbers give the order, and the clock agrees with them in all
//! logs so far (1.0.41). A process that resumes the session restarts the numbers, so the lines are
//! first split into runs. Drafts of the other files are inserted by their time, or beside the draft
//! that they belong to.

use hashbrown::HashSet;
use std::ops::Range;

use super::line::numbered;
use super::rule::Rule;
use crate::Draft;

/// Positions of the updates' drafts, once they are in order.
pub(super) struct Spine {
    /// Their indices among all drafts.
    pub range: Range<usize>,
    /// The run of each draft, counted from 0.
    runs: Vec<u32>,
    /// The latest time up to each draft.
    latest: Vec<i64>,
}

impl Spine {
    /// The run of the draft at this index.
    pub(super) fn run(&self, at: usize) -> u32 {
        at.checked_sub(self.range.start).and_then(|at| self.runs.get(at)).copied().unwrap_or(0)
    }

    /// A sort key for something that happened at this time.
    fn after(&self, millis: i64) -> (usize, u8) {
        match self.latest.partition_point(|latest| *latest <= millis) {
            0 => (self.range.start, 0),
            count => (self.range.start + count - 1, 2),
        }
    }

    /// A sort key for something that began at this time.
    fn before(&self, millis: i64) -> (usize, u8) {
        (self.range.start + self.latest.partition_point(|latest| *latest < millis), 0)
    }
}

/// A position beside a draft of the updates. Indices are those after [`arrange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Before(usize),
    After(usize),
    /// After everything else that is placed after it.
    Last(usize),
}

/// Removes the drafts that repeat an earlier revision of their source, and returns them.
pub(super) fn set_aside_repeats(drafts: &mut Vec<Draft>) -> Vec<Draft> {
    let mut seen = HashSet::new();
    let mut repeats = Vec::new();
    drafts.retain_mut(|draft| {
        let first = draft.hint.identity.as_ref().is_none_or(|identity| seen.insert(identity.clone()));
        if !first {
            draft.hint.fold_only = true;
            repeats.push(draft.clone());
        }
        first
    });
    repeats
}

/// Puts the session's own facts first, then the updates in order, then the rest in its given order.
pub(super) fn arrange(drafts: &mut Vec<Draft>) -> Spine {
    let (session, rest): (Vec<Draft>, Vec<Draft>) =
        drafts.drain(..).partition(|draft| matches!(draft.hint.rule(), Some(Rule::Session { .. })));
    let (updates, others): (Vec<Draft>, Vec<Draft>) =
        rest.into_iter().partition(|draft| draft.event.id.source.is_main());
    let start = session.len();
    drafts.extend(session);
    let mut runs = Runs::default();
    let numbers: Vec<(u32, u64)> = updates.iter().map(|draft| runs.place(draft)).collect();
    let (numbers, updates) = sorted(updates, numbers);
    let mut latest = i64::MIN;
    let mut spine = Spine { range: start..start + updates.len(), runs: Vec::new(), latest: Vec::new() };
    for (draft, (run, _)) in updates.iter().zip(numbers) {
        latest = draft.event.ts.map_or(latest, |ts| latest.max(ts.as_millis()));
        spine.runs.push(run);
        spine.latest.push(latest);
    }
    drafts.extend(updates);
    drafts.extend(others);
    spine
}

/// Splits lines, in the order of the file, into runs of one process each.
#[derive(Default)]
struct Runs {
    run: u32,
    owner: Option<String>,
    number: u64,
    millis: i64,
    /// Position of the previous line, for lines without a number.
    last: u64,
}

impl Runs {
    fn place(&mut self, draft: &Draft) -> (u32, u64) {
        let event_id = draft.event.native.uuid.as_deref().and_then(numbered);
        let Some((owner, number)) = event_id else { return (self.run, self.last) };
        let millis = draft.event.ts.map_or(self.millis, |ts| ts.as_millis());
        let is_known = self.owner.as_deref() == Some(owner);
        // A late line has an earlier time, too. Only an empty task list may come from a clock that
        // was set back.
        let began_again = number <= self.number
            && (millis > self.millis
                || (matches!(draft.hint.rule(), Some(Rule::TakenUp)) && millis != self.millis));
        if self.owner.is_some() && (!is_known || began_again) {
            self.run += 1;
            (self.number, self.millis) = (0, i64::MIN);
        }
        if !is_known {
            self.owner = Some(owner.to_owned());
        }
        self.number = self.number.max(number);
        self.millis = self.millis.max(millis);
        self.last = number;
        (self.run, number)
    }
}

/// Moves every draft with a place to that place. Others are placed by their time, and those that
/// are not events go last.
pub(super) fn place(drafts: &mut Vec<Draft>, spine: &Spine, places: &[Option<Place>]) {
    let key = |(at, draft): (usize, &Draft)| match (places.get(at).copied().flatten(), draft.event.ts) {
        (Some(Place::Before(at)), _) => (at, 0),
        (Some(Place::After(at)), _) => (at, 2),
        (Some(Place::Last(at)), _) => (at, 3),
        _ if at < spine.range.end => (at, 1),
        _ if draft.hint.fold_only => (usize::MAX, 0),
        (None, Some(ts)) => {
            let begins = matches!(draft.hint.rule(), Some(Rule::Model))
                || matches!(draft.hint.rule(), Some(Rule::TurnBegan));
            if begins { spine.before(ts.as_millis()) } else { spine.after(ts.as_millis()) }
        }
        (None, None) => (usize::MAX, 0),
    };
    let keys: Vec<(usize, u8)> = drafts.iter().enumerate().map(key).collect();
    *drafts = sorted(std::mem::take(drafts), keys).1;
}

/// Sorts drafts by their keys, stably. Drafts are large, so each is moved only once.
fn sorted<K: Ord + Copy>(drafts: Vec<Draft>, keys: Vec<K>) -> (Vec<K>, Vec<Draft>) {
    let mut order: Vec<(K, usize)> = keys.into_iter().zip(0..).collect();
    order.sort_unstable();
    let mut slots: Vec<Option<Draft>> = drafts.into_iter().map(Some).collect();
    let drafts = order.iter().filter_map(|(_, at)| slots.get_mut(*at)?.take()).collect();
    (order.into_iter().map(|(key, _)| key).collect(), drafts)
}
