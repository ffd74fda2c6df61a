//! Which files belong to which session, on this machine, right now.
//!
//! Names and file metadata come from the agents; contents are opened only for
//! files whose name does not tell whose they are, and only if the store has not
//! seen them unchanged before.

use retro_agents::{AGENTS, Agent, Encoding, Found, Owner, Places, Stat, UNSUPPORTED};
use retro_model::{SessionKey, SourceKind};
use retro_store::{PlaceRow, Stamps};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Config, World};

/// Bytes of a file that are read to tell whose it is.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;

/// The files of one session.
#[derive(Clone)]
pub struct SessionFiles {
    /// The session.
    pub key: SessionKey,
    /// Its agent.
    pub agent: &'static dyn Agent,
    /// Its files; at least one.
    pub files: Vec<Found>,
}

impl SessionFiles {
    /// Bytes on disk.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.stat.size).sum()
    }

    /// When any of them last changed, in nanoseconds since 1970.
    pub fn mtime_ns(&self) -> i64 {
        self.files.iter().map(|file| file.stat.mtime_ns).max().unwrap_or(0)
    }
}

/// A file that serves many sessions, or none.
#[derive(Clone)]
pub struct SharedFile {
    /// Its agent.
    pub agent: &'static dyn Agent,
    /// Its name in the store.
    pub name: String,
    /// The file.
    pub file: Found,
}

/// Something that was found and cannot be captured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Our name of the agent.
    pub agent: &'static str,
    /// Where.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// Everything that was found.
#[derive(Default)]
pub struct Discovery {
    /// Sessions, newest first.
    pub sessions: Vec<SessionFiles>,
    /// Files that serve many.
    pub shared: Vec<SharedFile>,
    /// What cannot be read.
    pub skipped: Vec<Skipped>,
    /// Roots that exist, with their agent's name.
    pub roots: Vec<(&'static str, PathBuf)>,
    /// Agents that are used here and not supported yet.
    pub unsupported: Vec<&'static str>,
    /// What a person should know of the place that was looked at.
    pub notes: Vec<String>,
}

/// Looks at every root of every agent, or of one.
pub fn discover(world: &World, config: &Config, only: Option<&str>, known: &Stamps) -> Discovery {
    let mut collector = Collector::new(config, known);
    let walked = walk(world, config, only, &mut |agent, file| collector.take(agent, file));
    walked.with(collector)
}

/// Where a walk over the agents' roots led.
pub(crate) struct Walked {
    roots: Vec<(&'static str, PathBuf)>,
    unsupported: Vec<&'static str>,
}

/// Walks over every root of every agent, or of one, and tells each file.
pub(crate) fn walk(
    world: &World,
    config: &Config,
    only: Option<&str>,
    told: &mut dyn FnMut(&'static dyn Agent, Found),
) -> Walked {
    let mut walked = Walked { roots: Vec::new(), unsupported: unsupported(&world.home) };
    for agent in AGENTS.iter().copied().filter(|agent| only.is_none_or(|name| name == agent.name())) {
        for root in roots(world, config, agent) {
            agent.discover(&root, &mut |found| told(agent, found));
            walked.roots.push((agent.name(), root));
        }
    }
    walked
}

impl Walked {
    /// The same with the files that were collected.
    pub(crate) fn with(self, collector: Collector<'_>) -> Discovery {
        Discovery { roots: self.roots, unsupported: self.unsupported, ..collector.finish() }
    }
}

/// The roots of an agent that exist, each once, however many names lead there.
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

/// Sorts found files by session.
pub(crate) struct Collector<'a> {
    extras: bool,
    known: &'a Stamps,
    sessions: HashMap<SessionKey, SessionFiles>,
    pub(crate) found: Discovery,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(config: &Config, known: &'a Stamps) -> Self {
        let extras = config.extras.value;
        Collector { extras, known, sessions: HashMap::new(), found: Discovery::default() }
    }

    pub(crate) fn take(&mut self, agent: &'static dyn Agent, mut file: Found) {
        if file.extra && !self.extras {
            return;
        }
        if let Some(reason) = file.unreadable.take() {
            self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
            return;
        }
        if needs_a_look(&file) {
            match seen(self.known, &file) {
                Some(row) => {
                    file.owner = match &row.session {
                        Some(id) => Owner::Session(id.clone()),
                        None => Owner::Shared(row.source.as_str().to_owned()),
                    };
                    file.source = row.source.clone();
                }
                None => {
                    if let Err(reason) = look_inside(agent, &mut file) {
                        self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
                        return;
                    }
                }
            }
        }
        self.take_as_is(agent, file);
    }

    /// Takes a file whose owner is settled.
    pub(crate) fn take_as_is(&mut self, agent: &'static dyn Agent, file: Found) {
        match file.owner.clone() {
            Owner::Session(id) => {
                let key = SessionKey::new(agent.name(), id);
                let session = self.sessions.entry(key.clone());
                session.or_insert_with(|| SessionFiles { key, agent, files: Vec::new() }).files.push(file);
            }
            Owner::Shared(name) => self.found.shared.push(SharedFile { agent, name, file }),
            Owner::Inside => self.found.skipped.push(Skipped {
                agent: agent.name(),
                path: file.path,
                reason: "its session cannot be told from its contents".to_owned(),
            }),
        }
    }

    pub(crate) fn finish(mut self) -> Discovery {
        self.found.sessions = self.sessions.into_values().collect();
        // What a session leaves beside its log is no session: agents forget to delete it.
        let is_session = |session: &SessionFiles| {
            let carries = |file: &Found| file.source.is_main() || matches!(file.kind, SourceKind::Log);
            session.files.iter().any(carries)
        };
        self.found.sessions.retain(is_session);
        for session in &mut self.found.sessions {
            session.files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
        }
        let newest = |session: &SessionFiles| Reverse(session.mtime_ns());
        self.found.sessions.sort_unstable_by(|a, b| (newest(a), &a.key).cmp(&(newest(b), &b.key)));
        self.found.shared.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        self.found.skipped.sort_by(|a, b| (a.agent, &a.path).cmp(&(b.agent, &b.path)));
        self.found
    }
}

/// A file as the store has seen it, if it still looks so.
fn seen<'a>(known: &'a Stamps, file: &Found) -> Option<&'a PlaceRow> {
    let row = known.get(&file.path)?;
    let stat = Stat { size: row.size, mtime_ns: row.mtime_ns, device: row.device, inode: row.inode };
    (stat == file.stat).then_some(row)
}

