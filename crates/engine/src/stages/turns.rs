//! The turns of a session: one row for each message that opens one, and the text of each turn as
//! passages for search.

pub(crate) mod copied_turns;

use copied_turns::CopiedTurns;
use hashbrown::HashMap;
use retro_model::{Event, Passage, SessionKey, Thread};
use retro_search::Passages;
use retro_store::{Index, KnownPassages, NameRow, OpenerRow, PackedPassage, Spool, Store, TurnRow, Writer};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use super::{Comparing, Input, Last, Making, Product, Stage, Subject, Truth, When, Work, from_kept, to_keep};
use crate::{Error, digest_words};

pub(crate) const STAGE: Stage = Stage {
    name: "turns",
    version: 5,
    when: When::AppendAndQuiet,
    help: "one row for each turn, and its words",
    inputs: &[Input::Events],
    work: Work::Events(make),
    truth: Some(Truth { keep, restore }),
    tail: Some(tail),
    compare: Some(compare),
    ..Stage::PLAIN
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    let turns = Turns::new(subject.key.clone(), subject.store, subject.lookup.passages.clone());
    Ok(Box::new(Both { turns, copied: CopiedTurns::new(subject.store) }))
}

fn tail(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Adding(Turns::after(subject.key.clone(), subject.store, &subject.lookup.last))))
}

fn compare(store: &Store, index: &Index, key: &SessionKey) -> Result<Box<dyn Comparing>, Error> {
    let mut passages = index.packed_passages(key)?;
    passages.sort();
    Ok(Box::new(Checking {
        turns: Turns::new(key.clone(), store, KnownPassages::default()),
        copied: CopiedTurns::new(store),
        heads: heads(index, key)?,
        passages,
    }))
}

/// The part of turns that is kept without their text.
#[derive(Default, Serialize, Deserialize)]
struct Heads {
    turns: Vec<TurnRow>,
    openers: Vec<OpenerRow>,
    names: Vec<NameRow>,
}

fn heads(index: &Index, key: &SessionKey) -> Result<Heads, Error> {
    Ok(Heads {
        turns: index.turns_of(key)?,
        openers: index.openers_of(key)?,
        names: index.names_in(&key.agent, &key.id)?,
    })
}

fn keep(index: &Index, key: &SessionKey) -> Result<Value, Error> {
    to_keep(&heads(index, key)?)
}

/// The event of a digest's words, if no turn is known.
pub(crate) const FIRST_EVENT: &str = "m:1";

fn restore(subject: &Subject<'_>, kept: &Value) -> Result<Product, Error> {
    let key = subject.key.clone();
    let heads: Heads = from_kept(subject, kept)?;
    let (mut turns, mut openers) = (Spool::new(subject.store.root()), Spool::new(subject.store.root()));
    heads.turns.iter().try_for_each(|turn| turns.push(turn))?;
    heads.openers.iter().try_for_each(|opener| openers.push(opener))?;
    let first = heads.turns.first().map_or(FIRST_EVENT, |turn| turn.event.as_str());
    let mut passages = digest_words::packed(subject.store, subject.key, first)?;
    let put = move |index: &Writer<'_>| {
        index.put_turns(&key, &mut turns)?;
        index.put_passages(&key, &mut passages)?;
        index.put_openers(&key, &mut openers)?;
        index.put_names(&key.agent, &key.id, &heads.names)
    };
    Ok(Product { put: Some(Box::new(put)), ..Product::default() })
}

/// The turns of a session, and the data that it may share with others.
struct Both {
    turns: Turns,
    copied: CopiedTurns,
}

/// Collects turns from events as they come.
pub(crate) struct Turns {
    key: SessionKey,
    /// Rows of finished turns.
    rows: Spool<TurnRow>,
    /// The last turn of each thread. The numbers of a thread never fall.
    open: HashMap<Thread, TurnRow>,
    /// The number of each thread's last earlier turn, used when only new events are read.
    before: HashMap<Thread, u32>,
    passages: Passages,
    known: KnownPassages,
    packed: Spool<PackedPassage>,
}

impl Turns {
    /// Starts at the first turn. Known passages are not packed.
    pub(crate) fn new(key: SessionKey, store: &Store, known: KnownPassages) -> Turns {
        Turns {
            key,
            rows: Spool::new(store.root()),
            open: HashMap::new(),
            before: HashMap::new(),
            passages: Passages::default(),
            known,
            packed: Spool::new(store.root()),
        }
    }

