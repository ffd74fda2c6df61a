//! The segments of words of a folder.

use rayon::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashSet};

use super::state::State;
use crate::Error;
use crate::chunk::{Chunk, Packing, unpacked};
use crate::folder::Folder;
use crate::words::{Segment, Shard, Turn, Turns};

/// Segments that a query may have to look into before they become one.
const SEGMENTS_MAX: usize = 6;

/// What the page needs to know of a segment.
#[derive(Debug, Serialize)]
pub struct Part {
    /// Its number.
    pub n: u32,
    /// Into how many shards it is cut.
    pub shards: u32,
}

/// The words of sessions that were built, on their way.
pub struct Search {
    segment: Segment,
    number: u32,
    added: HashSet<String>,
    removed: Vec<String>,
}

impl Search {
    /// A new segment behind those that are there.
    pub fn new(state: &State) -> Search {
        let number = state.segments.iter().map(|(number, _)| number + 1).max().unwrap_or(0);
        Search { segment: Segment::default(), number, added: HashSet::new(), removed: Vec::new() }
    }

    /// Adds the words of a session, in the place of those that are there.
    pub fn add(&mut self, name: &str, turns: &[Turn]) {
        self.segment.add(name, turns);
        self.added.insert(name.to_owned());
    }

    /// Removes the words of a session.
    pub fn remove(&mut self, name: &str) {
        self.removed.push(name.to_owned());
    }

    /// Writes what is new, and makes one segment of many.
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
            // Empty ones too: a file that is not there is an error in a browser's console.
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

/// What the page needs to know of all segments.
pub fn parts(state: &State) -> Vec<Part> {
    state.segments.iter().map(|(n, shards)| Part { n: *n, shards: *shards }).collect()
}

/// Adds a segment of the folder to another. Files that are gone leave their words out.
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
