//! What memory holds: the list with its counts in one chunk, each memory in full in one of a few.
//!
//! A memory stays in its part whatever happens to others, so that a decision about one writes
//! the list and one part.

use retro::engine::{Config, World};
use retro::memory::{Memory, Status};
use retro::store::{RealDisk, Store};
use retro::text::redact;
use retro::views::memory::{Journals, MemoryCounts, MemoryFilter, MemoryList, list};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

use super::state::State;
use super::{Build, Site};
use crate::chunk::{Chunk, unpacked};
use crate::folder::{Folder, STATE};
use crate::session::Redact;
use crate::{Error, text};

/// Memories in one part, about.
const PART: usize = 64;

/// Fields that hold words; the others hold names, numbers and places.
const WORDS: [&str; 10] = [
    "do_not_use_when",
    "keywords",
    "reason",
    "review_reasons",
    "stale",
    "stance",
    "structured",
    "subject",
    "text",
    "when_to_use",
];

/// Fields in which words of programs may stand.
const QUOTING: [&str; 7] =
    ["do_not_use_when", "keywords", "stance", "structured", "subject", "text", "when_to_use"];

/// The memories of a dashboard.
#[derive(Default)]
pub struct Shelf {
    pub chunks: Vec<Chunk>,
    /// Memories in all, and those that need a decision.
    pub total: usize,
    pub to_review: usize,
}

/// Makes the chunks of the memories that are wanted.
pub fn shelf(
    (world, config): (&World, &Config),
    store: &Store,
    redact: Redact,
    is_wanted: &dyn Fn(&Memory) -> bool,
) -> Result<Shelf, Error> {
    let mut memories = list(world, config, store, &MemoryFilter::default())?;
    let journals = Journals::read(store, &memories)?;
    memories.retain(is_wanted);
    let is_strict = redact == Redact::Strict;
    let count = memories.len().div_ceil(PART).next_power_of_two();
    let mut parts = vec![Vec::new(); if memories.is_empty() { 0 } else { count }];
    let mut rows = Vec::new();
    for (memory, row) in memories.iter().zip(MemoryList::of(&memories).memories) {
        let hides = is_strict && quotes_programs(memory);
        let part = part_of(&memory.id, count);
        let mut row = shown(value(&row)?, hides);
        row["part"] = part.into();
        rows.push(row);
        if let Some(list) = parts.get_mut(part) {
            list.push(shown(value(&journals.show(memory))?, hides));
        }
    }
    let listed = json!({
        "schema": "retro.memory.list/1",
        "memories": rows,
        "counts": MemoryCounts::of(&memories),
    });
    let mut chunks = vec![Chunk::of("memory", &listed)?];
    for (at, part) in parts.iter().enumerate() {
        chunks.push(Chunk::of(format!("m/{at}"), part)?);
    }
    let to_review = memories.iter().filter(|memory| memory.status == Status::NeedsReview).count();
    Ok(Shelf { chunks, total: memories.len(), to_review })
}

fn value(of: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(of).map_err(|error| Error::Json(error.to_string()))
}

/// The part of a memory: it does not depend on the others while their number is about the same.
fn part_of(id: &str, count: usize) -> usize {
    let hash = blake3::hash(id.as_bytes());
    let [a, b, ..] = *hash.as_bytes();
    usize::from(u16::from_le_bytes([a, b])) % count.max(1)
}

/// Whether words of a program are in it.
fn quotes_programs(memory: &Memory) -> bool {
    use retro::memory::Voice::{External, Tool};
    let is_theirs = |voice| matches!(voice, Tool | External);
    is_theirs(memory.origin) || memory.spans.iter().any(|span| is_theirs(span.voice))
}

/// As the page gets it: without secrets and hidden characters, and without words of programs
/// where these are left out.
fn shown(mut row: Value, hides: bool) -> Value {
    if hides && let Some(fields) = row.as_object_mut() {
        QUOTING.iter().for_each(|name| {
            if let Some(field) = fields.get_mut(*name) {
                *field = Value::Null;
            }
        });
        fields.remove("spans");
        fields.insert("left_out".to_owned(), true.into());
    }
    clean(row, false)
}

fn clean(value: Value, is_words: bool) -> Value {
    match value {
        Value::String(words) if is_words => text::plain(&redact(&words).into_inner()).into(),
        Value::Array(list) => list.into_iter().map(|one| clean(one, is_words)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| {
                let is_words = is_words || WORDS.contains(&name.as_str());
                (name, clean(field, is_words))
            })
            .collect(),
        other => other,
    }
}

impl Site {
    /// Writes the chunks that differ, and removes parts that are no more.
    pub(super) fn memories(&mut self, shelf: &Shelf) -> Result<(), Error> {
        let before = self.folder.written;
        put(&mut self.folder, shelf, &self.build)?;
        if self.folder.written > before {
            self.built.changed.push("memory".to_owned());
        }
        Ok(())
    }
}

fn put(folder: &mut Folder, shelf: &Shelf, build: &str) -> Result<(), Error> {
    for chunk in &shelf.chunks {
        folder.put_chunk(chunk, build)?;
    }
    let listed: HashSet<String> = shelf
        .chunks
        .iter()
        .filter_map(|chunk| Some(format!("{}.js", chunk.name.strip_prefix("m/")?)))
        .collect();
    super::keep_only(folder, "data/m", &listed)
}

/// Writes the memories of a folder again after a decision: nothing else differs then.
pub fn again(work: &Build<'_>) -> Result<(), Error> {
    let Build { world, config, options } = *work;
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let mut folder = Folder::open(&options.out)?;
    let state = folder.read(STATE).and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
    let build = state.map(|state| super::build_of(&state.fingerprint)).unwrap_or_default();
    let read = |folder: &Folder, name: &str| -> Option<Value> {
        serde_json::from_slice(&unpacked(&folder.read(&format!("data/{name}.js"))?)?).ok()
    };
    let known = read(&folder, "memory").unwrap_or_default();
    let rows = known["memories"].as_array();
    let ids: HashSet<&str> = rows.into_iter().flatten().filter_map(|row| row["id"].as_str()).collect();
    let shelf = shelf((world, config), &store, options.redact, &|memory| ids.contains(memory.id.as_str()))?;
    put(&mut folder, &shelf, &build)?;
    if let Some(mut meta) = read(&folder, "meta") {
        meta["memories"] = told(&shelf);
        folder.put_chunk(&Chunk::of("meta", &meta)?, &build)?;
    }
    Ok(())
}

/// What the first chunk of the page says of memories.
pub fn told(shelf: &Shelf) -> Value {
    json!({ "total": shelf.total, "to_review": shelf.to_review })
}
