//! Where Grok keeps its files, and the session and part of each.
//!
//! Only names and metadata are read. A session is a folder below a group, and a group is a working
//! directory. Links to groups are followed, since people move their logs to other disks. Links
//! below a session's own folder are reported and not followed.
//!
//! Never read: `auth.json`, databases (all derived), locks and half-written files.

use retro_model::{SourceKey, SourceKind};
use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::walk::{Entry, Names, Reach, below, through};
use crate::{Encoding, Format, Places, Sight, Sightings, Stat, Whose};

/// The folders that may hold its logs. `GROK_HOME`, which other tools read as a list, replaces the
/// usual one.
pub(super) fn roots(places: &Places) -> Vec<PathBuf> {
    let configured = (places.env)("GROK_HOME").unwrap_or_default();
    let mut roots: Vec<PathBuf> =
        configured.split(',').map(str::trim).filter(|dir| !dir.is_empty()).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots = vec![places.home.join(".grok")];
    }
    roots.extend(places.extra_roots.iter().cloned());
    roots
}

/// Reports every file below `root` that belongs to one session or to many.
pub(super) fn walk(root: &Path, seen: &mut Sightings) {
    walk_some(root, &|_| true, seen);
}

/// Reports the files of one session and of the sub-agents that it started. Sub-agents are sessions
/// beside it or in another group.
pub(super) fn walk_session(root: &Path, session: &str, seen: &mut Sightings) {
    let mut wanted: Vec<OsString> = vec![session.into()];
    through(&root.join("sessions"), Reach { depth_max: 4, links_depth_max: 1 }, &mut |entry| {
        let Ok(entry) = entry else { return false };
        match entry.depth {
            1 => entry.is_dir,
            2 => entry.is_dir && entry.name == session,
            3 => entry.name == "subagents",
            _ => {
                wanted.push(entry.name.to_owned());
                false
            }
        }
    });
    let takes = |entry: &Entry<'_>| match entry.depth {
        1 => entry.is_dir,
        2 => wanted.iter().any(|name| *name == entry.name),
        _ => true,
    };
    walk_some(root, &takes, seen);
}

fn walk_some(root: &Path, takes: &dyn Fn(&Entry<'_>) -> bool, seen: &mut Sightings) {
    let mut walk = Walk { root, last: None, seen };
    let reach = Reach { depth_max: usize::MAX, links_depth_max: 1 };
    through(&root.join("sessions"), reach, &mut |entry| {
        match entry {
            Err(place) => walk.seen.not_walked(place),
            Ok(entry) if !takes(&entry) => {}
            Ok(entry) if entry.is_dir && entry.depth > 1 && entry.is_named(".jsonl") => {
                walk.seen.no_log(entry.path, "a folder, not a file");
            }
            Ok(entry) if entry.is_dir => return true,
            Ok(entry) => {
                if let Some(below) = below(root, entry.path) {
                    walk.file(entry.path, &Names::of(&below), &entry);
                }
            }
        }
        false
    });
}

struct Walk<'a> {
    root: &'a Path,
    /// The last session folder, and whether it contains a conversation.
    last: Option<(PathBuf, bool)>,
    seen: &'a mut Sightings,
}

impl Walk<'_> {
    /// Takes one file, by the names of its folders below the root.
    fn file(&mut self, path: &Path, names: &[&str], entry: &Entry<'_>) {
        let Some(place) = place(names) else { return };
        let meta = match entry.metadata() {
            Ok(meta) if meta.is_file() => meta,
            Ok(_) => return self.seen.no_log(path, "not a regular file"),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
            Err(error) => return self.seen.unreadable(path, error.to_string()),
        };
        let place = match place {
            // A folder without a conversation: a session that was opened and never used.
            Place::Of { folder, .. } if !self.has_log(folder) => Place::Shared(SourceKind::State),
            place => place,
        };
        let name;
        let (owner, source, (kind, format), extra) = match &place {
            Place::Of { session, part, extra, .. } => (Whose::Session(session), &**part, form(part), *extra),
            Place::Shared(kind) => {
                name = shared_name(self.root, names);
                (Whose::Shared(&name), &*name, (*kind, Format::Opaque), false)
            }
        };
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

    /// True if a session's folder, given by its path below the root, contains a log.
    fn has_log(&mut self, folder: &[&str]) -> bool {
        let path: PathBuf = self.root.join(folder.iter().collect::<PathBuf>());
        if let Some((last, has_log)) = &self.last
            && *last == path
        {
            return *has_log;
        }
        let has_log = LOGS.iter().any(|name| path.join(name).exists());
        self.last = Some((path, has_log));
        has_log
    }
}

