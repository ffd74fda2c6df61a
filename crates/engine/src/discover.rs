//! Which files belong to which session, on this machine, right now.
//!
//! Names and file metadata come from the agents; contents are opened only for
//! files whose name does not tell whose they are, and only if the store has not
//! seen them unchanged before.

use retro_agents::{AGENTS, Agent, Encoding, Found, Owner, Places, Stat, UNSUPPORTED};
use retro_model::{SessionKey, SourceKind};
use retro_store::{PlaceRow, Stamps};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap};
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
    /// Whether the store has not seen all of them as they are now.
    pub news: bool,
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
    /// Whether the store has not seen it as it is now.
    pub news: bool,
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
    walked.with(collector.finish())
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
    pub(crate) fn with(self, found: Discovery) -> Discovery {
        Discovery { roots: self.roots, unsupported: self.unsupported, ..found }
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

/// Sorts found files by session, and tells which of them are news.
pub(crate) struct Collector<'a> {
    extras: bool,
    known: &'a Stamps,
    /// By the agent's name and its own id.
    sessions: HashMap<(&'static str, String), SessionFiles>,
    pub(crate) found: Discovery,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(config: &Config, known: &'a Stamps) -> Self {
        let extras = config.extras.value;
        let sessions = HashMap::with_capacity(known.len());
        Collector { extras, known, sessions, found: Discovery::default() }
    }

    pub(crate) fn take(&mut self, agent: &'static dyn Agent, mut file: Found) {
        if file.extra && !self.extras {
            return;
        }
        if let Some(reason) = file.unreadable.take() {
            self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
            return;
        }
        let seen = seen(self.known, &file);
        if needs_a_look(&file) {
            match seen {
                Some(row) => {
                    if !belongs(row, &file.owner) {
                        file.owner = match &row.session {
                            Some(id) => Owner::Session(id.clone()),
                            None => Owner::Shared(row.source.as_str().to_owned()),
                        };
                    }
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
        let news = !seen.is_some_and(|row| belongs(row, &file.owner));
        self.put(agent, file, news);
    }

    /// Takes a file whose owner is settled.
    pub(crate) fn take_as_is(&mut self, agent: &'static dyn Agent, file: Found) {
        let news = !seen(self.known, &file).is_some_and(|row| belongs(row, &file.owner));
        self.put(agent, file, news);
    }

    fn put(&mut self, agent: &'static dyn Agent, file: Found, news: bool) {
        match &file.owner {
            Owner::Session(id) => match self.sessions.entry((agent.name(), id.clone())) {
                Entry::Occupied(session) => {
                    let session = session.into_mut();
                    session.files.push(file);
                    session.news |= news;
                }
                Entry::Vacant(place) => {
                    let key = SessionKey::new(agent.name(), id);
                    place.insert(SessionFiles { key, agent, files: vec![file], news });
                }
            },
            Owner::Shared(name) => {
                let name = name.clone();
                self.found.shared.push(SharedFile { agent, name, file, news });
            }
            Owner::Inside => self.found.skipped.push(Skipped {
                agent: agent.name(),
                path: file.path,
                reason: "its session cannot be told from its contents".to_owned(),
            }),
        }
    }

    pub(crate) fn finish(self) -> Discovery {
        self.finish_with(|_| true)
    }

    /// Keeps only those sessions that are wanted; asked of each once, in no order.
    pub(crate) fn finish_with(mut self, mut wanted: impl FnMut(&SessionFiles) -> bool) -> Discovery {
        let mut sessions = Vec::new();
        for mut session in self.sessions.into_values() {
            // What a session leaves beside its log is no session: agents forget to delete it.
            let carries = |file: &Found| file.source.is_main() || matches!(file.kind, SourceKind::Log);
            if !session.files.iter().any(carries) {
                continue;
            }
            session.files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
            if wanted(&session) {
                sessions.push(session);
            }
        }
        let newest = |session: &SessionFiles| Reverse(session.mtime_ns());
        sessions.sort_unstable_by(|a, b| (newest(a), &a.key).cmp(&(newest(b), &b.key)));
        self.found.sessions = sessions;
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

/// Whether a file was captured for this owner.
fn belongs(row: &PlaceRow, owner: &Owner) -> bool {
    match (owner, &row.session) {
        (Owner::Session(id), Some(session)) => id == session,
        (Owner::Shared(_), None) => true,
        _ => false,
    }
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
