//! Measures how long a sweep of 100,000 sessions takes to plan, and what 20 forgotten texts cost
//! a first sync; `cargo xtask bench budget` runs it and sets the bars beside.
//!
//! Prints a JSON object a line: `what`, `best_ns` and `median_ns` of some runs. The runs with and
//! without masks take turns, so that both meet the same machine.

// A program for a terminal.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::unwrap_used, clippy::indexing_slicing)]

use retro_engine::forget::forget_text;
use retro_engine::retain::plan::{Caps, Item, plan};
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::SessionKey;
use retro_store::{RealDisk, Store};
use serde_json::json;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SESSIONS: usize = 100_000;
const TEXTS: usize = 20;
const LOGS: usize = 40;
const RECORDS: usize = 1_000;
const RUNS: usize = 7;

fn main() {
    planned();
    captured();
}

fn planned() {
    let items: Vec<Item> = (0..SESSIONS)
        .map(|number| {
            let dice = number.wrapping_mul(2_654_435_761) >> 7;
            Item {
                key: SessionKey::new("claude", format!("{number:08x}")),
                bytes: 1_000 + (dice % 90_000) as u64,
                last_ms: (dice % 1_000_000) as i64,
                captured_ms: 1_000_000,
                analyzed: dice % 20 != 0,
                can_analyze: true,
                pinned: dice % 997 == 0,
                protected: dice % 101 == 0,
                unit: number - number % 3,
            }
        })
        .collect();
    let all: u64 = items.iter().map(|item| item.bytes).sum();
    let caps = Caps { soft: all / 2, hard: all / 10 * 6, max_age_ms: Some(900_000) };
    let times = (0..RUNS).map(|_| {
        let started = Instant::now();
        black_box(plan(&items, 0, caps, 2_000_000, None).unwrap());
        nanoseconds(started)
    });
    say("plan of 100,000 sessions", times.collect());
}

fn captured() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::at(folder.path().join("home"));
    let bytes = write_logs(&world.home);
    eprintln!("{} MB of logs", bytes / 1_000_000);
    let (mut plain, mut masked) = (Vec::new(), Vec::new());
    for run in 0..RUNS {
        plain.push(one(&world, &folder.path().join(format!("plain{run}")), 0));
        masked.push(one(&world, &folder.path().join(format!("masked{run}")), TEXTS));
    }
    say("first sync", plain);
    say("first sync with 20 forgotten texts", masked);
}

fn one(world: &World, root: &Path, texts: usize) -> u64 {
    let config = Config::for_root(root.to_owned());
    Store::open_or_create(root, Arc::new(RealDisk)).unwrap();
    for number in 0..texts {
        let text = format!("Zirkonia-{number}/secret \"words\" of {number}");
        forget_text(world, &config, &text, false, &|_| {}).unwrap();
    }
    let started = Instant::now();
    sync(world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let took = nanoseconds(started);
    std::fs::remove_dir_all(root).unwrap();
    took
}

/// Sessions of Claude Code with prose in them. Gives their bytes.
fn write_logs(home: &Path) -> usize {
    const WORDS: &[&str] =
        &["the", "parcel", "import", "needs", "a", "tariff", "table", "before", "it", "runs"];
    let folder = home.join(".claude/projects/-home-dev-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let mut bytes = 0;
    for log in 0..LOGS {
        let id = format!("{log:08x}-1111-4111-8111-111111111111");
        let mut text = String::new();
        for record in 0..RECORDS {
            let dice = |salt: usize| {
                (log * RECORDS + record).wrapping_mul(2_654_435_761).wrapping_add(salt * 97) >> 5
            };
            let words: Vec<&str> = (0..120).map(|at| WORDS[dice(at) % WORDS.len()]).collect();
            let (kind, role) = if record % 2 == 0 { ("user", "user") } else { ("assistant", "assistant") };
            let line = json!({
                "type": kind, "sessionId": id, "cwd": "/home/dev/shop", "version": "2.0.1",
                "uuid": format!("{log:08x}-{record:04x}-4000-8000-000000000000"),
                "timestamp": format!("2026-01-02T10:{:02}:{:02}.000Z", record / 60 % 60, record % 60),
                "message": {"role": role, "content": words.join(" ")},
            });
            text.push_str(&format!("{line}\n"));
        }
        bytes += text.len();
        std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    }
    bytes
}

fn nanoseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn say(what: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    println!("{}", json!({"what": what, "best_ns": times[0], "median_ns": times[times.len() / 2]}));
}
