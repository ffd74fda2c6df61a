//! Finds sessions in any place: a file, a folder, another home, a store of retro-ai.
//!
//! A folder is searched for agents' roots at any depth, and each root is walked as if it were this
//! machine's own. If the folder is itself inside a root, that root is walked and the sessions below
//! the folder are taken, with all their parts. The level that the user names therefore does not
//! change the parts of a session. Logs outside of any root are taken only where there is no root:
//! among whole homes they are tests, examples and copies.

use retro_agents::{Agent, Encoding, Found, Held, Owner, Sightings, by_name, open_regular};
use retro_model::{SourceKey, SourceKind, Stat};
use std::path::{Path, PathBuf};

use super::{Cut, Walked, head_of, open_file};
use crate::Error;

/// Looks at or below a path that the user named.
pub(crate) fn walk(path: &Path, agents: &[&'static dyn Agent]) -> Result<Walked, Error> {
    let read_error = |source| Error::Read { path: path.to_owned(), source };
    let meta = std::fs::metadata(path).map_err(read_error)?;
    let path = std::fs::canonicalize(path).map_err(read_error)?;
    if meta.is_file() {
        return match one_of(agents, &path) {
            Some(chosen) => Ok(Walked { chosen: vec![chosen], ..Walked::default() }),
            None => Err(Error::NothingThere(path)),
        };
    }
    if let Some(walked) = inside_a_root(&path, agents) {
        return Ok(walked);
    }
    let mut search = Search { agents, seen: Vec::new(), loose: Vec::new(), walked: Walked::default() };
    search.below(&path);
    search.finish(path)
}

/// How many levels above a folder are searched for a root. A session's own folder has few.
const LEVELS_MAX: usize = 6;

/// Sessions below a folder, if the folder is inside a root.
fn inside_a_root(path: &Path, agents: &[&'static dyn Agent]) -> Option<Walked> {
    for root in path.ancestors().skip(1).take(LEVELS_MAX) {
        let folder = path.strip_prefix(root).ok()?.components().next()?.as_os_str();
        let is_of_logs = |agent: &&&dyn Agent| {
            agent.log_folders().iter().any(|name| folder == *name) && agent.is_root(root)
        };
        let mut walked = Walked { below: Some(path.to_owned()), ..Walked::default() };
        for agent in agents.iter().filter(is_of_logs) {
            let mut seen = Sightings::default();
            agent.discover(root, &mut seen);
            walked.roots.push((agent.name(), root.to_owned()));
            walked.seen.push((*agent, seen));
        }
        if !walked.seen.is_empty() {
            return Some(walked);
        }
    }
    None
}

/// Folders that hold no agent's root, and very many files.
const PASSED: &[&str] = &[".git", "node_modules"];

/// Folders in which agents keep what tools printed: it may look like any log.
const OUTPUTS: &[&str] = &["tool-results", "terminal"];

/// A search for roots, and for logs outside of any.
struct Search<'a> {
    agents: &'a [&'static dyn Agent],
    seen: Vec<(&'static dyn Agent, Sightings)>,
    loose: Vec<(&'static dyn Agent, Found)>,
    walked: Walked,
}

impl Search<'_> {
    /// Searches everything below a folder. Does not follow links.
    fn below(&mut self, top: &Path) {
        // Folders to visit, and whether each is below a root. Files loose there belong to the
        // agent.
        let mut folders = vec![(top.to_owned(), false)];
        while let Some((folder, is_in_root)) = folders.pop() {
            if is_seed_store(&folder) {
                seed_store(&folder, &mut self.walked);
                continue;
            }
            // A store of ours holds no logs of agents.
            if folder.join("store.json").is_file() && folder.join("raw").is_dir() {
                continue;
            }
            let claimed = self.claim(&folder);
            let is_in_root = is_in_root || !claimed.is_empty();
            let mut entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries.flatten().collect::<Vec<_>>(),
                Err(error) => {
                    self.unreadable(&folder, &error.to_string());
                    continue;
                }
            };
            entries.sort_by_key(|entry| std::cmp::Reverse(entry.file_name()));
            for entry in entries {
                let (Ok(kind), name, path) = (entry.file_type(), entry.file_name(), entry.path()) else {
                    continue;
                };
                let is_any_of = |names: &[&str]| names.iter().any(|other| name == *other);
                if kind.is_dir() {
                    if !is_any_of(PASSED) && !is_any_of(OUTPUTS) && !is_any_of(&claimed) {
                        folders.push((path, is_in_root));
                    }
                } else if kind.is_file() && !is_in_root && is_log(&path) {
                    self.loose.extend(one_of(self.agents, &path));
                }
            }
        }
    }

    /// Walks a folder for each agent whose root it is. Returns the names of the subfolders that are
    /// finished.
    fn claim(&mut self, folder: &Path) -> Vec<&'static str> {
        let mut done = Vec::new();
        for agent in self.agents.iter().copied().filter(|agent| agent.is_root(folder)) {
            agent.discover(folder, self.seen_by(agent));
            self.walked.roots.push((agent.name(), folder.to_owned()));
            done.extend(agent.log_folders());
        }
        done
    }

    fn seen_by(&mut self, agent: &'static dyn Agent) -> &mut Sightings {
        let at = self.seen.iter().position(|(other, _)| other.name() == agent.name());
        let at = at.unwrap_or_else(|| {
            self.seen.push((agent, Sightings::default()));
            self.seen.len() - 1
        });
        &mut self.seen[at].1
    }

    fn unreadable(&mut self, path: &Path, reason: &str) {
        if let Some(agent) = self.agents.first().copied() {
            self.seen_by(agent).unreadable(path, reason);
        }
    }

    fn finish(self, path: PathBuf) -> Result<Walked, Error> {
        let Search { seen, loose, mut walked, .. } = self;
        let is_only_loose = walked.roots.is_empty() && walked.chosen.is_empty();
        walked.seen = seen;
        if is_only_loose && loose.is_empty() {
            return Err(Error::NothingThere(path));
        }
        if is_only_loose {
            walked.chosen = loose;
        } else if let [(_, first), ..] = loose.as_slice() {
            let count = loose.len();
            walked.notes.push(format!(
                "{count} logs outside of any agent's folder are left out, {} first; name their folder to capture them",
                first.path.display()
            ));
        }
        Ok(walked)
    }
}