/// Whether a name does not settle whose file it is: files that say so, and main
/// logs so small that they may hold no conversation.
fn needs_a_look(file: &Found) -> bool {
    file.owner == Owner::Inside || is_small_main(file)
}

fn is_small_main(file: &Found) -> bool {
    file.source.is_main()
        && file.encoding == Encoding::Plain
        && file.stat.size <= HEAD_BYTES as u64
        && matches!(file.owner, Owner::Session(_))
}

/// Asks the agent whose file this is.
fn look_inside(agent: &dyn Agent, file: &mut Found) -> Result<(), String> {
    let small_main = is_small_main(file);
    let head = read_head(file).map_err(|error| error.to_string())?;
    match agent.identify(&file.path, &head) {
        Some(kindred) if small_main => {
            // The name is right unless the contents are no conversation at all.
            if matches!(kindred.owner, Owner::Shared(_)) {
                file.owner = kindred.owner;
                file.format = kindred.format;
            }
        }
        Some(kindred) => {
            file.owner = kindred.owner;
            file.source = kindred.source;
            file.kind = kindred.kind;
            file.format = kindred.format;
        }
        None => {}
    }
    Ok(())
}

/// The first bytes of a source, decompressed where it is compressed.
pub(crate) fn read_head(file: &Found) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut source = open(file)?.take(HEAD_BYTES as u64);
    source.read_to_end(&mut head)?;
    Ok(head)
}

/// A source from its start, decompressed where it is compressed.
pub(crate) fn open(file: &Found) -> std::io::Result<Box<dyn Read>> {
    if let Some(rows) = &file.content {
        return Ok(Box::new(std::io::Cursor::new(rows.to_vec())));
    }
    let plain = std::fs::File::open(&file.path)?;
    if !plain.metadata()?.is_file() {
        return Err(std::io::Error::other("not a regular file"));
    }
    Ok(match file.encoding {
        Encoding::Plain => Box::new(plain),
        Encoding::Zstd => Box::new(zstd::stream::read::Decoder::new(plain)?),
    })
}
