//! Turns: a user's message and all that follows on its thread up to the next.

use crate::{Event, Thread, Timestamp};

/// One turn of one thread, as a view into the settled events of a session.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    /// Line of work.
    pub thread: &'a Thread,
    /// Number on that thread; 0 is what comes before the first message.
    pub number: u32,
    /// Its events in order. Never empty.
    pub events: Vec<&'a Event>,
}

impl Turn<'_> {
    /// When it began, if the log says so.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.events.iter().filter_map(|event| event.ts).min()
    }
}

/// The turns of a settled stream, in the order in which they begin.
pub fn turns(events: &[Event]) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut open = std::collections::HashMap::new();
    for event in events {
        let index = *open.entry((&event.thread, event.turn)).or_insert_with(|| {
            turns.push(Turn { thread: &event.thread, number: event.turn, events: Vec::new() });
            turns.len() - 1
        });
        turns[index].events.push(event);
    }
    turns
}
