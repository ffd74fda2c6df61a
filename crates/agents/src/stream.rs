//! The settled stream of a session of any size, in bounded memory.
//!
//! [`settle`] does it for a session that fits into memory. [`Folding`] takes drafts source by
//! source and hands out settled events. Two things keep it small. Texts, arguments and data, which
//! settling never reads, move to a [`Shelf`] once there is much of them. And a session of very many
//! records is settled in *windows*, each ending where a new turn begins. Numbers and identities are
//! carried from one window to the next, so that no event comes twice. What reaches further back
//! (the branch that a rewind abandoned, a parent) is not linked across a border, and every border
//! is a gap that says so. Where the borders are depends on the records alone, never on the pieces
//! in which they arrived.

use hashbrown::{HashMap, HashSet};
use retro_model::{Address, Coverage, Event, Facts, Gap, GapReason, SessionKey, SourceKey, Thread};
use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io;
use xxhash_rust::xxh3::xxh3_64;

use crate::fold::{name_repeats, take_texts, tally};
use crate::shelf::Shelf;
use crate::{Agent, Draft, Hint, Out, Parsed, Part};

/// A settled session, whole in memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The events in order.
    pub events: Vec<Event>,
    /// Counts of the records, by what each became.
    pub coverage: Coverage,
    /// The parts that could not be read.
    pub gaps: Vec<Gap>,
    /// Facts about the session itself, such as its title.
    pub facts: Facts,
}

/// Settles a session in memory, from everything its sources gave. The order of `sources` does not
/// matter.
pub fn settle(agent: &dyn Agent, session: &SessionKey, sources: Vec<Parsed>) -> Settled {
    let mut events = Vec::with_capacity(sources.iter().map(|source| source.out.drafts.len()).sum());
    let Told { coverage, gaps, facts } =
        settle_each(agent, session, sources, &mut |event| events.push(*event));
    Settled { events, coverage, gaps, facts }
}

/// Like [`settle`], for a caller that looks at each event once.
pub fn settle_each(
    agent: &dyn Agent,
    session: &SessionKey,
    mut sources: Vec<Parsed>,
    take: &mut dyn FnMut(Box<Event>),
) -> Told {
    sources.sort_by(|a, b| (&a.part.source, a.part.revision).cmp(&(&b.part.source, b.part.revision)));
    let mut sink = |event| -> io::Result<()> {
        take(event);
        Ok(())
    };
    let mut folding = Folding::whole(agent, session, &mut sink);
    // Nothing can fail without a shelf.
    let taken = sources.into_iter().try_for_each(|source| {
        folding.end_source(source.bytes);
        folding.take(&source.part, source.out)
    });
    taken.and_then(|()| folding.finish()).unwrap_or_default()
}

/// How much is held in memory at a time.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Drafts after which the next turn ends a window. With a quarter more, the window ends
    /// anywhere.
    pub window_drafts: usize,
    /// Bytes of records whose texts are held before they go to the shelf.
    pub held_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { window_drafts: 24_000, held_bytes: 8 * 1024 * 1024 }
    }
}

/// Text of a draft that is not worth shelving, in bytes.
const LIGHT_BYTES_MAX: usize = 64;

/// Gaps of one session that are listed one by one.
const GAPS_MAX: usize = 10_000;

/// The parts of a draft that move to the shelf.
#[derive(Default, Serialize, Deserialize)]
struct Heavy {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    text: Option<Redacted<String>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    args: Option<Redacted<Value>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    data: Option<Redacted<Value>>,
}

/// The result of settling, without the events.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Told {
    /// Counts of the records, by what each became.
    pub coverage: Coverage,
    /// The parts that could not be read, at most 10,000.
    pub gaps: Vec<Gap>,
    /// Facts about the session itself, such as its title.
    pub facts: Facts,
}

/// Folds drafts into the settled stream.
pub struct Folding<'a, E> {
    agent: &'a dyn Agent,
    session: &'a SessionKey,
    /// `None`: everything is held, and there is one window.
    shelf: Option<&'a mut dyn Shelf>,
    sink: &'a mut dyn FnMut(Box<Event>) -> Result<(), E>,
    limits: Limits,
    drafts: Vec<Draft>,
    held: u64,
    shelving: bool,
    told: Told,
    carried: Carried,
}

/// The state that one window passes to the next.
#[derive(Default)]
struct Carried {
    seq: u64,
    turns: HashMap<Thread, u32>,
    /// Identities of events that were handed out.
    identities: Seen,
    occurrences: HashMap<u64, u32>,
    rewritten: HashSet<SourceKey>,
}

/// Hashes in sorted runs: a hash table would take three times the memory.
#[derive(Default)]
struct Seen(Vec<Vec<u64>>);

impl Seen {
    /// Hashes of a run. While two runs are merged, both are held.
    const RUN_MAX: usize = 1024 * 1024;

