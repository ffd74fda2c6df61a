//! Measures the secret scanner: how fast it is and how often each rule fires.
//!
//! ```text
//! cargo run --release -p retro-text --example scan -- DIR…            speed, findings a rule
//! cargo run --release -p retro-text --example scan -- --where DIR…    and where they stand
//! ```
//!
//! Files are read as one text each and looked at three times; the fastest time
//! of each counts, since a machine has other things to do. No value is ever
//! printed: a finding is a rule, a file, an offset and a length.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How often each file is looked at.
const PASSES: usize = 3;

fn main() -> std::io::Result<()> {
    let (flags, dirs): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let mut files = Vec::new();
    for dir in &dirs {
        collect(Path::new(dir), &mut files)?;
    }
    let mut out = std::io::stdout().lock();
    let (mut bytes, mut spent) = (0usize, Duration::ZERO);
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        let mut best = Duration::MAX;
        let mut found = Vec::new();
        for _ in 0..PASSES {
            let start = Instant::now();
            found = retro_text::secrets::find(&text);
            best = best.min(start.elapsed());
        }
        spent += best;
        bytes += text.len();
        for finding in found {
            *by_rule.entry(finding.rule).or_default() += 1;
            if flags.iter().any(|flag| flag == "--where") {
                let length = finding.end - finding.start;
                writeln!(out, "{} {}:{}+{length}", finding.rule, file.display(), finding.start)?;
            }
        }
    }
    let megabytes = bytes as f64 / 1e6;
    writeln!(out, "{} files, {megabytes:.1} MB, {:.0} MB/s", files.len(), megabytes / spent.as_secs_f64())?;
    for (rule, count) in by_rule {
        writeln!(out, "{count:8} {rule}")?;
    }
    Ok(())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        let mut entries: Vec<PathBuf> =
            std::fs::read_dir(path)?.map(|entry| entry.map(|e| e.path())).collect::<Result<_, _>>()?;
        entries.sort();
        for entry in entries {
            collect(&entry, files)?;
        }
    } else if path.is_file() {
        files.push(path.to_owned());
    }
    Ok(())
}
