//! The entry of the parser: turns one record into drafts.
//!
//! Chain records (`user`, `assistant`, `system`, `attachment`, and `progress` up to 2.1.79) have a
//! uuid and refer to each other. Their common fields are read once, into a [`Chain`], and each
//! family is parsed in its own file. All other records are side records. `documents` reads the
//! small documents beside the logs.

use retro_model::Thread;

use super::line::Chain;
use super::state::State;
use super::{assistant, attachment, documents, ground, progress, side, system, user};
use crate::{Format, Out, Parse, Part, Record, field, state};

/// The parser for the records of one source.
pub(super) struct Parser {
    part: Part,
    /// The thread of records that do not name one.
    home: Thread,
    state: State,
}

impl Parser {
    pub(super) fn new(part: &Part, saved: Option<&[u8]>) -> Parser {
        let home = match part.source.as_str().strip_prefix("agent-") {
            Some(agent) => Thread::sub(agent),
            None => Thread::main(),
        };
        Parser { part: part.clone(), home, state: state::load(saved) }
    }
}

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        if self.part.format == Format::Json {
            return documents::read(self.part.source.as_str(), record, out);
        }
        match field::text(record.json, "type") {
            Some(kind @ ("user" | "assistant" | "system" | "attachment" | "progress")) => {
                let chain = Chain::read(record, &self.home);
                ground::see(&chain, &mut self.state, out);
                match kind {
                    "user" => user::read(&chain, &mut self.state, out),
                    "assistant" => assistant::read(&chain, &mut self.state, out),
                    "system" => system::read(&chain, &mut self.state, out),
                    "attachment" => attachment::read(&chain, &mut self.state, out),
                    _ => progress::read(&chain, &mut self.state, out),
                }
            }
            kind => side::read(kind.unwrap_or_default(), record, &self.home, &mut self.state, out),
        }
    }

    fn save(&self) -> Vec<u8> {
        state::save(&self.state)
    }
}
