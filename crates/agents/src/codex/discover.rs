//! Where Codex keeps its files, and the thread and part of each.
//!
//! A root is what `CODEX_HOME` names: a home with a database, one with only a `sessions` folder, or
//! any folder of logs. Every kind of root is walked: a database does not know every rollout on the
//! disk, and a rollout need not be where its database says. Links are followed; loops are found and
//! reported.
//!
//! Names and metadata are enough for rollouts. Contents are read in two cases: the database, once
//! it is known to have changed ([`list`]), and logs with a name of their own, of which only the
//! first bytes are read. `auth.json` and all other files with account data are never read.

use retro_model::{RowsStamp, SourceKey, SourceKind};
use std::collections::HashSet;
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use super::identify::{Signs, signs};
use super::{names, threads};
use crate::walk::{Reach, lossy, through};
use crate::{
    Database, DatabaseError, Encoding, Format, Places, RowsSeen, Sight, Sightings, Stat, Whose, open_regular,
};

/// Bytes of a log that are read to identify it, if its name is not a rollout's.
const PEEK_BYTES: u64 = 16 * 1024;

/// Files shared by all threads.
const SHARED: &[&str] = &["history.jsonl", "session_index.jsonl"];

/// The folders that may hold its logs. `CODEX_HOME`, which other tools read as a list, replaces the
/// usual one.
pub(super) fn roots(places: &Places) -> Vec<PathBuf> {
    let configured = (places.env)("CODEX_HOME").unwrap_or_default();
    let mut roots: Vec<PathBuf> =
        configured.split(',').map(str::trim).filter(|dir| !dir.is_empty()).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots = vec![places.home.join(".codex")];
    }
    roots.extend(places.extra_roots.iter().cloned());
    roots
}

/// The kind of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RootKind {
    /// A home with a database of threads.
    SqliteHome(PathBuf),
    /// A home without a database.
    SessionsDir,
    /// Any other folder with logs.
    JsonlDir,
}

fn classify(root: &Path) -> RootKind {
    match threads::newest(root) {
        Some(database) => RootKind::SqliteHome(database),
        None if root.join("sessions").is_dir() || root.join("archived_sessions").is_dir() => {
            RootKind::SessionsDir
        }
        None => RootKind::JsonlDir,
    }
}

/// Reports every file below `root` that belongs to one thread or to many, and the database.
pub(super) fn walk(root: &Path, seen: &mut Sightings) {
    let kind = classify(root);
    let mut walk = Walk { root, threads: 0, seen };
    match &kind {
        RootKind::JsonlDir => walk.folder(root, Reach::WHOLE),
        RootKind::SqliteHome(_) | RootKind::SessionsDir => {
            walk.folder(&root.join("sessions"), Reach::WHOLE);
            walk.folder(&root.join("archived_sessions"), Reach::WHOLE);
            // The output of `codex exec --json` may be in the home itself.
            walk.folder(root, Reach { depth_max: 1, ..Reach::WHOLE });
        }
    }
    if let RootKind::SqliteHome(database) = &kind {
        // A row counts only if its thread has a rollout.
        let threads = walk.threads;
        seen.database(database, threads);
    }
}

/// Reports the rollouts of one thread, and those of the days on which this thread and the newest
/// one began: sub-agents are threads of their own.
pub(super) fn walk_session(root: &Path, session: &str, transcript: Option<&Path>, seen: &mut Sightings) {
    if classify(root) == RootKind::JsonlDir {
        return walk(root, seen);
    }
    let sessions = root.join("sessions");
    let mut days: Vec<PathBuf> = transcript.and_then(Path::parent).map(Path::to_owned).into_iter().collect();
    if days.is_empty() {
        through(&sessions, Reach::WHOLE, &mut |entry| {
            let Ok(entry) = entry else { return false };
            let name = lossy(entry.name.as_encoded_bytes());
            if names::rollout(&name).is_some_and(|rollout| rollout.thread == session) {
                days.extend(entry.path.parent().map(Path::to_owned));
            }
            entry.is_dir
        });
    }
    days.extend(newest_day(sessions));
    days.sort();
    days.dedup();
    let mut walk = Walk { root, threads: 0, seen };
    for day in days.iter().filter(|day| day.starts_with(root)) {
        walk.folder(day, Reach { depth_max: 1, ..Reach::WHOLE });
    }
}

/// The folder of the latest day with a thread: `<year>/<month>/<day>`.
fn newest_day(sessions: PathBuf) -> Option<PathBuf> {
    (0..3).try_fold(sessions, |folder, _| {
        let names = fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path());
        names.filter(|path| path.is_dir()).max()
    })
}

/// True if a folder holds rollouts where Codex keeps them.
pub(super) fn is_root(folder: &Path) -> bool {
    let mut is_it = false;
    for name in ["sessions", "archived_sessions"] {
        through(&folder.join(name), Reach { depth_max: 4, ..Reach::WHOLE }, &mut |entry| {
            let Ok(entry) = entry else { return false };
            is_it |= !entry.is_dir && names::rollout(&lossy(entry.name.as_encoded_bytes())).is_some();
            entry.is_dir && !is_it
        });
    }
    is_it
}

