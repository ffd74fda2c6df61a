//! A recorded scenario: what was billed, what the user is told, and the log itself
//! for the few questions that say whether it could know better.

use serde_json::Value;
use std::path::{Path, PathBuf};

use crate::asked::Asked;
use crate::billed::Billed;

/// One recorded scenario.
pub(crate) struct Scenario {
    /// `<set>/<name>`.
    pub(crate) name: String,
    pub(crate) agent: &'static str,
    /// Major and minor version of the agent.
    pub(crate) version: (u64, u64),
    /// Whether a person or a signal ended it in the middle.
    pub(crate) interrupted: bool,
    pub(crate) billed: Vec<Billed>,
    pub(crate) asked: Asked,
    /// Every log, with the name of its file.
    pub(crate) logs: Vec<(String, String)>,
}

impl Scenario {
    /// Every scenario of these agents.
    pub(crate) fn all(corpus: &Path, agents: &[&'static str]) -> impl Iterator<Item = Scenario> {
        let sets = folders(&corpus.join("genuine")).into_iter();
        let known = sets.filter_map(|set| {
            let family = file_name(&set).split('-').next().unwrap().to_owned();
            Some((*agents.iter().find(|agent| **agent == family)?, set))
        });
        known.flat_map(|(agent, set)| {
            let scenarios = folders(&set).into_iter().filter(|folder| folder.join("ledger.jsonl").is_file());
            scenarios.map(move |folder| Scenario::read(agent, &set, &folder))
        })
    }

    fn read(agent: &'static str, set: &Path, folder: &Path) -> Scenario {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let truth: Value = serde_json::from_str(&text("truth.json")).unwrap();
        let mut version = truth["agent_version"].as_str().unwrap().split('.');
        let mut part = || version.next().unwrap().parse().unwrap();
        let only = match truth["session_ids"].as_array().unwrap().as_slice() {
            [only] => only.as_str(),
            _ => None,
        };
        let home = folder.join("home");
        Scenario {
            name: format!("{}/{}", file_name(set), file_name(folder)),
            agent,
            version: (part(), part()),
            interrupted: truth["interrupted"] == true,
            billed: Billed::all(&text("ledger.jsonl"), only),
            asked: Asked::of(&home),
            logs: logs(&home),
        }
    }

    /// The log lines of an answer of Claude Code.
    pub(crate) fn messages(&self, id: &str) -> Vec<Value> {
        let lines = self.logs.iter().flat_map(|(_, text)| text.lines()).filter(|line| line.contains(id));
        let records = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.filter(|record| record["type"] == "assistant" && record["message"]["id"] == id).collect()
    }

    /// Whether any line of a log holds all of these words.
    pub(crate) fn has_line_with(&self, words: &[&str]) -> bool {
        let mut lines = self.logs.iter().flat_map(|(_, text)| text.lines());
        lines.any(|line| words.iter().all(|word| line.contains(word)))
    }

    /// Whether a session left a log of its own.
    pub(crate) fn has_log_of(&self, session: &str) -> bool {
        self.logs.iter().any(|(name, _)| name.contains(session))
    }

    /// Whether the log of a session holds a word.
    pub(crate) fn log_says(&self, session: &str, word: &str) -> bool {
        self.logs.iter().any(|(name, text)| name.contains(session) && text.contains(word))
    }

    /// Whether the user is told that figures of a session are missing.
    pub(crate) fn tells_gap(&self, session: &str) -> bool {
        self.asked.open.iter().any(|id| id == session)
    }
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// The logs below a home; of one that is compressed, its name alone.
fn logs(home: &Path) -> Vec<(String, String)> {
    let mut logs = Vec::new();
    let mut waiting = vec![home.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|ending| ending.to_str()) {
                _ if path.is_dir() => waiting.push(path),
                Some("jsonl") => {
                    let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
                    logs.push((file_name(&path), text));
                }
                Some("zst") => logs.push((file_name(&path), String::new())),
                _ => {}
            }
        }
    }
    logs
}