/// Whether a file is named like a log.
fn is_log(path: &Path) -> bool {
    path.file_name()
        .map(|name| name.to_string_lossy())
        .is_some_and(|name| name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}

/// A file as the first of these agents that knows it by its contents would have found it.
fn one_of(agents: &[&'static dyn Agent], path: &Path) -> Option<(&'static dyn Agent, Found)> {
    agents.iter().find_map(|agent| Some((*agent, one_file(*agent, path)?)))
}

/// A single file as its agent would have found it, if the agent knows it by its
/// contents.
pub(crate) fn one_file(agent: &dyn Agent, path: &Path) -> Option<Found> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let is_packed = path.extension().is_some_and(|extension| extension == "zst");
    let encoding = if is_packed { Encoding::Zstd } else { Encoding::Plain };
    let head = head_of(open_file(path, encoding, &Cut::default()).ok()?).ok()?;
    let kindred = agent.identify(path, &head)?;
    Some(Found {
        owner: kindred.owner,
        source: kindred.source,
        kind: kindred.kind,
        format: kindred.format,
        path: path.to_owned(),
        held: Held::File { stat: Stat::of(&meta), encoding },
        extra: false,
    })
}

/// retro-ai's names of agents, ours, and the file that holds the transcript.
const SEED_HOSTS: &[(&str, &str, &str)] =
    &[("claude-code", "claude", "transcript.jsonl"), ("codex", "codex", "rollout.jsonl")];

/// Whether a folder is a store of retro-ai.
pub fn is_seed_store(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_dir();
    let raw = SEED_HOSTS.iter().any(|(host, _, _)| path.join("raw").join(host).is_dir());
    !path.join("store.json").exists() && (raw || (has("memories") && has("normalized")))
}

/// Transcripts of a retro-ai store: `raw/<host>/<id>/` and the older copies in
/// `raw-revisions/<host>/<id>/<hash>/`.
fn seed_store(path: &Path, walked: &mut Walked) {
    for (host, name, transcript) in SEED_HOSTS {
        let Some(agent) = by_name(name) else { continue };
        for (folder, depth) in [("raw", 2), ("raw-revisions", 3)] {
            let walk = walkdir::WalkDir::new(path.join(folder).join(host)).min_depth(depth).max_depth(depth);
            for entry in walk.sort_by_file_name().into_iter().flatten() {
                if entry.file_name() != *transcript {
                    continue;
                }
                let Some(id) = seed_session_id(entry.path(), depth) else { continue };
                if let Some(mut file) = one_file(agent, entry.path())
                    && matches!(file.owner, Owner::Session(_))
                {
                    // The folder names the session, whatever the transcript is called.
                    file.owner = Owner::Session(id);
                    file.source = SourceKey::main();
                    walked.chosen.push((agent, file));
                }
            }
        }
    }
    let items = path.join("memories").join("items.jsonl");
    if let (Ok(meta), Some(agent)) = (std::fs::metadata(&items), by_name("claude")) {
        let file = Found {
            owner: Owner::Shared("seed-memories-items.jsonl".to_owned()),
            source: SourceKey::new("seed-memories-items.jsonl"),
            kind: SourceKind::Document,
            format: retro_agents::Format::Opaque,
            path: items,
            held: Held::File { stat: Stat::of(&meta), encoding: Encoding::Plain },
            extra: false,
        };
        walked.chosen.push((agent, file));
    }
    walked.notes.extend(seed_notes(path));
}

fn seed_session_id(path: &Path, depth: usize) -> Option<String> {
    let up = path.ancestors().nth(depth - 1)?;
    Some(up.file_name()?.to_string_lossy().into_owned())
}

fn seed_notes(path: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    let items = path.join("memories").join("items.jsonl");
    if let Ok(text) = open_regular(&items).and_then(std::io::read_to_string) {
        let count = text.lines().filter(|line| !line.trim().is_empty()).count();
        notes.push(format!(
            "{count} memories of {} are kept as they are and wait for the memory feature",
            items.display()
        ));
    }
    for host in ["codex", "vscode-copilot"] {
        let supported = SEED_HOSTS.iter().any(|(seed, name, _)| *seed == host && by_name(name).is_some());
        let folder = path.join("raw").join(host);
        if !supported && folder.is_dir() {
            notes.push(format!("{} is left alone: retro cannot read that agent yet", folder.display()));
        }
    }
    notes
}
