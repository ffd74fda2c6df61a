//! `cargo xtask bench`: how fast, how small and how right, beside other programs.
//!
//! Machines differ, so what counts are ratios: capture beside `zstd` on the
//! same bytes, a sync with nothing new beside a bare walk, a turn appended to a
//! large session beside one appended to a small one, a question beside the same
//! question to another program. All sides of a ratio are measured in one run.

mod budget;
mod capture;
mod days;
mod diff;
mod logs;
mod many;
mod measure;
mod memory;
mod outcome;
mod patterns;
pub(crate) mod peers;
mod ranking;
mod recall;
mod report;
mod rollout;
mod search;
mod secrets;
mod shelves;
mod signals;
mod size;
mod stories;
mod tally;
mod told;
mod units;
mod usage;
mod vectors;

pub(crate) use budget::command as budget;
pub(crate) use capture::command as capture;
pub(crate) use measure::running_time;
pub(crate) use memory::command as memory;
pub(crate) use outcome::command as outcome;
pub(crate) use patterns::command as patterns;
pub(crate) use recall::command as recall;
pub(crate) use search::command as search;
pub(crate) use secrets::command as secrets;
pub(crate) use signals::command as signals;
pub(crate) use size::command as size;
pub(crate) use usage::command as usage;
pub(crate) use vectors::command as vectors;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use logs::Logs;
use measure::Cost;

/// A folder that goes when the benchmark ends.
struct Scratch {
    folder: PathBuf,
    _guard: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Result<Scratch, Failure> {
        let guard =
            tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
        Ok(Scratch { folder: guard.path().to_owned(), _guard: guard })
    }
}

/// The cheapest of some runs, since whatever else the machine does only ever adds.
fn best_of(runs: usize, mut measure: impl FnMut() -> Result<Cost, Failure>) -> Result<Cost, Failure> {
    let mut best = measure()?;
    for _ in 1..runs {
        best = best.cheaper(measure()?);
    }
    Ok(best)
}

/// Makes way for a fresh folder. The old one is moved aside and goes with the scratch
/// folder: a file system is slow to hand out again what was deleted a moment ago, and
/// no first sync of a user comes after a deletion.
fn empty(folder: &Path) -> Result<(), Failure> {
    let aside = (0..).map(|number| folder.with_extension(number.to_string())).find(|path| !path.exists());
    match aside.map_or(Ok(()), |aside| std::fs::rename(folder, aside)) {
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

/// What is measured inside this program counts only if it was optimised. If it was not, it
/// is built and started again, and true is returned.
fn own_release(repository: &Repository, words: &[&str], options: &[String]) -> Result<bool, Failure> {
    if !cfg!(debug_assertions) {
        return Ok(false);
    }
    let mut cargo = repository.cargo(&["run", "--quiet", "--profile", "dist", "--package", "xtask", "--"]);
    run::run(cargo.args(words).args(options)).map(|()| true)
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
}
