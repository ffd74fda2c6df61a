//! Measures the secret scanner: how fast it is and how often each rule fires.
//!
//! ```text
//! cargo run --release -p retro-text --example scan -- DIR…            speed, findings a rule
//! cargo run --release -p retro-text --example scan -- --where DIR…    and where they stand
//! cargo run --release -p retro-text --example scan -- --json DIR…     lines as JSON, with names
//! cargo run --release -p retro-text --example scan -- --floods        speed on text made to be slow
//! cargo run --release -p retro-text --example scan -- --floods WORD…  the same, of these words alone
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
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    if has("--floods") {
        return floods(dirs);
    }
    let mut files = Vec::new();
    for dir in &dirs {
        collect(Path::new(dir), &mut files)?;
    }
    let mut out = std::io::stdout().lock();
    let (mut bytes, mut spent) = (0usize, Duration::ZERO);
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for file in &files {
        let text = String::from_utf8_lossy(&std::fs::read(file)?).into_owned();
        if has("--json") {
            let (size, time) = json(&text, &mut by_rule);
            bytes += size;
            spent += time;
            continue;
        }
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
            if has("--where") {
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

/// Redacts each line that is JSON, as events are; says how many bytes there were
/// and how long it took. Counts the markers that were not there before.
fn json(text: &str, by_rule: &mut BTreeMap<&'static str, usize>) -> (usize, Duration) {
    let mut all = (0, Duration::ZERO);
    for line in text.lines() {
        let Ok(value) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let start = Instant::now();
        let clean = retro_text::redact_json(value).to_string();
        all.0 += line.len();
        all.1 += start.elapsed();
        for rule in retro_text::secrets::rules() {
            let marker = format!("[redacted:{}]", rule.name);
            let count = clean.matches(&marker).count().saturating_sub(line.matches(&marker).count());
            if count > 0 {
                *by_rule.entry(rule.name).or_default() += count;
            }
        }
    }
    all
}

/// Bytes of each flood.
const FLOOD_BYTES: usize = 1 << 16;

/// Repeats what makes rules look closer, and says which of it is slowest.
fn floods(words: Vec<String>) -> std::io::Result<()> {
    let mut units: Vec<String> =
        retro_text::secrets::keywords().iter().map(|keyword| (*keyword).to_owned()).collect();
    let endings = ["=", ": ", "=\"", "=x1", "='a8Kd02mZqP4x' ", "_key=", "\n", " -p"];
    let with_endings = |unit: &String| endings.map(|ending| format!("{unit}{ending}"));
    units.extend(units.clone().iter().flat_map(with_endings));
    if !words.is_empty() {
        units = words;
    }
    let mut speeds: Vec<(u64, String)> = Vec::new();
    for unit in &units {
        let plain = unit.repeat(FLOOD_BYTES / unit.len());
        for (kind, text) in [("", plain.clone()), ("base64 of ", base64(plain.as_bytes()))] {
            // Patterns are made when they are first needed.
            std::hint::black_box(retro_text::secrets::find(text.get(..1024).unwrap_or(&text)));
            let start = Instant::now();
            std::hint::black_box(retro_text::secrets::find(&text));
            let speed = text.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
            speeds.push(((speed * 10.0) as u64, format!("{kind}{unit:?}")));
        }
    }
    speeds.sort();
    let mut out = std::io::stdout().lock();
    writeln!(out, "{} floods of {FLOOD_BYTES} bytes; the slowest, in MB/s:", speeds.len())?;
    for (speed, unit) in speeds.iter().take(40) {
        writeln!(out, "{:8.1} {unit}", *speed as f64 / 10.0)?;
    }
    for bar in [1, 5, 10, 20] {
        let below = speeds.iter().filter(|(speed, _)| *speed < bar * 10).count();
        writeln!(out, "{below:8} below {bar} MB/s")?;
    }
    Ok(())
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks_exact(3).flat_map(|group| {
        let bits = group.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte));
        [18, 12, 6, 0].map(|shift| char::from(LETTERS[(bits >> shift & 63) as usize]))
    });
    groups.collect()
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
