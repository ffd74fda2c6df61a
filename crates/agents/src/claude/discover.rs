//! Where Claude Code keeps its files, and the session and part of each.
//!
//! Only names and metadata are read. Below a project folder there is no limit of depth: sub-agents
//! of workflows have folders of their own. Links to project folders and to main logs are followed,
//! since people move their logs to other disks. Behind such a link, only files that belong to a
//! project are taken (`linked.rs`). Links below a session's own folder are reported and not
//! followed.
//!
//! `~/.claude.json` and all other files with account data are never read.

use retro_model::{SourceKey, SourceKind};
use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::identify::identify;
use super::linked::Linked;
use crate::folder::is_passing;
use crate::walk::{Entry, Names, Reach, below, through};
use crate::{Encoding, FolderSeen, FolderStamp, Format, Places, Sight, Sightings, Stat, Whose};
use crate::{Kindred, Owner, files_of, open_regular};

/// The folders that may hold its logs. `CLAUDE_CONFIG_DIR`, which other tools read as a list,
/// replaces the usual two.
pub(super) fn roots(places: &Places) -> Vec<PathBuf> {
    let configured = (places.env)("CLAUDE_CONFIG_DIR").unwrap_or_default();
    let mut roots: Vec<PathBuf> =
        configured.split(',').map(str::trim).filter(|dir| !dir.is_empty()).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots = vec![places.home.join(".claude"), places.home.join(".config").join("claude")];
    }
    roots.extend(places.extra_roots.iter().cloned());
    roots
}

/// The folder of a root that holds the main logs.
const PROJECTS: &str = "projects";

/// The folder of a project that holds notes for all its sessions.
const MEMORY: &str = "memory";

/// The folder of a session that holds large outputs of tools. Also the name of the part that its
/// files are.
const RESULTS: &str = "tool-results";

/// The part for a plain file with the name of that folder.
const RESULTS_FILE: &str = "tool-results.file";

/// The folders of a root that hold parts of sessions.
pub(super) const FOLDERS: &[&str] =
    &[PROJECTS, "todos", "tasks", "file-history", "image-cache", "paste-cache", "plans"];

/// The reason reported when the search behind a link stops.
const TOO_MANY: &str =
    "more files behind a link to a project folder than a project has; the rest is left out";

/// Reports every file below `root` that belongs to a session or serves many.
pub(super) fn walk(root: &Path, seen: &mut Sightings) {
    let mut walk = Walk { root, only: None, seen };
    walk.folders();
    let history = root.join("history.jsonl");
    walk.file(&history, &["history.jsonl"], &|| fs::metadata(&history));
}

/// Reports the files of one session. Sub-agents' logs beside the main log (2.0.x) name their
/// session only inside, so those of all sessions of the project are reported.
pub(super) fn walk_session(root: &Path, session: &str, transcript: Option<&Path>, seen: &mut Sightings) {
    let project = transcript.and_then(Path::parent).and_then(Path::file_name);
    Walk { root, only: Some(Only { session, project }), seen }.folders();
}

struct Walk<'a> {
    root: &'a Path,
    only: Option<Only<'a>>,
    seen: &'a mut Sightings,
}

/// The one session to report, and its project's folder if known.
#[derive(Clone, Copy)]
struct Only<'a> {
    session: &'a str,
    project: Option<&'a OsStr>,
}

impl Only<'_> {
    /// True if an entry below one of the [`FOLDERS`] may belong to the session.
    fn takes(&self, folder: &str, entry: &Entry<'_>) -> bool {
        let is_session = entry.name == self.session;
        let name = entry.name.to_string_lossy();
        match (folder, entry.depth) {
            (PROJECTS, 1) => entry.is_dir && self.project.is_none_or(|project| project == entry.name),
            (PROJECTS, 2) if entry.is_dir => is_session,
            (PROJECTS, 2) => name
                .strip_suffix(".jsonl")
                .is_some_and(|stem| stem == self.session || stem.starts_with("agent-")),
            ("todos", 1) => name.starts_with(self.session),
            (_, 1) => entry.is_dir && is_session,
            _ => true,
        }
    }
}

