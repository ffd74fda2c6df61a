//! Measures how fast the scan for secrets reads texts that are made to be slow;
//! `cargo xtask bench secrets` runs it and sets the bar beside.
//!
//! Prints a JSON object a line: `what`, `best_ns` and `median_ns` of some runs, and `bytes`. With
//! arguments, only these pieces are repeated and scanned.

// A program for a terminal.
#![allow(clippy::print_stdout)]

use retro_text::secrets;
use serde_json::json;
use std::sync::LazyLock;
use std::time::Instant;

/// Bytes of a text, and how often it is scanned.
const TEXT_BYTES: usize = 256 * 1024;
const RUNS: usize = 5;

/// Scans of a run: the system counts time at work in steps of some milliseconds.
const SCANS: u64 = 16;

/// Keywords whose repetition is shown: the slowest.
const KEYWORDS_SHOWN: usize = 24;

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).map(|piece| piece.replace("\\n", "\n")).collect();
    let mut times: Vec<(String, Vec<u64>)> = match asked.is_empty() {
        true => all(),
        false => asked.into_iter().map(|piece| (piece.clone(), scan(&piece))).collect(),
    };
    times.sort_by(|(_, a), (_, b)| b[0].cmp(&a[0]));
    for (piece, times) in times {
        let what = format!("{piece:?}").replace('|', "¦");
        println!(
            "{}",
            json!({"what": what, "best_ns": times[0], "median_ns": times[RUNS / 2], "bytes": TEXT_BYTES})
        );
    }
}

/// The times of every text.
fn all() -> Vec<(String, Vec<u64>)> {
    let private = ["-----BEGIN RSA", " PRIVATE KEY-----"].concat();
    let line = "aB3".repeat(16);
    let pieces = [
        "mysql -p ".to_owned(),
        "mysql -p\n".to_owned(),
        "mysql -h db -u app -p shop ".to_owned(),
        "sk-".to_owned(),
        "sk-a1".to_owned(),
        format!("{private}\n"),
        format!("{private}\nMIIE{line}\n"),
        private.clone(),
        format!("{private}\\n"),
        "\\".to_owned(),
        "\\u00".to_owned(),
        "\u{1b}]".to_owned(),
        "\u{1b}[31m".to_owned(),
        "%25".to_owned(),
        "%3A%2F%2Fa%3Ab%40".to_owned(),
        "[redacted:jwt]".to_owned(),
        "user,password,token\n".to_owned(),
        "password,".to_owned(),
        "/ password / token /\n".replace('/', "|"),
        ":5432:".to_owned(),
        ":*:".to_owned(),
        format!("{line}\n"),
        "variable \"".to_owned(),
        "a word and another one\n".to_owned(),
    ];
    let mut times: Vec<(String, Vec<u64>)> =
        pieces.into_iter().map(|piece| (piece.clone(), scan(&piece))).collect();
    times.extend(slowest_keywords());
    times
}

/// Nanoseconds of each scan of a text that repeats a piece, the fewest first.
fn scan(piece: &str) -> Vec<u64> {
    let text = piece.repeat(TEXT_BYTES / piece.len());
    let once = |_| {
        let start = cpu_ns();
        for _ in 0..SCANS {
            std::hint::black_box(secrets::find(&text));
        }
        (cpu_ns() - start) / SCANS
    };
    let mut times: Vec<u64> = (0..RUNS).map(once).collect();
    times.sort_unstable();
    times
}

/// Time of this thread at work where the system says it, so that other programs do not count;
/// elsewhere the time of day.
fn cpu_ns() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let at_work = stat.and_then(|stat| stat.split(' ').next()?.parse().ok());
    at_work.unwrap_or_else(|| START.elapsed().as_nanos() as u64)
}

/// The texts of one keyword that take longest.
fn slowest_keywords() -> Vec<(String, Vec<u64>)> {
    let mut all = Vec::new();
    for keyword in secrets::keywords() {
        for end in ["", " ", "\n", "=", "x1 ", " -p "] {
            let piece = format!("{keyword}{end}");
            let text = piece.repeat(TEXT_BYTES / piece.len());
            let start = Instant::now();
            std::hint::black_box(secrets::find(&text));
            all.push((start.elapsed(), piece));
        }
    }
    all.sort_unstable();
    let slowest = all.into_iter().rev().take(KEYWORDS_SHOWN);
    slowest.map(|(_, piece)| (piece.clone(), scan(&piece))).collect()
}
