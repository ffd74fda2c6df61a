//! Sessions too large to be held: settled in one pass over raw, and written as they
//! are told.
//!
//! Rows go to the index in pieces, so a question asked meanwhile sees some of them;
//! the stages that would call them current are stamped last, and whoever is stopped
//! in between starts over.

use retro_agents::Agent;
use retro_model::{LedgerRow, SessionKey};
use retro_store::{Index, LedgerWriter, NormalizedWriter, Store, TurnRow};
use std::cell::RefCell;

use crate::capture::turn_rows;
use crate::ledger::Ledger;
use crate::{Error, cold, read, stages};

/// Rows that go to the index at once.
const ROWS_MAX: usize = 2000;

/// What is to be made of a session.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wanted {
    /// The rows of messages that open turns.
    pub turns: bool,
    /// The files of a quiet session: its events, and its ledger.
    pub normalized: bool,
}

/// Reads a session from raw and makes its ledger rows and what else is wanted.
/// The caller holds the lock if files are wanted.
pub(crate) fn settle(
    store: &Store,
    index: &Index,
    agent: &dyn Agent,
    key: &SessionKey,
    wanted: Wanted,
) -> Result<(), Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let content = stages::content(store, &file)?;
    let stamp = stages::stamp(agent, &content);
    index.write(|index| {
        index.clear_responses(key)?;
        if wanted.turns {
            index.clear_turns(key)?;
        }
        Ok(())
    })?;

    let mut turns: Vec<TurnRow> = Vec::new();
    let normalized = wanted.normalized.then(|| store.normalized_writer(key, &stamp)).transpose()?;
    let ledger_file = wanted.normalized.then(|| store.ledger_writer(key)).transpose()?;
    let mut told = Told { index, key, normalized, ledger_file };
    let ledger = RefCell::new(Ledger::new(key));
    read::stream(
        store,
        agent,
        key,
        &mut |out| {
            if wanted.turns {
                turns.extend(turn_rows(key, out));
            }
            match turns.len() > ROWS_MAX {
                true => put_turns(index, &mut turns),
                false => Ok(()),
            }
        },
        &mut |event| {
            if let Some(normalized) = &mut told.normalized {
                normalized.push(&event)?;
            }
            ledger.borrow_mut().push(&event);
            told.rows(&ledger.borrow_mut().take_done())
        },
    )?;
    put_turns(index, &mut turns)?;
    told.rows(&ledger.into_inner().finish())?;
    let Told { normalized, ledger_file, .. } = told;
    normalized.map(NormalizedWriter::finish).transpose()?;
    ledger_file.map(LedgerWriter::finish).transpose()?;
    store.sync_all()?;
    index.write(|index| {
        cold::put_ledger_stage(index, key, &content)?;
        if wanted.turns {
            index.put_stage(key, "turns", agent.parser_version(), &content)?;
        }
        if wanted.normalized {
            let version = stages::by_name("normalized").map_or(0, |stage| stage.version);
            index.put_stage(key, "normalized", version, &stamp)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// Where the events of a session go.
struct Told<'a> {
    index: &'a Index,
    key: &'a SessionKey,
    normalized: Option<NormalizedWriter>,
    ledger_file: Option<LedgerWriter>,
}

impl Told<'_> {
    fn rows(&mut self, rows: &[LedgerRow]) -> Result<(), Error> {
        if rows.is_empty() {
            return Ok(());
        }
        if let Some(file) = &mut self.ledger_file {
            rows.iter().try_for_each(|row| file.push(row))?;
        }
        Ok(self.index.write(|index| index.add_responses(self.key, rows))?)
    }
}

fn put_turns(index: &Index, turns: &mut Vec<TurnRow>) -> Result<(), Error> {
    if !turns.is_empty() {
        index.write(|index| turns.iter().try_for_each(|turn| index.put_turn(turn)))?;
        turns.clear();
    }
    Ok(())
}