/// Reports the database's row of each thread as the thread's state, and rollouts outside the root.
/// Rows of threads whose log is gone are reported too, but do not make a session without one.
pub(super) fn list(database: &Database, seen: &mut Sightings) -> Result<(), DatabaseError> {
    let root = database.path().parent().unwrap_or(database.path());
    let (kind, format) = names::form(names::STATE);
    let mut known = HashSet::new();
    for (thread, mut row) in threads::read(database)? {
        let rollout = row.remove(threads::ROLLOUT).and_then(|path| path.as_str().map(PathBuf::from));
        if let Some(rollout) = rollout.filter(|path| known.insert(path.clone())) {
            Walk { root, threads: 0, seen }.elsewhere(&rollout);
        }
        let content = threads::content(row);
        if content.is_empty() {
            continue;
        }
        let stamp = RowsStamp { size: content.len() as u64, hash: xxh3_64(&content), changed_ns: 0 };
        seen.rows(RowsSeen { session: thread, source: SourceKey::new(names::STATE), kind, format, stamp });
    }
    Ok(())
}

struct Walk<'a> {
    root: &'a Path,
    /// A hash of the threads that have a rollout here.
    threads: u64,
    seen: &'a mut Sightings,
}

impl Walk<'_> {
    fn folder(&mut self, top: &Path, reach: Reach) {
        through(top, reach, &mut |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(place) => {
                    self.seen.not_walked(place);
                    return false;
                }
            };
            let name = lossy(entry.name.as_encoded_bytes());
            let is_log = names::log_stem(&name).is_some();
            match (entry.is_dir, is_log) {
                (true, true) if reach.depth_max > 1 => {
                    self.seen.no_log(entry.path, "a folder, not a file");
                }
                (false, true) => self.log(entry.path, &name, &|| entry.metadata()),
                _ => {}
            }
            entry.is_dir && !is_log
        });
    }

    fn log(&mut self, path: &Path, name: &str, metadata: &dyn Fn() -> io::Result<Metadata>) {
        let meta = match metadata() {
            Ok(meta) if meta.is_file() => meta,
            Ok(_) => return self.seen.no_log(path, "not a regular file"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.seen.unreadable(path, error.to_string()),
        };
        let stat = Stat::of(&meta);
        if let Some(rollout) = names::rollout(name) {
            self.has_rollout(rollout.thread);
            return self.report(path, Whose::Session(rollout.thread), rollout.source, rollout.encoding, stat);
        }
        if SHARED.contains(&name) && path.parent() == Some(self.root) {
            return self.shared(path, name, stat);
        }
        let (_, encoding) = names::log_stem(name).unwrap_or((name, Encoding::Plain));
        if encoding == Encoding::Zstd {
            return self.report(path, Whose::Inside, SourceKey::MAIN, encoding, stat);
        }
        match peek(path) {
            Err(error) => self.seen.unreadable(path, error.to_string()),
            Ok(Signs::Rollout(thread, source)) => {
                self.has_rollout(&thread);
                self.report(path, Whose::Session(&thread), &source, encoding, stat);
            }
            Ok(Signs::Stream(thread)) => {
                self.report(path, Whose::Session(&thread), names::EXEC, encoding, stat);
            }
            Ok(Signs::Nameless) => self.seen.unreadable(path, "unsupported: no thread id"),
            // Another program's log.
            Ok(Signs::Nothing | Signs::Foreign) => {}
        }
    }

    /// Takes a rollout outside this root that the database names.
    fn elsewhere(&mut self, path: &Path) {
        if !path.is_absolute() || path.starts_with(self.root) || !path.is_file() {
            return;
        }
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(name) = name.filter(|name| names::rollout(name).is_some()) {
            self.log(path, name, &|| fs::metadata(path));
        }
    }

    fn has_rollout(&mut self, thread: &str) {
        self.threads ^= xxh3_64(thread.as_bytes());
    }

    fn report(&mut self, path: &Path, owner: Whose<'_>, source: &str, encoding: Encoding, stat: Stat) {
        let (kind, format) = names::form(source);
        self.seen.file(Sight { owner, source, kind, format, encoding, path, stat, extra: false });
    }

    fn shared(&mut self, path: &Path, name: &str, stat: Stat) {
        let name = shared_name(self.root, name);
        self.seen.file(Sight {
            source: &name,
            owner: Whose::Shared(&name),
            kind: SourceKind::Log,
            format: Format::Opaque,
            encoding: Encoding::Plain,
            path,
            stat,
            extra: false,
        });
    }
}

fn peek(path: &Path) -> io::Result<Signs> {
    let mut head = Vec::new();
    open_regular(path)?.take(PEEK_BYTES).read_to_end(&mut head)?;
    Ok(signs(&head))
}

/// The name under which a shared file is kept. Files of an unusual root are prefixed with its name,
/// so that two roots do not share one name.
fn shared_name(root: &Path, name: &str) -> String {
    match root.file_name().map(|name| name.to_string_lossy()) {
        Some(folder) if folder != ".codex" => format!("{folder}/{name}"),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_roots_replaces_the_usual_one() {
        let at = |value: Option<&str>| {
            let value = value.map(str::to_owned);
            let env = move |name: &str| value.clone().filter(|_| name == "CODEX_HOME");
            roots(&Places { home: "/h".into(), env: &env, extra_roots: vec!["/x".into()] })
        };
        assert_eq!(at(None), [Path::new("/h/.codex"), Path::new("/x")]);
        assert_eq!(at(Some(" /a, /b ,")), [Path::new("/a"), Path::new("/b"), Path::new("/x")]);
    }

    #[test]
    fn roots_are_told_apart_by_what_they_hold() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(classify(folder.path()), RootKind::JsonlDir);
        std::fs::create_dir(folder.path().join("sessions")).unwrap();
        assert_eq!(classify(folder.path()), RootKind::SessionsDir);
        std::fs::write(folder.path().join("state_5.sqlite"), "").unwrap();
        assert_eq!(classify(folder.path()), RootKind::SqliteHome(folder.path().join("state_5.sqlite")));
    }
}
