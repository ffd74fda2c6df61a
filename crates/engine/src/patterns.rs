//! What recurs over sessions, kept ready to be asked, and what was decided about it.
//!
//! Candidates are made of the signs that the stage `detect` left, and are a cache. Truth is the
//! catalog (`catalog.rs`), the review log and the queue of decisions (`sink.rs`). `curate.rs`
//! changes them, each write in an order that a stop in between does not hurt.

mod catalog;
mod curate;
mod sink;

use retro_patterns::{Candidate, Corpus, Decision, SessionSigns, cluster};
use retro_store::{DECISION_QUEUE, Journal, REVIEW_LOG, Store};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::stage::{Everything, Seen};

pub(crate) use catalog::bytes_of;
pub use catalog::{Catalog, catalog, export, history};
pub use curate::{Curator, Done, Words};
pub use sink::{Flushed, flush};

/// Bodies: the signs of a session.
pub(crate) const SIGNS: &str = "signs";

/// What was decided about candidates.
pub static REVIEWS: Journal<Decision> = Journal::at(REVIEW_LOG);
/// Decisions that wait for their sink.
pub static QUEUE: Journal<Decision> = Journal::at(DECISION_QUEUE);

/// What recurs, as it is kept.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// How far changes were followed. It comes first: it is read without the rest.
    seen: String,
    schema: String,
    sessions: usize,
    agents: Vec<(String, usize)>,
    candidates: Vec<Candidate>,
}

const SCHEMA: &str = "retro.patterns.candidates/1";

/// What recurs over the sessions of a store.
#[derive(Debug, Clone, Default)]
pub struct Recurring {
    /// Sessions that were looked at.
    pub sessions: usize,
    /// How many real sessions each agent has.
    pub corpus: Corpus,
    /// What recurs, by key.
    pub candidates: Vec<Candidate>,
}

/// What recurs; nothing where it was never looked for, or the file is damaged.
pub fn recurring(store: &Store) -> Result<Recurring, Error> {
    let bytes = store.candidates()?.unwrap_or_default();
    let kept: Kept = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Recurring {
        sessions: kept.sessions,
        corpus: Corpus::of_agents(kept.agents),
        candidates: kept.candidates,
    })
}

/// How far the kept candidates have come.
pub(crate) fn seen(store: &Store) -> Result<Seen, Error> {
    let head = store.candidates_head()?;
    let head = String::from_utf8_lossy(&head);
    let seen = head.strip_prefix("{\"seen\":\"").and_then(|rest| rest.split_once('"'));
    Ok(seen.and_then(|(seen, _)| Seen::parse(seen)).unwrap_or_default())
}

/// Puts the signs of all sessions together again.
pub(crate) fn refresh(all: &Everything<'_>, seen: &Seen) -> Result<(), Error> {
    let excluded = &all.config.detect.value.exclude;
    let rows = all.index.bodies(SIGNS)?;
    let read = |text: &str| serde_json::from_str::<SessionSigns>(text).ok();
    let mut sessions: Vec<SessionSigns> = rows.iter().filter_map(|row| read(&row.text)).collect();
    sessions.retain(|session| session.repo.as_ref().is_none_or(|repo| !excluded.contains(repo)));
    let found = cluster(&sessions);
    let kept = Kept {
        seen: seen.text(),
        schema: SCHEMA.to_owned(),
        sessions: found.sessions,
        agents: found.corpus.agents().to_vec(),
        candidates: found.candidates,
    };
    let bytes = serde_json::to_vec(&kept).map_err(|error| Error::Scratch(error.into()))?;
    Ok(all.store.put_candidates(&bytes)?)
}
