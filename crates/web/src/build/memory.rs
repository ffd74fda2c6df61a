//! The chunks of memories: the list with its counts in one chunk, each full memory in one of
//! several parts.
//!
//! A memory stays in its part when others change, so a decision about one rewrites the list and one
//! part.

use retro::engine::{Config, World};
use retro::memory::{Memory, Status};
use retro::store::{RealDisk, Store};
use retro::text::redact;
use retro::views::memory::{Journals, MemoryCounts, MemoryFilter, MemoryList, list};
use retro::views::readable as text;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

use super::state::State;
use super::{Build, Site};
use crate::Error;
use crate::chunk::{Chunk, unpacked};
use crate::folder::{Folder, STATE};
use crate::session::Redact;

/// Approximate number of memories per part.
const PART: usize = 64;

/// Fields that contain prose. The others contain names, numbers and places.
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

/// Fields that may quote the output of programs.
const QUOTING: [&str; 7] =
    ["do_not_use_when", "keywords", "stance", "structured", "subject", "text", "when_to_use"];

/// The memory chunks of a dashboard.
#[derive(Default)]
pub struct Shelf {
    pub chunks: Vec<Chunk>,
    /// Memories in all, and those that need a decision.
    pub total: usize,
    pub to_review: usize,
}

/// Builds the chunks of the wanted memories.
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

/// The part of a memory. It does not depend on other memories while their number is about the same.
fn part_of(id: &str, count: usize) -> usize {
    let hash = blake3::hash(id.as_bytes());
    let [a, b, ..] = *hash.as_bytes();
    usize::from(u16::from_le_bytes([a, b])) % count.max(1)
}

/// True if it quotes the output of a program.
fn quotes_programs(memory: &Memory) -> bool {
    use retro::memory::Voice::{External, Tool};
    let is_theirs = |voice| matches!(voice, Tool | External);
    is_theirs(memory.origin) || memory.spans.iter().any(|span| is_theirs(span.voice))
}

/// A memory as the page receives it: without secrets and hidden characters, and in strict mode
/// without program output.
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
    /// Writes the chunks that changed, and removes obsolete parts.
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

/// Writes a folder's memories after a decision, which changes nothing else. True if any chunk
/// changed.
pub fn again(work: &Build<'_>) -> Result<bool, Error> {
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
    let differs = folder.written > 0;
    if let Some(mut meta) = read(&folder, "meta") {
        meta["memories"] = told(&shelf);
        folder.put_chunk(&Chunk::of("meta", &meta)?, &build)?;
    }
    Ok(differs)
}

