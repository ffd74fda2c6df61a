//! Measures embedding and vectors; `cargo xtask bench search` runs it and sets the bars beside.
//!
//! ```text
//! cargo run --release --package retro-search --example bench-vectors -- FOLDER-OF-TEXTS
//! ```
//!
//! Prints one JSON object per line: `what`, `best_ns` and `median_ns` of several runs, and `bytes`
//! if the run processes bytes. Other load on the machine can only add time, so the best run and the
//! median are reported.

// A program for a terminal.
#![allow(clippy::print_stdout)]

use retro_search::embed::{BuiltIn, Embedder, Embedding};
use retro_search::vectors::Vectors;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Characters of a text, about as many as in a passage.
const TEXT_CHARACTERS: usize = 1200;

/// Rows written per batch.
const WRITE_ROWS: usize = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    let texts = std::env::args().nth(1).ok_or("which folder of texts?")?;
    embedding(Path::new(&texts))?;
    nearest("512 x 64", 512, 64, 1000)?;
    nearest("45,000 x 256", 45_000, 256, 100)?;
    nearest("1,000,000 x 256", 1_000_000, 256, 15)
}

/// Prints one measurement as JSON.
fn say(what: &str, times: &mut [Duration], bytes: Option<usize>) {
    times.sort_unstable();
    let (best, median) = (times[0].as_nanos() as u64, times[times.len() / 2].as_nanos() as u64);
    println!("{}", json!({"what": what, "best_ns": best, "median_ns": median, "bytes": bytes}));
}

/// Times several runs. The result of a run is dropped after its time is taken.
fn times<T>(runs: usize, mut work: impl FnMut() -> T) -> Vec<Duration> {
    let time = |_| {
        let start = Instant::now();
        let made = std::hint::black_box(work());
        let time = start.elapsed();
        drop(made);
        time
    };
    (0..runs).map(time).collect()
}

fn embedding(folder: &Path) -> Result<(), Box<dyn Error>> {
    say("start of the built-in model", &mut times(100, BuiltIn::new), None);
    let mut whole = String::new();
    read_texts(folder, &mut whole)?;
    let characters: Vec<char> = whole.chars().collect();
    let texts: Vec<String> = characters.chunks(TEXT_CHARACTERS).map(|part| part.iter().collect()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let bytes = texts.iter().map(|text| text.len()).sum();
    let model = BuiltIn::new()?;
    say("embedding, one thread", &mut times(10, || model.embed(&texts)), Some(bytes));
    say(
        "embedding a question",
        &mut times(1000, || model.embed(&["why does the migration test hang?"])),
        None,
    );
    Ok(())
}

/// All Rust and Markdown below a folder.
fn read_texts(folder: &Path, into: &mut String) -> Result<(), Box<dyn Error>> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = entry.path();
        let is_text = path.extension().is_some_and(|extension| extension == "rs" || extension == "md");
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            read_texts(&path, into)?;
        } else if is_text {
            into.push_str(&std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

fn nearest(size: &str, rows: usize, dim: usize, runs: usize) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut random = Random(0x5eed);
    let mut vectors = Vectors::open(folder.path(), "bench", dim)?;
    let mut build = vectors.build()?;
    for first in (0..rows).step_by(WRITE_ROWS) {
        let part: Vec<(u64, Embedding)> =
            (first..rows.min(first + WRITE_ROWS)).map(|id| (id as u64, random.vector(dim))).collect();
        build.add(&part.iter().map(|(id, vector)| (*id, vector)).collect::<Vec<_>>())?;
    }
    build.finish("made")?;
    vectors.refresh()?;

    let bytes = Some(rows * dim);
    let query = random.vector(dim);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    let top = || vectors.top(&query, 10, |_| true);
    one.install(|| say(&format!("top 10 of {size}, one thread"), &mut times(runs, top), bytes));
    let half = || vectors.top(&query, 10, |id| id % 2 == 0);
    one.install(|| {
        say(&format!("top 10 of every second of {size}, one thread"), &mut times(runs, half), None)
    });
    say(&format!("top 10 of {size}, all threads"), &mut times(runs, top), bytes);
    let ids: Vec<u64> = (0..1500).map(|_| random.next() % rows as u64).collect();
    let sums = || ids.chunks(5).map(|ids| vectors.sum(ids).cosine(&query)).sum::<f32>();
    say(&format!("300 windows of five, {size}"), &mut times(20, sums), None);
    let open = || Vectors::open(folder.path(), "bench", dim);
    say(&format!("open {size}"), &mut times(10, open), bytes);

    let new = random.vector(dim);
    let mut id = rows as u64;
    let mut append = || {
        id += 1;
        vectors.write(&id.to_string(), &[(id, &new)], &[id - 100])
    };
    say(&format!("append one row to {size}"), &mut times(50, &mut append), None);
    Ok(())
}

/// Pseudorandom numbers, the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn vector(&mut self, dim: usize) -> Embedding {
        Embedding::new((0..dim).map(|_| (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect())
    }
}
