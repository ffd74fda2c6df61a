//! The word segments of a folder.

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashSet};

use super::state::State;
use crate::Error;
use crate::chunk::{Chunk, Packing, unpacked};
use crate::folder::Folder;
use crate::words::{Segment, Shard, Turn, Turns};

/// Maximum segments before they are merged.
const SEGMENTS_MAX: usize = 6;

/// The page's entry for a segment.
#[derive(Debug, Serialize)]
pub struct Part {
    /// The segment's number.
    pub n: u32,
    /// Number of shards.
    pub shards: u32,
}

/// Collects the words of built sessions.
pub struct Search {
    segment: Segment,
    number: u32,
    added: HashSet<String>,
    removed: Vec<String>,
}

impl Search {
    /// Starts a new segment after the existing ones.
    pub fn new(state: &State) -> Search {
        let number = state.segments.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        Search { segment: Segment::default(), number, added: HashSet::new(), removed: Vec::new() }
    }

    /// Adds the words of a session, replacing earlier ones.
    pub fn add(&mut self, name: &str, turns: &[Turn]) {
        self.segment.add(name, turns);
        self.added.insert(name.to_owned());
    }

    /// Removes the words of a session.
    pub fn remove(&mut self, name: &str) {
        self.removed.push(name.to_owned());
    }

    /// Writes the new segment, and merges segments if there are too many.
    pub fn write(&mut self, folder: &mut Folder, state: &mut State, build: &str) -> Result<(), Error> {
        if state.segments.is_empty() {
            folder.clear("q")?;
        }
        for name in &self.removed {
            state.words.remove(name);
        }
        let mut segment = std::mem::take(&mut self.segment);
        state.words.extend(self.added.iter().map(|name| (name.clone(), self.number)));
        if state.segments.len() >= SEGMENTS_MAX && !segment.is_empty() {
            let (numbers, segments) = (state.words.clone(), std::mem::take(&mut state.segments));
            let mut joined = Segment::default();
            for (number, shards) in segments {
                join(folder, &mut joined, number, shards, &numbers);
                folder.clear(&format!("q/{number}"))?;
            }
            let (turns, shards) = segment.finish();
            joined.add_segment(&turns, &shards, |_| true);
            state.words.values_mut().for_each(|number| *number = self.number);
            segment = joined;
        }
        if !segment.is_empty() {
            let (turns, shards) = segment.finish();
            let number = self.number;
            folder.put_chunk(&Chunk::of(format!("q/{number}/turns"), &turns)?, build)?;
            // Writes empty shards too: a browser logs an error for a missing file.
            let place = folder.place();
            let written = shards.par_iter().enumerate().map(|(at, shard)| {
                let chunk = Chunk::of(format!("q/{number}/{at}"), shard)?;
                let script = chunk.script_packed(build, Packing::Small)?;
                place.write(&format!("data/q/{number}/{at}.js"), &script)
            });
            folder.count(&written.collect::<Result<Vec<_>, Error>>()?);
            state.segments.push((number, shards.len() as u32));
        }
        folder.put_large(&Chunk::of("q/sessions", &state.words)?, build)
    }
}

/// The page's entries for all segments.
pub fn parts(state: &State) -> Vec<Part> {
    state.segments.iter().map(|(n, shards)| Part { n: *n, shards: *shards }).collect()
}

/// Adds a segment of the folder to another. Words in missing files are lost.
fn join(folder: &Folder, into: &mut Segment, number: u32, count: u32, numbers: &BTreeMap<String, u32>) {
    let Some(turns) = read::<Turns>(folder, &format!("q/{number}/turns")) else { return };
    let shards: Vec<Shard> =
        (0..count).map(|at| read::<Shard>(folder, &format!("q/{number}/{at}")).unwrap_or_default()).collect();
    into.add_segment(&turns, &shards, |name| numbers.get(name) == Some(&number));
}

/// Reads a chunk back from its script.
fn read<T: DeserializeOwned>(folder: &Folder, name: &str) -> Option<T> {
    let script = folder.read(&format!("data/{name}.js"))?;
    serde_json::from_slice(&unpacked(&script)?).ok()
}