/// A session's folder has at least one of these logs.
const LOGS: [&str; 2] = ["updates.jsonl", "chat_history.jsonl"];

/// True if a folder has groups of sessions with the logs that Grok writes.
pub(super) fn is_root(folder: &Path) -> bool {
    let mut is_it = false;
    through(&folder.join("sessions"), Reach { depth_max: 3, links_depth_max: 1 }, &mut |entry| {
        let Ok(entry) = entry else { return false };
        is_it |= !entry.is_dir && entry.depth == 3 && LOGS.iter().any(|name| entry.name == *name);
        entry.is_dir && !is_it
    });
    is_it
}

/// The role of a file, from its path alone.
#[derive(Debug, PartialEq, Eq)]
enum Place<'n> {
    /// A part of a session. `folder` is the path of the session's folder.
    Of { folder: &'n [&'n str], session: &'n str, part: Cow<'n, str>, extra: bool },
    /// Belongs to many sessions.
    Shared(SourceKind),
}

fn place<'n>(names: &'n [&'n str]) -> Option<Place<'n>> {
    match names {
        ["sessions", _, "prompt_history.jsonl"] => Some(Place::Shared(SourceKind::Log)),
        // The working directory, if it is too long for the group's name.
        ["sessions", _, ".cwd"] => Some(Place::Shared(SourceKind::Document)),
        ["sessions", _, session, inner @ ..] if !inner.is_empty() => {
            let (part, extra) = part_of_session(inner)?;
            Some(Place::Of { folder: names.get(..3)?, session, part, extra })
        }
        _ => None,
    }
}

/// State of the program that is of no use for retro.
const INTERNAL: &[&str] = &[
    "announcement_state.json",
    "goal.state.json",
    "plan_mode.json",
    "resources_state.json",
    "title_refresh_idx",
];

/// The part name of a file below a session's own folder, and whether it is an extra.
fn part_of_session<'n>(inner: &[&'n str]) -> Option<(Cow<'n, str>, bool)> {
    let name = *inner.last()?;
    let skipped = [".lock", ".tmp", ".db", "-wal", "-shm"].iter().any(|end| name.ends_with(end));
    if skipped || name.contains(".sqlite") || name == "auth.json" {
        return None;
    }
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    Some(match inner {
        ["updates.jsonl"] => (SourceKey::MAIN.into(), false),
        ["chat_history.jsonl"] => ("chat".into(), false),
        ["events.jsonl" | "feedback.jsonl" | "rewind_points.jsonl"] => (stem.into(), false),
        ["plan.json" | "signals.json" | "summary.json" | "usage.json"] => (stem.into(), false),
        ["subagents", child, "meta.json" | "output.json"] => (format!("{child}.{stem}").into(), false),
        // The output of a command, named after its call.
        ["terminal", _] => (name.into(), false),
        ["compaction_checkpoints", _] => (format!("checkpoint-{stem}").into(), false),
        // The whole history before each compaction, and a readable form of it.
        ["compaction_requests", _] => (format!("request-{stem}").into(), true),
        ["compaction", _] => (format!("compaction.{name}").into(), true),
        ["assets", ..] => (name.into(), true),
        ["prompt_context.json" | "system_prompt.txt" | "tool_definitions.json"] => (name.into(), true),
        inner => {
            let key = inner.join(".");
            let extra = INTERNAL.contains(&key.as_str());
            // Not known yet, but kept.
            (key.into(), extra)
        }
    })
}

/// How a part of this name grows, and its format.
pub(super) fn form(source: &str) -> (SourceKind, Format) {
    match source {
        SourceKey::MAIN | "chat" | "events" | "feedback" | "rewind_points" => {
            (SourceKind::Log, Format::JsonLines)
        }
        "plan" | "signals" | "summary" | "usage" => (SourceKind::State, Format::Json),
        _ if source.ends_with(".meta") => (SourceKind::State, Format::Json),
        _ if source.ends_with(".output") || source.starts_with("checkpoint-") => {
            (SourceKind::Document, Format::Json)
        }
        // The output of a background command grows while the command runs.
        _ if source.ends_with(".log") => (SourceKind::Log, Format::Opaque),
        _ if INTERNAL.contains(&source) => (SourceKind::State, Format::Opaque),
        _ => (SourceKind::Document, Format::Opaque),
    }
}

