//! Builds the folder of a dashboard, or updates it.
//!
//! The index lists changes by number, so a build after one session costs that session, the rows of
//! its month and a small segment of words. If the store looks unchanged, nothing is read.

mod made;
mod memory;
mod overview;
mod patterns;
mod plan;
mod search;
mod signals;
mod standing;
mod state;
#[cfg(test)]
mod tests;
mod trees;
mod troubles;

use jiff::tz::TimeZone;
use rayon::prelude::*;
use retro::engine::ask::{self, Patience};
use retro::engine::{Config, World, prices};
use retro::model::{SessionKey, Timestamp};
use retro::store::{Follow, Mark, RealDisk, Store};
use retro::usage::{Mode, decide};
use retro::views::answers::Schema;
use retro::views::{Costs, ListOptions, SessionView, list};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::folder::Folder;
use crate::session::{Ground, Redact};
use crate::{Error, assets, rows};
use made::{Taking, made};
pub(crate) use memory::again as memories_again;
pub(crate) use patterns::{NAME as PATTERNS, again as patterns_again};
use plan::Plan;
use search::Search;
use signals::Said;
use state::State;
use trees::roots;

/// The options of a build.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder to write.
    pub out: PathBuf,
    /// Only sessions that were active at this time or later.
    pub since: Option<Timestamp>,
    /// Only sessions of this project.
    pub project: Option<String>,
    /// The amount of redaction.
    pub redact: Redact,
    /// The cost figures to use: the log's or calculated ones.
    pub mode: Mode,
    /// The time zone of days. `None`: this machine's.
    pub tz: Option<TimeZone>,
}

/// The result of a build.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Built {
    /// Sessions in the dashboard.
    pub sessions: u64,
    /// Sessions that were read and built.
    pub rebuilt: u64,
    /// Sessions that were read only to check for problems.
    #[serde(skip)]
    pub looked: u64,
    /// Sessions that could not be read, with the reason.
    pub failed: Vec<(String, String)>,
    /// Number of files written.
    pub written: u64,
    /// Files that were up to date.
    pub kept: u64,
    /// Number of bytes written.
    pub bytes: u64,
    /// The path of the page.
    pub index: PathBuf,
    /// Chunk names of the sessions that changed, for open pages.
    #[serde(skip)]
    pub changed: Vec<String>,
}

impl Schema for Built {
    const NAME: &'static str = "retro.dashboard/1";
}

/// A store opened for building, with its options.
pub struct Build<'a> {
    /// The clock, environment and file system.
    pub world: &'a World,
    /// The user's configuration.
    pub config: &'a Config,
    /// The build's options.
    pub options: &'a Options,
}

/// Sessions that are built before their words are collected.
const BATCH: usize = 512;

/// Builds chunks that are out of date. `progress` gets the number of finished sessions and the
/// total.
pub fn build(work: &Build<'_>, progress: &(dyn Fn(u64, u64) + Sync)) -> Result<Built, Error> {
    let Build { world, config, options } = *work;
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let prices = prices::load(world, config)?;
    let tz = options.tz.clone().unwrap_or_else(TimeZone::system);
    let mut folder = Folder::open(&options.out)?;
    let signals = signals::names(config);
    let fingerprint = fingerprint(config, options, &tz, &prices, &signals);
    let mut state = State::read(&folder, &fingerprint);
    let standing = standing::of(work, &store, &prices)?;
    if let Some(built) = standing::unchanged(work, &mut folder, &state, &standing)? {
        return Ok(built);
    }
    if state.standing.is_empty() {
        // From now on the folder is a dashboard, even if the build fails.
        folder.put(crate::folder::STATE, &state.json()?)?;
    }
    folder.hashes = std::mem::take(&mut state.hashes);
    // Everything below needs these sums. They are stored in the index and change its state.
    ask::keep_sums(&store, &prices)?;
    let standing = standing::of(work, &store, &prices)?;
    let asked = ask::read(world, config, Patience::None, &|_| {})?;
    let ledgers = asked.ledgers();
    let counted = decide(ledgers.rows()?);
    let costs = Costs::of(world, config, &store);
    let ground = Ground {
        store: &store,
        counted: &counted,
        prices: ledgers.prices,
        mode: options.mode,
        redact: options.redact,
        config,
        costs: costs.as_ref(),
        signals: &signals,
    };
    let sessions = wanted(world, config, options)?;
    let mut plan = Plan::new(&sessions, roots(&ledgers.sessions()?), ledgers.cells(options.mode)?);
    plan.digests = digests(&store)?;
    let mut site = Site {
        build: build_of(&fingerprint),
        search: Search::new(&state),
        built: Built { sessions: sessions.len() as u64, ..Built::default() },
        folder,
        state,
        said: HashMap::new(),
    };
    let (mark, changed) = changes(&store, &site.state, &plan.roots)?;
    let verified = site.state.verified.clone();
    let (made, looked) = rayon::join(
        || site.make(&plan, &changed, &ground, world, progress),
        || overview::look(&store, world, config, verified.as_ref()),
    );
    made?;
    let looked = looked?;
    site.forget(&plan)?;
    site.look(&plan, &changed, &store)?;
    let build = site.build.clone();
    let told =
        overview::Told { world, config, options, tz: &tz, ground: &ground, ledgers, build: &build, looked };
    site.state.standing = standing;
    site.finish(&plan, &told, mark)
}

