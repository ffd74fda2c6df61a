//! Sessions on this machine, sessions in the store, and commands to run next.

use retro_engine::discover::{Keep, Scope, look};
use retro_engine::{Config, World};
use retro_store::{RealDisk, Store};
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crate::deletion::deletion_warnings;
use crate::list::stored;
use crate::{Error, unreadable};

/// The result of `retro status`.
#[derive(Debug, Clone, Serialize)]
pub struct StatusView {
    /// `retro.status/1`.
    pub schema: &'static str,
    /// The store's folder.
    pub root: String,
    /// True if the store exists.
    pub store_exists: bool,
    /// Sessions on this machine, by agent.
    pub found: BTreeMap<String, u64>,
    /// Sessions in the store, by agent.
    pub captured: BTreeMap<String, u64>,
    /// Sessions on this machine that are new or have grown since the last sync.
    pub unread: u64,
    /// Sessions in the store whose files are gone from the agent's folders.
    pub only_here: u64,
    /// Bytes of the files found.
    pub source_bytes: u64,
    /// Bytes of the store, as last measured.
    pub store_bytes: u64,
    /// Free bytes on the store's disk.
    pub free_bytes: Option<u64>,
    /// The budget of raw bytes. `None` without a store.
    pub room: Option<RoomView>,
    /// Memories that await a decision. `None` if none were made yet.
    pub memories_waiting: Option<usize>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Unsupported agents that this machine has.
    pub unsupported: Vec<&'static str>,
    /// Commands worth running now, with the reason.
    pub next: Vec<Next>,
}

/// The size of the raw bytes, and when they reach their cap.
#[derive(Debug, Clone, Serialize)]
pub struct RoomView {
    /// Size of `raw/` in bytes.
    pub raw_bytes: u64,
    /// Above this, the raw bytes of analyzed sessions are given up.
    pub raw_soft_cap_bytes: u64,
    /// Above this, the raw bytes of any session are given up.
    pub raw_hard_cap_bytes: u64,
    /// True if a sync gives up raw bytes automatically.
    pub enabled: bool,
    /// Growth of the store per week, averaged over up to four weeks. `None` if the store is younger
    /// than a day.
    pub growth_week_bytes: Option<u64>,
    /// Weeks until the soft cap is reached at that rate. 0 if it is reached. `None` if that takes
    /// over ten years.
    pub weeks_to_cap: Option<u64>,
}

/// A command worth running.
#[derive(Debug, Clone, Serialize)]
pub struct Next {
    /// The command to type.
    pub command: &'static str,
    /// Why it helps now.
    pub why: String,
}

/// Compares this machine with the store. Never captures and never creates a store.
pub fn status(world: &World, config: &Config) -> Result<StatusView, Error> {
    let (rows, _, discovery) = look(world, config, &Scope::new(None, None), Keep::All, |_| stored(config))?;
    let unread = discovery.sessions.iter().filter(|session| session.news).count() as u64;
    let on_disk: HashSet<_> = discovery.sessions.iter().map(|session| &session.key).collect();
    let only_here = rows.iter().filter(|row| !on_disk.contains(&row.key())).count() as u64;
    let mut found = BTreeMap::new();
    for session in &discovery.sessions {
        *found.entry(session.key.agent.clone()).or_default() += 1;
    }
    let mut captured = BTreeMap::new();
    for row in &rows {
        *captured.entry(row.agent.clone()).or_default() += 1;
    }
    let mut warnings = deletion_warnings(world, &discovery);
    warnings.extend(unreadable::warnings(&unreadable::unreadable(&discovery)));
    let memories_waiting = memories_waiting(config)?;
    let root = &config.root.value;
    let store_exists = root.join("store.json").exists();
    Ok(StatusView {
        schema: "retro.status/1",
        root: root.display().to_string(),
        store_exists,
        next: next(discovery.sessions.len(), rows.len(), unread, memories_waiting.unwrap_or(0)),
        memories_waiting,
        room: room(world, config)?,
        found,
        captured,
        unread,
        only_here,
        source_bytes: discovery.sessions.iter().map(|session| session.bytes()).sum(),
        store_bytes: store_bytes(config)?,
        free_bytes: retro_engine::platform::free_bytes(root),
        warnings,
        unsupported: discovery.unsupported,
    })
}

