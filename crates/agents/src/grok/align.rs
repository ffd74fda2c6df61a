//! Matches the answers of the chat history with those of the updates.
//!
//! A chat item that made calls matches the answer with the lines of those calls. An item with only
//! text has no id. Its match is searched between its nearest matched neighbours, by equal text
//! first and then from the end, because the chat loses items at the beginning and a broken stream
//! leaves extra answers there. The text of a matched item goes to the updates' event. The other
//! items become events of their own.

use hashbrown::{HashMap, HashSet};
use retro_model::{EventId, Kind};
use std::ops::Range;

use super::order::{Place, Spine};
use super::rule::{Prompt, Rule};
use crate::Draft;

/// One answer of the model, according to the updates.
#[derive(Default)]
struct Answer {
    at: usize,
    message: Option<usize>,
    thought: Option<usize>,
    calls: Vec<String>,
}

/// The answers and prompts of the updates, in order.
#[derive(Default)]
struct Told {
    answers: Vec<Answer>,
    /// The answer that made each call.
    of_call: HashMap<String, usize>,
    /// Position of each call's result.
    results: HashMap<String, usize>,
    /// Positions of the prompts.
    prompts: Vec<usize>,
    /// Positions of the prompts with an index and text, and the last position of each index.
    of_prompt: HashMap<Prompt, Vec<usize>>,
    of_index: HashMap<u64, usize>,
    /// Hashes of all reasoning texts.
    thoughts: HashSet<u64>,
}

pub(super) fn chat(drafts: &mut [Draft], spine: &Spine, places: &mut [Option<Place>]) {
    let items: Vec<usize> =
        (spine.range.end..drafts.len()).filter(|at| drafts.get(*at).is_some_and(is_item)).collect();
    if items.is_empty() {
        return;
    }
    let told = Told::read(drafts, spine);
    let mut last = None;
    let mut given: HashMap<usize, Vec<EventId>> = HashMap::new();
    for segment in segments(drafts, &items) {
        for (item, found) in segment.iter().zip(match_segment(drafts, &told, segment)) {
            let answered =
                drafts.get(*item).and_then(|draft| told.results.get(&draft.event.result.as_ref()?.call_id));
            let home = answered.copied().or(told.home(found));
            match drafts.get(*item).and_then(|draft| told.counterpart(draft, found)) {
                Some(counterpart) => {
                    if let Some(draft) = drafts.get_mut(*item) {
                        draft.hint.fold_only = true;
                        if let Some(event) = counterpart {
                            given.entry(event).or_default().push(draft.id().clone());
                        }
                    }
                }
                None => stand(*item, home, found, last, spine, places),
            }
            last = home.or(last);
        }
    }
    for (event, mut from) in given {
        // If several items match one event, the updates already have their combined text.
        if let (Some(draft), 1) = (drafts.get_mut(event), from.len()) {
            draft.hint.text_from = from.pop().map(Box::new);
        }
    }
}

fn is_item(draft: &Draft) -> bool {
    draft.event.id.source.as_str() == "chat"
}