impl Walk<'_> {
    fn folders(&mut self) {
        for folder in FOLDERS {
            // In the other folders, the first level may be a session's own.
            self.folder(folder, usize::from(*folder == PROJECTS));
        }
    }

    fn folder(&mut self, name: &str, links_depth_max: usize) {
        let reach = Reach { depth_max: usize::MAX, links_depth_max };
        let mut linked = Linked::default();
        through(&self.root.join(name), reach, &mut |entry| {
            match entry {
                Err(place) => self.seen.not_walked(place),
                Ok(entry) if self.only.is_some_and(|only| !only.takes(name, &entry)) => {}
                Ok(entry) if name == PROJECTS && !linked.takes(&entry) => {
                    if linked.is_full_now() {
                        self.seen.no_log(entry.path, TOO_MANY);
                    }
                }
                Ok(entry) if entry.is_dir && entry.is_named(".jsonl") => {
                    self.seen.no_log(entry.path, "a folder, not a file");
                }
                Ok(entry) if entry.is_dir => return !(name == PROJECTS && self.results(&entry)),
                Ok(entry) => {
                    if let Some(below) = below(self.root, entry.path) {
                        self.file(entry.path, &Names::of(&below), &|| entry.metadata());
                    }
                }
            }
            false
        });
    }

    /// Takes the folder of a session's tool outputs, if this is one.
    fn results(&mut self, entry: &Entry<'_>) -> bool {
        if entry.depth != 3 || entry.name != RESULTS {
            return false;
        }
        let Some(below) = below(self.root, entry.path) else { return false };
        let names = Names::of(&below);
        // A project's own notes are separate files.
        let [_, _, session, _] = *names else { return false };
        if session == MEMORY {
            return false;
        }
        let mut stamp = FolderStamp::default();
        files_of(entry.path, &mut |file| match file {
            Ok(file) => drop(stamp.add(&file)),
            Err(place) => self.seen.not_walked(place),
        });
        if let Some(stamp) = stamp.stamp() {
            let (session, path) = (session.to_owned(), entry.path.to_owned());
            self.seen.folder(FolderSeen { session, source: SourceKey::new(RESULTS), path, stamp });
        }
        true
    }

    /// Takes one file, by the names of its folders below the root.
    fn file(&mut self, path: &Path, names: &[&str], metadata: &dyn Fn() -> io::Result<Metadata>) {
        let Some(place) = place(names) else { return };
        let meta = match metadata() {
            Ok(meta) if meta.is_file() => meta,
            Ok(_) => return self.seen.no_log(path, "not a regular file"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.seen.unreadable(path, error.to_string()),
        };
        let name;
        let (owner, source) = match &place {
            Place::Main(session) => (Whose::Session(session), SourceKey::MAIN),
            Place::Of(session, source) => (Whose::Session(session), &**source),
            Place::FlatAgent(source) => (Whose::Inside, *source),
            Place::Shared => {
                name = shared_name(self.root, names);
                (Whose::Shared(&name), &*name)
            }
        };
        let (kind, format) = match owner {
            Whose::Shared(_) if names == ["history.jsonl"] => (SourceKind::Log, Format::Opaque),
            Whose::Shared(_) => (SourceKind::Document, Format::Opaque),
            _ => form(source),
        };
        let extra = matches!(names.first(), Some(&("file-history" | "image-cache" | "paste-cache")));
        self.seen.file(Sight {
            owner,
            source,
            kind,
            format,
            encoding: Encoding::Plain,
            path,
            stat: Stat::of(&meta),
            extra,
        });
    }
}

/// Bytes of a log that are read to find its owner.
const PEEK_BYTES: u64 = 64 * 1024;