/// The name under which a shared file is kept. Files of an unusual root are prefixed with its name,
/// so that two roots do not share one name.
fn shared_name(root: &Path, names: &[&str]) -> String {
    let below = names.join("/");
    match root.file_name().map(|name| name.to_string_lossy()) {
        Some(name) if name != ".grok" => format!("{name}/{below}"),
        _ => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part<'n>(inner: &[&'n str]) -> Option<(Cow<'n, str>, bool)> {
        part_of_session(inner)
    }

    #[test]
    fn every_file_of_a_session_has_its_name() {
        for (inner, key) in [
            (&["updates.jsonl"][..], "m"),
            (&["chat_history.jsonl"], "chat"),
            (&["events.jsonl"], "events"),
            (&["rewind_points.jsonl"], "rewind_points"),
            (&["feedback.jsonl"], "feedback"),
            (&["summary.json"], "summary"),
            (&["subagents", "c1", "meta.json"], "c1.meta"),
            (&["subagents", "c1", "output.json"], "c1.output"),
            (&["terminal", "call_1.log"], "call_1.log"),
            (&["compaction_checkpoints", "k1.json"], "checkpoint-k1"),
            (&["news", "of-tomorrow.json"], "news.of-tomorrow.json"),
        ] {
            assert_eq!(part(inner), Some((key.into(), false)), "{inner:?}");
        }
        for inner in [
            &["compaction_requests", "k1.json"][..],
            &["compaction", "segment_000.md"],
            &["assets", "image-1.png"],
            &["system_prompt.txt"],
            &["title_refresh_idx"],
            &["goal", "state.json"],
        ] {
            assert!(part(inner).is_some_and(|(_, extra)| extra), "{inner:?}");
        }
        for name in ["updates.jsonl.lock", "chat_history.jsonl.1f.tmp", "x.sqlite-wal", "x.db", "auth.json"] {
            assert_eq!(part(&[name]), None, "{name}");
        }
    }

    #[test]
    fn only_what_lies_below_a_session_or_a_group_is_taken() {
        assert_eq!(place(&["sessions", "g", "prompt_history.jsonl"]), Some(Place::Shared(SourceKind::Log)));
        assert_eq!(place(&["sessions", "session_search.sqlite"]), None);
        assert_eq!(place(&["auth.json"]), None);
        assert_eq!(place(&["sessions", "g", "notes.txt"]), None);
    }

    #[test]
    fn forms_are_those_of_the_names() {
        assert_eq!(form("m"), (SourceKind::Log, Format::JsonLines));
        assert_eq!(form("summary"), (SourceKind::State, Format::Json));
        assert_eq!(form("c1.output"), (SourceKind::Document, Format::Json));
        assert_eq!(form("call_1.log"), (SourceKind::Log, Format::Opaque));
        assert_eq!(form("image-1.png"), (SourceKind::Document, Format::Opaque));
    }

    #[test]
    fn the_variable_may_name_several_homes() {
        let env = |name: &str| (name == "GROK_HOME").then(|| "/a, /b,".to_owned());
        let places = Places { home: "/h".into(), env: &env, extra_roots: vec!["/c".into()] };
        assert_eq!(roots(&places), [PathBuf::from("/a"), "/b".into(), "/c".into()]);
        let places = Places { home: "/h".into(), env: &|_| None, extra_roots: Vec::new() };
        assert_eq!(roots(&places), [PathBuf::from("/h/.grok")]);
    }

    #[test]
    fn a_folder_without_a_conversation_is_no_session() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().join(".grok");
        let put = |path: &str| {
            let path = root.join("sessions").join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, b"{}").unwrap();
        };
        for path in ["g/s1/updates.jsonl", "g/s1/summary.json", "g/s2/summary.json", "g/.cwd", "x.sqlite"] {
            put(path);
        }
        std::fs::create_dir_all(root.join("sessions/g/s3/updates.jsonl")).unwrap();
        let mut seen = Sightings::default();
        walk(&root, &mut seen);
        let mut files: Vec<(Whose<'_>, &str)> = seen.files().map(|file| (file.owner, file.source)).collect();
        files.sort_by_key(|(owner, source)| (format!("{owner:?}"), source.to_string()));
        assert_eq!(
            files,
            [
                (Whose::Session("s1"), "m"),
                (Whose::Session("s1"), "summary"),
                (Whose::Shared("sessions/g/.cwd"), "sessions/g/.cwd"),
                (Whose::Shared("sessions/g/s2/summary.json"), "sessions/g/s2/summary.json"),
            ]
        );
        let no_logs: Vec<&Path> = seen.all_no_logs().iter().map(|(path, _)| path.as_path()).collect();
        assert_eq!(no_logs, [root.join("sessions/g/s3/updates.jsonl")]);
        assert!(is_root(&root) && !is_root(home.path()));
    }
}
