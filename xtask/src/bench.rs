//! `cargo xtask bench`: how fast, beside programs that bound us.
//!
//! Machines differ, so what counts are ratios: capture beside `zstd` on the
//! same bytes, a sync with nothing new beside a bare walk, a turn appended to a
//! large session beside one appended to a small one.

mod logs;
mod measure;
mod report;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use logs::Logs;
use measure::{Cost, Meter};
use report::{Line, Report};

/// How often each thing is measured; the cheapest run counts, since whatever
/// else the machine does only ever adds.
const RUNS_COLD: usize = 3;
const RUNS_WARM: usize = 10;

/// Sessions of which none has changed.
const MANY_FILES: usize = 2_000;

/// Bytes of the sessions to which one turn is appended.
const SMALL_BYTES: usize = 1_000_000;
const LARGE_BYTES: usize = 100_000_000;

/// Measures capture and prints the table; `--write` puts it into the page.
pub(crate) fn capture(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let retro = repository.build_retro(true)?;
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let bench = Bench { retro, meter: Meter::new(scratch.path()), scratch: scratch.path().to_owned() };
    let logs = match std::env::var_os("RETRO_CORPUS") {
        Some(corpus) => Logs::at(&Path::new(&corpus).join("public-claude/home"))?,
        None => Logs::generate(&bench.scratch.join("home"), 200, 250_000)?,
    };
    let report = bench.run(&logs)?;
    print!("{}", report.text());
    if options.iter().any(|option| option == "--write") {
        report.write(&repository.path("docs/benchmarks.md"))?;
    }
    Ok(())
}

struct Bench {
    retro: PathBuf,
    meter: Meter,
    scratch: PathBuf,
}

impl Bench {
    fn run(&self, logs: &Logs) -> Result<Report, Failure> {
        let mut report = Report::new(logs.files.len(), logs.bytes);
        let all = self.scratch.join("all.jsonl");
        concatenate(&logs.files, &all)?;
        let cat = self.best(RUNS_COLD, || Ok(quiet("cat", &[&all])))?;
        report.add(Line::over("cat", cat, logs.bytes));
        let zstd = match run::is_there("zstd", &["--version"]) {
            true => {
                Some(self.best(RUNS_COLD, || Ok(quiet("zstd", &["-3", "-T0", "-q", "-c", &text(&all)])))?)
            }
            false => None,
        };
        if let Some(zstd) = zstd {
            report.add(Line::over("zstd -3 -T0", zstd, logs.bytes));
        }
        let root = self.scratch.join("root");
        let cold = self.best(RUNS_COLD, || {
            empty(&root)?;
            Ok(self.sync(&logs.home, &root))
        })?;
        report.add(Line::over("retro sync, cold", cold, logs.bytes));
        if let Some(zstd) = zstd {
            report.ratio(
                "sync, cold: its speed as a share of zstd -3 -T0",
                zstd.wall,
                cold.wall,
                "at least 0.33",
            );
        }
        report.share(
            "raw bytes in the store as a share of the logs",
            logs::size(&root.join("raw")),
            logs.bytes,
        );
        self.nothing_new(&mut report)?;
        let start = self.best(RUNS_WARM, || Ok(quiet(&text(&self.retro), &["--version"])))?;
        report.add(Line::plain("retro --version", start));
        let small = self.appended(SMALL_BYTES)?;
        let large = self.appended(LARGE_BYTES)?;
        report.add(Line::plain("one turn appended, session of 1 MB", small));
        report.add(Line::plain("one turn appended, session of 100 MB", large));
        report.difference("one turn, CPU over the bare start (1 MB)", small.cpu, start.cpu, "at most 10 ms");
        let sizes = "100 MB beside 1 MB";
        match (large.instructions.zip(small.instructions), large.cpu.zip(small.cpu)) {
            (Some((large, small)), _) => {
                report.count(&format!("one turn, instructions: {sizes}"), large, small, "at most 1.2");
            }
            (None, Some((large, small))) => {
                report.ratio(&format!("one turn, CPU: {sizes}"), large, small, "at most 1.2");
            }
            (None, None) => {
                report.ratio(&format!("one turn, wall: {sizes}"), large.wall, small.wall, "at most 1.2");
            }
        }
        Ok(report)
    }

