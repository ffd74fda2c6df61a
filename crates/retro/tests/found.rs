//! Search after faults: a sync that was stopped at any write of the text index or the vectors,
//! both then kept, deleted, cut or garbled. What is found is at every moment what the rows
//! hold, and after the next sync it is found through whole indexes again.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::ask::Patience;
use retro::engine::{SyncOptions, sync};
use retro::search::embed::{BuiltIn, Embedder};
use retro::search::{Mode, TextIndex};
use retro::views::{SearchQuestion, open_search};
use retro_store::testing::{FailingDisk, Fails};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use support::machine::{OTHER, STORY};
use support::{Machine, Snapshot, is_trial, tell};

/// Points of each way to fail that are tried when not all of them are.
const SOME: usize = 5;

/// Turns of a session that is too long for the rows that may wait.
const MANY: usize = 230;

/// What is looked for by words.
const WORDS: &[&str] = &["tax", "\"search box\"", "button", "quokka7", "quokka229", "wombat"];

/// What is looked for by meaning.
const MEANT: &[&str] = &["rounding of the value added tax", "a field to look things up"];

#[test]
fn after_a_fault_at_any_write_of_the_indexes_search_finds_what_the_rows_hold() {
    let (mut points, mut failures) = (0, Vec::new());
    for story in
        [Story::of("first sync", first, &WORDS[..2]), Story::of("sync of many turns", many, &WORDS[..5])]
    {
        for fails in [Fails::Once, Fails::ForEver] {
            for (at, after) in story.points(fails).into_iter().enumerate() {
                let some = [Fate::ALL[at % Fate::ALL.len()]];
                for fate in if is_trial() { Fate::ALL.as_slice() } else { some.as_slice() } {
                    points += 1;
                    if let Err(what) = story.stopped(after, fails, *fate) {
                        failures
                            .push(format!("{} stopped at {after}, {fails:?}, {fate:?}: {what}", story.name));
                    }
                }
            }
        }
        println!("{}: {} writes of the indexes", story.name, story.writes.len());
    }
    tell("found", points, &failures);
}

/// A machine on which nothing is captured.
fn first() -> Machine {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.tell("codex", OTHER);
    machine
}

/// A machine with both indexes, on which a session is new that is too long to wait, one was
/// taken up again, and one has grown by a turn.
fn many() -> Machine {
    let machine = Machine::new();
    machine.tell("claude", STORY.split("@ title").next().unwrap());
    machine.tell("codex", OTHER);
    machine.sync();
    machine.tell("claude", STORY);
    machine.tell("codex", &format!("{OTHER}> And a button\n< It is beside the box.\n"));
    let mut long = "@ session 33333333-3333-4333-8333-333333333333\n@ cwd /home/dev/zoo\n".to_owned();
    for turn in 0..MANY {
        long.push_str(&format!("> Feed quokka{turn}\n< It has eaten {turn} leaves.\n"));
    }
    machine.tell("claude", &long);
    machine
}

/// A sync, where it starts, and which of its operations write to the indexes.
struct Story {
    name: &'static str,
    /// The words of [`WORDS`] that are found in the end.
    words: &'static [&'static str],
    machine: Machine,
    before: Snapshot,
    writes: Vec<u64>,
}

impl Story {
    fn of(name: &'static str, prepare: fn() -> Machine, words: &'static [&'static str]) -> Story {
        let machine = prepare();
        let before = Snapshot::of(&machine.config.root.value);
        let disk = Arc::new(FailingDisk::counting());
        run(&machine, disk.clone()).unwrap();
        let folders = indexes(&machine);
        let is_of_index = |path: &PathBuf| folders.iter().any(|folder| path.starts_with(folder));
        let writes = disk.log().into_iter().zip(0u64..).filter(|((_, path), _)| is_of_index(path));
        let writes = writes.map(|(_, number)| number).collect();
        let story = Story { name, words, before, writes, machine };
        assert!(story.writes.len() > 20, "only {} writes of the indexes", story.writes.len());
        story
    }

    /// The points to try: all of them, or some that differ between the two ways to fail.
    fn points(&self, fails: Fails) -> Vec<u64> {
        let stride = if is_trial() { 1 } else { (self.writes.len() / SOME).max(1) };
        let first = if is_trial() || fails == Fails::Once { 0 } else { stride / 2 };
        self.writes.iter().skip(first).step_by(stride).copied().collect()
    }

    fn stopped(&self, after: u64, fails: Fails, fate: Fate) -> Result<(), String> {
        let machine = &self.machine;
        self.before.restore();
        let disk = FailingDisk::after(after, fails).because(ErrorKind::StorageFull);
        if let Err(error) = run(machine, Arc::new(disk)) {
            let text = error.to_string();
            let root = machine.config.root.value.display().to_string();
            if !text.contains(&root) || !text.contains("free some space") {
                return Err(format!("it only said {text:?}"));
            }
        }
        as_the_rows(machine).map_err(|what| format!("before the next sync: {what}"))?;
        fate.befall(machine);
        as_the_rows(machine).map_err(|what| format!("with what was left: {what}"))?;
        run(machine, machine.world.disk.clone()).map_err(|error| format!("the next sync: {error}"))?;
        as_the_rows(machine).map_err(|what| format!("after the next sync: {what}"))?;
        self.is_complete()
    }

    /// Whether the indexes are whole and hold what the machine's logs say.
    fn is_complete(&self) -> Result<(), String> {
        let machine = &self.machine;
        if TextIndex::open(&machine.store().text_folder()).is_none() {
            return Err("there is no text index".to_owned());
        }
        let report = retro::engine::verify::verify(&machine.store(), true, &mut |_| {}).unwrap();
        if !report.problems.is_empty() {
            return Err(format!("{:?}", report.problems));
        }
        let wrong = WORDS.iter().find(|text| by_words(machine, text).is_empty() == self.words.contains(text));
        wrong.map_or(Ok(()), |text| Err(format!("{text}: {:?}", by_words(machine, text))))
    }
}

fn run(machine: &Machine, disk: Arc<dyn retro::store::Disk>) -> Result<(), retro::engine::Error> {
    let world = machine.world.clone().with_disk(disk);
    sync(&world, &machine.config, &SyncOptions::default(), &|_| {}).map(drop)
}

/// The folders of the text index and of the vectors.
fn indexes(machine: &Machine) -> [PathBuf; 2] {
    ["text", "vectors"].map(|name| machine.config.root.value.join("index").join(name))
}

/// In what state the indexes are found after a fault.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Kept,
    Deleted,
    /// Every file is cut in the middle.
    Cut,
    /// Every file is as long as it was, and holds something else.
    Garbled,
}