/// Logs that are opened before a folder is assumed to be another program's.
const PEEKS_MAX: usize = 16;

/// True if a folder has projects with logs that only Claude Code writes.
pub(super) fn is_root(folder: &Path) -> bool {
    let mut logs = Vec::new();
    through(&folder.join(PROJECTS), Reach { depth_max: 2, links_depth_max: 1 }, &mut |entry| {
        let Ok(entry) = entry else { return false };
        if !entry.is_dir && entry.depth == 2 && entry.is_named(".jsonl") && logs.len() < PEEKS_MAX {
            logs.push(entry.path.to_owned());
        }
        entry.is_dir && logs.len() < PEEKS_MAX
    });
    logs.iter().any(|log| {
        let mut head = Vec::new();
        let read = open_regular(log).and_then(|file| file.take(PEEK_BYTES).read_to_end(&mut head));
        read.is_ok() && matches!(identify(log, &head), Some(Kindred { owner: Owner::Session(_), .. }))
    })
}

/// The role of a file, from its path alone.
#[derive(Debug, PartialEq, Eq)]
enum Place<'n> {
    /// The main log of a session.
    Main(&'n str),
    /// Another part of a session.
    Of(&'n str, Cow<'n, str>),
    /// A sub-agent's log beside the main logs (2.0.x): its contents name the session.
    FlatAgent(&'n str),
    /// Belongs to many sessions, or to none.
    Shared,
}

fn place<'n>(names: &[&'n str]) -> Option<Place<'n>> {
    match names {
        ["history.jsonl"] => Some(Place::Shared),
        ["plans", name] if name.ends_with(".md") => Some(Place::Shared),
        ["projects", _, "sessions-index.json"] => Some(Place::Shared),
        ["projects", _, MEMORY, .., name] if name.ends_with(".md") => Some(Place::Shared),
        ["projects", _, name] => {
            let stem = name.strip_suffix(".jsonl").filter(|stem| !stem.is_empty())?;
            Some(match stem.starts_with("agent-") {
                true => Place::FlatAgent(stem),
                false => Place::Main(stem),
            })
        }
        ["projects", _, session, inner @ ..] => Some(Place::Of(session, part_of_session(inner)?)),
        ["todos", name] => {
            let (session, agent) = name.strip_suffix(".json")?.split_once("-agent-")?;
            let source = if session == agent { "todos".into() } else { format!("todos-{agent}").into() };
            Some(Place::Of(session, source))
        }
        ["tasks", session, name] => {
            let task = name.strip_suffix(".json")?;
            Some(Place::Of(session, format!("task-{task}").into()))
        }
        ["file-history" | "image-cache", session, RESULTS] => Some(Place::Of(session, RESULTS_FILE.into())),
        ["file-history" | "image-cache", session, name] => Some(Place::Of(session, (*name).into())),
        ["image-cache" | "paste-cache", ..] => Some(Place::Shared),
        _ => None,
    }
}

/// The part name of a file below a session's own folder.
fn part_of_session<'n>(inner: &[&'n str]) -> Option<Cow<'n, str>> {
    let name = *inner.last()?;
    if is_passing(name.as_bytes()) {
        return None;
    }
    Some(match inner {
        ["custom-title.json"] => "custom-title".into(),
        [RESULTS] => RESULTS_FILE.into(),
        // One journal per workflow run, named after the run's folder.
        ["subagents", run @ .., "journal.jsonl"] => match run.last() {
            Some(run) => format!("{run}.journal").into(),
            None => "journal".into(),
        },
        _ if name.starts_with("agent-") && name.ends_with(".jsonl") => name.strip_suffix(".jsonl")?.into(),
        _ if name.starts_with("agent-") && name.ends_with(".meta.json") => name.strip_suffix(".json")?.into(),
        _ if name.starts_with("wf_") && name.ends_with(".json") => name.strip_suffix(".json")?.into(),
        // Not known yet, but kept.
        inner => inner.join(".").into(),
    })
}

