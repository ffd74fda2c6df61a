//! Measures how fast the scan for secrets reads texts that are made to be slow;
//! `cargo xtask bench secrets` runs it and sets the bar beside.
//!
//! Prints a JSON object a line: `what`, `best_ns` and `median_ns` of some runs, and `bytes`.

// A program for a terminal.
#![allow(clippy::print_stdout)]

use retro_text::secrets;
use serde_json::json;
use std::time::Instant;

/// Bytes of a text, and how often it is scanned.
const TEXT_BYTES: usize = 256 * 1024;
const RUNS: usize = 5;

/// Keywords whose repetition is shown: the slowest.
const KEYWORDS_SHOWN: usize = 10;

fn main() {
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
    times.sort_by(|(_, a), (_, b)| b[0].cmp(&a[0]));
    for (piece, times) in times {
        let what = format!("{piece:?}").replace('|', "¦");
        println!(
            "{}",
            json!({"what": what, "best_ns": times[0], "median_ns": times[RUNS / 2], "bytes": TEXT_BYTES})
        );
    }
}

/// Nanoseconds of each scan of a text that repeats a piece, the shortest first.
fn scan(piece: &str) -> Vec<u64> {
    let text = piece.repeat(TEXT_BYTES / piece.len());
    let once = |_| {
        let start = Instant::now();
        std::hint::black_box(secrets::find(&text));
        start.elapsed().as_nanos() as u64
    };
    let mut times: Vec<u64> = (0..RUNS).map(once).collect();
    times.sort_unstable();
    times
}

/// The texts of one keyword that take longest.
fn slowest_keywords() -> Vec<(String, Vec<u64>)> {
    let mut all = Vec::new();
    for keyword in secrets::keywords() {
        for end in ["", " ", "\n", "=", "x1 ", " -p "] {
            let piece = format!("{keyword}{end}");
            all.push((piece.clone(), scan(&piece)));
        }
    }
    all.sort_by(|(_, a), (_, b)| b[0].cmp(&a[0]));
    all.truncate(KEYWORDS_SHOWN);
    all
}
