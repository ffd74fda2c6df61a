//! The turns of a session: one row for each message that opens one, and the words of each
//! as passages, for search.

pub(crate) mod twins;

use hashbrown::HashMap;
use retro_model::{Event, Passage, SessionKey, Thread};
use retro_search::Passages;
use retro_store::{PackedPassage, TurnRow, Writer};
use twins::Twins;

use super::{Input, Making, Product, Stage, Subject, When, Work};
use crate::Error;

pub(super) const STAGE: Stage = Stage {
    name: "turns",
    version: 4,
    when: When::AppendAndQuiet,
    help: "one row for each turn, and its words",
    inputs: &[Input::Events],
    work: Work::Events(make),
};

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Both { turns: Turns::new(subject.key.clone()), twins: Twins::default() }))
}

/// The turns of a session, and what it has in common with others.
struct Both {
    turns: Turns,
    twins: Twins,
}

/// Collects turns from events as they come. A session has few turns beside its events, so
/// all of them are held.
pub(crate) struct Turns {
    key: SessionKey,
    rows: Vec<TurnRow>,
    open: HashMap<(Thread, u32), usize>,
    /// The number of the last turn of each thread that came before, where only what is new
    /// is seen.
    before: HashMap<Thread, u32>,
    /// Where the last event went: the next one is mostly of the same turn.
    current: Option<(Thread, u32, usize)>,
    passages: Passages,
    packed: Vec<PackedPassage>,
}

impl Turns {
    pub(crate) fn new(key: SessionKey) -> Turns {
        Turns {
            key,
            rows: Vec::new(),
            open: HashMap::new(),
            before: HashMap::new(),
            current: None,
            passages: Passages::default(),
            packed: Vec::new(),
        }
    }

    /// Turns of events that follow these: the last turn and the last passage of each thread
    /// go on.
    pub(crate) fn after(key: SessionKey, last: &[TurnRow], last_passages: Vec<Passage>) -> Turns {
        let mut turns = Turns::new(key);
        turns.passages = Passages::after(last_passages);
        for row in last {
            let thread = Thread::sub(&row.thread);
            turns.before.insert(thread.clone(), row.number);
            turns.open.insert((thread, row.number), turns.rows.len());
            turns.rows.push(row.clone());
        }
        turns
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<(), Error> {
        self.passages.push(event);
        for passage in self.passages.take_closed() {
            self.packed.push(pack(&passage)?);
        }
        self.count(event);
        Ok(())
    }

    fn count(&mut self, event: &Event) {
        let number = event.turn + self.before.get(&event.thread).copied().unwrap_or(0);
        // What comes before the first message belongs to no turn.
        if number == 0 {
            return;
        }
        let at = match &self.current {
            Some((thread, current, at)) if *current == number && *thread == event.thread => *at,
            _ => {
                let key = (event.thread.clone(), number);
                let at = *self.open.entry(key).or_insert(self.rows.len());
                self.current = Some((event.thread.clone(), number, at));
                at
            }
        };
        match self.rows.get_mut(at) {
            Some(row) => {
                row.last = event.id.to_string();
                row.events += 1;
                row.started_at = row.started_at.or(event.ts);
                row.ended_at = row.ended_at.max(event.ts);
            }
            None => self.rows.push(TurnRow {
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
            }),
        }
    }

    /// All turns, by thread and number, and all passages.
    pub(crate) fn rows(mut self) -> Result<(Vec<TurnRow>, Vec<PackedPassage>), Error> {
        self.rows.sort_by(|a, b| (&a.thread, a.number).cmp(&(&b.thread, b.number)));
        for passage in self.passages.finish() {
            self.packed.push(pack(&passage)?);
        }
        Ok((self.rows, self.packed))
    }
}

fn pack(passage: &Passage) -> Result<PackedPassage, Error> {
    let what = || format!("the words of {}", passage.event());
    PackedPassage::pack(passage).map_err(|source| Error::Raw { what: what(), source })
}

impl Making for Both {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.twins.push(event);
        self.turns.push(event)
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let key = self.turns.key.clone();
        let (turns, passages) = self.turns.rows()?;
        let (openers, names) = self.twins.rows();
        let put = move |index: &Writer<'_>| {
            index.put_turns(&key, &turns)?;
            index.put_passages(&key, &passages)?;
            index.put_openers(&key, &openers)?;
            index.put_names(&key.agent, &key.id, &names)
        };
        Ok(Product { output: String::new(), put: Some(Box::new(put)) })
    }
}
