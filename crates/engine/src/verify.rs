//! Looking through a store: its files by their checksums, and with `deep` also the
//! index, held against what the raw files say.
//!
//! SQLite checks the shape of its pages, not what stands in them. Since everything in
//! the index can be made again from raw, that is how a flipped letter in it is found.
//! A row that is only behind is no problem: a sync was stopped, and the next one
//! brings it up to date.

use rayon::prelude::*;
use retro_agents::{Out, settle};
use retro_model::{Event, EventId, LedgerRow, SessionKey};
use retro_store::{Index, Problem, Report, SessionRow, SourceEntry, SourceRow, Store, TurnRow};
use std::collections::BTreeMap;

use crate::capture::{Captured, facts_of, merged_facts, told_by_raw, turn_rows};
use crate::ledger::Ledger;
use crate::sync::{STORE_BYTES, agent_of};
use crate::{Error, ledger, read, stages, upkeep};

/// Looks through a store without changing it.
pub fn verify(store: &Store, deep: bool, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
    let mut report = store.verify(deep, progress)?;
    if !deep || !report.problems.is_empty() {
        // What does not read back cannot be compared with.
        return Ok(report);
    }
    if let Some(index) = store.index_if_there()? {
        progress("what the index says");
        match index_problems(store, &index) {
            Err(Error::Store(error @ retro_store::Error::Index { .. })) => {
                report.problems.push(problem(store, error.to_string()));
            }
            found => report.problems.extend(found?),
        }
    }
    Ok(report)
}

/// What the index holds of one session.
struct Known {
    key: SessionKey,
    session: Option<SessionRow>,
    sources: Vec<SourceRow>,
    turns: Option<Vec<TurnRow>>,
    /// From what its ledger was made, and the rows.
    ledger: Option<(String, Vec<LedgerRow>)>,
}

fn index_problems(store: &Store, index: &Index) -> Result<Vec<Problem>, Error> {
    let mut known = Vec::new();
    for key in store.session_keys()? {
        // First, so that whatever a sync changes meanwhile shows as a difference to raw.
        let sources = index.sources_of(&key)?;
        let captured = index.stage_of(&key, "capture")?;
        let turns = match (index.stage_of(&key, "turns")?, &captured) {
            (Some((_, input)), Some((_, content))) if input == *content => Some(index.turns_of(&key)?),
            _ => None,
        };
        let ledger = match index.stage_of(&key, "ledger")? {
            Some((_, input)) => Some((input, index.responses_of(&key)?)),
            None => None,
        };
        let session = index.session_row(&key)?;
        known.push(Known { session, sources, turns, ledger, key });
    }
    let found: Vec<Result<Option<Problem>, Error>> =
        known.par_iter().map(|known| difference(store, known)).collect();
    let mut problems = stamp_problems(store, index)?;
    for result in found {
        problems.extend(result?);
    }
    Ok(problems)
}

/// Stamps of files that belong to no session they name, and rows that cannot be read.
/// Size and time of a stamp are not checked: if they are wrong, the file is looked at.
fn stamp_problems(store: &Store, index: &Index) -> Result<Vec<Problem>, Error> {
    for name in [upkeep::KEY, STORE_BYTES] {
        index.meta(name)?;
    }
    index.failures()?;
    let mut problems = Vec::new();
    for row in index.stamps()?.iter() {
        let (path, Some(id)) = (&row.path, row.session.as_deref()) else { continue };
        let file = store.session(&SessionKey::new(&row.agent, id))?;
        let entry = file.as_ref().and_then(|file| file.sources.get(&row.source));
        // Where a source lay is not known of a session file that was made anew.
        let fits = |entry: &SourceEntry| {
            entry.places.is_empty() || entry.places.contains(path.to_string_lossy().as_ref())
        };
        if !entry.is_some_and(fits) {
            problems.push(problem(
                store,
                format!("what it says of {} is not what its session file says", path.display()),
            ));
        }
    }
    Ok(problems)
}

