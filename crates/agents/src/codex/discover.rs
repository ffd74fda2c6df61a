//! Where Codex keeps its files, and which part of which thread each is.
//!
//! A root is what `CODEX_HOME` names: a home with a database, one with only a
//! `sessions` folder, or any folder of logs. Whatever it is, it is walked: a
//! database does not know every rollout on the disk, and a rollout need not be
//! where its database says. Links are followed; loops are found and reported.
//!
//! Names and metadata are enough for rollouts. Contents are looked at in two
//! cases: the database, and logs with a name of their own, of which only the
//! first bytes are read. Never looked at: `auth.json` and everything else that
//! holds an account.

use retro_model::{SourceKey, SourceKind};
use std::collections::{BTreeSet, HashSet};
use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

use super::identify::{Signs, signs};
use super::{names, threads};
use crate::walk::{Unreadable, lossy, through, unreadable};
use crate::{Encoding, Format, Places, Sight, Stat, Whose};

/// Bytes of a log without a rollout's name that are read to tell what it is.
const PEEK_BYTES: u64 = 16 * 1024;

/// Files that serve all threads.
const SHARED: &[&str] = &["history.jsonl", "session_index.jsonl"];

/// The folders in which it may keep its logs. `CODEX_HOME`, a list as other
/// tools read it, replaces the usual one.
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

/// What a root is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RootKind {
    /// A home with a database of threads.
    SqliteHome(PathBuf),
    /// A home without one.
    SessionsDir,
    /// Any folder with logs.
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

/// Reports every file below `root` that belongs to a thread or serves many.
pub(super) fn walk(root: &Path, found: &mut dyn FnMut(Sight<'_>)) {
    let kind = classify(root);
    let has_rows = matches!(kind, RootKind::SqliteHome(_));
    let threads = has_rows.then(BTreeSet::new);
    let mut walk = Walk { root, threads, elsewhere: HashSet::new(), found };
    match &kind {
        RootKind::JsonlDir => walk.folder(root, usize::MAX),
        RootKind::SqliteHome(_) | RootKind::SessionsDir => {
            walk.folder(&root.join("sessions"), usize::MAX);
            walk.folder(&root.join("archived_sessions"), usize::MAX);
            // What `codex exec --json` printed may have been left in the home.
            walk.folder(root, 1);
        }
    }
    if let RootKind::SqliteHome(database) = &kind {
        walk.database(database);
    }
}

struct Walk<'a> {
    root: &'a Path,
    /// Threads that have a rollout here, if there are rows that want to know.
    threads: Option<BTreeSet<String>>,
    /// Rollouts outside of this root that were reported.
    elsewhere: HashSet<PathBuf>,
    found: &'a mut dyn FnMut(Sight<'_>),
}

impl Walk<'_> {
    fn folder(&mut self, top: &Path, depth: usize) {
        through(top, depth, &mut |entry| {
            let entry = match entry {
                Ok(entry) => entry,
                Err(Unreadable { path, reason }) => {
                    self.unreadable(path, &reason);
                    return false;
                }
            };
            let name = lossy(entry.name.as_encoded_bytes());
            let is_log = names::log_stem(&name).is_some();
            match (entry.is_dir, is_log) {
                (true, true) if depth > 1 => self.unreadable(entry.path, "a folder, not a file"),
                (false, true) => self.log(entry.path, &name, &|| entry.metadata()),
                _ => {}
            }
            entry.is_dir && !is_log
        });
    }

    fn log(&mut self, path: &Path, name: &str, metadata: &dyn Fn() -> io::Result<Metadata>) {
        let meta = match metadata() {
            Ok(meta) if meta.is_file() => meta,
            Ok(_) => return self.unreadable(path, "not a regular file"),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.unreadable(path, &error.to_string()),
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
            Err(error) => self.unreadable(path, &error.to_string()),
            Ok(Signs::Rollout(thread, source)) => {
                self.has_rollout(&thread);
                self.report(path, Whose::Session(&thread), &source, encoding, stat);
            }
            Ok(Signs::Stream(thread)) => {
                self.report(path, Whose::Session(&thread), names::EXEC, encoding, stat);
            }
            Ok(Signs::Nameless) => self.unreadable(path, "unsupported: no thread id"),
            // Somebody else's log.
            Ok(Signs::Nothing | Signs::Foreign) => {}
        }
    }

    /// The rows of the database, each as the state of its thread.
    fn database(&mut self, path: &Path) {
        let threads = match threads::read(path) {
            Ok(threads) => threads,
            Err(error) => return self.unreadable(path, &error.to_string()),
        };
        let change = std::fs::metadata(path).map(|meta| Stat::of(&meta)).unwrap_or_default();
        for (thread, mut row) in threads {
            if let Some(rollout) =
                row.remove("rollout_path").as_ref().and_then(|path| path.as_str()).map(PathBuf::from)
            {
                self.elsewhere(&rollout);
            }
            // The program keeps rows of threads whose log is gone: without one there is no session.
            if row.is_empty() || !self.threads.as_ref().is_some_and(|threads| threads.contains(&thread)) {
                continue;
            }
            let (kind, format) = names::form(names::STATE);
            let content = serde_json::Value::Object(row).to_string().into_bytes();
            let stat = Stat {
                size: content.len() as u64,
                mtime_ns: change.mtime_ns,
                device: change.device,
                inode: xxh3_64(&content),
            };
            let mut place = path.as_os_str().to_owned();
            place.push("#");
            place.push(&thread);
            (self.found)(Sight {
                owner: Whose::Session(&thread),
                source: names::STATE,
                kind,
                format,
                encoding: Encoding::Plain,
                path: Path::new(&place),
                stat,
                extra: false,
                unreadable: None,
                content: Some(&content),
            });
        }
    }

    /// A rollout that the database knows outside of this root.
    fn elsewhere(&mut self, path: &Path) {
        if !path.is_absolute() || path.starts_with(self.root) || !path.is_file() {
            return;
        }
        if let Some(name) =
            path.file_name().and_then(|name| name.to_str()).filter(|name| names::rollout(name).is_some())
            && self.elsewhere.insert(path.to_owned())
        {
            self.log(path, name, &|| fs::metadata(path));
        }
    }

    fn has_rollout(&mut self, thread: &str) {
        if let Some(threads) = &mut self.threads {
            threads.insert(thread.to_owned());
        }
    }

    fn report(&mut self, path: &Path, owner: Whose<'_>, source: &str, encoding: Encoding, stat: Stat) {
        let (kind, format) = names::form(source);
        (self.found)(Sight {
            owner,
            source,
            kind,
            format,
            encoding,
            path,
            stat,
            extra: false,
            unreadable: None,
            content: None,
        });
    }

    fn shared(&mut self, path: &Path, name: &str, stat: Stat) {
        let name = shared_name(self.root, name);
        (self.found)(Sight {
            source: &name,
            owner: Whose::Shared(&name),
            kind: SourceKind::Log,
            format: Format::Opaque,
            encoding: Encoding::Plain,
            path,
            stat,
            extra: false,
            unreadable: None,
            content: None,
        });
    }

    fn unreadable(&mut self, path: &Path, reason: &str) {
        unreadable(self.root, path, reason, self.found);
    }
}

fn peek(path: &Path) -> std::io::Result<Signs> {
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(PEEK_BYTES).read_to_end(&mut head)?;
    Ok(signs(&head))
}

/// The name under which a shared file is kept. Files of an unusual root have its
/// name in front, so that two roots do not take turns under one name.
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
