//! Recorded and public threads, where they are at hand.
//!
//! `RETRO_CORPUS` names a folder with `genuine/codex*/<scenario>/` (a home, what
//! truly happened, and what the model server billed) and `public-codex/home`.
//! Without it every test says so and passes.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::{Home, read};
use crate::home::Source;

const SETS: [&str; 7] =
    ["codex", "codex-0.130.0", "codex-0.80.0", "codex-0.42.0", "codex-0.29.0", "codex-0.20.0", "codex-0.8.0"];

pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("RETRO_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RETRO_CORPUS is not set");
    }
    folder
}

/// A recorded scenario: its name, its threads, what happened and what was billed.
pub(crate) struct Scenario {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) home: Home,
    pub(crate) truth: Value,
    pub(crate) ledger: Vec<Value>,
}

pub(crate) fn scenarios(corpus: &Path) -> Vec<Scenario> {
    let mut all = Vec::new();
    for set in SETS {
        let entries = std::fs::read_dir(corpus.join("genuine").join(set)).unwrap();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        for folder in folders {
            let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
            all.push(Scenario {
                name: format!("{set}/{}", folder.file_name().unwrap().to_string_lossy()),
                home: read(&folder.join("home")),
                truth: serde_json::from_str(&text("truth.json")).unwrap(),
                ledger: text("ledger.jsonl")
                    .lines()
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect(),
                folder,
            });
        }
    }
    all
}

/// Runs a check over all items on every core and gathers what it finds wrong.
pub(crate) fn wrong<T: Sync>(items: &[T], check: impl Fn(&T, &mut Vec<String>) + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let mut mine = Vec::new();
                    check(item, &mut mine);
                    found.lock().unwrap().extend(mine);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

pub(crate) fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every thread of the corpus, recorded and public.
pub(crate) fn all_sessions(corpus: &Path) -> Vec<(String, String, Vec<Source>)> {
    let mut all: Vec<(String, String, Vec<Source>)> = Vec::new();
    for scenario in scenarios(corpus) {
        assert!(scenario.home.unreadable.is_empty(), "{:?}", scenario.home.unreadable);
        let sessions = scenario.home.sessions.into_iter();
        all.extend(sessions.map(|(id, sources)| (scenario.name.clone(), id, sources)));
    }
    let public = read(&corpus.join("public-codex").join("home"));
    all.extend(public.sessions.into_iter().map(|(id, sources)| ("public".to_owned(), id, sources)));
    all
}
