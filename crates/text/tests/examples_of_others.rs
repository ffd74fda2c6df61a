//! How much the scanner finds in examples that other people made, and how much
//! it takes for a secret that is none.
//!
//! Needs the shared folder: `RETRO_SHARED` names it. Without it the test says so
//! and passes. The file is base64 of gzip of JSON lines; the standard `gzip`
//! program opens it.

#![allow(clippy::expect_used)]

mod encoding;

use retro_text::secrets;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn examples_are_found_and_counterexamples_are_left() {
    let Some(shared) = std::env::var_os("RETRO_SHARED") else {
        eprintln!("skipped: RETRO_SHARED is not set");
        return;
    };
    let rows = rows(&Path::new(&shared).join("bad-input/secret-examples.jsonl.gz.b64"));
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate() {
        let Some(group) = group(row) else { continue };
        let text = row["text"].as_str().expect("a row has a text");
        let tally = tallies.entry(group).or_default();
        tally.rows += 1;
        let found = secrets::find(text);
        match found.first() {
            Some(finding) => tally.found.push(format!("{number} {} by {}", row["rule"], finding.rule)),
            None => tally.missed.push(format!("{number} {}", row["rule"])),
        }
    }
    for (group, tally) in &tallies {
        println!("{group}: {} of {}, {:.1} %", tally.found.len(), tally.rows, tally.percent());
    }
    let of = |group: &str| tallies.get(group).expect("every group has rows");
    assert!(of("gitleaks").percent() >= 95.0, "missed: {:#?}", of("gitleaks").missed);
    assert!(of("noseyparker").percent() >= 75.0, "missed: {:#?}", of("noseyparker").missed);
    // Nearly all of these hold a secret of another kind than the one they are no example of.
    assert!(of("negative").percent() <= 5.2, "flagged: {:#?}", of("negative").found);
}

/// What was found and missed of one group. Texts are named by row and rule.
#[derive(Default)]
struct Tally {
    rows: usize,
    found: Vec<String>,
    missed: Vec<String>,
}

impl Tally {
    fn percent(&self) -> f64 {
        self.found.len() as f64 * 100.0 / self.rows as f64
    }
}

/// The bar that a row counts for. Fuzzy rules and identifiers have none.
fn group(row: &Value) -> Option<&'static str> {
    let positive = row["positive"].as_bool().expect("a row says what it is");
    match row["set"].as_str().expect("a row has a set") {
        _ if !positive => Some("negative"),
        "gitleaks" => Some("gitleaks"),
        _ => (row["kind"] == "secret" && row["fuzzy"] == false).then_some("noseyparker"),
    }
}

fn rows(path: &Path) -> Vec<Value> {
    let base64 = std::fs::read_to_string(path).expect("the shared folder holds the examples");
    let packed = encoding::unbase64(&base64);
    let mut gzip = Command::new("gzip")
        .arg("-dc")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("gzip is installed");
    let mut stdin = gzip.stdin.take().expect("gzip reads");
    let feeder = std::thread::spawn(move || stdin.write_all(&packed));
    let lines = gzip.wait_with_output().expect("gzip ends").stdout;
    feeder.join().expect("gzip was fed").expect("gzip read all of it");
    let text = String::from_utf8(lines).expect("the examples are UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("a row is JSON")).collect()
}
