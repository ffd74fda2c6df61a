//! `cargo xtask trial fuzz`: the laws of `crates/laws` against bytes that a
//! fuzzer chooses.
//!
//! The targets stand in `fuzz/Cargo.toml`. What the fuzzer learns goes to the
//! target folder, so that the committed inputs stay few; what breaks a law lies
//! in `fuzz/artifacts/` and belongs into `fuzz/corpus/<target>/` once the law
//! holds again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use super::Outcome;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// Minutes for each target, unless told otherwise.
const MINUTES: u64 = 10;

/// Longer inputs say nothing that shorter ones could not.
const INPUT_BYTES_MAX: usize = 8192;

/// An input that takes longer is a finding. Much, since a machine may stand still for a while.
const SLOW_SECONDS: u64 = 60;

/// The program's own code has no unsafe block, so no sanitizer is needed, and
/// without one every target runs at twice the speed.
const SANITIZER: &str = "none";

/// The command: so many minutes for each target, and a table of them.
pub(crate) fn fuzz(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let wish = Wish::read(options)?;
    let targets = wish.chosen(&manifest(repository)?)?;
    if !is_there() {
        return Err(Failure::new(MISSING));
    }
    let runs = runs(repository, &targets, wish.minutes)?;
    let rows: Vec<_> = runs.iter().map(|(target, seen)| seen.row(target)).collect();
    print!("{}", table(&["target", "minutes", "executions", "coverage", "features", "findings"], &rows));
    let findings: Vec<&PathBuf> = runs.iter().flat_map(|(_, seen)| &seen.findings).collect();
    match findings.first() {
        None => Ok(()),
        Some(first) => Err(Failure::new(format!(
            "{} inputs break a law, the first is {}; copy it into fuzz/corpus/<target>/, then `cargo test -p retro-laws` shows it",
            findings.len(),
            first.display()
        ))),
    }
}

/// As one trial among others: a minute for each target. Points are executions.
pub(super) fn a_minute_each(repository: &Repository) -> Result<Outcome, Failure> {
    if !is_there() {
        println!("{MISSING}; nothing was fuzzed");
        return Ok(Outcome::default());
    }
    let runs = runs(repository, &manifest(repository)?, 1)?;
    let points = runs.iter().filter_map(|(_, seen)| seen.executions).sum::<u64>();
    let failures = runs.iter().map(|(_, seen)| seen.findings.len()).sum();
    Ok(Outcome { points: usize::try_from(points).unwrap_or(usize::MAX), failures })
}

const MISSING: &str = "cargo-fuzz is missing: cargo install cargo-fuzz";

fn is_there() -> bool {
    run::is_there("cargo", &["fuzz", "--version"])
}

/// Builds the targets and runs each of them for so long, as many at a time as there are cores.
fn runs(repository: &Repository, targets: &[String], minutes: u64) -> Result<Vec<(String, Seen)>, Failure> {
    run::step("build", || {
        let mut build = cargo_fuzz(repository, "build");
        if let [target] = targets {
            build.arg(target);
        }
        run::run(&mut build)
    })?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (runs, waiting) = (Mutex::new(Vec::new()), Mutex::new(targets.iter()));
    let next = || waiting.lock().ok()?.next();
    let put = |run| runs.lock().map(|mut runs| runs.push(run)).is_ok();
    let work =
        || while next().is_some_and(|target| put((target.clone(), Seen::of(repository, target, minutes)))) {};
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(work))));
    let mut runs = runs.into_inner().unwrap_or_default();
    runs.sort_by(|(a, _), (b, _)| a.cmp(b));
    runs.into_iter().map(|(target, seen)| Ok((target, seen?))).collect()
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
struct Wish {
    minutes: u64,
    /// None: all there are.
    targets: Vec<String>,
}

