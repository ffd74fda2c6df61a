//! What a folder remembers between two builds.

use retro::engine::trouble::Trouble;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use crate::Error;
use crate::folder::{Folder, STATE};
use crate::session::Summary;

/// Raise it when chunks change without a change of the page.
const SCHEMA: u32 = 4;

/// What a build left.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct State {
    pub schema: u32,
    /// Names everything but the sessions that chunks are made from.
    pub fingerprint: String,
    /// How far the changes of the index were seen.
    pub series: String,
    pub number: u64,
    /// What is known of each session, by name of its chunks.
    pub sessions: BTreeMap<String, Known>,
    /// Segments of words, oldest first: number and shards.
    pub segments: Vec<(u32, u32)>,
    /// What the signals of each month were made from.
    pub signals: BTreeMap<String, String>,
    /// The segment in which the words of each session are.
    pub words: BTreeMap<String, u32>,
    /// What is wrong with each session of the store, by agent and id.
    pub looked: BTreeMap<String, Option<Trouble>>,
    /// When the files of the store were last looked through, and what came of it.
    pub verified: Option<(i64, String)>,
    /// What the chunks over all sessions were made of, by name.
    pub hashes: BTreeMap<String, String>,
    /// What the store and the logs looked like; empty while a build is under way.
    pub standing: String,
    /// Until when the clock alone changes nothing, in milliseconds since 1970.
    pub good_until_ms: i64,
}

/// What is known of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Known {
    /// Its responses and their cost: if these differ, its chunks do.
    pub money: (u64, i64),
    /// Names the digest that it was made from.
    pub digest: String,
    /// Its pictures.
    pub pictures: Vec<String>,
    /// What lists show of it.
    pub summary: Summary,
}

impl State {
    /// What the last build left, if it was made from the same things; else nothing.
    pub fn read(folder: &Folder, fingerprint: &str) -> State {
        let read = folder.read(STATE).and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
        let fits = |state: &State| state.schema == SCHEMA && state.fingerprint == fingerprint;
        read.filter(fits).unwrap_or_else(|| State {
            schema: SCHEMA,
            fingerprint: fingerprint.to_owned(),
            ..State::default()
        })
    }

    /// What is wrong with sessions, by agent and id.
    pub fn troubles(&self) -> Vec<Trouble> {
        self.looked.values().flatten().cloned().collect()
    }

    /// As it is kept.
    pub fn json(&self) -> Result<Vec<u8>, Error> {
        serde_json::to_vec(self).map_err(|error| Error::Json(error.to_string()))
    }
}
