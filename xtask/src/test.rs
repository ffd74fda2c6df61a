//! `cargo xtask test`: everything that must hold before a change goes in.
//!
//! Each step is printed with its time; the first that fails ends the run. The
//! last line counts the tests, so that a run without any is noticed.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::{dashboard, docs, run, tidy};

/// Runs every step.
pub(crate) fn run(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    run::step("format", || run::run(&mut repository.cargo(&["fmt", "--all", "--check"])))?;
    run::step("clippy", || {
        let arguments = ["clippy", "--workspace", "--all-targets", "--quiet", "--", "--deny", "warnings"];
        run::run(&mut repository.cargo(&arguments))
    })?;
    let corpus = run::step("corpus", || unpack_corpus(repository))?;
    let mut tally = Tally::default();
    let tested = tests(repository, &corpus, &mut tally);
    if tested.is_err() {
        println!("{tally}");
    }
    tested?;
    let recorded = corpus.as_ref().map(|corpus| corpus.unpacked.as_path());
    run::step("page", || dashboard::test(repository, recorded))?;
    run::step("documentation", || {
        let mut doc = repository.cargo(&["doc", "--workspace", "--no-deps", "--lib", "--quiet"]);
        run::run(doc.env("RUSTDOCFLAGS", "-D warnings"))
    })?;
    run::step("tidy", || tidy::check_files(repository))?;
    run::step("generated pages", || docs::run(repository, &["--check".to_owned()]))?;
    match tally {
        Tally { passed: 0, failed: 0 } => Err(Failure::new("not a single test was run")),
        tally => {
            println!("{tally}");
            Ok(())
        }
    }
}

fn tests(repository: &Repository, corpus: &Option<Corpus>, tally: &mut Tally) -> Result<(), Failure> {
    run::step("tests", || {
        let mut tests = if run::is_there("cargo", &["nextest", "--version"]) {
            repository.cargo(&["nextest", "run", "--workspace", "--no-fail-fast"])
        } else {
            println!("cargo nextest is not installed, cargo test does it too");
            repository.cargo(&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
        };
        run::watch(prepared(&mut tests, corpus), |line| tally.read(line))
    })?;
    run::step("doc tests", || {
        let mut tests = repository.cargo(&["test", "--workspace", "--doc", "--quiet"]);
        run::watch(prepared(&mut tests, corpus), |line| tally.read(line))
    })
}

/// Where recorded sessions are, when they are: beside the repository.
struct Corpus {
    shared: PathBuf,
    unpacked: PathBuf,
}

/// Unpacks the recorded sessions if there are any. The unpacker does nothing
/// when what it would write is already there.
fn unpack_corpus(repository: &Repository) -> Result<Option<Corpus>, Failure> {
    let shared = repository.path("../shared");
    let unpack = shared.join("corpus/unpack");
    if !unpack.is_file() {
        println!("no recorded sessions beside the repository: the tests that need them skip");
        return Ok(None);
    }
    let unpacked = repository.target().join("corpus");
    std::fs::create_dir_all(&unpacked).map_err(|error| Failure::at(&unpacked, error))?;
    run::run(Command::new(&unpack).arg(&unpacked))?;
    Ok(Some(Corpus { shared: absolute(&shared)?, unpacked: absolute(&unpacked)? }))
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    path.canonicalize().map_err(|error| Failure::at(path, error))
}

/// The command with the environment that tests see: no snapshot is written, no
/// variable of the user's own retro leaks in, and the corpus is named.
fn prepared<'a>(command: &'a mut Command, corpus: &Option<Corpus>) -> &'a mut Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_ours(name)) {
        command.env_remove(name);
    }
    command.env("INSTA_UPDATE", "no").env("CARGO_TERM_COLOR", "never");
    if let Some(corpus) = corpus {
        command.env("RETRO_SHARED", &corpus.shared).env("RETRO_CORPUS", &corpus.unpacked);
    }
    command
}

fn is_ours(name: &OsString) -> bool {
    name.to_string_lossy().starts_with("RETRO_")
}

/// How many tests passed and failed, read from what the runners print.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
}

impl Tally {
    /// Reads `test result: ok. 3 passed; 0 failed; …` of cargo test and
    /// `Summary [ 0.1s] 5 tests run: 5 passed, 0 skipped` of nextest.
    fn read(&mut self, line: &str) {
        let nextest = || line.trim_start().strip_prefix("Summary [");
        let Some(counts) = line.strip_prefix("test result:").or_else(nextest) else { return };
        for part in counts.split([';', ',', ':', '.', ']']) {
            let mut words = part.split_whitespace();
            let (Some(number), Some(word)) = (words.next(), words.next()) else { continue };
            let Ok(number) = number.parse::<u64>() else { continue };
            match word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                _ => {}
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_runners_are_counted() {
        let mut tally = Tally::default();
        tally.read(
            "test result: ok. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
        );
        tally.read("     Summary [   0.012s] 5 tests run: 4 passed (1 slow), 1 failed, 2 skipped");
        tally.read("test result of another kind: 7 passed");
        tally.read("    test result: FAILED. 0 passed; 1 failed; as nextest repeats it");
        assert_eq!(tally, Tally { passed: 7, failed: 2 });
        assert_eq!(tally.to_string(), "7 passed, 2 failed");
    }

    #[test]
    fn tests_do_not_see_the_users_own_retro() {
        let mut command = Command::new("x");
        let corpus = Corpus { shared: "/s".into(), unpacked: "/c".into() };
        prepared(&mut command, &Some(corpus));
        let set: Vec<_> = command.get_envs().filter(|(name, _)| *name == "RETRO_SHARED").collect();
        assert_eq!(set, [("RETRO_SHARED".as_ref(), Some("/s".as_ref()))]);
        assert!(is_ours(&"RETRO_ROOT".into()));
        assert!(!is_ours(&"HOME".into()));
    }
}
