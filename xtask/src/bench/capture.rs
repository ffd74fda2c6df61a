//! `cargo xtask bench capture`: what it takes to keep everything.
//!
//! The same logs go through `cat`, `zstd`, our sync and that of the program in
//! Python that ours grew out of. Then what a sync costs that has little to do,
//! what the store takes on disk, and how much memory the worst logs need.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::logs::{self, Logs};
use super::many::Many;
use super::measure::{Cost, Meter};
use super::peers::{self, Peer};
use super::report::{Line, Report};
use super::{Scratch, best_of, empty};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;

/// How often each thing is measured; the cheapest run counts.
const RUNS_COLD: usize = 5;
const RUNS_WARM: usize = 10;

/// Sessions of which none has changed.
const MANY_FILES: usize = 2_000;

/// Bytes of the sessions to which one turn is appended.
const SMALL_BYTES: usize = 1_000_000;
const LARGE_BYTES: usize = 100_000_000;

/// The worst logs: one line of this size, and with `--huge` a log of that.
const LINE_BYTES: usize = 100_000_000;
const HUGE_BYTES: usize = 4_000_000_000;

/// At this age a log is quiet, and not yet packed.
const QUIET: Duration = Duration::from_secs(3600);

/// From this age on a log is packed.
const OLD: Duration = Duration::from_secs(3 * 24 * 3600);

/// Measures capture and prints the tables; `--write` puts them into the page,
/// `--huge` makes a log of 4 GB too. `--many` measures stores of very many sessions instead.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let has = |option: &str| options.iter().any(|given| given == option);
    let scratch = Scratch::new()?;
    if has("--many") {
        return many_sessions(repository, options, &scratch.folder);
    }
    let bench = Bench {
        retro: repository.retro_of(options)?,
        seed: peers::retro_ai(repository),
        meter: Meter::new(&scratch.folder),
        scratch: scratch.folder.clone(),
    };
    let logs = match std::env::var_os("RETRO_CORPUS") {
        Some(corpus) => {
            let home = bench.scratch.join("home");
            let quiet = SystemTime::now() - QUIET;
            logs::copy(&Path::new(&corpus).join("public-claude/home"), &home, Some(quiet))?;
            Logs::at(&home)?
        }
        None => Logs::generate(&bench.scratch.join("home"), 200, 250_000)?,
    };
    let megabytes = logs.bytes as f64 / 1e6;
    let mut report =
        Report::new(format!("{} files, {megabytes:.1} MB; the cheapest of several runs", logs.files.len()));
    bench.through(&logs, &mut report)?;
    bench.nothing_new(&mut report)?;
    bench.one_turn(&mut report)?;
    bench.memory(&logs, &mut report)?;
    if has("--huge") {
        bench.huge(&repository.target().join("bench"), &mut report)?;
    }
    let text = report.text();
    print!("{text}");
    if has("--write") {
        let command = match has("--huge") {
            true => "cargo xtask bench capture --huge --write",
            false => "cargo xtask bench capture --write",
        };
        let versions = bench.seed.as_ref().map_or("", |peer| peer.name.as_str());
        Part { name: "bench capture", title: "Capture", command, versions }.write(repository, &text)?;
    }
    Ok(())
}

/// Measures stores of very many sessions.
fn many_sessions(repository: &Repository, options: &[String], scratch: &Path) -> Result<(), Failure> {
    let (retro, meter) = (repository.retro_of(options)?, Meter::new(scratch));
    let text = Many { retro: &retro, meter: &meter, scratch }.measure()?;
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let (title, command) = ("Capture: very many sessions", "cargo xtask bench capture --many --write");
        Part { name: "bench capture many", title, command, versions: "" }.write(repository, &text)?;
    }
    Ok(())
}

struct Bench {
    retro: PathBuf,
    seed: Option<Peer>,
    meter: Meter,
    scratch: PathBuf,
}

impl Bench {
    /// All logs, once through each program.
    fn through(&self, logs: &Logs, report: &mut Report) -> Result<(), Failure> {
        let all = self.scratch.join("all.jsonl");
        concatenate(&logs.files, &all)?;
        let cat = self.best(RUNS_COLD, || Ok(quiet("cat", &[&all])))?;
        report.add(Line::over("cat", cat, logs.bytes));
        let root = self.scratch.join("root");
        let has_zstd = run::is_there("zstd", &["--version"]);
        let (mut zstd, mut read, mut cold): (Option<Cost>, Option<Cost>, Option<Cost>) = (None, None, None);
        // In turn, so that a busy minute falls on all.
        for _ in 0..RUNS_COLD {
            if has_zstd {
                let one = self.best(1, || Ok(quiet("zstd", &["-3", "-T0", "-q", "-c", &text(&all)])))?;
                zstd = Some(zstd.map_or(one, |best| best.cheaper(one)));
            }
            let one = self.best(1, || {
                empty(&root)?;
                let mut until_ledger = self.sync(&logs.home, &root);
                until_ledger.args(["--until", "ledger"]);
                Ok(until_ledger)
            })?;
            read = Some(read.map_or(one, |best| best.cheaper(one)));
            let one = self.best(1, || {
                empty(&root)?;
                Ok(self.sync(&logs.home, &root))
            })?;
            cold = Some(cold.map_or(one, |best| best.cheaper(one)));
        }
        if let Some(zstd) = zstd {
            report.add(Line::over("zstd -3 -T0", zstd, logs.bytes));
        }
        let (Some(read), Some(cold)) = (read, cold) else { return Ok(()) };
        report.add(Line::over("retro sync --until ledger, cold", read, logs.bytes));
        report.add(Line::over("retro sync, cold", cold, logs.bytes));
        if let Some(zstd) = zstd {
            let what = "capture and parse, cold: its speed as a share of zstd -3 -T0";
            report.ratio(what, zstd.wall, read.wall, "at least 0.33");
        }
        report.speed("whole sync, cold, with words and vectors", logs.bytes, cold.wall, "at least 40 MB/s");
        self.beside_the_seed(logs, (read, cold), report)?;
        self.sizes(logs, &root, report)
    }

