//! Which files belong to which session, on this machine, right now.
//!
//! Names and file metadata come from the agents; contents are opened only for
//! files whose name does not tell whose they are, and only if the store has not
//! seen them unchanged before.

use retro_agents::{AGENTS, Agent, Encoding, Found, Owner, Places, Stat, UNSUPPORTED};
use retro_model::{SessionKey, SourceKind};
use retro_store::{Stamp, Stamps};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::xxh3_64;

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

/// Sessions of which the store has seen everything.
#[derive(Default)]
pub(crate) struct Quiet {
    /// How many.
    pub sessions: u64,
    /// Bytes on disk.
    pub bytes: u64,
}

/// Everything that was found.
#[derive(Default)]
pub struct Discovery {
    /// Sessions, newest first.
    pub sessions: Vec<SessionFiles>,
    /// Further sessions that have no news and were only counted.
    pub(crate) quiet: Quiet,
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
    /// The files of sessions, until they are handed to theirs.
    files: Vec<Option<Taken>>,
    /// The hash of each such file's session id, and the file's number.
    by_session: Vec<(u64, usize)>,
    pub(crate) found: Discovery,
}

struct Taken {
    agent: &'static dyn Agent,
    file: Found,
    news: bool,
}

impl Taken {
    fn session(&self) -> (&'static str, &str) {
        match &self.file.owner {
            Owner::Session(id) => (self.agent.name(), id),
            Owner::Shared(_) | Owner::Inside => (self.agent.name(), ""),
        }
    }

    /// Whether it makes a session of the files it is with. What a session leaves beside
    /// its log is no session: agents forget to delete it.
    fn carries(&self) -> bool {
        self.file.source.is_main() || matches!(self.file.kind, SourceKind::Log)
    }
}

impl<'a> Collector<'a> {
    pub(crate) fn new(config: &Config, known: &'a Stamps) -> Self {
        Collector {
            extras: config.extras.value,
            known,
            files: Vec::with_capacity(known.len()),
            by_session: Vec::with_capacity(known.len()),
            found: Discovery::default(),
        }
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
                Some(stamp) => {
                    if !belongs(stamp, &file.owner) {
                        file.owner = match stamp.session {
                            Some(id) => Owner::Session(id.to_owned()),
                            None => Owner::Shared(stamp.source.as_str().to_owned()),
                        };
                    }
                    file.source = stamp.source.clone();
                }
                None => {
                    if let Err(reason) = look_inside(agent, &mut file) {
                        self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
                        return;
                    }
                }
            }
        }
        let news = !seen.is_some_and(|stamp| belongs(stamp, &file.owner));
        self.put(agent, file, news);
    }

    /// Takes a file whose owner is settled.
    pub(crate) fn take_as_is(&mut self, agent: &'static dyn Agent, file: Found) {
        let news = !seen(self.known, &file).is_some_and(|stamp| belongs(stamp, &file.owner));
        self.put(agent, file, news);
    }

    fn put(&mut self, agent: &'static dyn Agent, file: Found, news: bool) {
        match &file.owner {
            Owner::Session(id) => {
                self.by_session.push((xxh3_64(id.as_bytes()), self.files.len()));
                self.files.push(Some(Taken { agent, file, news }));
            }
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

    /// Every session.
    pub(crate) fn finish(self) -> Discovery {
        self.gather(|_| true)
    }

    /// Those with news, and how many others there are.
    pub(crate) fn finish_news(self) -> Discovery {
        self.gather(|news| news)
    }

    fn gather(mut self, wanted: impl Fn(bool) -> bool) -> Discovery {
        let mut files = self.files;
        let of = |number: usize| files.get(number).and_then(Option::as_ref);
        let session = |number| of(number).map(Taken::session);
        self.by_session.sort_unstable_by(|(a_hash, a), (b_hash, b)| {
            let by_key = || session(*a).cmp(&session(*b)).then(a.cmp(b));
            a_hash.cmp(b_hash).then_with(by_key)
        });
        let same = |a: &(u64, usize), b: &(u64, usize)| a.0 == b.0 && session(a.1) == session(b.1);
        let mut groups = Vec::new();
        for group in self.by_session.chunk_by(same) {
            let parts = || group.iter().filter_map(|(_, number)| of(*number));
            if !parts().any(Taken::carries) {
                continue;
            }
            if wanted(parts().any(|part| part.news)) {
                groups.push(group);
            } else {
                self.found.quiet.sessions += 1;
                self.found.quiet.bytes += parts().map(|part| part.file.stat.size).sum::<u64>();
            }
        }
        let taken = |group: &[(u64, usize)]| {
            let parts = group.iter().filter_map(|(_, number)| files.get_mut(*number)?.take());
            in_one(parts.collect())
        };
        let mut sessions: Vec<SessionFiles> = groups.into_iter().filter_map(taken).collect();
        let newest = |session: &SessionFiles| Reverse(session.mtime_ns());
        sessions.sort_unstable_by(|a, b| (newest(a), &a.key).cmp(&(newest(b), &b.key)));
        self.found.sessions = sessions;
        self.found.shared.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        self.found.skipped.sort_by(|a, b| (a.agent, &a.path).cmp(&(b.agent, &b.path)));
        self.found
    }
}

/// Files of the same session as that session; nothing if there are none.
fn in_one(parts: Vec<Taken>) -> Option<SessionFiles> {
    let first = parts.first()?;
    let (agent, (name, id)) = (first.agent, first.session());
    let key = SessionKey::new(name, id);
    let news = parts.iter().any(|part| part.news);
    let mut files: Vec<Found> = parts.into_iter().map(|part| part.file).collect();
    files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
    Some(SessionFiles { key, agent, files, news })
}

/// A file as the store has seen it, if it still looks so.
fn seen<'a>(known: &'a Stamps, file: &Found) -> Option<Stamp<'a>> {
    let stamp = known.stamp(&file.path)?;
    let Stamp { size, mtime_ns, device, inode, .. } = stamp;
    (Stat { size, mtime_ns, device, inode } == file.stat).then_some(stamp)
}

/// Whether a file was captured for this owner.
fn belongs(stamp: Stamp<'_>, owner: &Owner) -> bool {
    match (owner, stamp.session) {
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
