//! Short helpers that build rows for tests.

use retro_model::{LedgerRow, SessionKey, Thread, Timestamp, Usage};

/// A row with this key, at record 1 of the main source.
pub(crate) fn row(key: &str) -> LedgerRow {
    LedgerRow::of(
        key.to_owned(),
        "m:1".parse().unwrap(),
        Thread::main(),
        &Usage { own: 1, ..Usage::default() },
    )
}

/// Builder methods for rows.
pub(crate) trait Say {
    fn model(self, model: &str) -> Self;
    fn at(self, ts: &str) -> Self;
    fn event(self, event: &str) -> Self;
    fn own(self, own: u8) -> Self;
    fn tokens(self, input: u64, output: u64) -> Self;
}

impl Say for LedgerRow {
    fn model(mut self, model: &str) -> Self {
        self.model = Some(model.to_owned());
        self
    }

    fn at(mut self, ts: &str) -> Self {
        self.ts = Some(Timestamp::parse(ts).unwrap());
        self
    }

    fn event(mut self, event: &str) -> Self {
        self.event = event.parse().unwrap();
        self
    }

    fn own(mut self, own: u8) -> Self {
        self.own = own;
        self
    }

    fn tokens(mut self, input: u64, output: u64) -> Self {
        (self.tokens.input, self.tokens.output) = (input, output);
        self
    }
}

/// A session key of `claude`.
pub(crate) fn session(id: &str) -> SessionKey {
    SessionKey::new("claude", id)
}