impl Wish {
    fn read(options: &[String]) -> Result<Wish, Failure> {
        let mut wish = Wish { minutes: MINUTES, targets: Vec::new() };
        for pair in options.chunks(2) {
            match pair {
                [name, value] if name == "--minutes" => {
                    let minutes = value.parse().ok().filter(|minutes| *minutes > 0);
                    wish.minutes = minutes.ok_or_else(|| {
                        Failure::new(format!("--minutes {value:?} is no number of minutes"))
                    })?;
                }
                [name, value] if name == "--target" => wish.targets.push(value.clone()),
                other => return Err(Failure::new(format!("{other:?} is not understood"))),
            }
        }
        Ok(wish)
    }

    /// The targets to run, of all there are.
    fn chosen(&self, all: &[String]) -> Result<Vec<String>, Failure> {
        if let Some(target) = self.targets.iter().find(|target| !all.contains(target)) {
            return Err(Failure::new(format!("there is no target {target:?}; there are {}", all.join(", "))));
        }
        Ok(if self.targets.is_empty() { all.to_vec() } else { self.targets.clone() })
    }
}

/// The targets of `fuzz/Cargo.toml`, in its order.
fn manifest(repository: &Repository) -> Result<Vec<String>, Failure> {
    let path = repository.path("fuzz/Cargo.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| Failure::at(&path, error))?;
    let manifest: toml::Table = text.parse().map_err(|error| Failure::at(&path, error))?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array).map(Vec::as_slice).unwrap_or_default();
    Ok(bins.iter().filter_map(|bin| Some(bin.get("name")?.as_str()?.to_owned())).collect())
}

/// `cargo fuzz` needs flags of an unstable compiler; a stable one takes them
/// when it is told so.
fn cargo_fuzz(repository: &Repository, verb: &str) -> Command {
    let mut cargo = repository.cargo(&["fuzz", verb, "--fuzz-dir", "fuzz", "--sanitizer", SANITIZER]);
    cargo.env("RUSTC_BOOTSTRAP", "1");
    cargo
}

/// What a run of one target showed.
#[derive(Debug, Default)]
struct Seen {
    minutes: f64,
    executions: Option<u64>,
    coverage: Option<u64>,
    features: Option<u64>,
    findings: Vec<PathBuf>,
}

impl Seen {
    fn of(repository: &Repository, target: &str, minutes: u64) -> Result<Seen, Failure> {
        let made = |folder: PathBuf| {
            std::fs::create_dir_all(&folder).map_err(|error| Failure::at(&folder, error)).map(|()| folder)
        };
        let learned = made(repository.target().join("fuzz").join(target))?;
        let artifacts = made(repository.path("fuzz/artifacts").join(target))?;
        let seeds = repository.path("fuzz/corpus").join(target);
        let words = repository.target().join("fuzz").join(format!("{target}.dict"));
        std::fs::write(&words, dictionary(&seeds)?).map_err(|error| Failure::at(&words, error))?;

        let before = names(&artifacts)?;
        let mut fuzzer = cargo_fuzz(repository, "run");
        fuzzer.arg(target).arg(&learned).arg(&seeds).arg("--");
        fuzzer.arg(format!("-max_total_time={}", minutes * 60));
        fuzzer.arg(format!("-max_len={INPUT_BYTES_MAX}"));
        fuzzer.arg(format!("-dict={}", words.display()));
        fuzzer.arg(format!("-report_slow_units={SLOW_SECONDS}"));
        fuzzer.arg("-print_final_stats=1");
        let mut seen = Seen::default();
        let start = Instant::now();
        // A finding ends the fuzzer with a failure; the artifacts tell what it was.
        let ended = run::watch(&mut fuzzer, |line| seen.read(line));
        seen.minutes = start.elapsed().as_secs_f64() / 60.0;
        seen.findings = names(&artifacts)?.difference(&before).cloned().collect();
        if seen.findings.is_empty() { ended.map(|()| seen) } else { Ok(seen) }
    }