    /// Continues after these events with the last turn and the last passage of each thread.
    fn after(key: SessionKey, store: &Store, last: &Last) -> Turns {
        let mut turns = Turns::new(key, store, KnownPassages::default());
        turns.passages = Passages::after(last.passages.clone());
        for row in &last.turns {
            let thread = Thread::sub(&row.thread);
            turns.before.insert(thread.clone(), row.number);
            turns.open.insert(thread, row.clone());
        }
        turns
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<(), Error> {
        self.passages.push(event);
        for passage in self.passages.take_closed() {
            self.packed.push(&self.pack(&passage)?)?;
        }
        self.count(event)
    }

    fn count(&mut self, event: &Event) -> Result<(), Error> {
        let number = event.turn + self.before.get(&event.thread).copied().unwrap_or(0);
        // Events before the first message belong to no turn.
        if number == 0 {
            return Ok(());
        }
        match self.open.get_mut(&event.thread) {
            Some(row) if row.number == number => {
                row.last = event.id.to_string();
                row.events += 1;
                row.started_at = row.started_at.or(event.ts);
                row.ended_at = row.ended_at.max(event.ts);
            }
            _ => {
                let row = self.opened(event, number);
                if let Some(over) = self.open.insert(event.thread.clone(), row) {
                    self.rows.push(&over)?;
                }
            }
        }
        Ok(())
    }

    fn opened(&self, event: &Event, number: u32) -> TurnRow {
        TurnRow {
            agent: self.key.agent.clone(),
            session: self.key.id.clone(),
            event: event.id.to_string(),
            thread: event.thread.as_str().to_owned(),
            number,
            started_at: event.ts,
            ended_at: event.ts,
            last: event.id.to_string(),
            events: 1,
            live: event.live,
        }
    }

    /// All turns, in the order of each thread, and all passages.
    pub(crate) fn rows(mut self) -> Result<(Spool<TurnRow>, Spool<PackedPassage>), Error> {
        for passage in std::mem::take(&mut self.passages).finish() {
            self.packed.push(&self.pack(&passage)?)?;
        }
        let mut open: Vec<TurnRow> = self.open.into_values().collect();
        open.sort_by(|a, b| a.thread.cmp(&b.thread));
        open.iter().try_for_each(|row| self.rows.push(row))?;
        Ok((self.rows, self.packed))
    }

    fn pack(&self, passage: &Passage) -> Result<PackedPassage, Error> {
        let what = || format!("the words of {}", passage.event());
        PackedPassage::pack(passage, &self.known).map_err(|source| Error::Raw { what: what(), source })
    }
}

/// Adds turns for the new events.
struct Adding(Turns);

impl Making for Adding {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.0.push(event)
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let key = self.0.key.clone();
        let (turns, passages) = self.0.rows()?;
        let (turns, passages) = (turns.all()?, passages.all()?);
        let put = move |index: &Writer<'_>| {
            turns.iter().try_for_each(|turn| index.put_turn(&key, turn))?;
            index.add_passages(&key, &passages)
        };
        Ok(Product { put: Some(Box::new(put)), ..Product::default() })
    }
}

/// Compares the rows of the index with those that the events give.
struct Checking {
    turns: Turns,
    copied: CopiedTurns,
    heads: Heads,
    passages: Vec<PackedPassage>,
}

impl Comparing for Checking {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.copied.push(event)?;
        self.turns.push(event)
    }

    fn difference(self: Box<Self>) -> Result<Option<&'static str>, Error> {
        let Checking { turns, copied, heads, passages: known } = *self;
        let (turns, passages) = turns.rows()?;
        let (mut turns, mut passages) = (turns.all()?, passages.all()?);
        turns.sort_by(|a, b| (&a.thread, a.number).cmp(&(&b.thread, b.number)));
        passages.sort();
        let (openers, names) = copied.rows()?;
        let names: BTreeMap<&String, &NameRow> = names.iter().map(|name| (&name.of, name)).collect();
        Ok(if heads.turns != turns {
            Some("its turns")
        } else if known != passages {
            Some("the words of its turns")
        } else if heads.openers != openers.all()? || !heads.names.iter().eq(names.into_values()) {
            Some("what it has in common with others")
        } else {
            None
        })
    }
}

impl Making for Both {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.copied.push(event)?;
        self.turns.push(event)
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let key = self.turns.key.clone();
        let (mut turns, mut passages) = self.turns.rows()?;
        let (mut openers, names) = self.copied.rows()?;
        let put = move |index: &Writer<'_>| {
            index.put_turns(&key, &mut turns)?;
            index.put_passages(&key, &mut passages)?;
            index.put_openers(&key, &mut openers)?;
            index.put_names(&key.agent, &key.id, &names)
        };
        Ok(Product { put: Some(Box::new(put)), ..Product::default() })
    }
}