/// What of a session's rows is not what its raw files say.
fn difference(store: &Store, known: &Known) -> Result<Option<Problem>, Error> {
    let Some(agent) = agent_of(&known.key) else { return Ok(None) };
    let (file, mut told) = told_by_raw(store, agent, &known.key, 0)?;
    if file.evicted_at.is_some() {
        return Ok(None);
    }
    let current = |row: &SourceRow| {
        let same = |told: &&SourceRow| {
            (&told.source, told.revision, told.end) == (&row.source, row.revision, row.end)
        };
        row.parser_version == agent.parser_version() && told.sources.iter().any(|told| same(&told))
    };
    if known.sources.len() != told.sources.len() || !known.sources.iter().all(current) {
        return Ok(None);
    }
    // What was too much to be held is read again, in one pass for both.
    let ledger = match told.whole.take() {
        Some(sources) => ledger::rows(&known.key, &settle(agent, &known.key, sources).events),
        None => {
            let mut ledger = Ledger::new(&known.key);
            told.turns.clear();
            let turns = &mut told.turns;
            let mut read = |out: &Out| {
                turns.extend(turn_rows(&known.key, out));
                Ok(())
            };
            let mut hear = |event: Box<Event>| {
                ledger.push(&event);
                Ok(())
            };
            read::stream(store, agent, &known.key, &mut read, &mut hear)?;
            ledger.finish()
        }
    };
    let what = if !known.sources.iter().zip(&told.sources).all(|(row, told)| same_source(row, told)) {
        "how far its sources were read"
    } else if known.session.as_ref().is_none_or(|row| !same_session(row, &told)) {
        "the session"
    } else if known.turns.as_ref().is_some_and(|turns| *turns != earliest(&told.turns)) {
        "its turns"
    } else if let Some((input, rows)) = &known.ledger
        && *input == stages::ledger_input(agent, &told.content)
        && *rows != in_order(ledger)
    {
        "its costs"
    } else {
        return Ok(None);
    };
    let what = format!("what it says of {} ({what}) is not what its raw files say", known.key);
    Ok(Some(problem(store, what)))
}

fn problem(store: &Store, what: String) -> Problem {
    let help = "it is only a cache: `retro rebuild` makes it anew".to_owned();
    Problem { path: store.index_path(), what, help }
}

/// Which facts came with the last append is not in the bytes, only all of them are.
fn same_source(row: &SourceRow, told: &SourceRow) -> bool {
    merged_facts([facts_of(row)].into_iter()) == merged_facts([facts_of(told)].into_iter())
        && *row == SourceRow { facts: row.facts.clone(), ..told.clone() }
}

/// When a file was last changed is not in its bytes.
fn same_session(row: &SessionRow, told: &Captured) -> bool {
    *row == SessionRow { mtime_ns: row.mtime_ns, ..told.session.clone() }
}

/// Of messages that stand in the log twice the earliest, as the index keeps them.
fn earliest(turns: &[TurnRow]) -> Vec<TurnRow> {
    let mut by_identity: BTreeMap<&str, &TurnRow> = BTreeMap::new();
    for turn in turns {
        let kept = by_identity.entry(&turn.identity).or_insert(turn);
        if turn.place <= kept.place {
            *kept = turn;
        }
    }
    let mut earliest: Vec<TurnRow> = by_identity.into_values().cloned().collect();
    earliest.sort_by(|a, b| a.place.cmp(&b.place));
    earliest
}

/// The ledger in the order of the index: by event and key.
fn in_order(rows: Vec<LedgerRow>) -> Vec<LedgerRow> {
    let by_place: BTreeMap<(EventId, String), LedgerRow> =
        rows.into_iter().map(|row| ((row.event.clone(), row.key.clone()), row)).collect();
    by_place.into_values().collect()
}