    fn add(&mut self, mut hashes: Vec<u64>) {
        hashes.sort_unstable();
        // Runs halve in length from one to the next, so there are few besides the full ones.
        let fits = |last: &[u64], hashes: &[u64]| {
            last.len() < 2 * hashes.len() && last.len() + hashes.len() <= Self::RUN_MAX
        };
        while let Some(last) = self.0.pop_if(|last| fits(last, &hashes)) {
            hashes.extend(last);
            hashes.sort_unstable();
        }
        hashes.dedup();
        hashes.shrink_to_fit();
        self.0.push(hashes);
    }

    fn contains(&self, hash: u64) -> bool {
        self.0.iter().any(|run| run.binary_search(&hash).is_ok())
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'a, E: From<io::Error>> Folding<'a, E> {
    /// Settles everything in memory.
    pub fn whole(
        agent: &'a dyn Agent,
        session: &'a SessionKey,
        sink: &'a mut dyn FnMut(Box<Event>) -> Result<(), E>,
    ) -> Self {
        Folding {
            agent,
            session,
            shelf: None,
            sink,
            limits: Limits { window_drafts: usize::MAX, held_bytes: u64::MAX },
            drafts: Vec::new(),
            held: 0,
            shelving: false,
            told: Told::default(),
            carried: Carried::default(),
        }
    }

    /// Settles in bounded memory. `rewritten` are the sources of several revisions.
    pub fn bounded(
        agent: &'a dyn Agent,
        session: &'a SessionKey,
        rewritten: impl IntoIterator<Item = SourceKey>,
        shelf: &'a mut dyn Shelf,
        limits: Limits,
        sink: &'a mut dyn FnMut(Box<Event>) -> Result<(), E>,
    ) -> Self {
        let carried = Carried { rewritten: rewritten.into_iter().collect(), ..Carried::default() };
        Folding { shelf: Some(shelf), limits, carried, ..Folding::whole(agent, session, sink) }
    }

    /// Takes what some records of a source gave, in their order. Sources may come in any
    /// order, but a session that needs several windows is settled best with its large
    /// sources last, so that the first window holds all small ones.
    pub fn take(&mut self, part: &Part, out: Out) -> Result<(), E> {
        if part.revision > 1 {
            self.carried.rewritten.insert(part.source.clone());
        }
        let folded: u64 = out.folded.values().sum();
        let malformed = out.malformed;
        self.told.coverage +=
            Coverage { records: folded + malformed, folded, malformed, ..Coverage::default() };
        self.told.facts.merge(&out.facts);
        self.add_gaps(out.gaps);
        // Without a shelf everything is held, and most sessions have one source.
        if self.shelf.is_none() {
            if self.drafts.is_empty() {
                self.drafts = out.drafts;
            } else {
                self.drafts.extend(out.drafts);
            }
            return Ok(());
        }
        self.drafts.reserve(out.drafts.len());
        for draft in out.drafts {
            if self.is_full(&draft) {
                self.end_window()?;
                self.border(&draft);
            }
            self.held = self.held.saturating_add(draft.event.raw.length);
            self.drafts.push(draft);
            if self.shelving {
                self.shelve_last()?;
            } else if self.held > self.limits.held_bytes {
                self.shelving = true;
                self.shelve_all()?;
            }
        }
        Ok(())
    }

    /// True if the window ends before this draft.
    fn is_full(&self, next: &Draft) -> bool {
        let (length, window) = (self.drafts.len(), self.limits.window_drafts);
        let same_record = |last: &Draft| last.event.raw == next.event.raw;
        length >= window
            && (self.agent.parts_at(next) || length >= window.saturating_add(window / 4))
            && !self.drafts.last().is_some_and(same_record)
    }

    /// Sets the length of a source in bytes, once all of it was taken.
    pub fn end_source(&mut self, bytes: u64) {
        self.told.coverage.bytes += bytes;
    }

    /// Settles the last window.
    pub fn finish(mut self) -> Result<Told, E> {
        self.end_window()?;
        self.told.gaps.sort();
        Ok(self.told)
    }

    fn add_gaps(&mut self, gaps: Vec<Gap>) {
        let room = match self.shelf {
            Some(_) => GAPS_MAX.saturating_sub(self.told.gaps.len()),
            None => usize::MAX,
        };
        self.told.gaps.extend(gaps.into_iter().take(room));
    }

    fn border(&mut self, first: &Draft) {
        let raw = &first.event.raw;
        let address = Address { source: raw.source.clone(), revision: raw.revision, record: raw.record };
        let detail = "the session is too large to be settled at once: from here on nothing is linked to what came before";
        let gap =
            Gap { detail: Some(detail.to_owned()), ..Gap::at(&address, raw.offset, GapReason::Oversized) };
        self.add_gaps(vec![gap]);
    }

    fn shelve_all(&mut self) -> io::Result<()> {
        let mut drafts = std::mem::take(&mut self.drafts);
        let shelved = drafts.iter_mut().try_for_each(|draft| self.shelve(draft));
        self.drafts = drafts;
        shelved
    }

    fn shelve_last(&mut self) -> io::Result<()> {
        let Some(mut draft) = self.drafts.pop() else { return Ok(()) };
        let shelved = self.shelve(&mut draft);
        self.drafts.push(draft);
        shelved
    }

    /// Moves the parts that settling does not read to the shelf.
    fn shelve(&mut self, draft: &mut Draft) -> io::Result<()> {
        let Some(shelf) = &mut self.shelf else { return Ok(()) };
        let event = &mut draft.event;
        let text = event.text.take_if(|text| text.len() > LIGHT_BYTES_MAX);
        let heavy = Heavy {
            text,
            args: event.tool.as_mut().and_then(|tool| tool.args.take()),
            data: event.data.take(),
        };
        if heavy.text.is_some() || heavy.args.is_some() || heavy.data.is_some() {
            draft.hint.shelved = Some(shelf.put(&serde_json::to_vec(&heavy)?)?);
        }
        Ok(())
    }

    fn unshelve(&mut self, draft: &mut Draft) -> io::Result<()> {
        let (Some(at), Some(shelf)) = (draft.hint.shelved.take(), &mut self.shelf) else { return Ok(()) };
        let heavy: Heavy = serde_json::from_slice(&shelf.get(at)?)?;
        let event = &mut draft.event;
        event.text = heavy.text.or(event.text.take());
        event.data = heavy.data.or(event.data.take());
        if let (Some(tool), Some(args)) = (&mut event.tool, heavy.args) {
            tool.args = Some(args);
        }
        Ok(())
    }

    /// Settles the drafts of the window and hands out their events.
    fn end_window(&mut self) -> Result<(), E> {
        let mut drafts = std::mem::take(&mut self.drafts);
        let in_order = |a: &Draft, b: &Draft| {
            let (a, b) = (&a.event.id, &b.event.id);
            (&a.source, a.revision).cmp(&(&b.source, b.revision))
        };
        if !drafts.is_sorted_by(|a, b| in_order(a, b).is_le()) {
            drafts.sort_by(in_order);
        }
        name_repeats(&mut drafts, &self.carried.rewritten, &mut self.carried.occurrences);
        self.drop_known(&mut drafts);
        self.agent.settle(self.session, &mut drafts);
        self.told.coverage += tally(&drafts);
        self.fetch_shared_texts(&mut drafts)?;
        take_texts(&mut drafts);
        let before = self.carried.turns.clone();
        let mut identities = Vec::new();
        for mut draft in drafts {
            if self.shelf.is_some()
                && let Some(identity) = &draft.hint.identity
            {
                identities.push(xxh3_64(identity.as_bytes()));
            }
            if draft.hint.fold_only {
                continue;
            }
            self.unshelve(&mut draft)?;
            let mut event = draft.event;
            self.carried.seq += 1;
            event.seq = self.carried.seq;
            // Without a shelf there is one window, and nothing to carry.
            if self.shelf.is_some() {
                event.turn += before.get(&event.thread).copied().unwrap_or(0);
                let turns = self.carried.turns.entry(event.thread.clone()).or_default();
                *turns = event.turn.max(*turns);
            }
            (self.sink)(event)?;
        }
        self.carried.identities.add(identities);
        self.held = 0;
        self.shelving = false;
        match &mut self.shelf {
            Some(shelf) => Ok(shelf.clear()?),
            None => Ok(()),
        }
    }

    /// Drops events that an earlier window already gave.
    fn drop_known(&self, drafts: &mut [Draft]) {
        if self.carried.identities.is_empty() {
            return;
        }
        for draft in drafts {
            let known = draft.hint.identity.as_ref().map(|identity| xxh3_64(identity.as_bytes()));
            if known.is_some_and(|known| self.carried.identities.contains(known)) {
                draft.hint = Hint { row: draft.hint.row, fold_only: true, ..Hint::default() };
            }
        }
    }

    /// Brings back texts that other events take.
    fn fetch_shared_texts(&mut self, drafts: &mut [Draft]) -> io::Result<()> {
        if self.shelf.is_none() {
            return Ok(());
        }
        let mut wanted = HashSet::new();
        for draft in drafts.iter() {
            let also = draft.hint.text_also.iter().map(|(_, from)| from);
            wanted.extend(draft.hint.text_from.as_deref().into_iter().chain(also).cloned());
            if draft.hint.text_from.is_some() || !draft.hint.text_also.is_empty() {
                wanted.insert(draft.id().clone());
            }
        }
        let is_wanted = |draft: &&mut Draft| wanted.contains(draft.id());
        drafts.iter_mut().filter(is_wanted).try_for_each(|draft| self.unshelve(draft))
    }
}
