//! The entry of the parser: turns one record into drafts.

use super::state::State;
use super::{chat, documents, events, update};
use crate::{Out, Parse, Part, Record, state};

/// The parser for the records of one source.
pub(super) struct Parser {
    part: Part,
    state: State,
}

impl Parser {
    pub(super) fn new(part: &Part, saved: Option<&[u8]>) -> Parser {
        Parser { part: part.clone(), state: state::load(saved) }
    }
}

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        let session = self.part.session.id.as_str();
        match self.part.source.as_str() {
            "m" => update::read(record, session, &mut self.state, out),
            "chat" => chat::read(record, out),
            "events" => events::read(record, &mut self.state, out),
            key => documents::read(key, session, record, out),
        }
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }
}
