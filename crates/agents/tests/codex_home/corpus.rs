//! Recorded and public threads below a corpus.
#![allow(dead_code)]

use serde_json::Value;
use std::path::{Path, PathBuf};

use super::{Home, read};
use crate::home::Source;

const SETS: [&str; 7] =
    ["codex", "codex-0.130.0", "codex-0.80.0", "codex-0.42.0", "codex-0.29.0", "codex-0.20.0", "codex-0.8.0"];

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
