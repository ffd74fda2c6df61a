//! The steps of settling that all agents share, as functions over the drafts. An agent's own
//! `settle` calls them in its order and adds steps that only its logs need.

use hashbrown::{HashMap, HashSet};
use retro_model::{Coverage, EventId, Kind, Part, SourceKey, Thread};
use retro_text::{Redacted, redact_owned};
use xxhash_rust::xxh3::xxh3_64;

use crate::Draft;

/// Counts the records that gave drafts, by result.
pub(crate) fn tally(drafts: &[Draft]) -> Coverage {
    #[derive(PartialEq, PartialOrd)]
    enum Became {
        Folded,
        Noted,
        Mapped,
        Unknown,
    }
    let mut records = HashMap::with_capacity(drafts.len());
    for draft in drafts {
        let became = match draft.event.kind {
            _ if draft.hint.fold_only => Became::Folded,
            Kind::Note => Became::Noted,
            Kind::Unknown => Became::Unknown,
            _ => Became::Mapped,
        };
        let EventId { source, revision, record, .. } = draft.id();
        let best = records.entry((source, revision, record)).or_insert(Became::Folded);
        if became > *best {
            *best = became;
        }
    }
    let mut coverage = Coverage { records: records.len() as u64, ..Coverage::default() };
    for became in records.into_values() {
        match became {
            Became::Folded => coverage.folded += 1,
            Became::Noted => coverage.noted += 1,
            Became::Mapped => coverage.mapped += 1,
            Became::Unknown => coverage.unknown += 1,
        }
    }
    coverage
}

/// If a source was rewritten, a record of an earlier revision gives no new event. Drafts without an
/// identity get one here: a hash of their record's bytes, and its ordinal among equal records of
/// its revision.
pub(crate) fn name_repeats(
    drafts: &mut [Draft],
    rewritten: &HashSet<SourceKey>,
    occurrences: &mut HashMap<u64, u32>,
) {
    if rewritten.is_empty() {
        return;
    }
    for draft in drafts.iter_mut().filter(|draft| draft.hint.identity.is_none()) {
        let EventId { source, revision, part, .. } = &draft.event.id;
        if rewritten.contains(source) {
            let name = format!("{source}={:016x}.{part:?}", draft.hint.content);
            let nth = occurrences.entry(xxh3_64(format!("{revision}:{name}").as_bytes())).or_default();
            *nth += 1;
            draft.hint.identity = Some(format!("{name}#{nth}"));
        }
    }
}

/// Sets the texts of drafts that replace or extend theirs with those of others.
pub(crate) fn take_texts(drafts: &mut [Draft]) {
    let wanted: HashSet<EventId> = drafts
        .iter()
        .flat_map(|draft| {
            let also = draft.hint.text_also.iter().map(|(_, from)| from);
            draft.hint.text_from.as_deref().into_iter().chain(also).cloned()
        })
        .collect();
    if wanted.is_empty() {
        return;
    }
    let texts: HashMap<EventId, _> = drafts
        .iter()
        .filter(|draft| wanted.contains(draft.id()))
        .filter_map(|draft| Some((draft.id().clone(), draft.event.text.clone()?)))
        .collect();
    for draft in drafts.iter_mut() {
        if let Some(text) = draft.hint.text_from.as_deref().and_then(|from| texts.get(from)) {
            draft.event.text = Some(text.clone());
        } else if !draft.hint.text_also.is_empty() {
            let mut whole = draft.event.text.take().map(Redacted::into_inner).unwrap_or_default();
            for (between, from) in &draft.hint.text_also {
                if let Some(text) = texts.get(from) {
                    whole.push_str(between);
                    whole.push_str(text);
                }
            }
            draft.event.text = (!whole.is_empty()).then(|| redact_owned(whole));
        }
    }
}

/// Keeps the first of the drafts with the same identity. Each later one is passed to `complete`
/// with the first, and then dropped. Returns the indices of the dropped drafts.
pub fn merge_repeats(drafts: &mut [Draft], mut complete: impl FnMut(&mut Draft, &Draft)) -> HashSet<usize> {
    let mut firsts: HashMap<&str, usize> = HashMap::with_capacity(drafts.len());
    let repeats: Vec<(usize, usize)> = drafts
        .iter()
        .enumerate()
        .filter_map(|(at, draft)| {
            let first = *firsts.entry(draft.hint.identity.as_deref()?).or_insert(at);
            (first != at).then_some((first, at))
        })
        .collect();
    drop(firsts);
    for &(first, at) in &repeats {
        let (before, from) = drafts.split_at_mut(at);
        complete(&mut before[first], &from[0]);
        from[0].hint.fold_only = true;
    }
    repeats.into_iter().map(|(_, at)| at).collect()
}

/// Numbers the turns of each thread, in the order of the drafts.
pub fn number_turns(drafts: &mut [Draft]) {
    let mut turns: HashMap<Thread, u32> = HashMap::new();
    let (mut thread, mut turn) = (Thread::main(), 0);
    for draft in drafts.iter_mut().filter(|draft| !draft.hint.fold_only) {
        if draft.event.thread != thread {
            let before = std::mem::replace(&mut thread, draft.event.thread.clone());
            turns.insert(before, turn);
            turn = turns.get(&thread).copied().unwrap_or(0);
        }
        turn += u32::from(draft.hint.opens_turn);
        draft.event.turn = turn;
    }
}

/// Sets `parent` from native ids: the first event of the parent record (an event of the record
/// itself before derived ones), skipping records that gave none.
pub fn link_parents(drafts: &mut [Draft]) {
    let mut events: HashMap<&str, &EventId> = HashMap::with_capacity(drafts.len());
    let mut folded: HashMap<&str, &str> = HashMap::new();
    for draft in drafts.iter() {
        let Some(uuid) = draft.event.native.uuid.as_deref() else { continue };
        if draft.hint.fold_only {
            if let Some(above) = draft.hint.hangs_on.as_deref() {
                folded.entry(uuid).or_insert(above);
            }
        } else {
            let is_derived = |id: &EventId| matches!(id.part, Part::Tag(_));
            let first = events.entry(uuid).or_insert(draft.id());
            if is_derived(first) && !is_derived(draft.id()) {
                *first = draft.id();
            }
        }
    }
    let parents: Vec<Option<EventId>> = drafts
        .iter()
        .map(|draft| {
            let mut above = draft.hint.hangs_on.as_deref()?;
            let mut passed = HashSet::new();
            loop {
                match events.get(above) {
                    Some(id) if *id != draft.id() => return Some((*id).clone()),
                    _ if passed.insert(above) => above = folded.get(above)?,
                    _ => return None,
                }
            }
        })
        .collect();
    drop((events, folded));
    for (draft, parent) in drafts.iter_mut().zip(parents) {
        draft.event.parent = parent;
    }
}
