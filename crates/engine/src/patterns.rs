//! Recurring patterns over all sessions, kept ready for queries, and the decisions about them.
//!
//! Candidates are made of the signs that the stage `detect` left, and are a cache. Truth is the
//! catalog (`catalog.rs`), the review log and the queue of decisions (`sink.rs`). `curate.rs`
//! changes them in an order that makes a stop between two writes harmless.

mod catalog;
mod curate;
mod sink;

use retro_patterns::{Candidate, Corpus, Decision, SessionSigns, cluster};
use retro_store::{DECISION_QUEUE, Journal, REVIEW_LOG, Store};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

use crate::Error;
use crate::stage::{Everything, Seen};

pub(crate) use catalog::bytes_of;
pub use catalog::{Catalog, catalog, export, history};
pub use curate::{Curator, Done, Words};
pub use sink::{Flushed, flush};

/// Name of the bodies that hold the signs of a session.
pub(crate) const SIGNS: &str = "signs";

/// Decisions about candidates.
pub static REVIEWS: Journal<Decision> = Journal::at(REVIEW_LOG);
/// Decisions that wait for their sink.
pub static QUEUE: Journal<Decision> = Journal::at(DECISION_QUEUE);

/// The file of candidates.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    /// The last change that was followed. This field comes first, so that it can be read alone.
    seen: String,
    schema: String,
    sessions: usize,
    agents: Vec<(String, usize)>,
    candidates: Vec<Candidate>,
}

const SCHEMA: &str = "retro.patterns.candidates/1";

/// Recurring patterns over the sessions of a store.
#[derive(Debug, Clone, Default)]
pub struct Recurring {
    /// Number of sessions examined.
    pub sessions: usize,
    /// Number of real sessions of each agent.
    pub corpus: Corpus,
    /// Candidates for patterns, by key.
    pub candidates: Vec<Candidate>,
}

/// Reads the candidates. Empty if none were ever made, or the file is damaged.
pub fn recurring(store: &Store) -> Result<Recurring, Error> {
    let bytes = store.candidates()?.unwrap_or_default();
    let kept: Kept = serde_json::from_slice(&bytes).unwrap_or_default();
    Ok(Recurring {
        sessions: kept.sessions,
        corpus: Corpus::of_agents(kept.agents),
        candidates: kept.candidates,
    })
}

/// The last change that the candidates include.
pub(crate) fn seen(store: &Store) -> Result<Seen, Error> {
    let head = store.candidates_head()?;
    let head = String::from_utf8_lossy(&head);
    let seen = head.strip_prefix("{\"seen\":\"").and_then(|rest| rest.split_once('"'));
    Ok(seen.and_then(|(seen, _)| Seen::parse(seen)).unwrap_or_default())
}

/// Leaves out the sessions of these projects, with their sub-agents wherever those ran.
fn leave_out(sessions: &mut Vec<SessionSigns>, projects: &[String]) {
    if projects.is_empty() {
        return;
    }
    let is_of = |session: &SessionSigns| session.repo.as_ref().is_some_and(|repo| projects.contains(repo));
    let out: HashSet<(String, String)> = sessions
        .iter()
        .filter(|session| is_of(session))
        .map(|session| (session.agent.clone(), session.session_id.clone()))
        .collect();
    sessions.retain(|session| {
        let (agent, root) = session.root();
        !is_of(session) && !out.contains(&(agent.to_owned(), root.to_owned()))
    });
}

/// Makes the candidates again from the signs of all sessions.
pub(crate) fn refresh(all: &Everything<'_>, seen: &Seen) -> Result<(), Error> {
    let excluded = &all.config.detect.value.exclude;
    let rows = all.index.bodies(SIGNS)?;
    let read = |text: &str| serde_json::from_str::<SessionSigns>(text).ok();
    let mut sessions: Vec<SessionSigns> = rows.iter().filter_map(|row| read(&row.text)).collect();
    leave_out(&mut sessions, excluded);
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
