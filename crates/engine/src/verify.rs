//! Checks a store: its files by their checksums, and with `deep` also the index, compared with the
//! raw files.
//!
//! SQLite checks the shape of its pages but not their contents. Everything in the index can be made
//! again from raw, and the comparison finds a flipped letter. A row that is merely behind is not a
//! problem: a sync was stopped, and the next one updates it.

use rayon::prelude::*;
use retro_agents::{Agent, settle_each};
use retro_model::{Event, SessionKey, SourceKind};
use retro_search::vectors::Vectors;
use retro_store::{BadLine, Index, Made, Problem, Report, SessionRow, SourceEntry, SourceRow, Store};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use crate::budget::{Budget, HELD_BYTES_MAX};
use crate::capture::{Captured, Reading, read_back};
use crate::catalog::Catalog;
use crate::session_row::{facts_of, merged_facts};
use crate::stage::StampInputs;
use crate::stages::{Comparing, STAGES, Stage};
use crate::stamp::stamp;
use crate::{Config, Error, agent_of, lost, memory, read, reconcile};

/// Checks the files of a store, and whether the raw files hold the captured bytes.
pub fn files(store: &Store, deep: bool, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
    let mut report = store.verify(deep, progress)?;
    if store.has_foreign_index() {
        let what = "it is the index of another store".to_owned();
        let help = "the next `retro sync` makes a new one".to_owned();
        report.problems.push(Problem { path: store.index_path(), what, help });
    }
    let named: HashSet<PathBuf> = report.problems.iter().map(|problem| problem.path.clone()).collect();
    report.problems.extend(lost::problems(store)?.into_iter().filter(|lost| !named.contains(&lost.path)));
    Ok(report)
}