    /// The same logs through the program in Python: its sync does more than capture and parse,
    /// and less than our whole sync.
    fn beside_the_seed(
        &self,
        logs: &Logs,
        (read, cold): (Cost, Cost),
        report: &mut Report,
    ) -> Result<(), Failure> {
        let Some(seed) = &self.seed else { return Ok(()) };
        let home = self.scratch.join("seed");
        logs::copy(&logs.home, &home, None)?;
        let mut sync = Command::new(&seed.program);
        sync.args(["sync", "--root"]).arg(home.join("archive")).arg("--dashboard-dir").arg(home.join("page"));
        sync.env("HOME", &home).env("TERM", "dumb");
        sync.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
        let cost = self.meter.measure_long(&sync)?;
        report.add(Line::over(&format!("{} sync, cold", seed.name), cost, logs.bytes));
        for (ours, what, bar) in [(read, "capture and parse", "at least 20"), (cold, "whole sync", "")] {
            if let Some((theirs, ours)) = cost.cpu.zip(ours.cpu) {
                report.ratio(
                    &format!("retro-ai sync, cold: its CPU time beside our {what}"),
                    theirs,
                    ours,
                    bar,
                );
            }
        }
        Ok(())
    }

    /// What the store takes, as it was captured and once it was packed.
    fn sizes(&self, logs: &Logs, captured: &Path, report: &mut Report) -> Result<(), Failure> {
        let (home, packed) = (self.scratch.join("old/home"), self.scratch.join("old/root"));
        logs::copy(&logs.home, &home, Some(SystemTime::now() - OLD))?;
        run::run(&mut self.sync(&home, &packed))?;
        for (root, when, raw_bar, all_bar) in
            [(captured, "as captured", "", ""), (&packed, "packed", "at most 20 %", "at most 60 %")]
        {
            let raw = logs::size(&root.join("raw"));
            report.share(&format!("raw bytes as a share of the logs, {when}"), raw, logs.bytes, raw_bar);
            let all = logs::size(root);
            report.share(
                &format!("the whole store as a share of the logs, {when}"),
                all,
                logs.bytes,
                all_bar,
            );
        }
        Ok(())
    }

    /// A sync that finds nothing to do, at a number of files that people have.
    fn nothing_new(&self, report: &mut Report) -> Result<(), Failure> {
        let (home, root) = (self.scratch.join("many/home"), self.scratch.join("many/root"));
        Logs::generate(&home, MANY_FILES, 4_000)?;
        run::run(&mut self.sync(&home, &root))?;
        let walk = best_of(RUNS_WARM, || Ok(Cost::wall(logs::walk(&home)?)))?;
        report.add(Line::plain("bare walk with stat, 2,000 files", walk));
        let mut idle = self.best(RUNS_WARM, || Ok(self.sync(&home, &root)))?;
        idle.instructions = self.meter.instructions(&self.sync(&home, &root))?;
        report.add(Line::plain("retro sync, nothing new, 2,000 files", idle));
        report.ratio("sync, nothing new: its time beside the bare walk", idle.wall, walk.wall, "at most 3");
        report.time("sync, nothing new, 2,000 files", idle.wall, "at most 50 ms");
        Ok(())
    }

    /// One turn appended to a small session and to a large one.
    fn one_turn(&self, report: &mut Report) -> Result<(), Failure> {
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
        let mut next = || {
            turn += 1;
            logs::append(session, turn)
        };
        let mut cost = self.best(RUNS_WARM, || {
            next()?;
            Ok(self.sync(&home, &root))
        })?;
        next()?;
        cost.instructions = self.meter.instructions(&self.sync(&home, &root))?;
        empty(&folder)?;
        Ok(cost)
    }

    /// How much memory a sync takes, of ordinary logs and of a line that is too long.
    fn memory(&self, logs: &Logs, report: &mut Report) -> Result<(), Failure> {
        let root = self.scratch.join("memory-root");
        let peak = self.meter.peak_memory(&mut self.sync(&logs.home, &root))?;
        report.memory("memory, sync of these logs", peak, "at most 150 MB");
        let folder = self.scratch.join("line");
        logs::long_line(&folder.join("home"), LINE_BYTES)?;
        let sync = &mut self.sync(&folder.join("home"), &folder.join("root"));
        report.memory("memory, a line of 100 MB", self.meter.peak_memory(sync)?, "at most 200 MB");
        empty(&folder)
    }

    /// A log that fits into no memory. It is too large for a temporary folder.
    fn huge(&self, folder: &Path, report: &mut Report) -> Result<(), Failure> {
        let (home, root) = (folder.join("huge/home"), folder.join("huge/root"));
        empty(&folder.join("huge"))?;
        let measured = Logs::generate(&home, 1, HUGE_BYTES)
            .and_then(|_| self.meter.peak_memory(&mut self.sync(&home, &root)));
        empty(&folder.join("huge"))?;
        report.memory("memory, a log of 4 GB", measured?, "at most 200 MB");
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

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
