//! `cargo xtask bench signals`: what signals and digests cost, beside a sync without them
//! and beside retro-ai.
//!
//! CPU time counts: it says the same on a busy machine.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use retro::engine::stages::{STAGES, Stage};
use retro::engine::{Config, SyncOptions, World, sync};

use super::logs::{self, Logs};
use super::measure::{Cost, Meter};
use super::peers;
use super::report::{Line, Report};
use super::{Scratch, empty, own_release};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;

/// How often a cold sync is run; the cheapest counts.
const RUNS: usize = 5;
/// How old the logs are made: quiet, not yet packed.
const QUIET: Duration = Duration::from_secs(3600);

/// The command.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    if own_release(repository, &["bench", "signals"], options)? {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let logs = published(&scratch.folder)?;
    let mut report = Report::new(format!(
        "{} files, {:.1} MB; the cheapest of several runs",
        logs.files.len(),
        logs.bytes as f64 / 1e6
    ));
    share_of_sync(&logs, &scratch.folder, &["digest", "facts"], ("digests", "at most 1.25"), &mut report)?;
    let retro = repository.retro_of(options)?;
    let versions = beside_the_seed(repository, &retro, &logs, &scratch.folder, &mut report)?;
    let text = report.text();
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let command = "cargo xtask bench signals --write";
        Part { name: "bench signals", title: "Signals", command, versions: &versions }
            .write(repository, &text)?;
    }
    Ok(())
}

/// The published logs as quiet sessions, or some of our own making.
pub(super) fn published(scratch: &Path) -> Result<Logs, Failure> {
    let home = scratch.join("home");
    match std::env::var_os("RETRO_CORPUS") {
        Some(corpus) => {
            let quiet = SystemTime::now() - QUIET;
            for agent in ["claude", "codex"] {
                logs::copy(&Path::new(&corpus).join(format!("public-{agent}/home")), &home, Some(quiet))?;
            }
            Logs::at(&home)
        }
        None => Logs::generate(&home, 200, 250_000),
    }
}

/// A cold sync with and without some stages, in turn; `what` they make.
pub(super) fn share_of_sync(
    logs: &Logs,
    scratch: &Path,
    stages: &[&str],
    (what, bar): (&str, &str),
    report: &mut Report,
) -> Result<(), Failure> {
    let without: Vec<Stage> = STAGES.iter().filter(|stage| !stages.contains(&stage.name)).cloned().collect();
    let without: &'static [Stage] = without.leak();
    let root = scratch.join("root");
    let mut best: [Option<Cost>; 2] = [None, None];
    for _ in 0..RUNS {
        for (best, stages) in best.iter_mut().zip([STAGES, without]) {
            empty(&root)?;
            let one = cold(&logs.home, &root, stages)?;
            *best = Some(best.map_or(one, |best| best.cheaper(one)));
        }
    }
    let [Some(with), Some(less)] = best else { return Ok(()) };
    report.add(Line::over("retro sync, cold", with, logs.bytes));
    report.add(Line::over(&format!("the same without {what}"), less, logs.bytes));
    if let Some((with, less)) = with.cpu.zip(less.cpu) {
        let what = format!("cold sync: its CPU time beside one without {what}");
        report.ratio(&what, with, less, bar);
    }
    Ok(())
}

fn cold(home: &Path, root: &Path, stages: &'static [Stage]) -> Result<Cost, Failure> {
    let world = World::at(home);
    let options = SyncOptions { stages: Some(stages), ..SyncOptions::default() };
    let config = Config::for_root(root);
    let (cpu, start) = (process_time(), Instant::now());
    sync(&world, &config, &options, &|_| {}).map_err(|error| Failure::at(home, error))?;
    let wall = start.elapsed();
    let cpu = cpu.zip(process_time()).map(|(before, after)| after.saturating_sub(before));
    Ok(Cost { wall, cpu, instructions: None })
}

/// CPU time of all threads of this process.
#[cfg(unix)]
fn process_time() -> Option<Duration> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(unix))]
fn process_time() -> Option<Duration> {
    None
}

/// Every digest and reading made again, here and there.
fn beside_the_seed(
    repository: &Repository,
    retro: &Path,
    logs: &Logs,
    scratch: &Path,
    report: &mut Report,
) -> Result<String, Failure> {
    let meter = Meter::new(scratch);
    let root = scratch.join("again");
    let ours = |words: &[&str]| {
        let mut command = Command::new(retro);
        command.arg("--home").arg(&logs.home).arg("--root").arg(&root).arg("--quiet").args(words);
        command
    };
    run::run(&mut ours(&["sync"]))?;
    let mut best: [Option<Cost>; 2] = [None, None];
    for _ in 0..3 {
        for (best, words) in best.iter_mut().zip([&["rebuild", "digest"][..], &["signal", "run", "--clean"]])
        {
            let one = meter.measure_long(&ours(words))?;
            *best = Some(best.map_or(one, |best| best.cheaper(one)));
        }
    }
    let [Some(digest), Some(run)] = best else { return Ok(String::new()) };
    report.add(Line::over("retro rebuild digest", digest, logs.bytes));
    report.add(Line::plain("retro signal run --clean", run));
    let Some(seed) = peers::retro_ai(repository) else { return Ok(String::new()) };
    let home = scratch.join("seed");
    logs::copy(&logs.home, &home, None)?;
    run::run(theirs(&seed.program, &home, &["sync"]).arg("--dashboard-dir").arg(home.join("page")))?;
    let theirs = meter.measure_long(&theirs(&seed.program, &home, &["signal", "run"]))?;
    report.add(Line::plain(&format!("{} signal run", seed.name), theirs));
    if let (Some(theirs), Some(digest), Some(run)) = (theirs.cpu, digest.cpu, run.cpu) {
        let what = "retro-ai signal run: its CPU time beside both of ours";
        report.ratio(what, theirs, digest + run, "at least 20");
    }
    Ok(seed.name)
}

fn theirs(program: &PathBuf, home: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).arg("--root").arg(home.join("archive"));
    command.env("HOME", home).env("TERM", "dumb");
    command.env_remove("CLAUDE_CONFIG_DIR").env_remove("CODEX_HOME");
    command
}
