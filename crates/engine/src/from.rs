//! Sessions from anywhere: a file, a folder, another home, a store of the
//! Python seed.

use retro_agents::{AGENTS, Agent, Encoding, Format, Found, Owner, Stat, by_name};
use retro_model::{SourceKey, SourceKind};
use retro_store::Stamps;
use std::path::Path;

use crate::discover::{Collector, Discovery, HEAD_BYTES, discover as discover_home};
use crate::platform::Platform;
use crate::{Config, Error, World};

/// Finds the sessions at or below `path`.
pub fn discover(
    world: &World,
    config: &Config,
    path: &Path,
    only: Option<&str>,
    known: &Stamps,
) -> Result<Discovery, Error> {
    let meta = std::fs::metadata(path).map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let wanted = |agent: &&dyn Agent| only.is_none_or(|name| name == agent.name());
    let mut collector = Collector::new(config, known);
    if meta.is_file() {
        match AGENTS.iter().copied().filter(wanted).find_map(|agent| Some((agent, one_file(agent, &path)?))) {
            Some((agent, file)) => collector.take(agent, file),
            None => return Err(Error::NothingThere(path)),
        }
        return Ok(collector.finish());
    }
    if is_seed_store(&path) {
        seed_store(&path, &mut collector);
        let mut found = collector.finish();
        found.notes = seed_notes(&path);
        return Ok(found);
    }
    // Another home, then an agent's own root, then any folder with logs in it.
    let elsewhere = World {
        home: path.clone(),
        env: std::sync::Arc::new(|_| None),
        platform: Platform::current(),
        ..world.clone()
    };
    let bare = Config::for_root(&config.root.value);
    let home = discover_home(&elsewhere, &bare, only, known);
    if !home.sessions.is_empty() {
        return Ok(home);
    }
    for agent in AGENTS.iter().copied().filter(wanted) {
        agent.discover(&path, &mut |sight| collector.see(agent, sight));
    }
    let as_root = collector.finish();
    if !as_root.sessions.is_empty() {
        return Ok(as_root);
    }
    let mut collector = Collector::new(config, known);
    for entry in walkdir::WalkDir::new(&path).sort_by_file_name().into_iter().flatten() {
        if !entry.file_type().is_file() {
            continue;
        }
        let claimed = AGENTS.iter().copied().filter(wanted);
        if let Some((agent, file)) = claimed.into_iter().find_map(|a| Some((a, one_file(a, entry.path())?))) {
            collector.take(agent, file);
        }
    }
    let found = collector.finish();
    if found.sessions.is_empty() && found.shared.is_empty() {
        return Err(Error::NothingThere(path));
    }
    Ok(found)
}

/// A single file as its agent would have found it, if the agent knows it by its
/// contents.
pub(crate) fn one_file(agent: &dyn Agent, path: &Path) -> Option<Found> {
    let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let encoding = match path.extension().is_some_and(|ext| ext == "zst") {
        true => Encoding::Zstd,
        false => Encoding::Plain,
    };
    let mut file = Found {
        owner: Owner::Inside,
        source: SourceKey::main(),
        kind: SourceKind::Log,
        format: Format::JsonLines,
        encoding,
        path: path.to_owned(),
        stat: Stat::of(&meta),
        extra: false,
        unreadable: None,
        content: None,
    };
    let head = crate::discover::read_head(&file).ok()?;
    debug_assert!(head.len() <= HEAD_BYTES);
    let kindred = agent.identify(path, &head)?;
    file.owner = kindred.owner;
    file.source = kindred.source;
    file.kind = kindred.kind;
    file.format = kindred.format;
    Some(file)
}

/// The seed's names of agents, ours, and the file that holds the transcript.
const SEED_HOSTS: &[(&str, &str, &str)] =
    &[("claude-code", "claude", "transcript.jsonl"), ("codex", "codex", "rollout.jsonl")];

/// Whether a folder is a store of the Python seed.
pub fn is_seed_store(path: &Path) -> bool {
    let has = |name: &str| path.join(name).is_dir();
    let raw = SEED_HOSTS.iter().any(|(host, _, _)| path.join("raw").join(host).is_dir());
    !path.join("store.json").exists() && (raw || (has("memories") && has("normalized")))
}

/// Transcripts of a seed's store: `raw/<host>/<id>/` and the older copies in
/// `raw-revisions/<host>/<id>/<hash>/`.
fn seed_store(path: &Path, collector: &mut Collector<'_>) {
    for (host, name, transcript) in SEED_HOSTS {
        let Some(agent) = by_name(name) else { continue };
        for (folder, depth) in [("raw", 2), ("raw-revisions", 3)] {
            let walk = walkdir::WalkDir::new(path.join(folder).join(host)).min_depth(depth).max_depth(depth);
            for entry in walk.sort_by_file_name().into_iter().flatten() {
                if entry.file_name() != *transcript {
                    continue;
                }
                let Some(id) = seed_session_id(entry.path(), depth) else { continue };
                if let Some(mut file) = one_file(agent, entry.path()) {
                    // The seed's folder names the session, whatever the transcript is called.
                    if matches!(file.owner, Owner::Session(_) | Owner::Inside) {
                        file.owner = Owner::Session(id);
                        file.source = SourceKey::main();
                        collector.take_as_is(agent, file);
                    }
                }
            }
        }
    }
    let items = path.join("memories").join("items.jsonl");
    if let (Ok(meta), Some(agent)) = (std::fs::metadata(&items), AGENTS.first()) {
        collector.take_as_is(
            *agent,
            Found {
                owner: Owner::Shared("seed-memories-items.jsonl".to_owned()),
                source: SourceKey::new("seed-memories-items.jsonl"),
                kind: SourceKind::Document,
                format: Format::Opaque,
                encoding: Encoding::Plain,
                path: items,
                stat: Stat::of(&meta),
                extra: false,
                unreadable: None,
                content: None,
            },
        );
    }
}

fn seed_session_id(path: &Path, depth: usize) -> Option<String> {
    let up = path.ancestors().nth(depth - 1)?;
    Some(up.file_name()?.to_string_lossy().into_owned())
}

fn seed_notes(path: &Path) -> Vec<String> {
    let mut notes = Vec::new();
    let items = path.join("memories").join("items.jsonl");
    if let Ok(text) = std::fs::read_to_string(&items) {
        let count = text.lines().filter(|line| !line.trim().is_empty()).count();
        notes.push(format!(
            "{count} memories of {} are kept as they are and wait for the memory feature",
            items.display()
        ));
    }
    for host in ["codex", "vscode-copilot"] {
        let supported = SEED_HOSTS.iter().any(|(seed, name, _)| *seed == host && by_name(name).is_some());
        let folder = path.join("raw").join(host);
        if !supported && folder.is_dir() {
            notes.push(format!("{} is left alone: retro cannot read that agent yet", folder.display()));
        }
    }
    notes
}