    /// A sync that finds nothing to do, at a number of files that people have.
    fn nothing_new(&self, report: &mut Report) -> Result<(), Failure> {
        let (home, root) = (self.scratch.join("many/home"), self.scratch.join("many/root"));
        Logs::generate(&home, MANY_FILES, 4_000)?;
        run::run(&mut self.sync(&home, &root))?;
        let walk = best_of(RUNS_WARM, || Ok(Cost::wall(logs::walk(&home)?)))?;
        report.add(Line::plain("bare walk with stat, 2,000 files", walk));
        let idle = self.best(RUNS_WARM, || Ok(self.sync(&home, &root)))?;
        report.add(Line::plain("retro sync, nothing new, 2,000 files", idle));
        report.ratio("sync, nothing new: its time beside the bare walk", idle.wall, walk.wall, "at most 3");
        report.time("sync, nothing new, 2,000 files", idle.wall, "at most 50 ms");
        Ok(())
    }

    /// One turn appended to a session of this size, then synced.
    fn appended(&self, bytes: usize) -> Result<Cost, Failure> {
        let folder = self.scratch.join(format!("append-{bytes}"));
        let (home, root) = (folder.join("home"), folder.join("root"));
        let logs = Logs::generate(&home, 1, bytes)?;
        let session = logs.files.first().ok_or_else(|| Failure::at(&home, "holds no session"))?;
        run::run(&mut self.sync(&home, &root))?;
        let mut turn = logs::turns(session)?;
        self.best(RUNS_WARM, || {
            turn += 1;
            logs::append(session, turn)?;
            Ok(self.sync(&home, &root))
        })
    }

    fn sync(&self, home: &Path, root: &Path) -> Command {
        let mut command = Command::new(&self.retro);
        command.arg("--home").arg(home).arg("--root").arg(root).args(["--quiet", "sync"]);
        command
    }

    /// The cheapest of some runs; `prepare` comes before each and is not measured.
    fn best(
        &self,
        runs: usize,
        mut prepare: impl FnMut() -> Result<Command, Failure>,
    ) -> Result<Cost, Failure> {
        best_of(runs, || self.meter.measure(&mut prepare))
    }
}

fn best_of(runs: usize, mut measure: impl FnMut() -> Result<Cost, Failure>) -> Result<Cost, Failure> {
    let mut best = measure()?;
    for _ in 1..runs {
        best = best.cheaper(measure()?);
    }
    Ok(best)
}

/// A command whose output is not wanted.
fn quiet<A: AsRef<std::ffi::OsStr>>(program: &str, arguments: &[A]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn concatenate(files: &[PathBuf], to: &Path) -> Result<(), Failure> {
    let mut out = File::create(to).map_err(|error| Failure::at(to, error))?;
    for file in files {
        let mut from = File::open(file).map_err(|error| Failure::at(file, error))?;
        std::io::copy(&mut from, &mut out).map_err(|error| Failure::at(file, error))?;
    }
    out.flush().map_err(|error| Failure::at(to, error))
}

fn empty(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Failure::at(folder, error)),
        _ => Ok(()),
    }
}

/// A home with one small session: its log and its id.
pub(crate) fn one_session(home: &Path) -> Result<(PathBuf, String), Failure> {
    let logs = Logs::generate(home, 1, 10_000)?;
    let log = logs.files.into_iter().next().ok_or_else(|| Failure::at(home, "holds no session"))?;
    let id = log.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((log, id))
}

/// Appends the next turn to a generated session.
pub(crate) fn append_turn(session: &Path) -> Result<(), Failure> {
    logs::append(session, logs::turns(session)? + 1)
}

/// How long something took here.
fn timed<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(Duration, T), Failure> {
    let start = Instant::now();
    let result = work()?;
    Ok((start.elapsed(), result))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cheapest_run_counts() {
        let mut times = [3, 1, 2].into_iter();
        let best = best_of(3, || Ok(Cost::wall(Duration::from_secs(times.next().unwrap())))).unwrap();
        assert_eq!(best.wall, Duration::from_secs(1));
    }

    #[test]
    fn files_become_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], "one\n").unwrap();
        std::fs::write(&paths[1], "two\n").unwrap();
        let to = folder.path().join("all");
        concatenate(&paths, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to).unwrap(), "one\ntwo\n");
    }
}