impl Told {
    fn read(drafts: &[Draft], spine: &Spine) -> Told {
        let mut told = Told::default();
        let mut open: HashMap<(Option<&str>, i64), usize> = HashMap::new();
        for at in spine.range.clone() {
            let Some(draft) = drafts.get(at).filter(|draft| !draft.hint.fold_only) else { continue };
            if let Some(Rule::Prompt(prompt)) = draft.hint.rule() {
                if draft.event.kind == Kind::User {
                    told.prompts.push(at);
                    told.of_prompt.entry(*prompt).or_default().push(at);
                    told.of_index.extend(prompt.index.map(|index| (index, at)));
                }
                open.clear();
            } else if let Some(Rule::Said { stream, .. } | Rule::Call { stream }) = draft.hint.rule() {
                let turn = draft.event.native.turn_id.as_deref();
                let index = *open.entry((turn, *stream)).or_insert_with(|| {
                    told.answers.push(Answer { at, ..Answer::default() });
                    told.answers.len() - 1
                });
                let Some(answer) = told.answers.get_mut(index) else { continue };
                match &draft.event.tool {
                    Some(tool) => {
                        answer.calls.push(tool.call_id.clone());
                        told.of_call.entry(tool.call_id.clone()).or_insert(index);
                    }
                    None if draft.event.kind == Kind::Reasoning => {
                        answer.thought.get_or_insert(at);
                        if let Some(Rule::Said { print, .. }) = draft.hint.rule() {
                            told.thoughts.insert(*print);
                        }
                    }
                    None => {
                        answer.message.get_or_insert(at);
                    }
                }
            } else if let Some(result) = &draft.event.result {
                told.results.entry(result.call_id.clone()).or_insert(at);
                open.clear();
            }
        }
        told
    }

    /// The prompt that a chat item repeats: same index and text, at or after `from` if possible;
    /// else the last one with that index.
    fn prompt(&self, prompt: &Prompt, from: usize) -> Option<usize> {
        let index = prompt.index?;
        let same = self.of_prompt.get(prompt).map_or(&[][..], Vec::as_slice);
        let next = same.get(same.partition_point(|at| *at < from));
        next.or(same.last()).or_else(|| self.of_index.get(&index)).copied()
    }

    /// The position of a match.
    fn home(&self, found: Match) -> Option<usize> {
        match found {
            Match::None => None,
            Match::Prompt(at) => Some(at),
            Match::Answer(index) => self.answers.get(index).map(|answer| answer.at),
        }
    }

    /// The event that takes the item's text, if any. The outer `None`: the updates do not have the
    /// item.
    fn counterpart(&self, item: &Draft, found: Match) -> Option<Option<usize>> {
        let answer = match found {
            Match::Answer(index) => self.answers.get(index),
            _ => None,
        };
        match (item.hint.rule()?, answer) {
            // A prompt without an index was shortened by a compaction. The updates have the
            // original.
            (Rule::ChatPrompt(prompt), _) => {
                let is_kept = prompt.index.is_none() && !self.prompts.is_empty();
                (found != Match::None || is_kept).then_some(None)
            }
            (Rule::ChatSaid(_), Some(answer)) => answer.message.map(Some),
            (Rule::ChatThought(print), Some(answer)) => {
                answer.thought.map(|thought| print.and(Some(thought)))
            }
            (Rule::ChatThought(Some(print)), None) => self.thoughts.contains(print).then_some(None),
            (Rule::ChatCall, Some(_)) => Some(None),
            _ => None,
        }
    }

    /// The answers that an item can match: those between its nearest matched neighbours, in one
    /// turn.
    fn between(&self, below: Option<usize>, above: Option<usize>) -> Range<usize> {
        let (low, high) = match (below, above) {
            (Some(low), high) => {
                (low, self.prompt_after(low).min(high.filter(|high| *high > low).unwrap_or(usize::MAX)))
            }
            (None, Some(high)) => (self.prompt_before(high), high),
            (None, None) => (self.prompt_before(usize::MAX), usize::MAX),
        };
        let first = self.answers.partition_point(|answer| answer.at < low);
        first..self.answers.partition_point(|answer| answer.at < high).max(first)
    }

    /// True if an answer made no calls and has text.
    fn is_words(&self, index: usize) -> bool {
        self.answers.get(index).is_some_and(|answer| answer.calls.is_empty() && answer.message.is_some())
    }

    /// The last of these answers that has reasoning, and whose text is in no item.
    fn cut_thought(&self, within: Range<usize>, taken: &HashSet<usize>) -> Option<usize> {
        let is_cut = |answer: &Answer| answer.thought.is_some() && answer.calls.is_empty();
        within.rev().find(|index| !taken.contains(index) && self.answers.get(*index).is_some_and(is_cut))
    }