/// The counts of memories in the page's first chunk.
pub fn told(shelf: &Shelf) -> Value {
    json!({ "total": shelf.total, "to_review": shelf.to_review })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::{Options, build};
    use retro::engine::memory::add;
    use retro::model::Timestamp;
    use retro::views::memory::{Verdict, decide};

    struct Place {
        dir: tempfile::TempDir,
        world: World,
        config: Config,
        options: Options,
    }

    fn memory(id: &str, status: &str, text: &str) -> Memory {
        serde_json::from_value(json!({
            "id": id, "source": "added", "kind": "case", "scope": "repo", "status": status, "text": text,
            // Separate places, so that none is merged with another.
            "origin_repo": format!("/home/dev/{id}"),
            "when_to_use": "always", "confidence": 0.8, "priority": 3, "risk": "low", "origin": "user",
            "spans": [{"event_id": "claude/s1#m:4", "text": "these words", "voice": "user"}],
            "created_at": "2026-03-01T10:00:00Z",
        }))
        .unwrap()
    }

    fn place(memories: &[Memory]) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let now = Timestamp::from_millis(1_772_445_600_000).unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let config = Config::for_root(dir.path().join("store"));
        let store = Store::open_or_create(&config.root.value, Arc::new(RealDisk)).unwrap();
        add(&world, &config, &store, memories).unwrap();
        let options = Options { out: dir.path().join("out"), ..Options::default() };
        Place { dir, world, config, options }
    }

    impl Place {
        fn work(&self) -> Build<'_> {
            Build { world: &self.world, config: &self.config, options: &self.options }
        }

        fn store(&self) -> Store {
            Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
        }

        fn chunk(&self, name: &str) -> Value {
            let script = std::fs::read(self.options.out.join(format!("data/{name}.js"))).unwrap();
            serde_json::from_slice(&unpacked(&script).unwrap()).unwrap()
        }
    }

    #[test]
    fn the_list_is_what_the_command_prints_and_is_not_written_twice() {
        let many: Vec<Memory> =
            (0..100).map(|n| memory(&format!("m{n}"), "accepted", &format!("thing{n} number {n}"))).collect();
        let place = place(&many);
        build(&place.work(), &|_, _| {}).unwrap();
        let listed = list(&place.world, &place.config, &place.store(), &MemoryFilter::default()).unwrap();
        let mut rows = place.chunk("memory")["memories"].as_array().unwrap().clone();
        let parts: Vec<Value> =
            rows.iter_mut().map(|row| row.as_object_mut().unwrap().remove("part").unwrap()).collect();
        assert_eq!(Value::Array(rows), serde_json::to_value(MemoryList::of(&listed).memories).unwrap());
        let journals = Journals::read(&place.store(), &listed).unwrap();
        for (memory, part) in listed.iter().zip(parts) {
            let full = serde_json::to_value(journals.show(memory)).unwrap();
            assert!(place.chunk(&format!("m/{part}")).as_array().unwrap().contains(&full), "{}", memory.id);
        }
        let again = build(&place.work(), &|_, _| {}).unwrap();
        assert_eq!((listed.len(), again.changed), (100, Vec::new()));
    }

    #[test]
    fn a_decision_writes_the_list_and_one_part() {
        let many: Vec<Memory> = (0..100)
            .map(|n| memory(&format!("m{n}"), "needs_review", &format!("thing{n} number {n}")))
            .collect();
        let place = place(&many);
        build(&place.work(), &|_, _| {}).unwrap();
        assert_eq!(place.chunk("meta")["memories"], json!({"total": 100, "to_review": 100}));
        let parts = || ["m/0", "m/1"].map(|name| place.chunk(name));
        let before = parts();
        decide(&place.world, &place.config, &place.store(), Verdict::Accept, &["m7".to_owned()]).unwrap();
        again(&place.work()).unwrap();
        assert_eq!(before.iter().zip(parts()).filter(|(old, new)| *old != new).count(), 1);
        assert_eq!(place.chunk("memory")["counts"]["by_status"], json!({"accepted": 1, "needs_review": 99}));
        assert_eq!(place.chunk("meta")["memories"], json!({"total": 100, "to_review": 99}));
        // A full build finds nothing to do.
        assert_eq!(build(&place.work(), &|_, _| {}).unwrap().changed, Vec::<String>::new());
    }

    #[test]
    fn parts_that_are_no_more_are_removed() {
        let place = place(&[memory("one", "accepted", "one thing")]);
        std::fs::create_dir_all(place.options.out.join("data/m")).unwrap();
        std::fs::write(place.options.out.join(STATE), "{}").unwrap();
        std::fs::write(place.options.out.join("data/m/9.js"), "old").unwrap();
        build(&place.work(), &|_, _| {}).unwrap();
        assert!(!place.options.out.join("data/m/9.js").exists());
        assert!(place.options.out.join("data/m/0.js").exists());
    }

    #[test]
    fn secrets_and_hidden_characters_stay_out() {
        let secret = format!("ghp_{}", "Ab1".repeat(12));
        let place = place(&[memory("one", "accepted", &format!("the token is {secret}\u{202e}"))]);
        build(&place.work(), &|_, _| {}).unwrap();
        for name in ["memory", "m/0"] {
            let text = place.chunk(name).to_string();
            assert!(
                !text.contains(&secret) && !text.contains('\u{202e}') && text.contains("redacted"),
                "{text}"
            );
        }
        drop(place.dir);
    }

    #[test]
    fn a_strict_page_has_no_words_of_programs_and_a_part_of_the_sessions_no_other_memories() {
        let mut printed = memory("printed", "accepted", "output said: \"boom\"");
        printed.origin = retro::memory::Voice::Tool;
        let mut place = place(&[printed, memory("mine", "accepted", "use tabs")]);
        place.options.redact = Redact::Strict;
        build(&place.work(), &|_, _| {}).unwrap();
        let text = place.chunk("memory").to_string() + &place.chunk("m/0").to_string();
        assert!(!text.contains("boom") && text.contains("use tabs") && text.contains("left_out"), "{text}");
        place.options.project = Some("shop".to_owned());
        build(&place.work(), &|_, _| {}).unwrap();
        assert_eq!(place.chunk("memory")["memories"], json!([]));
    }
}
