//! Recorded sessions, where there are some.
//!
//! `RETRO_CORPUS` names a folder with `genuine/<agent>*/<scenario>/` (a home, what
//! truly happened, and what the model server billed) and `public-<agent>/home`. Without
//! it every test says so and passes.
#![allow(dead_code)]

use retro_agents::{AGENTS, Agent};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::home::{Home, Source};

/// The folder, if it is there.
pub(crate) fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("RETRO_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RETRO_CORPUS is not set");
    }
    folder
}

/// A session: its agent, the scenario it was recorded in, its id and its sources.
pub(crate) type Recorded = (&'static dyn Agent, String, String, Vec<Source>);

/// Every session of every agent, recorded and public.
pub(crate) fn recorded() -> Vec<Recorded> {
    let Some(corpus) = corpus() else { return Vec::new() };
    let mut all = Vec::new();
    for agent in AGENTS.iter().copied() {
        let before = all.len();
        for home in homes(&corpus, agent.name()) {
            let name = home.strip_prefix(&corpus).unwrap().display().to_string();
            let sessions = Home::read(agent, &home).sessions.into_iter();
            all.extend(sessions.map(|(id, sources)| (agent, name.clone(), id, sources)));
        }
        println!("{}: {} recorded sessions", agent.name(), all.len() - before);
    }
    all
}

/// The homes of an agent's scenarios, and the public one.
fn homes(corpus: &Path, agent: &str) -> Vec<PathBuf> {
    let is_of_agent = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name == agent || name.strip_prefix(agent).is_some_and(|rest| rest.starts_with('-'))
    };
    let sets = folders(&corpus.join("genuine")).into_iter().filter(is_of_agent);
    let mut homes: Vec<PathBuf> =
        sets.flat_map(|set| folders(&set)).map(|folder| folder.join("home")).collect();
    homes.push(corpus.join(format!("public-{agent}")).join("home"));
    homes.retain(|home| home.is_dir());
    homes
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

/// Runs a check over all items on every core and gathers what it finds wrong.
pub(crate) fn wrong<T: Sync>(items: &[T], check: impl Fn(&T, &mut Vec<String>) + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let mut mine = Vec::new();
                    check(item, &mut mine);
                    found.lock().unwrap().extend(mine);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

pub(crate) fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
