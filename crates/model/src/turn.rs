//! Turns: a user's message and everything after it on its thread, up to the next message.

use crate::{Event, Thread, Timestamp};

/// One turn of one thread, as a view into the settled events of a session.
#[derive(Debug, Clone)]
pub struct Turn<'a> {
    /// The thread of the turn.
    pub thread: &'a Thread,
    /// Number on that thread. 0 for events before the first message.
    pub number: u32,
    /// Its events in order. Never empty.
    pub events: Vec<&'a Event>,
}

impl Turn<'_> {
    /// When it began, if the log has times.
    pub fn started_at(&self) -> Option<Timestamp> {
        self.events.iter().filter_map(|event| event.ts).min()
    }
}

/// The turns of a settled stream, in order of their beginnings.
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