/// Checks a store without changing it.
pub fn verify(store: &Store, deep: bool, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
    let mut report = files(store, deep, progress)?;
    report.problems.extend(decision_problems(store)?);
    if !deep || !report.problems.is_empty() {
        // Damaged files cannot be compared.
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
    report.problems.extend(vectors_problem(store));
    Ok(report)
}

/// Reports unreadable decisions about memories, because a rejected memory might be shown. A line
/// torn by a power cut was never confirmed, so it is skipped.
pub fn decision_problems(store: &Store) -> Result<Vec<Problem>, Error> {
    let bad = memory::unreadable_decisions(store)?;
    let help = "correct the line by hand, or take it out and decide again".to_owned();
    Ok(bad
        .into_iter()
        .filter(|bad| !bad.is_torn)
        .map(|BadLine { path, line, what, .. }| Problem {
            path,
            what: format!("line {line}: {what}"),
            help: help.clone(),
        })
        .collect())
}

/// Reports a damaged file of vectors.
fn vectors_problem(store: &Store) -> Option<Problem> {
    let folder = store.vectors_folder();
    let what = match Vectors::is_current_damaged(&folder) {
        true => "the file that names the vectors is not what was written".to_owned(),
        false => match Vectors::there(&folder)?.is_whole() {
            Ok(true) => return None,
            Ok(false) => "the vectors are not what was written".to_owned(),
            Err(error) => error.to_string(),
        },
    };
    let help = "they are only a cache: `retro rebuild vectors` makes them again".to_owned();
    Some(Problem { path: store.vectors_folder(), what, help })
}

/// The rows of one session in the index.
struct Known {
    key: SessionKey,
    session: Option<SessionRow>,
    sources: Vec<SourceRow>,
    made: BTreeMap<String, Made>,
    /// Stages that can compare their rows.
    comparing: Vec<(&'static Stage, Box<dyn Comparing>)>,
}

/// Sessions whose rows are held at the same time.
const SESSIONS_AT_ONCE: usize = 64;

fn index_problems(store: &Store, index: &Index) -> Result<Vec<Problem>, Error> {
    // Each session is held twice: its rows from the index and from the raw files.
    let budget = Budget::new(HELD_BYTES_MAX / 2);
    let one = |known: Known| {
        let _held = budget.take(known.sources.iter().map(|source| source.end).sum());
        difference(store, known)
    };
    let is_of_now = index.marks()? == store.marks();
    let mut problems = stamp_problems(store, index)?;
    for keys in store.session_keys()?.chunks(SESSIONS_AT_ONCE) {
        // A stop between the files and the index is no problem: the next sync compares them.
        for key in keys.iter().filter(|_| is_of_now) {
            problems.extend(ledger_problem(store, index, key)?);
        }
        let known = keys.iter().map(|key| known(store, index, key)).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<Result<Option<Problem>, Error>> = known.into_par_iter().map(one).collect();
        for result in found {
            problems.extend(result?);
        }
    }
    Ok(problems)
}

fn known(store: &Store, index: &Index, key: &SessionKey) -> Result<Known, Error> {
    // Read first, so that a concurrent sync shows as a difference to raw.
    let sources = index.sources_of(key)?;
    let (made, session) = (index.made_of(key)?, index.session_row(key)?);
    let mut comparing = Vec::new();
    for stage in STAGES {
        if let Some(compare) = stage.compare {
            comparing.push((stage, compare(store, index, key)?));
        }
    }
    Ok(Known { key: key.clone(), session, sources, made, comparing })
}

/// Reports a ledger file that has other rows than the session's log.
fn ledger_problem(store: &Store, index: &Index, key: &SessionKey) -> Result<Option<Problem>, Error> {
    if !reconcile::is_foreign_ledger(store, index, key)? {
        return Ok(None);
    }
    let what = format!("it is not the ledger of {key}");
    let help = "`retro doctor --fix` makes it again where the raw bytes are there".to_owned();
    Ok(Some(Problem { path: store.ledger_path(key), what, help }))
}

/// Reports stamps of files that do not belong to the session they name, and unreadable rows. The
/// size and time of a stamp are not checked: if they are wrong, the file is read again.
fn stamp_problems(store: &Store, index: &Index) -> Result<Vec<Problem>, Error> {
    index.mark()?;
    index.marks()?;
    index.disk_bytes()?;
    index.failures()?;
    let mut problems = Vec::new();
    for row in index.stamps()?.iter() {
        let (path, Some(id)) = (&row.path, row.session.as_deref()) else { continue };
        let file = store.session(&SessionKey::new(&row.agent, id))?;
        let entry = file.as_ref().and_then(|file| file.sources.get(&row.source));
        // A session file that was made again does not list the places of its sources.
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

/// The first difference between a session's rows and its raw files.
fn difference(store: &Store, mut known: Known) -> Result<Option<Problem>, Error> {
    let Some(agent) = agent_of(&known.key) else { return Ok(None) };
    let mut told = match read_back(store, agent, &known.key, 0) {
        Err(error) if error.is_of_one_session() => return Ok(None),
        told => told?,
    };
    let current = |row: &SourceRow| {
        let same = |told: &&SourceRow| {
            (&told.source, told.revision, told.end) == (&row.source, row.revision, row.end)
        };
        row.parser_version == agent.reading_version() && told.sources.iter().any(|told| same(&told))
    };
    if known.sources.len() != told.sources.len() || !known.sources.iter().all(current) {
        return Ok(None);
    }
    let what = if !known.sources.iter().zip(&told.sources).all(|(row, told)| same_source(row, told)) {
        Some("how far its sources were read")
    } else if known.session.as_ref().is_none_or(|row| !same_session(row, &told)) {
        Some("the session")
    } else {
        difference_of_stages(store, agent, &mut known, &mut told)?
    };
    let Some(what) = what else { return Ok(None) };
    let what = format!("what it says of {} ({what}) is not what its raw files say", known.key);
    Ok(Some(problem(store, what)))
}

/// The first stage whose current rows differ from the events, named by its comparison.
fn difference_of_stages(
    store: &Store,
    agent: &'static dyn Agent,
    known: &mut Known,
    told: &mut Captured,
) -> Result<Option<&'static str>, Error> {
    let config = Config::for_root(store.root());
    let is_current = |stage: &Stage| {
        let stamp = |is_quiet| {
            let inputs = StampInputs::of_events(&config, agent, &told.session.content);
            stamp(stage, StampInputs { is_quiet, ..inputs }, &known.made)
        };
        let made = known.made.get(stage.name).map(|made| &made.stamp);
        made.is_some_and(|made| *made == stamp(true) || *made == stamp(false))
    };
    let mut comparing: Vec<Box<dyn Comparing>> = std::mem::take(&mut known.comparing)
        .into_iter()
        .filter(|(stage, _)| is_current(stage))
        .map(|(_, comparing)| comparing)
        .collect();
    let mut take = |event: &Event| comparing.iter_mut().try_for_each(|comparing| comparing.event(event));
    match std::mem::replace(&mut told.read, Reading::Nothing) {
        Reading::Whole(sources) => {
            let mut taken = Ok(());
            settle_each(agent, &known.key, sources, &mut |event| {
                if taken.is_ok() {
                    taken = take(&event);
                }
            });
            taken?;
        }
        _ => drop(read::stream(store, agent, &known.key, &|| false, &mut |event| take(&event))?),
    }
    for comparing in comparing {
        if let Some(what) = comparing.difference()? {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

fn problem(store: &Store, what: String) -> Problem {
    let help = "it is only a cache: `retro rebuild` makes it again".to_owned();
    Problem { path: store.index_path(), what, help }
}

/// Compares merged facts, because the bytes do not show which facts came with the last append.
fn same_source(row: &SourceRow, told: &SourceRow) -> bool {
    let facts = |row: &SourceRow| facts_of(row).map(|facts| merged_facts([facts].into_iter()));
    // The bytes do not show the seals of a folder's files either.
    let state = if row.kind == SourceKind::Files { row.state.clone() } else { told.state.clone() };
    facts(row).is_some()
        && facts(row) == facts(told)
        && (row.kind != SourceKind::Files || Catalog::is_same_kept(&row.state, &told.state))
        && *row == SourceRow { facts: row.facts.clone(), state, ..told.clone() }
}

/// Compares all fields except the modification time, which is not in the bytes.
fn same_session(row: &SessionRow, told: &Captured) -> bool {
    *row == SessionRow { mtime_ns: row.mtime_ns, ..told.session.clone() }
}