/// How a part of this name grows, and its format.
pub(super) fn form(source: &str) -> (SourceKind, Format) {
    match source {
        SourceKey::MAIN | "journal" => (SourceKind::Log, Format::JsonLines),
        RESULTS => (SourceKind::Files, Format::Files),
        "custom-title" | "todos" => (SourceKind::State, Format::Json),
        _ if source.starts_with("agent-") && source.ends_with(".meta") => (SourceKind::State, Format::Json),
        _ if source.starts_with("todos-") || source.starts_with("task-") => (SourceKind::State, Format::Json),
        _ if source.starts_with("agent-") || source.ends_with(".journal") => {
            (SourceKind::Log, Format::JsonLines)
        }
        _ if source.starts_with("wf_") => (SourceKind::Document, Format::Json),
        _ => (SourceKind::Document, Format::Opaque),
    }
}

/// The name under which a shared file is kept. Files of an unusual root are prefixed with its name,
/// so that two roots do not share one name.
fn shared_name(root: &Path, names: &[&str]) -> String {
    let below = names.join("/");
    match root.file_name().map(|name| name.to_string_lossy()) {
        Some(name) if name != ".claude" => format!("{name}/{below}"),
        _ => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_place() {
        let of = |session: &'static str, source: &'static str| Some(Place::Of(session, source.into()));
        assert_eq!(place(&["projects", "p", "s1.jsonl"]), Some(Place::Main("s1")));
        assert_eq!(place(&["projects", "p", "agent-1f.jsonl"]), Some(Place::FlatAgent("agent-1f")));
        assert_eq!(place(&["projects", "p", "s1", "subagents", "agent-a1.jsonl"]), of("s1", "agent-a1"));
        assert_eq!(
            place(&["projects", "p", "s1", "subagents", "agent-a1.meta.json"]),
            of("s1", "agent-a1.meta")
        );
        assert_eq!(
            place(&["projects", "p", "s1", "subagents", "workflows", "r1", "agent-a2.jsonl"]),
            of("s1", "agent-a2")
        );
        assert_eq!(
            place(&["projects", "p", "s1", "subagents", "workflows", "r1", "journal.jsonl"]),
            of("s1", "r1.journal")
        );
        assert_eq!(place(&["projects", "p", "s1", "tool-results"]), of("s1", "tool-results.file"));
        assert_eq!(place(&["projects", "p", "s1", "custom-title.json"]), of("s1", "custom-title"));
        assert_eq!(place(&["projects", "p", "s1", "new", "thing.bin"]), of("s1", "new.thing.bin"));
        assert_eq!(place(&["todos", "s1-agent-s1.json"]), of("s1", "todos"));
        assert_eq!(place(&["todos", "s1-agent-a1.json"]), of("s1", "todos-a1"));
        assert_eq!(place(&["tasks", "s1", "2.json"]), of("s1", "task-2"));
        assert_eq!(place(&["tasks", "s1", ".lock"]), None);
        assert_eq!(place(&["file-history", "s1", "00ff@v2"]), of("s1", "00ff@v2"));
        assert_eq!(place(&["projects", "p", "memory", "MEMORY.md"]), Some(Place::Shared));
        assert_eq!(place(&["projects", "p", ".jsonl"]), None);
        assert_eq!(place(&["settings.json"]), None);
    }

    #[test]
    fn a_list_of_roots_replaces_the_usual_two() {
        let at = |value: Option<&str>| {
            let value = value.map(str::to_owned);
            let env = move |_: &str| value.clone();
            roots(&Places { home: "/h".into(), env: &env, extra_roots: vec!["/x".into()] })
        };
        assert_eq!(at(None), [Path::new("/h/.claude"), Path::new("/h/.config/claude"), Path::new("/x")]);
        assert_eq!(at(Some(" /a, /b ,")), [Path::new("/a"), Path::new("/b"), Path::new("/x")]);
    }
}