impl Fate {
    const ALL: [Fate; 4] = [Fate::Kept, Fate::Deleted, Fate::Cut, Fate::Garbled];

    fn befall(self, machine: &Machine) {
        for folder in indexes(machine).iter().filter(|folder| folder.exists()) {
            match self {
                Fate::Kept => {}
                Fate::Deleted => std::fs::remove_dir_all(folder).unwrap(),
                Fate::Cut => each_file(folder, &|bytes| bytes[..bytes.len() / 2].to_vec()),
                Fate::Garbled => each_file(folder, &|bytes| bytes.iter().map(|byte| byte ^ 0x5a).collect()),
            }
        }
    }
}

fn each_file(folder: &Path, change: &dyn Fn(&[u8]) -> Vec<u8>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_file(&path, change);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            std::fs::write(&path, change(&bytes)).unwrap();
        }
    }
}

/// Whether what is found now is what is found when there are no indexes, by looking through
/// the rows themselves.
fn as_the_rows(machine: &Machine) -> Result<(), String> {
    let found = Answers::of(machine);
    let aside = machine.path().join("aside");
    std::fs::create_dir_all(&aside).unwrap();
    let there: Vec<(PathBuf, PathBuf)> = indexes(machine)
        .into_iter()
        .filter(|folder| folder.exists())
        .map(|folder| (folder.clone(), aside.join(folder.file_name().unwrap())))
        .collect();
    there.iter().for_each(|(folder, aside)| std::fs::rename(folder, aside).unwrap());
    let rows = Answers::of(machine);
    there.iter().for_each(|(folder, aside)| std::fs::rename(aside, folder).unwrap());
    found.compare(&rows)
}

/// What is found.
struct Answers {
    words: BTreeMap<&'static str, Vec<String>>,
    /// For each question, all passages with how near they are.
    meant: BTreeMap<&'static str, BTreeMap<String, f64>>,
}

impl Answers {
    fn of(machine: &Machine) -> Answers {
        let words = WORDS.iter().map(|text| (*text, by_words(machine, text))).collect();
        let meant = MEANT.iter().map(|text| (*text, by_meaning(machine, text))).collect();
        Answers { words, meant }
    }

    fn compare(&self, rows: &Answers) -> Result<(), String> {
        if self.words != rows.words {
            return Err(format!("found {:?}, the rows hold {:?}", self.words, rows.words));
        }
        for (text, expected) in &rows.meant {
            let found = &self.meant[text];
            if !found.keys().eq(expected.keys()) {
                let (found, expected) = (found.len(), expected.len());
                return Err(format!("{text}: {found} passages have a meaning, {expected} are there"));
            }
            // Eight bits a number are kept of what the rows give in full.
            let far = found.iter().find(|(place, cosine)| (*cosine - expected[*place]).abs() > 0.02);
            if let Some((place, cosine)) = far {
                return Err(format!("{text}: {place} is at {cosine}, by its row at {}", expected[place]));
            }
        }
        Ok(())
    }
}

fn by_words(machine: &Machine, text: &str) -> Vec<String> {
    let question = SearchQuestion { mode: Mode::Words, limit: 100, ..SearchQuestion::new(text) };
    let searching = open_search(&machine.world, &machine.config, Patience::None, &|_| {}).unwrap();
    let view = searching.search(&machine.world, &machine.config, &question).unwrap();
    let hit = |hit: &retro::views::HitView| {
        format!("{}/{}#{} {:.4} {}", hit.agent, hit.session_id, hit.event_id, hit.score, hit.snippet)
    };
    view.hits.iter().map(hit).collect()
}

fn by_meaning(machine: &Machine, text: &str) -> BTreeMap<String, f64> {
    let vector = BuiltIn::new().unwrap().embed(&[text]).unwrap().remove(0).unit();
    let question = SearchQuestion { limit: 10_000, ..SearchQuestion::new("") };
    let searching = open_search(&machine.world, &machine.config, Patience::None, &|_| {}).unwrap();
    let near = searching.nearest(&machine.config, &vector, &question).unwrap();
    near.into_iter()
        .map(|near| (format!("{}/{}#{}", near.agent, near.session_id, near.event_id), near.cosine))
        .collect()
}