    /// The next prompt after a position.
    fn prompt_after(&self, at: usize) -> usize {
        self.prompts.get(self.prompts.partition_point(|prompt| *prompt <= at)).copied().unwrap_or(usize::MAX)
    }

    /// The last prompt before a position.
    fn prompt_before(&self, at: usize) -> usize {
        let before = self.prompts.partition_point(|prompt| *prompt < at).checked_sub(1);
        before.and_then(|before| self.prompts.get(before)).copied().unwrap_or(0)
    }
}

/// Splits the items where a compaction or a new revision interrupts the history: the next item does
/// not continue the one before it.
fn segments<'i>(drafts: &[Draft], items: &'i [usize]) -> Vec<&'i [usize]> {
    let breaks = |item: &usize| {
        drafts
            .get(*item)
            .map(|draft| (draft.event.id.revision, matches!(draft.hint.rule(), Some(Rule::Summary(_)))))
    };
    let mut all = Vec::new();
    let mut start = 0;
    for at in 1..items.len() {
        let (before, now) = (items.get(at - 1).and_then(breaks), items.get(at).and_then(breaks));
        let summary = now.is_some_and(|(_, summary)| summary);
        if before.map(|(revision, _)| revision) != now.map(|(revision, _)| revision) || summary {
            all.extend(items.get(start..at));
            start = at;
        }
    }
    all.extend(items.get(start..));
    all
}

/// The match of an item in the updates.
#[derive(Clone, Copy, PartialEq)]
enum Match {
    /// No match was found.
    None,
    /// A prompt, by its position.
    Prompt(usize),
    /// An answer, by its index.
    Answer(usize),
}

/// The match of each item of a segment.
fn match_segment(drafts: &[Draft], told: &Told, segment: &[usize]) -> Vec<Match> {
    let mut from = 0;
    let mut matches: Vec<Match> = segment
        .iter()
        .map(|item| {
            let Some(draft) = drafts.get(*item) else { return Match::None };
            let prompt = match draft.hint.rule() {
                Some(Rule::ChatPrompt(prompt)) => told.prompt(prompt, from),
                _ => None,
            };
            let call = draft.event.tool.as_ref().map(|tool| tool.call_id.as_str());
            match (prompt, call.and_then(|call| told.of_call.get(call))) {
                (Some(at), _) => {
                    from = at;
                    Match::Prompt(at)
                }
                (_, Some(answer)) => Match::Answer(*answer),
                _ => Match::None,
            }
        })
        .collect();
    // Text precedes the calls of the same record, and reasoning precedes its answer.
    for at in (0..segment.len()).rev() {
        let (Some(here), Some(next)) =
            (segment.get(at).and_then(|item| drafts.get(*item)), at.checked_add(1))
        else {
            continue;
        };
        let follows = segment.get(next).and_then(|item| drafts.get(*item));
        let same_record = follows.is_some_and(|next| next.event.raw == here.event.raw);
        if matches!(here.hint.rule(), Some(Rule::ChatSaid(_)))
            && same_record
            && let (Some(Match::Answer(answer)), Some(slot)) =
                (matches.get(next).copied(), matches.get_mut(at))
        {
            *slot = Match::Answer(answer);
        }
    }
    match_words(drafts, told, segment, &mut matches);
    let taken = taken(&matches);
    let (below, above) = neighbours(told, &matches);
    for at in (0..segment.len()).rev() {
        let item = segment.get(at).and_then(|item| drafts.get(*item));
        if !item.is_some_and(|item| matches!(item.hint.rule(), Some(Rule::ChatThought(_)))) {
            continue;
        }
        let known = |side: &[Option<usize>]| side.get(at).copied().flatten();
        let next = matches.get(at + 1).copied();
        let has_thought =
            |index: usize| told.answers.get(index).is_some_and(|answer| answer.thought.is_some());
        let found = match next {
            Some(Match::Answer(answer)) if has_thought(answer) => Match::Answer(answer),
            // Reasoning that no answer follows belongs to an answer that was cut off.
            next => match told.cut_thought(told.between(known(&below), known(&above)), &taken) {
                Some(cut) => Match::Answer(cut),
                None => next.filter(|next| matches!(next, Match::Answer(_))).unwrap_or(Match::None),
            },
        };
        if let Some(slot) = matches.get_mut(at) {
            *slot = found;
        }
    }
    matches
}

