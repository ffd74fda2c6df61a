//! Logs taken apart into the smallest pieces that can be counted alone.
//!
//! A piece is a session with the files of its sub-agents. Each is laid into a
//! home of its own, so that a program that is pointed there sees just it.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use walkdir::WalkDir;

use crate::failure::Failure;

/// Files that are counted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unit {
    /// Which agent's.
    pub(crate) agent: &'static str,
    /// What it is called.
    pub(crate) name: String,
    /// The home they come from.
    home: PathBuf,
    /// Its files, relative to the home, sorted.
    files: Vec<PathBuf>,
}

impl Unit {
    /// A whole home as one.
    pub(crate) fn whole(agent: &'static str, name: &str, home: &Path) -> Result<Unit, Failure> {
        Ok(Unit { agent, name: name.to_owned(), home: home.to_owned(), files: files(home)? })
    }

    /// The sessions of a home, one by one.
    pub(crate) fn sessions(agent: &'static str, home: &Path) -> Result<Vec<Unit>, Failure> {
        let mut units: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        for file in files(home)? {
            units.entry(session(agent, home, &file)).or_default().push(file);
        }
        let units = units.into_iter();
        Ok(units.map(|(name, files)| Unit { agent, name, home: home.to_owned(), files }).collect())
    }

    /// Copies the files into another home. They are made a day old, because a
    /// session that is quiet is read to its end.
    pub(crate) fn lay(&self, into: &Path) -> Result<(), Failure> {
        let yesterday = SystemTime::now() - std::time::Duration::from_secs(24 * 3600);
        for file in &self.files {
            let (from, to) = (self.home.join(file), into.join(file));
            let folder = to.parent().unwrap_or(into);
            std::fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
            std::fs::copy(&from, &to).map_err(|error| Failure::at(&from, error))?;
            let copy = File::options().append(true).open(&to).map_err(|error| Failure::at(&to, error))?;
            copy.set_modified(yesterday).map_err(|error| Failure::at(&to, error))?;
        }
        Ok(())
    }
}

fn files(home: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for entry in WalkDir::new(home).sort_by_file_name() {
        let entry = entry.map_err(|error| Failure::at(home, error))?;
        if entry.file_type().is_file() {
            let relative = entry.path().strip_prefix(home).map_err(|error| Failure::at(home, error))?;
            files.push(relative.to_owned());
        }
    }
    Ok(files)
}

/// Which session a file belongs to. Claude Code keeps sub-agents below the
/// session's own folder, or up to 2.0.x beside it: then the first line tells.
fn session(agent: &str, home: &Path, file: &Path) -> String {
    let parts: Vec<String> =
        file.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
    match (agent, parts.as_slice()) {
        ("claude", [root, projects, project, name]) => {
            let stem = name.strip_suffix(".jsonl").unwrap_or(name);
            let owner = match stem.starts_with("agent-") {
                true => first_session(&home.join(file)).unwrap_or_else(|| stem.to_owned()),
                false => stem.to_owned(),
            };
            [root, projects, project, &owner].map(String::as_str).join("/")
        }
        ("claude", [root, projects, project, session, _, ..]) => {
            [root, projects, project, session].map(String::as_str).join("/")
        }
        _ => parts.join("/"),
    }
}

fn first_session(log: &Path) -> Option<String> {
    let lines = BufReader::new(File::open(log).ok()?).lines().map_while(Result::ok);
    lines
        .filter_map(|line| serde_json::from_str::<Value>(&line).ok())
        .find_map(|record| record["sessionId"].as_str().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_and_its_sub_agents_are_one() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(".claude/projects/p/s1.jsonl", "{}\n");
        write(".claude/projects/p/s1/subagents/agent-a.jsonl", "{}\n");
        write(".claude/projects/p/agent-b.jsonl", "not json\n{\"sessionId\":\"s1\"}\n");
        write(".claude/projects/p/s2.jsonl", "{}\n");
        let units = Unit::sessions("claude", home.path()).unwrap();
        let sizes: Vec<_> = units.iter().map(|unit| (unit.name.as_str(), unit.files.len())).collect();
        assert_eq!(sizes, [(".claude/projects/p/s1", 3), (".claude/projects/p/s2", 1)]);

        let alone = tempfile::tempdir().unwrap();
        units[1].lay(alone.path()).unwrap();
        assert_eq!(files(alone.path()).unwrap(), [PathBuf::from(".claude/projects/p/s2.jsonl")]);
        let whole = Unit::whole("claude", "all", home.path()).unwrap();
        assert_eq!(whole.files.len(), 4);
    }

    #[test]
    fn a_rollout_is_a_session_of_its_own() {
        let file = Path::new(".codex/sessions/2026/01/02/rollout-1.jsonl");
        assert_eq!(session("codex", Path::new("/"), file), ".codex/sessions/2026/01/02/rollout-1.jsonl");
    }
}