    /// Reads `#8192 pulse cov: 120 ft: 410 corp: …` and `stat::number_of_executed_units: 9000`.
    fn read(&mut self, line: &str) {
        let after = |mark: &str| {
            let rest = line.split_once(mark)?.1.trim_start();
            rest.split_whitespace().next()?.parse::<u64>().ok()
        };
        if line.starts_with('#') {
            self.coverage = after(" cov: ").or(self.coverage);
            self.features = after(" ft: ").or(self.features);
        }
        self.executions = after("stat::number_of_executed_units:").or(self.executions);
    }

    fn row(&self, target: &str) -> Vec<String> {
        let cell = |count: Option<u64>| count.map_or_else(|| "unknown".to_owned(), |count| count.to_string());
        vec![
            target.to_owned(),
            format!("{:.1}", self.minutes),
            cell(self.executions),
            cell(self.coverage),
            cell(self.features),
            self.findings.len().to_string(),
        ]
    }
}

/// The files in a folder.
fn names(folder: &Path) -> Result<BTreeSet<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|error| Failure::at(folder, error))?;
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

/// The words of the inputs in the fuzzer's notation: it puts them together anew.
fn dictionary(seeds: &Path) -> Result<String, Failure> {
    let mut words = BTreeSet::new();
    for path in names(seeds)? {
        let bytes = std::fs::read(&path).map_err(|error| Failure::at(&path, error))?;
        words.extend(self::words(&String::from_utf8_lossy(&bytes)));
    }
    Ok(words.into_iter().map(|word| format!("\"{word}\"\n")).collect())
}

/// What a format would call a word.
fn words(text: &str) -> Vec<String> {
    let is_word =
        |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '*');
    let words = text.split(|character| !is_word(character));
    words.filter(|word| (3..=40).contains(&word.len())).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(line: &str) -> Result<Wish, Failure> {
        Wish::read(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn minutes_and_target_are_read() {
        assert_eq!(wish("").unwrap(), Wish { minutes: MINUTES, targets: Vec::new() });
        let both = wish("--target text --minutes 3").unwrap();
        assert_eq!(both, Wish { minutes: 3, targets: vec!["text".into()] });
        assert_eq!(wish("--target text --target archive").unwrap().targets, ["text", "archive"]);
        for line in ["--minutes", "--minutes 0", "--minutes soon", "--target"] {
            assert!(wish(line).is_err(), "{line}");
        }
        let all = ["archive".to_owned(), "text".to_owned()];
        assert_eq!(both.chosen(&all).unwrap(), ["text"]);
        assert_eq!(wish("").unwrap().chosen(&all).unwrap(), all);
        let failure = wish("--target txt").unwrap().chosen(&all).unwrap_err();
        assert!(failure.to_string().ends_with("there are archive, text"), "{failure}");
    }

    #[test]
    fn what_the_fuzzer_says_is_read() {
        let mut seen = Seen::default();
        for line in [
            "INFO: seed corpus: files: 12",
            "#8192\tpulse  cov: 120 ft: 410 corp: 20/4Kb lim: 80 exec/s: 900 rss: 60Mb",
            "#9000\tDONE   cov: 121 ft: 415 corp: 21/4Kb lim: 80 exec/s: 900 rss: 60Mb",
            "stat::number_of_executed_units: 9001",
        ] {
            seen.read(line);
        }
        assert_eq!(seen.row("text"), ["text", "0.0", "9001", "121", "415", "0"]);
        assert_eq!(Seen::default().row("text")[2], "unknown");
    }

    #[test]
    fn every_target_has_words_to_begin_with() {
        let repository = Repository::find().unwrap();
        let targets = manifest(&repository).unwrap();
        assert!(targets.is_sorted() && targets.len() >= 10, "{targets:?}");
        let seeds = repository.path("fuzz/corpus/config");
        assert!(dictionary(&seeds).unwrap().contains("\"exclude_regex\"\n"));
        assert_eq!(words("{\"a\":\"tool_use\",\"id\":\"c1\"}"), ["tool_use"]);
    }
}
