//! Finds the files of every session on this machine, as they are now.
//!
//! There is one path: [`walk`] collects the sightings of the agents, or looks into a folder that
//! the user named, and [`Walked::compared`] compares them with the stamps in the store. The walk
//! reads names and file metadata. Contents are opened in the second step only: of files whose name
//! does not give the owner and that the store has not seen unchanged, and of databases that
//! changed.

mod collector;
pub mod from;
mod packed;

use retro_agents::{
    AGENTS, Agent, Encoding, Found, Held, Places, Sightings, UNSUPPORTED, open_regular, remove_left_copies,
};
use retro_model::SessionKey;
use retro_store::{Index, PlaceRow, Stamps, Tombstones, copies_folder};
use std::collections::HashSet;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use crate::{Config, Error, World};
use collector::Collector;
pub(crate) use packed::Cut;
use packed::Packed;

/// Bytes of a file that are read to find its owner.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

/// Where discovery looks, and for which agents.
#[derive(Clone)]
pub struct Scope<'a> {
    /// Agents whose sessions are wanted.
    pub agents: Vec<&'static dyn Agent>,
    /// A file or folder to search instead of the agents' own folders.
    pub from: Option<&'a Path>,
}

impl<'a> Scope<'a> {
    /// A scope for every agent, or for the one with this name, at `from` or in the agents' own
    /// folders.
    pub fn new(agent: Option<&str>, from: Option<&'a Path>) -> Scope<'a> {
        let is_wanted = |known: &&dyn Agent| agent.is_none_or(|name| name == known.name());
        Scope { agents: AGENTS.iter().copied().filter(is_wanted).collect(), from }
    }
}

/// The sessions that a caller wants to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All sessions, with or without news.
    All,
    /// Sessions with news. The others are only counted.
    News,
}

/// The files of one session.
#[derive(Clone)]
pub struct SessionFiles {
    /// Agent and id of the session.
    pub key: SessionKey,
    /// The agent that wrote it.
    pub agent: &'static dyn Agent,
    /// Its files, at least one.
    pub files: Vec<Found>,
    /// True if the store lacks one of them or has an older version.
    pub news: bool,
}

impl SessionFiles {
    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(Found::size).sum()
    }

    /// The last change of any of them, in nanoseconds since 1970.
    pub fn mtime_ns(&self) -> i64 {
        self.files.iter().map(|file| file.stamp().changed_ns()).max().unwrap_or(0)
    }
}

/// A file that serves many sessions.
#[derive(Clone)]
pub struct SharedFile {
    /// The agent that wrote it.
    pub agent: &'static dyn Agent,
    /// Its name in the store.
    pub name: String,
    /// The file on this machine.
    pub file: Found,
    /// True if the store lacks it or has an older version.
    pub news: bool,
}

/// A found file or folder that cannot be captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The name by which retro knows the agent.
    pub agent: &'static str,
    /// Path of the file or folder.
    pub path: PathBuf,
    /// The reason, for people.
    pub reason: String,
    /// Whether it may hold sessions, so that figures without it are lower bounds.
    pub may_hold_logs: bool,
}

