//! Real logs through real files: captured whole, given back byte for byte, and the
//! same in whatever pieces they come. Skipped without `RETRO_CORPUS`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use retro_agents::Stat;
use retro_engine::SyncOptions;
use retro_store::{Slot, Store};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::{Machine, raw};

/// The homes of the corpus, each with a name.
fn homes() -> Option<Vec<(String, PathBuf)>> {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return None;
    };
    let mut homes = Vec::new();
    let mut take = |name: String, home: PathBuf| {
        if home.is_dir() {
            homes.push((name, home));
        }
    };
    for agent in folders(&corpus.join("genuine")) {
        for scenario in folders(&agent) {
            let name = scenario.strip_prefix(&corpus).unwrap().display().to_string();
            take(name, scenario.join("home"));
        }
    }
    for public in folders(&corpus) {
        let name = public.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("public-") {
            take(name, public.join("home"));
        }
    }
    assert!(!homes.is_empty(), "no home below {}", corpus.display());
    Some(homes)
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(path)
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    found.sort();
    found
}

/// Runs `work` on every item, two at a time, and collects what failed.
fn each<T: Sync>(items: &[T], work: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = work(item) {
                        failed.lock().unwrap().push(reason);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// Every file of a home with its stat and the hash of its bytes.
fn photograph(home: &Path) -> BTreeMap<PathBuf, (Stat, String)> {
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(home).into_iter().flatten() {
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let stat = Stat::of(&entry.metadata().unwrap());
            files.insert(entry.path().to_owned(), (stat, support::hex(&bytes)));
        }
    }
    files
}

fn live_bytes(place: &str) -> Option<Vec<u8>> {
    let bytes = std::fs::read(place).ok()?;
    match place.ends_with(".zst") {
        true => zstd::decode_all(bytes.as_slice()).ok(),
        false => Some(bytes),
    }
}

/// What the standard program makes of a raw file, where it is installed.
fn zstd_program(path: &Path) -> Option<Vec<u8>> {
    let output = Command::new("zstd").arg("-dcq").arg(path).output().ok()?;
    output.status.success().then_some(output.stdout)
}

fn every_source_comes_back(store: &Store, name: &str) -> Result<usize, String> {
    let mut sessions = 0;
    for key in store.session_keys().map_err(|e| e.to_string())? {
        sessions += 1;
        let file = store.session(&key).map_err(|e| e.to_string())?.ok_or("no session file")?;
        for (source, entry) in &file.sources {
            let mut revisions = Vec::new();
            for revision in 1..=entry.revisions {
                let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
                let kept = raw(store, &slot);
                if let Some(unpacked) = zstd_program(&store.slot_path(&slot))
                    && unpacked != kept
                {
                    return Err(format!("{name} {slot}: zstd gives other bytes"));
                }
                revisions.push(kept);
            }
            // Copies of a log under another root may be shorter than what was kept.
            for place in &entry.places {
                let Some(live) = live_bytes(place) else { continue };
                if !revisions.iter().any(|kept| kept.starts_with(&live)) {
                    return Err(format!("{name} {key}#{source}: {place} does not come back"));
                }
            }
        }
    }
    Ok(sessions)
}

#[test]
fn every_log_is_captured_and_comes_back() {
    let Some(homes) = homes() else { return };
    let sessions = AtomicUsize::new(0);
    each(&homes, |(name, home)| {
        let before = photograph(home);
        let mut machine = Machine::new();
        machine.world.home = home.clone();
        let report = machine.sync();
        if report.failed > 0 {
            return Err(format!("{name}: {:?}", report.failures));
        }
        if photograph(home) != before {
            return Err(format!("{name}: a source was changed"));
        }
        let again = machine.sync();
        if again.ingested + again.appended > 0 {
            return Err(format!("{name}: something was new the second time: {again:?}"));
        }
        sessions.fetch_add(every_source_comes_back(&machine.store(), name)?, Ordering::Relaxed);
        machine.verify();
        Ok(())
    });
    let sessions = sessions.into_inner();
    println!("{sessions} sessions of {} homes", homes.len());
    assert!(sessions > 100);
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}

/// Genuine sessions arriving in pieces: logs cut at seeded places, files in
/// shuffled order, the index forgotten between two steps.
#[test]
fn genuine_sessions_settle_the_same_in_any_pieces() {
    let Some(homes) = homes() else { return };
    let genuine: Vec<_> =
        homes.into_iter().filter(|(name, _)| name.starts_with("genuine")).enumerate().collect();
    each(&genuine, |(seed, (name, home))| {
        let whole = Machine::new();
        copy(home, &whole);
        whole.sync();
        if !whole.config.root.value.exists() || whole.store().session_keys().unwrap().is_empty() {
            return Ok(());
        }
        let logs = whole.logs();
        let machine = Machine::new();
        let mut numbers = Numbers(0x9E37_79B9_7F4A_7C15 ^ ((*seed as u64 + 1) << 17));
        let mut files: Vec<PathBuf> = photograph(home).into_keys().collect();
        for at in (1..files.len()).rev() {
            files.swap(at, numbers.below(at + 1));
        }
        for (at, path) in files.iter().enumerate() {
            let below = path.strip_prefix(home).unwrap();
            let bytes = std::fs::read(path).unwrap();
            if logs.contains(&whole.home().join(below)) && numbers.below(2) == 0 {
                machine.write(below, &bytes[..numbers.below(bytes.len())]);
                machine.sync();
            }
            machine.write(below, &bytes);
            if at % 4 == 0 {
                machine.sync();
            }
            if numbers.below(4) == 0 {
                let _ = std::fs::remove_dir_all(machine.config.root.value.join("index"));
            }
        }
        machine.sync_with(&SyncOptions::default());
        let (got, expected) = (machine.answers(), whole.answers());
        for (what, answer) in &expected {
            if got.get(what) != Some(answer) {
                let first = first_difference(answer, got.get(what).map_or("", String::as_str));
                return Err(format!("{name} (seed {seed}): {what} differs: {first}"));
            }
        }
        let report = retro_engine::verify::verify(&machine.store(), true, &mut |_| {}).unwrap();
        if let Some(problem) = report.problems.first() {
            return Err(format!("{name} (seed {seed}): {problem}"));
        }
        match got.len() == expected.len() {
            true => Ok(()),
            false => Err(format!("{name}: more answers than expected")),
        }
    });
}

fn first_difference(a: &str, b: &str) -> String {
    let pair = a.lines().zip(b.lines()).find(|(a, b)| a != b);
    let cut = |line: &str| line.chars().take(400).collect::<String>();
    match pair {
        Some((a, b)) => format!("\n  expected {}\n  got      {}", cut(a), cut(b)),
        None => format!("{} lines instead of {}", b.lines().count(), a.lines().count()),
    }
}

fn copy(home: &Path, machine: &Machine) {
    for path in photograph(home).into_keys() {
        machine.write(path.strip_prefix(home).unwrap(), &std::fs::read(&path).unwrap());
    }
}
