//! The turns of a session: one row for each message that opens one.

pub(crate) mod twins;

use hashbrown::HashMap;
use retro_model::{Event, SessionKey, Thread};
use retro_store::{TurnRow, Writer};
use twins::Twins;

use super::{Input, Making, Product, Stage, Subject, When, Work};
use crate::Error;

pub(super) const STAGE: Stage = Stage {
    name: "turns",
    version: 3,
    when: When::AppendAndQuiet,
    help: "one row for each turn",
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
}

impl Turns {
    pub(crate) fn new(key: SessionKey) -> Turns {
        Turns { key, rows: Vec::new(), open: HashMap::new(), before: HashMap::new(), current: None }
    }

    /// Turns of events that follow these: the last turn of each thread goes on.
    pub(crate) fn after(key: SessionKey, before: &[TurnRow]) -> Turns {
        let mut turns = Turns::new(key);
        for row in before {
            let last = turns.before.entry(Thread::sub(&row.thread)).or_default();
            *last = row.number.max(*last);
        }
        for row in before {
            let thread = Thread::sub(&row.thread);
            if turns.before.get(&thread) == Some(&row.number) {
                turns.open.insert((thread, row.number), turns.rows.len());
                turns.rows.push(row.clone());
            }
        }
        turns
    }

    pub(crate) fn push(&mut self, event: &Event) {
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

    /// All turns, by thread and number.
    pub(crate) fn rows(mut self) -> Vec<TurnRow> {
        self.rows.sort_by(|a, b| (&a.thread, a.number).cmp(&(&b.thread, b.number)));
        self.rows
    }
}

impl Making for Both {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.turns.push(event);
        self.twins.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let key = self.turns.key.clone();
        let rows = self.turns.rows();
        let (openers, names) = self.twins.rows();
        let put = move |index: &Writer<'_>| {
            index.put_turns(&key, &rows)?;
            index.put_openers(&key, &openers)?;
            index.put_names(&key.agent, &key.id, &names)
        };
        Ok(Product { output: String::new(), put: Some(Box::new(put)) })
    }
}
