//! The usage of model runs: `headless/tokens.jsonl` in the store, one line for each run.
//!
//! The programs write no session of these runs, so this journal is the only record: the daily
//! budget and the row of `retro usage` come from here.

use retro_model::{EventId, LedgerRow, Part, SessionKey, SourceKey, Thread, Timestamp, Tokens, Usage};
use retro_store::{Journal, Lock, Store};
use retro_usage::SharedRow;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

use super::Miner;
use crate::Error;

/// The journal of model runs.
static SPENT: Journal<Spent> = Journal::at(retro_store::SPENT);

/// The usage of one run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Spent {
    at: Option<Timestamp>,
    method: String,
    /// The session that was mined.
    agent: String,
    session_id: String,
    model: Option<String>,
    /// Total number of tokens.
    tokens: u64,
    /// Tokens of each kind.
    used: Tokens,
}

impl Spent {
    /// A run that has just ended.
    pub fn new(at: Timestamp, miner: Miner, key: &SessionKey, model: Option<String>, used: Tokens) -> Spent {
        Spent {
            at: Some(at),
            method: miner.method(),
            agent: key.agent.clone(),
            session_id: key.id.clone(),
            model,
            tokens: used.total(),
            used,
        }
    }

    /// Appends the run to the journal.
    pub fn keep(&self, store: &Store, lock: &Lock) -> Result<(), Error> {
        Ok(SPENT.append(lock, store, std::slice::from_ref(self))?)
    }

    /// The run as a response of a model, listed with those of the mined session.
    fn row(self, number: u64) -> SharedRow {
        let usage = Usage { tokens: self.used, ..Usage::default() };
        let event =
            EventId { source: SourceKey::new("mine"), revision: 1, record: number, part: Part::Whole };
        let mut row = LedgerRow::of(format!("retro:mine:{number}"), event, Thread::main(), &usage);
        row.ts = self.at;
        row.model = self.model;
        row.provider = Miner::by_method(&self.method).map(|miner| miner.provider().to_owned());
        (Arc::new(SessionKey::new(self.agent, self.session_id)), Arc::new(row))
    }
}

/// Removes the lines of these sessions from the journal. Returns the number of lines removed. The
/// caller holds the lock.
pub(crate) fn forget(store: &Store, keys: &[SessionKey]) -> Result<u64, Error> {
    let masked = std::cell::Cell::new(0);
    SPENT.change(store, |spent: &Spent| {
        let is_of = |key: &SessionKey| key.agent == spent.agent && key.id == spent.session_id;
        let is_gone = keys.iter().any(is_of);
        masked.set(masked.get() + u64::from(is_gone));
        (!is_gone).then(|| spent.clone())
    })?;
    Ok(masked.get())
}

/// Tokens used on the day of `now`, in UTC.
pub fn tokens_on(store: &Store, now: Timestamp) -> Result<u64, Error> {
    let day = |at: Timestamp| at.as_millis().div_euclid(86_400_000);
    let (all, _) = SPENT.read(store)?;
    let today = all.iter().filter(|spent| spent.at.is_some_and(|at| day(at) == day(now)));
    Ok(today.map(|spent| spent.tokens).sum())
}

/// Every run as a response of a model. Skips unreadable lines.
pub(crate) fn rows(store: &Store) -> Result<Vec<SharedRow>, Error> {
    let (all, _) = SPENT.read(store)?;
    Ok((1..).zip(all).map(|(number, spent)| spent.row(number)).collect())
}