/// Sessions without news, counted and not listed.
#[derive(Default)]
pub(crate) struct Quiet {
    /// Number of these sessions.
    pub sessions: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Everything that discovery found.
#[derive(Default)]
pub struct Discovery {
    /// Sessions, newest first.
    pub sessions: Vec<SessionFiles>,
    /// Sessions that were forgotten and whose logs are still there. They are not read.
    pub forgotten: Vec<SessionFiles>,
    /// Further sessions without news, counted and not listed.
    pub(crate) quiet: Quiet,
    /// Files that serve many sessions.
    pub shared: Vec<SharedFile>,
    /// Databases, logs and folders that cannot be read.
    pub skipped: Vec<Skipped>,
    /// Stamps of changed databases, taken before their rows were listed. Store these once every
    /// session with news is in the store, so that an unchanged database is not opened.
    pub databases: Vec<PlaceRow>,
    /// Roots that exist, with their agent's name.
    pub roots: Vec<(&'static str, PathBuf)>,
    /// Agents that are used here and that retro does not support yet.
    pub unsupported: Vec<&'static str>,
    /// Notes for people about the searched place.
    pub notes: Vec<String>,
}

impl Discovery {
    /// Skipped files and folders that may hold sessions.
    pub fn unreadable(&self) -> impl Iterator<Item = &Skipped> {
        self.skipped.iter().filter(|skipped| skipped.may_hold_logs)
    }
}

/// Looks into every root of every agent, or of one.
pub fn discover(world: &World, config: &Config, only: Option<&str>, known: &Stamps) -> Discovery {
    walk_roots(world, config, &Scope::new(only, None)).compared(config, known, Keep::All)
}

/// Walks while `read` reads the stamps from the store, then compares both. A walk waits for the
/// file system: on two cores a sync without news over 2,000 files took 5.2 ms in this way, and 6.2
/// ms one after the other.
pub fn look<K: Send>(
    world: &World,
    config: &Config,
    scope: &Scope<'_>,
    keep: Keep,
    read: impl FnOnce(&Few) -> Result<(K, Stamps), Error> + Send,
) -> Result<(K, Stamps, Discovery), Error> {
    std::thread::scope(|threads| {
        let (tell, told) = std::sync::mpsc::channel();
        let reading = threads.spawn(move || read(&Few(told)));
        let walked = walk(world, config, scope);
        // A reader that no longer waits has begun to read everything.
        let _ = tell.send(walked.as_ref().ok().and_then(Walked::few));
        let read = reading.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (kept, known) = read?;
        let found = walked?.compared(config, &known, keep);
        Ok((kept, known, found))
    })
}

/// At most this many files count as few: reading their stamps one by one is cheaper than reading
/// those of all files ever seen.
const FILES_FEW: usize = 256;

/// How long a reader waits for a walk that may end in a moment.
const WALK_MOMENT: Duration = Duration::from_millis(3);

/// Receives the paths of a walk that ends soon and found few files.
pub struct Few(Receiver<Option<Seen>>);

/// The files and databases that a walk saw.
pub(crate) struct Seen {
    files: Vec<PathBuf>,
    databases: Vec<PathBuf>,
}

impl Few {
    /// The stamps of the walk's files, or of all files if the walk found many or is still running.
    pub fn stamps(&self, index: &Index) -> Result<Stamps, retro_store::Error> {
        match self.0.recv_timeout(WALK_MOMENT) {
            Ok(Some(seen)) => seen.stamps(index),
            _ => index.stamps(),
        }
    }
}

impl Seen {
    pub(crate) fn stamps(&self, index: &Index) -> Result<Stamps, retro_store::Error> {
        index.stamps_at(self.files.iter().map(PathBuf::as_path), self.databases.iter().map(PathBuf::as_path))
    }
}

/// The findings of a walk, before they are compared with the store.
#[derive(Default)]
pub struct Walked {
    /// Sightings by agent.
    pub(crate) seen: Vec<(&'static dyn Agent, Sightings)>,
    /// Files that the user named. Their contents identify them.
    pub(crate) chosen: Vec<(&'static dyn Agent, Found)>,
    /// Only sessions with a file below this folder count.
    pub(crate) below: Option<PathBuf>,
    pub(crate) roots: Vec<(&'static str, PathBuf)>,
    pub(crate) unsupported: Vec<&'static str>,
    pub(crate) notes: Vec<String>,
}

/// Walks the places of the scope. Fails only if the user named a place that cannot be read or holds
/// no session.
pub fn walk(world: &World, config: &Config, scope: &Scope<'_>) -> Result<Walked, Error> {
    match scope.from {
        Some(path) => from::walk(path, &scope.agents),
        None => Ok(walk_roots(world, config, scope)),
    }
}

fn walk_roots(world: &World, config: &Config, scope: &Scope<'_>) -> Walked {
    let mut walked = Walked { unsupported: unsupported(&world.home), ..Walked::default() };
    for agent in scope.agents.iter().copied() {
        let roots = roots(world, config, agent);
        if roots.is_empty() {
            continue;
        }
        let mut seen = Sightings::roomy();
        for root in roots {
            walked.notes.extend(store_inside(&config.root.value, &root, agent));
            agent.discover(&root, &mut seen);
            walked.roots.push((agent.name(), root));
        }
        walked.seen.push((agent, seen));
    }
    walked
}

/// The warning about a store below a folder of an agent: agents clean their folders.
fn store_inside(store: &Path, root: &Path, agent: &dyn Agent) -> Option<String> {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    (store.starts_with(root) || real(store).starts_with(real(root))).then(|| {
        format!(
            "the store {} is inside a folder of {}, which may remove files there. Move it, and name its new \
             place with --root or in the configuration",
            store.display(),
            agent.title()
        )
    })
}

impl Walked {
    /// The paths of the walk, if there are few.
    fn few(&self) -> Option<Seen> {
        let count: usize = self.seen.iter().map(|(_, seen)| seen.files_count() + seen.folders().len()).sum();
        (count + self.chosen.len() <= FILES_FEW).then(|| self.all_seen())
    }

    /// The paths of the walk.
    pub(crate) fn all_seen(&self) -> Seen {
        let seen = || self.seen.iter().map(|(_, seen)| seen);
        let files = seen().flat_map(|seen| seen.files().map(|file| file.path.to_owned()).collect::<Vec<_>>());
        let chosen = self.chosen.iter().map(|(_, file)| file.path.clone());
        let folders = seen().flat_map(|seen| seen.folders().iter().map(|folder| folder.path.clone()));
        let databases = seen().flat_map(|seen| seen.databases().iter().map(|database| database.path.clone()));
        Seen { files: files.chain(folders).chain(chosen).collect(), databases: databases.collect() }
    }

    /// Sorts the found files by session, and marks those with news.
    pub fn compared(self, config: &Config, known: &Stamps, keep: Keep) -> Discovery {
        let copies = copies_folder(&config.root.value);
        copies.iter().for_each(|copies| remove_left_copies(copies));
        let mut collector = Collector::new(config, known, copies);
        for (agent, seen) in &self.seen {
            collector.see_all(*agent, seen);
        }
        for (agent, file) in self.chosen {
            collector.take(agent, file);
        }
        // The files of sessions that are only counted are not known, so a folder filter keeps all.
        let mut found = collector.finish(if self.below.is_some() { Keep::All } else { keep });
        let stones = Tombstones::at(&config.root.value);
        if !stones.is_empty() {
            found.forgotten = found.sessions.extract_if(.., |session| stones.has(&session.key)).collect();
        }
        if let Some(folder) = self.below {
            let is_below = |file: &Found| {
                let is_inside = matches!(file.held, Held::Files { .. }) && folder.starts_with(&file.path);
                is_inside || file.path.starts_with(&folder)
            };
            found.sessions.retain(|session| session.files.iter().any(is_below));
            found.shared.retain(|shared| shared.file.path.starts_with(&folder));
            found.skipped.retain(|skipped| skipped.path.starts_with(&folder));
            // Some of their sessions are left out, so these databases must be opened again.
            found.databases.clear();
        }
        Discovery { roots: self.roots, unsupported: self.unsupported, notes: self.notes, ..found }
    }
}

/// The roots of an agent that exist. Each appears once, even if several names lead to it.
pub fn roots(world: &World, config: &Config, agent: &dyn Agent) -> Vec<PathBuf> {
    let extra_roots = config.sources.value.get(agent.name()).cloned().unwrap_or_default();
    let places = Places { home: world.home.clone(), env: &*world.env, extra_roots };
    let mut seen = HashSet::new();
    agent
        .roots(&places)
        .into_iter()
        .filter(|root| root.is_dir())
        .filter(|root| seen.insert(std::fs::canonicalize(root).unwrap_or_else(|_| root.clone())))
        .collect()
}

fn unsupported(home: &Path) -> Vec<&'static str> {
    UNSUPPORTED.iter().filter(|agent| home.join(agent.marker).is_dir()).map(|agent| agent.title).collect()
}

pub(crate) fn head_of(source: impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// A file from its start as it is, decompressed where it is compressed. What is kept or shown of
/// it comes through [`crate::door`].
pub(crate) fn open_file(path: &Path, encoding: Encoding, cut: &Cut) -> io::Result<Box<dyn Read>> {
    let plain = open_regular(path)?;
    Ok(match encoding {
        Encoding::Plain => Box::new(plain),
        Encoding::Zstd => Box::new(Packed::new(plain, cut)?),
    })
}

/// The rows of a source in a database. Empty for any other source.
pub(crate) fn rows(file: &Found) -> io::Result<Vec<u8>> {
    use retro_agents::Owner;
    match (&file.held, &file.owner) {
        (Held::Rows { database, .. }, Owner::Session(session)) => {
            database.rows(session, &file.source).map_err(io::Error::other)
        }
        _ => Ok(Vec::new()),
    }
}
