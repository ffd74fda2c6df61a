//! Detects quickly whether anything changed since the last build, from names, sizes and times of
//! files, and the index's own state. Reads no session.

use retro::engine::discover::{Keep, Scope, look};
use retro::store::{Stamps, Store};
use retro::usage::Prices;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::state::State;
use super::{Build, Built, memory};
use crate::Error;
use crate::chunk::{Chunk, unpacked};
use crate::folder::Folder;

/// Maximum depth of folders of notes that are searched.
const DEPTH_MAX: usize = 9;

/// Identifies all inputs of a build except the clock.
pub fn of(work: &Build<'_>, store: &Store, prices: &Prices) -> Result<String, Error> {
    let Build { world, config, .. } = *work;
    let mut hasher = blake3::Hasher::new();
    let mut take = |text: &str| {
        hasher.update(text.as_bytes());
        hasher.update(&[0]);
    };
    let (marks, index) = (store.marks(), store.index_looks());
    take(&format!("{config:?} {:?} {marks:?} {index}", prices.fingerprint().ok()));
    for name in Store::unmarked_truth() {
        below(&store.root().join(name), DEPTH_MAX, &mut |path, at| {
            take(&format!("{} {at:?}", path.display()))
        });
    }
    // A catalog may be in a folder elsewhere.
    let catalog = store.catalog_folder(config.curate.value.catalog_dir.as_deref());
    below(&catalog, 1, &mut |path, at| take(&format!("{} {at:?}", path.display())));
    let stamps = |_: &_| {
        let index = store.index_if_there()?;
        Ok(((), index.map_or_else(|| Ok(Stamps::default()), |index| index.stamps())?))
    };
    let (_, _, found) = look(world, config, &Scope::new(None, None), Keep::All, stamps)?;
    for session in &found.sessions {
        take(&format!("{} {} {} {}", session.key, session.news, session.bytes(), session.mtime_ns()));
    }
    for skipped in &found.skipped {
        take(&format!("{} {}", skipped.path.display(), skipped.reason));
    }
    take(&format!("{:?} {:?} {:?}", found.roots, found.unsupported, found.notes));
    Ok(hasher.finalize().to_hex().to_string())
}

/// Size and time of last change.
fn stat(path: &Path) -> Option<(u64, u128)> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    let time = meta.modified().ok()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    Some((meta.len(), time))
}

/// Visits every file at or below a path.
fn below(path: &Path, depth: usize, take: &mut dyn FnMut(&Path, (u64, u128))) {
    let Some(at) = stat(path) else { return };
    take(path, at);
    if !path.is_dir() || depth == 0 {
        return;
    }
    let mut names: Vec<_> =
        std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    names.sort();
    names.iter().for_each(|path| below(path, depth - 1, take));
}

/// Ends a build that found nothing to do, and updates only its time.
pub fn unchanged(
    work: &Build<'_>,
    folder: &mut Folder,
    state: &State,
    standing: &str,
) -> Result<Option<Built>, Error> {
    let now = work.world.now();
    let has_page =
        || ["index.html", "app.js", "app.css"].iter().all(|name| folder.root().join(name).is_file());
    let is_whole = || has_page() && folder.has("health") && state.hashes.keys().all(|name| folder.has(name));
    if state.standing != standing || now.as_millis() >= state.good_until_ms || !is_whole() {
        return Ok(None);
    }
    let read = folder.read("data/meta.js").and_then(|script| unpacked(&script));
    let Some(mut meta) = read.and_then(|json| serde_json::from_slice::<serde_json::Value>(&json).ok()) else {
        return Ok(None);
    };
    let mut changed = Vec::new();
    if meta["memories"]["total"] != 0 {
        // Whether a memory is stale depends on files of projects.
        if memory::again(work)? {
            changed.push("memory".to_owned());
        }
        let again = folder.read("data/meta.js").and_then(|script| unpacked(&script)).unwrap_or_default();
        meta = serde_json::from_slice(&again).unwrap_or(meta);
    }
    meta["made_at"] = serde_json::to_value(now).unwrap_or_default();
    folder.put_chunk(&Chunk::of("meta", &meta)?, &super::build_of(&state.fingerprint))?;
    let index = work.options.out.join("index.html");
    let (sessions, kept) = (state.sessions.len() as u64, state.hashes.len() as u64);
    Ok(Some(Built {
        sessions,
        written: folder.written,
        kept,
        bytes: folder.bytes,
        index,
        changed,
        ..Built::default()
    }))
}
