//! State that a folder keeps between builds.

use retro::engine::damage::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::Error;
use crate::folder::{Folder, STATE};
use crate::session::Summary;

/// Increment it when chunks change but the page does not.
const SCHEMA: u32 = 4;

/// The state after a build.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub schema: u32,
    /// Identifies all inputs of the chunks except the sessions.
    pub fingerprint: String,
    /// The last change of the index that was seen.
    pub series: String,
    pub number: u64,
    /// State of each session, by chunk name.
    pub sessions: BTreeMap<String, Known>,
    /// Segments of words, oldest first: number and shards.
    pub segments: Vec<(u32, u32)>,
    /// Identifies the inputs of each month's signals.
    pub signals: BTreeMap<String, String>,
    /// The segment that contains the words of each session.
    pub words: BTreeMap<String, u32>,
    /// The problem of each session in the store, by agent and id.
    pub looked: BTreeMap<String, Option<Trouble>>,
    /// Time and result of the last check of the store's files.
    pub verified: Option<(i64, String)>,
    /// Hashes of the chunks over all sessions, by name.
    pub hashes: BTreeMap<String, String>,
    /// Identifies the state of store and logs. Empty during a build.
    pub standing: String,
    /// Until this time the result depends only on its inputs, in milliseconds since 1970.
    pub good_until_ms: i64,
}

/// State of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Known {
    /// Number and cost of its responses. If these change, so do its chunks.
    pub money: (u64, i64),
    /// Identifies the digest it was built from.
    pub digest: String,
    /// Names of its pictures.
    pub pictures: Vec<String>,
    /// The summary that lists show.
    pub summary: Summary,
}

impl State {
    /// The state of the last build if its inputs match, else an empty state.
    pub fn read(folder: &Folder, fingerprint: &str) -> State {
        let read = folder.read(STATE).and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
        let fits = |state: &State| state.schema == SCHEMA && state.fingerprint == fingerprint;
        read.filter(fits).unwrap_or_else(|| State {
            schema: SCHEMA,
            fingerprint: fingerprint.to_owned(),
            ..State::default()
        })
    }

    /// All problems of sessions.
    pub fn troubles(&self) -> Vec<Trouble> {
        self.looked.values().flatten().cloned().collect()
    }

    /// The state as JSON.
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| Error::Json(error.to_string()))
    }
}