/// A folder under construction.
struct Site {
    build: String,
    folder: Folder,
    state: State,
    search: Search,
    built: Built,
    /// Signal values of the built sessions, by chunk name.
    said: HashMap<String, Vec<Said>>,
}

impl Site {
    /// Builds the sessions that changed, or whose cost did.
    fn make(
        &mut self,
        plan: &Plan<'_>,
        changed: &HashSet<SessionKey>,
        ground: &Ground<'_>,
        world: &World,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<(), Error> {
        let is_due = |(name, key, _): &&(String, SessionKey, &SessionView)| {
            let known = self.state.sessions.get(name);
            changed.contains(key)
                || known
                    .is_none_or(|known| known.money != plan.money(key) || known.digest != plan.digest(key))
        };
        let due: Vec<_> = plan.named.iter().filter(is_due).collect();
        let Site { build, folder, state, search, built, said } = self;
        let mut taking = Taking { folder, state, search, built, said };
        let (folder, mut waiting) = (taking.folder.place(), Vec::new());
        for batch in due.chunks(BATCH).chain([&[][..]]) {
            // Collects the words of one batch while the next one is built.
            let (made, taken) = rayon::join(
                || -> Vec<_> {
                    let made = batch.par_iter().map(|(name, key, view)| {
                        let kids = plan.kids.get(key).map_or(&[][..], Vec::as_slice);
                        (name, key, made(ground, view, kids, (build, &folder)))
                    });
                    made.collect()
                },
                || waiting.drain(..).try_for_each(|one| taking.take(plan, one)),
            );
            taken?;
            waiting = made;
            progress(taking.built.rebuilt + taking.built.failed.len() as u64, due.len() as u64);
            if world.stopping() {
                return Err(Error::Engine(retro::engine::Error::Stopped));
            }
        }
        Ok(())
    }

    /// Removes sessions that are no longer wanted.
    fn forget(&mut self, plan: &Plan<'_>) -> Result<(), Error> {
        let present: HashSet<&String> = plan.named.iter().map(|(name, ..)| name).collect();
        let gone: Vec<String> =
            self.state.sessions.keys().filter(|name| !present.contains(name)).cloned().collect();
        for name in gone {
            self.folder.clear_session(&name, &HashSet::new())?;
            self.state.sessions.remove(&name);
            self.search.remove(&name);
            self.built.changed.push(name);
        }
        Ok(())
    }

    /// Writes the chunks over all sessions, the page itself, and the state.
    fn finish(mut self, plan: &Plan<'_>, told: &overview::Told<'_>, mark: Mark) -> Result<Built, Error> {
        self.search.write(&mut self.folder, &mut self.state, &self.build)?;
        let known = self.state.sessions.iter();
        let summaries = known.map(|(name, known)| (name.clone(), known.summary.clone())).collect();
        let table = rows::Table {
            sessions: plan.sessions,
            summaries: &summaries,
            roots: &plan.roots,
            cells: &plan.cells,
            tz: told.tz,
        };
        let (months, chunks) = rows::months(&table)?;
        for chunk in &chunks {
            self.folder.put_large(chunk, &self.build)?;
        }
        clear(&self.folder, &months, &self.state)?;
        self.signals(plan, told.ground, &rows::keys(&table))?;
        self.folder.put_large(&signals::registry(told.ground)?, &self.build)?;
        let shelf = plan.shelf(told)?;
        self.memories(&shelf)?;
        let recurs = plan.recurs(told)?;
        self.patterns(&recurs)?;
        let sums = overview::Sums {
            months: &months,
            parts: &search::parts(&self.state),
            sessions: plan.named.len(),
            memories: memory::told(&shelf),
            patterns: recurs.told,
            troubles: &self.state.troubles(),
            verified: self.state.verified.as_ref(),
        };
        let overview::Made { chunks, good_until_ms, verified } = overview::chunks(told, &sums)?;
        for chunk in chunks {
            self.folder.put_chunk(&chunk, &self.build)?;
        }
        (self.state.good_until_ms, self.state.verified) = (good_until_ms, verified);
        self.folder.put("index.html", assets::index(assets::CSP_FOLDER, "folder").as_bytes())?;
        self.folder.put("app.js", assets::SCRIPT.as_bytes())?;
        self.folder.put("app.css", assets::STYLE.as_bytes())?;
        (self.state.series, self.state.number) = (mark.series, mark.number);
        if !self.built.failed.is_empty() {
            // The next build retries these and reports them again.
            self.state.standing.clear();
        }
        let hashes = std::mem::take(&mut self.folder.hashes).into_iter();
        self.state.hashes = hashes.filter(|(name, _)| self.folder.has(name)).collect();
        self.folder.put(crate::folder::STATE, &self.state.json()?)?;
        let Folder { written, kept, bytes, .. } = self.folder;
        let index = told.options.out.join("index.html");
        Ok(Built { written, kept, bytes, index, ..self.built })
    }
}

/// The wanted sessions of the store, newest first.
fn wanted(world: &World, config: &Config, options: &Options) -> Result<Vec<SessionView>, Error> {
    let asked =
        ListOptions { project: options.project.clone(), since: options.since, ..ListOptions::default() };
    let mut sessions = list(world, config, &asked)?.sessions;
    sessions.retain(|session| session.captured);
    Ok(sessions)
}

/// Changes that affect a session's page.
const FOLLOWS: &[Follow] = &[
    Follow::Sessions,
    Follow::Turns,
    Follow::Made("ledger"),
    Follow::Made("calls"),
    Follow::Made("digest"),
    Follow::Bodies("mined"),
];

/// The current change number, and the trees that changed since the last build.
fn changes(
    store: &Store,
    state: &State,
    roots: &HashMap<SessionKey, SessionKey>,
) -> Result<(Mark, HashSet<SessionKey>), Error> {
    let Some(index) = store.index_if_there()? else {
        return Ok((Mark::default(), roots.keys().cloned().collect()));
    };
    let seen = Mark { series: state.series.clone(), number: state.number };
    let changes = index.changes_since(&seen, FOLLOWS)?;
    let root = |key: &SessionKey| roots.get(key).unwrap_or(key).clone();
    let of_sessions = [&changes.sessions, &changes.made, &changes.bodies, &changes.removed_sessions];
    let changed = of_sessions.into_iter().flatten().map(root);
    let changed = changed.chain(changes.turns.iter().map(|(key, _)| root(key)));
    Ok((changes.mark, changed.collect()))
}

/// Identifies the digest of each session. It changes with the digest's content.
fn digests(store: &Store) -> Result<HashMap<SessionKey, String>, Error> {
    let Some(index) = store.index_if_there()? else { return Ok(HashMap::new()) };
    let made = index.made_by("digest")?.into_iter();
    Ok(made.map(|(key, made)| (key, format!("{} {}", made.stamp, made.output))).collect())
}

/// Identifies all inputs of the chunks except the sessions.
fn fingerprint(
    config: &Config,
    options: &Options,
    tz: &TimeZone,
    prices: &retro::usage::Prices,
    signals: &[String],
) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [
        env!("CARGO_PKG_VERSION"),
        assets::SCRIPT,
        tz.iana_name().unwrap_or_default(),
        &format!("{:?} {:?} {:?} {:?}", options.since, options.project, options.redact, options.mode),
        &format!("{:?} {:?}", config.domains.value, config.root.value),
        &format!("{} {:?}", prices.snapshot, config.prices.value),
        &signals.join(" "),
    ] {
        hasher.update(part.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex().to_string()
}

/// The name of a build: a short form of its inputs.
fn build_of(fingerprint: &str) -> String {
    fingerprint.get(..16).unwrap_or_default().to_owned()
}

/// Removes months without sessions, and pictures that no session shows.
fn clear(folder: &Folder, months: &[rows::Month], state: &State) -> Result<(), Error> {
    let months: HashSet<String> = months.iter().map(|month| format!("{}.js", month.month)).collect();
    let pictures = state.sessions.values().flat_map(|known| known.pictures.iter().cloned()).collect();
    for (below, listed) in [("data/rows", &months), ("data/g", &months), ("img", &pictures)] {
        keep_only(folder, below, listed)?;
    }
    Ok(())
}

/// Removes unlisted files from a folder.
fn keep_only(folder: &Folder, below: &str, listed: &HashSet<String>) -> Result<(), Error> {
    let Ok(entries) = std::fs::read_dir(folder.root().join(below)) else { return Ok(()) };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.ends_with(".new") && !listed.contains(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