/// The budget of raw bytes, if there is a store.
pub fn room(world: &World, config: &Config) -> Result<Option<RoomView>, Error> {
    const DAY_MS: i64 = 86_400_000;
    const TEN_YEARS: u64 = 520;
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Some(index) = store.index_if_there()? else { return Ok(None) };
    let limits = &config.retention.value;
    let keys = store.session_keys()?;
    let raw_bytes =
        store.raw_rooms(&keys)?.iter().map(|room| room.bytes).sum::<u64>() + store.shared_raw_bytes()?;
    let now = world.now();
    let first_ms = index.first_start()?.map_or(now, |first| first.min(now)).as_millis();
    let days = ((now.as_millis() - first_ms) / DAY_MS).clamp(0, 28);
    let since = retro_model::Timestamp::from_millis(now.as_millis() - days * DAY_MS);
    let growth = match since.filter(|_| days > 0) {
        Some(since) => Some(index.disk_bytes_since(since)?.saturating_mul(7) / days.unsigned_abs()),
        None => None,
    };
    let left = limits.raw_soft_cap_bytes.saturating_sub(raw_bytes);
    let weeks = growth.and_then(|growth| left.checked_div(growth)).filter(|weeks| *weeks < TEN_YEARS);
    Ok(Some(RoomView {
        raw_bytes,
        raw_soft_cap_bytes: limits.raw_soft_cap_bytes,
        raw_hard_cap_bytes: limits.raw_hard_cap_bytes,
        enabled: retro_engine::retain::is_enabled(config, &store)?,
        growth_week_bytes: growth,
        weeks_to_cap: if left == 0 { Some(0) } else { weeks },
    }))
}

/// The store's size, or 0 without a store.
fn store_bytes(config: &Config) -> Result<u64, Error> {
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(0),
        Err(error) => return Err(error.into()),
    };
    match store.index_if_there()? {
        Some(index) if index.marks()? == store.marks() => {
            Ok(retro_engine::sync::store_bytes(&store, &index)?)
        }
        _ => Ok(store.sizes()?.values().sum()),
    }
}

/// The number of memories that await a person's decision, if there is a store.
fn memories_waiting(config: &Config) -> Result<Option<usize>, Error> {
    match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => crate::memory::waiting_count(&store),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn next(found: usize, captured: usize, unread: u64, waiting: usize) -> Vec<Next> {
    let mut next = Vec::new();
    if found == 0 && captured == 0 {
        next.push(Next {
            command: "retro demo",
            why: "no sessions were found here: see what retro does on bundled ones".to_owned(),
        });
        next.push(Next {
            command: "retro sync --from DIR",
            why: "if your logs are somewhere else".to_owned(),
        });
        return next;
    }
    if unread > 0 {
        let (sessions, have) = if unread == 1 { ("session", "has") } else { ("sessions", "have") };
        next.push(Next { command: "retro sync", why: format!("{unread} {sessions} {have} something new") });
    }
    if captured > 0 {
        next.push(Next { command: "retro usage", why: "what it cost, at list price".to_owned() });
        next.push(Next { command: "retro list", why: "what you and your agents did".to_owned() });
        next.push(Next { command: "retro show latest", why: "read the last session".to_owned() });
    }
    if waiting > 0 {
        let (memories, wait) = if waiting == 1 { ("memory", "waits") } else { ("memories", "wait") };
        next.push(Next {
            command: "retro memory review",
            why: format!("{waiting} {memories} {wait} for your decision"),
        });
    }
    next
}
