//! `cargo xtask bench size`: how much room a store takes beside the logs that it was made of,
//! folder by folder and table by table.
//!
//! Room is what `du` counts: blocks, those of folders included. All sessions are a few days old,
//! so that everything that waits was done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use retro::engine::{Config, SyncOptions, World, sync};
use retro::store::{RealDisk, Store};
use retro_model::Timestamp;
use rusqlite::Connection;
use walkdir::WalkDir;

use super::Scratch;
use super::logs::Logs;
use super::outcome::homes;
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::table::table;

/// Sessions that are made, unless `--sessions` says how many.
const SESSIONS: usize = 2_000;

/// Bytes of each, and the share of the logs that the store may take.
const KINDS: [(usize, &str); 2] = [(14_000, "at most 130 %"), (40_000, "at most 80 %")];

/// The bar for recorded sessions.
const RECORDED: &str = "at most 45 %";

/// Days between the logs and the sync.
const DAYS: i64 = 3;

/// The command. `--sessions N` makes so many of each kind; recorded sessions are those of
/// `RETRO_CORPUS`.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let mut given = options.iter().skip_while(|option| *option != "--sessions").skip(1);
    let sessions = given.next().and_then(|number| number.parse().ok()).unwrap_or(SESSIONS);
    let mut text = String::new();
    for (bytes, bar) in KINDS {
        let scratch = Scratch::new()?;
        let logs = Logs::generate(&scratch.folder.join("home"), sessions, bytes)?;
        let what = format!("{sessions} sessions of {} kB", bytes / 1000);
        text.push_str(&measured(&what, &[logs.home], &scratch.folder, bar)?);
    }
    match std::env::var_os("RETRO_CORPUS").map(PathBuf::from).filter(|corpus| corpus.is_dir()) {
        Some(corpus) => {
            let scratch = Scratch::new()?;
            text.push_str(&measured("recorded sessions", &homes(&corpus), &scratch.folder, RECORDED)?);
        }
        None => println!("RETRO_CORPUS names no folder: recorded sessions are left out"),
    }
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let command = format!("cargo xtask bench size --sessions {sessions} --write");
        let part = Part { name: "bench size", title: "Size of a store", command: &command, versions: "" };
        part.write(repository, &text)?;
    }
    Ok(())
}

/// Makes a store of some homes and says what takes how much.
fn measured(what: &str, homes: &[PathBuf], scratch: &Path, bar: &str) -> Result<String, Failure> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let now_ms = i64::try_from(now.as_millis()).unwrap_or(i64::MAX);
    let later = Timestamp::from_millis(now_ms + DAYS * 86_400_000)
        .ok_or_else(|| Failure::new("the clock of this machine is wrong"))?;
    let root = &scratch.join("root");
    let config = Config::for_root(root);
    for home in homes {
        let world = World::at(home).with_clock(later);
        let from = (homes.len() > 1).then(|| home.clone());
        let options = SyncOptions { from, ..SyncOptions::default() };
        sync(&world, &config, &options, &|_| {}).map_err(|error| Failure::at(home, error))?;
    }
    let failed = |error: &dyn std::fmt::Display| Failure::at(root, error);
    let store = Store::open(root, Arc::new(RealDisk)).map_err(|error| failed(&error))?;
    let sessions = store.index().and_then(|index| index.session_rows()).map_err(|error| failed(&error))?;
    let logs: u64 = sessions.iter().map(|session| session.bytes).sum();
    let share = |bytes: u64| format!("{:.1} %", bytes as f64 * 100.0 / logs as f64);
    let folders = room(root)?;
    let all: u64 = folders.values().map(|(bytes, _)| bytes).sum();
    let mut rows = vec![vec!["all".to_owned(), mb(all), share(all), bar.to_owned()]];
    let mut folders: Vec<_> = folders.into_iter().collect();
    folders.sort_by_key(|(_, (bytes, _))| std::cmp::Reverse(*bytes));
    for (name, (bytes, files)) in folders {
        rows.push(vec![format!("`{name}`, {files} files"), mb(bytes), share(bytes), String::new()]);
    }
    let tables = tables(&root.join("index/retro.sqlite"))?;
    let all: u64 = tables.iter().map(|(_, bytes)| bytes).sum();
    let bar = if what == "recorded sessions" { "" } else { "at most 30 %" };
    rows.push(vec!["tables of the index".to_owned(), mb(all), share(all), bar.to_owned()]);
    for (name, bytes) in tables.iter().take(TABLES) {
        rows.push(vec![format!("table `{name}`"), mb(*bytes), share(*bytes), String::new()]);
    }
    let title = format!("{what}: {} of logs, {} sessions", mb(logs), sessions.len());
    Ok(format!("{title}\n\n{}\n", table(&["what", "room", "of the logs", "bar"], &rows)))
}

/// Tables that are listed, the largest first.
const TABLES: usize = 10;

fn mb(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}

/// What each entry of the root takes, and how many files it has.
fn room(root: &Path) -> Result<BTreeMap<String, (u64, u64)>, Failure> {
    let mut folders: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for entry in WalkDir::new(root) {
        let entry = entry.map_err(|error| Failure::at(root, error))?;
        let below = entry.path().strip_prefix(root).unwrap_or(root);
        let top = below
            .components()
            .next()
            .map_or_else(String::new, |top| top.as_os_str().to_string_lossy().into_owned());
        let name = match top.as_str() {
            "index" if below.components().count() > 1 => {
                let next =
                    below.components().nth(1).map(|next| next.as_os_str().to_string_lossy().into_owned());
                format!("index/{}", next.unwrap_or_default())
            }
            "" => "the folder itself".to_owned(),
            _ => top,
        };
        let meta = entry.metadata().map_err(|error| Failure::at(entry.path(), error))?;
        let room = folders.entry(name).or_default();
        room.0 += blocks(&meta);
        room.1 += u64::from(meta.is_file());
    }
    Ok(folders)
}

#[cfg(unix)]
fn blocks(meta: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(meta) * 512
}

#[cfg(not(unix))]
fn blocks(meta: &std::fs::Metadata) -> u64 {
    meta.len().div_ceil(4096) * 4096
}

/// Bytes of the pages of each table with its indexes, the largest first.
fn tables(path: &Path) -> Result<Vec<(String, u64)>, Failure> {
    let read = || -> rusqlite::Result<Vec<(String, u64)>> {
        let connection = Connection::open(path)?;
        let text = "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat d JOIN sqlite_schema s ON s.name = d.name \
                    GROUP BY s.tbl_name ORDER BY 2 DESC";
        let mut statement = connection.prepare(text)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
        rows.collect()
    };
    read().map_err(|error| Failure::at(path, error))
}
