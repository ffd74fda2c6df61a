//! Finds data that a session may share with others: messages that a resume or a fork copied, and
//! titles of conversations in other files.

use retro_model::{Event, Kind, Origin};
use retro_store::{NameRow, OpenerRow, Spool, Store};
use serde_json::Value;

use crate::Error;

/// Collects the rows that the index compares between sessions.
pub(crate) struct CopiedTurns {
    /// Openers of finished turns.
    openers: Spool<OpenerRow>,
    /// Openers before the first answer that proves anything.
    unproven: Vec<OpenerRow>,
    /// The proof of the last answer: how sure the log is that a turn is its own.
    known: Option<u8>,
    /// The opener of the last turn, and the proof of the answers in it.
    last: Option<(OpenerRow, Option<u8>)>,
    turn: u32,
    /// True once a record of the conversation has come.
    has_begun: bool,
    names: Vec<NameRow>,
}

impl CopiedTurns {
    pub(crate) fn new(store: &Store) -> CopiedTurns {
        CopiedTurns {
            openers: Spool::new(store.root()),
            unproven: Vec::new(),
            known: None,
            last: None,
            turn: 0,
            has_begun: false,
            names: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, event: &Event) -> Result<(), Error> {
        self.name(event);
        let uuid = event.native.uuid.as_ref().filter(|_| event.thread.is_main());
        self.has_begun |= uuid.is_some();
        if event.thread.is_main() && event.turn > self.turn {
            self.turn = event.turn;
            self.open(event)?;
        }
        if let Some((opener, proven)) = self.last.as_mut().filter(|_| event.turn == self.turn) {
            if let Some(uuid) = uuid {
                opener.leaf = Some(uuid.clone());
            }
            if let Some(usage) = &event.usage
                && event.kind == Kind::Usage
                && !usage.total
            {
                *proven = Some(proven.map_or(usage.own, |own| own.max(usage.own)));
            }
        }
        Ok(())
    }

    fn open(&mut self, event: &Event) -> Result<(), Error> {
        let Some(native) = event.native.uuid.clone() else { return Ok(()) };
        let copied_from =
            event.copy_of.as_ref().map(|copy| copy.split('#').next().unwrap_or(copy).to_owned());
        self.close()?;
        let opener = OpenerRow {
            event: event.id.to_string(),
            native,
            leaf: None,
            own: 0,
            started_at: event.ts,
            copied_from,
        };
        self.last = Some((opener, None));
        Ok(())
    }

    /// Ends the last turn. A turn without an answer takes the proof of the turn before it, or else
    /// of the one after it.
    fn close(&mut self) -> Result<(), Error> {
        let Some((mut opener, proven)) = self.last.take() else { return Ok(()) };
        self.known = proven.or(self.known);
        let Some(known) = self.known else {
            self.unproven.push(opener);
            return Ok(());
        };
        for mut before in self.unproven.drain(..) {
            before.own = known;
            self.openers.push(&before)?;
        }
        opener.own = known;
        Ok(self.openers.push(&opener)?)
    }

    /// Records a title of a conversation that ends at some record. A title after records of this
    /// session is its own.
    fn name(&mut self, event: &Event) {
        if event.kind == Kind::Note
            && event.origin == Origin::Model
            && !self.has_begun
            && let Some(title) = &event.text
            && let Some(leaf) =
                event.data.as_ref().and_then(|data| data.get("leafUuid")).and_then(Value::as_str)
        {
            self.names.push(NameRow { of: leaf.to_owned(), is_leaf: true, title: title.to_string() });
        }
    }

    /// Returns the openers, and the titles for other sessions.
    pub(crate) fn rows(mut self) -> Result<(Spool<OpenerRow>, Vec<NameRow>), Error> {
        self.close()?;
        self.unproven.iter().try_for_each(|opener| self.openers.push(opener))?;
        Ok((self.openers, self.names))
    }
}
