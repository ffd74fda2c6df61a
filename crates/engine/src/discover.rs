//! Which files belong to which session, on this machine, right now.
//!
//! Names and file metadata come from the agents; contents are opened only for
//! files whose name does not tell whose they are, and only if the store has not
//! seen them unchanged before.

mod collector;
mod sightings;

use retro_agents::{AGENTS, Agent, Encoding, Found, Places, Sight, UNSUPPORTED};
use retro_model::SessionKey;
use retro_store::Stamps;
use std::collections::HashSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::{Config, World};
pub(crate) use collector::Collector;
use sightings::Sightings;

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
    discover_with(world, config, only, known, Collector::finish)
}

/// The same, but sessions without news are only counted.
pub(crate) fn discover_news(world: &World, config: &Config, only: Option<&str>, known: &Stamps) -> Discovery {
    discover_with(world, config, only, known, Collector::finish_news)
}

fn discover_with<'a>(
    world: &World,
    config: &Config,
    only: Option<&str>,
    known: &'a Stamps,
    finish: impl FnOnce(Collector<'a>) -> Discovery,
) -> Discovery {
    let mut collector = Collector::new(config, known);
    let roots = each_file(world, config, only, &mut |agent, sight| collector.see(agent, sight));
    Discovery { roots, unsupported: unsupported(&world.home), ..finish(collector) }
}

/// A walk whose files wait for their stamps.
pub(crate) struct Walked {
    files: Sightings,
    roots: Vec<(&'static str, PathBuf)>,
    unsupported: Vec<&'static str>,
}

/// Looks at every root of every agent, or of one, before the stamps are known.
pub(crate) fn walk(world: &World, config: &Config, only: Option<&str>) -> Walked {
    let mut files = Sightings::roomy();
    let roots = each_file(world, config, only, &mut |agent, sight| files.keep(agent, sight));
    Walked { files, roots, unsupported: unsupported(&world.home) }
}

impl Walked {
    /// What [`discover`] would have found, or [`discover_news`].
    pub(crate) fn compared(self, config: &Config, known: &Stamps, only_news: bool) -> Discovery {
        let mut collector = Collector::new(config, known);
        self.files.tell(&mut collector);
        let found = if only_news { collector.finish_news() } else { collector.finish() };
        Discovery { roots: self.roots, unsupported: self.unsupported, ..found }
    }
}

/// Tells every file of every root, and says which roots there are.
fn each_file(
    world: &World,
    config: &Config,
    only: Option<&str>,
    told: &mut dyn FnMut(&'static dyn Agent, Sight<'_>),
) -> Vec<(&'static str, PathBuf)> {
    let mut walked = Vec::new();
    for agent in AGENTS.iter().copied().filter(|agent| only.is_none_or(|name| name == agent.name())) {
        for root in roots(world, config, agent) {
            agent.discover(&root, &mut |sight| told(agent, sight));
            walked.push((agent.name(), root));
        }
    }
    walked
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