/// Positions of the nearest matched items before and after each item.
fn neighbours(told: &Told, matches: &[Match]) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    let nearest = |last: &mut Option<usize>, found: &Match| {
        let before = *last;
        *last = told.home(*found).or(before);
        Some(before)
    };
    let below = matches.iter().scan(None, nearest).collect();
    let mut above: Vec<Option<usize>> = matches.iter().rev().scan(None, nearest).collect();
    above.reverse();
    (below, above)
}

/// The answers that have a match.
fn taken(matches: &[Match]) -> HashSet<usize> {
    let answers = matches.iter().filter_map(|found| match found {
        Match::Answer(answer) => Some(*answer),
        _ => None,
    });
    answers.collect()
}

/// Matches the answers that made no calls, between those already matched.
fn match_words(drafts: &[Draft], told: &Told, segment: &[usize], matches: &mut [Match]) {
    let mut taken = taken(matches);
    let mut start = 0;
    while start < segment.len() {
        // A run of unmatched items.
        let end = (start..segment.len())
            .find(|at| matches.get(*at).is_some_and(|found| *found != Match::None))
            .unwrap_or(segment.len());
        let place = |at: usize| matches.get(at).and_then(|found| told.home(*found));
        let within = told.between(start.checked_sub(1).and_then(place), place(end));
        let words = (start..end).filter_map(|at| match drafts.get(*segment.get(at)?)?.hint.rule() {
            Some(Rule::ChatSaid(print)) => Some((at, *print)),
            _ => None,
        });
        let words: Vec<(usize, u64)> = words.collect();
        let mut free: Vec<usize> =
            within.filter(|index| told.is_words(*index) && !taken.contains(index)).collect();
        let mut same: HashMap<u64, Vec<usize>> = HashMap::new();
        for index in &free {
            let message = told.answers.get(*index).and_then(|answer| drafts.get(answer.message?));
            if let Some(Rule::Said { print, .. }) = message.and_then(|draft| draft.hint.rule()) {
                same.entry(*print).or_default().push(*index);
            }
        }
        let mut rest = Vec::new();
        for (at, said) in words.into_iter().rev() {
            match same.get_mut(&said).and_then(Vec::pop) {
                Some(index) => {
                    taken.insert(index);
                    found(matches, at, index);
                }
                None => rest.push(at),
            }
        }
        free.retain(|index| !taken.contains(index));
        for (at, index) in rest.into_iter().zip(free.into_iter().rev()) {
            taken.insert(index);
            found(matches, at, index);
        }
        start = end + 1;
    }
}

fn found(matches: &mut [Match], at: usize, answer: usize) {
    if let Some(slot) = matches.get_mut(at) {
        *slot = Match::Answer(answer);
    }
}

/// Finds a position for an item that the updates do not have.
fn stand(
    item: usize,
    home: Option<usize>,
    found: Match,
    last: Option<usize>,
    spine: &Spine,
    places: &mut [Option<Place>],
) {
    let Some(place) = places.get_mut(item).filter(|place| place.is_none()) else { return };
    *place = Some(match (home, found, last) {
        // Text that was never streamed precedes the calls that it announces.
        (Some(at), Match::Answer(_), _) => Place::Before(at),
        (Some(at), ..) | (None, _, Some(at)) => Place::After(at),
        (None, _, None) => Place::Before(spine.range.start),
    });
}
