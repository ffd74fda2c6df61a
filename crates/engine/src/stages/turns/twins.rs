//! What a session may have in common with others: messages that another session has too,
//! because a resume or a fork copied them, and titles of conversations in other files.

use retro_model::{Event, Kind, Origin};
use retro_store::{NameRow, OpenerRow};
use serde_json::Value;

/// Collects what the index compares between sessions.
#[derive(Default)]
pub(crate) struct Twins {
    openers: Vec<OpenerRow>,
    /// Whether an answer proved how sure the log is, for each opener.
    proven: Vec<bool>,
    turn: u32,
    /// A record of the conversation came before.
    has_begun: bool,
    names: Vec<NameRow>,
}

impl Twins {
    pub(crate) fn push(&mut self, event: &Event) {
        self.name(event);
        let uuid = event.native.uuid.as_ref().filter(|_| event.thread.is_main());
        self.has_begun |= uuid.is_some();
        if event.thread.is_main() && event.turn > self.turn {
            self.turn = event.turn;
            self.open(event);
        }
        if let Some(opener) = self.openers.last_mut().filter(|_| event.turn == self.turn) {
            if let Some(uuid) = uuid {
                opener.leaf = Some(uuid.clone());
            }
            if let (Some(usage), Some(proven)) = (&event.usage, self.proven.last_mut())
                && event.kind == Kind::Usage
                && !usage.total
            {
                opener.own = if *proven { opener.own.max(usage.own) } else { usage.own };
                *proven = true;
            }
        }
    }

    fn open(&mut self, event: &Event) {
        let Some(native) = event.native.uuid.clone() else { return };
        let copied_from =
            event.copy_of.as_ref().map(|copy| copy.split('#').next().unwrap_or(copy).to_owned());
        self.openers.push(OpenerRow {
            event: event.id.to_string(),
            native,
            leaf: None,
            own: 0,
            started_at: event.ts,
            copied_from,
        });
        self.proven.push(false);
    }

    /// A title of the conversation that ends at some record. One that follows records of
    /// this session is its own.
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

    /// Openers, and titles for others. A turn without an answer proves as much as the one
    /// before it, or else after it.
    pub(crate) fn rows(mut self) -> (Vec<OpenerRow>, Vec<NameRow>) {
        let first = self.openers.iter().zip(&self.proven).find(|(_, proven)| **proven);
        let mut known = first.map_or(0, |(opener, _)| opener.own);
        for (opener, proven) in self.openers.iter_mut().zip(&self.proven) {
            if *proven {
                known = opener.own;
            } else {
                opener.own = known;
            }
        }
        (self.openers, self.names)
    }
}
