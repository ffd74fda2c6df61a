//! How soon `retro sync --watch` has captured what an agent wrote.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Outcome;
use crate::bench::{append_turn, one_session, running_time};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// From a line written to a line captured.
const LATENCY_MAX: Duration = Duration::from_secs(2);

/// How long to wait before giving up.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks at the store.
const PAUSE: Duration = Duration::from_millis(10);

/// How many lines are written.
const ROUNDS: usize = 10;

/// Starts `retro sync --watch`, writes to a log, and measures until
/// `retro raw` shows what was written.
pub(super) fn run(repository: &Repository, _: u64) -> Result<Outcome, Failure> {
    let scratch =
        tempfile::tempdir().map_err(|error| Failure::new(format!("no temporary folder: {error}")))?;
    let (home, root) = (scratch.path().join("home"), scratch.path().join("root"));
    let (log, session) = one_session(&home)?;
    let trial = Trial { retro: repository.build_retro(true)?, home, root, session };
    run::run(&mut trial.command(&["--quiet", "sync"]))?;
    let _watcher = Watcher::start(trial.command(&["--quiet", "sync", "--watch"]))?;
    trial.wait_for(&log, Instant::now())?;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        append_turn(&log)?;
        times.push(trial.wait_for(&log, Instant::now())?);
    }
    let (text, slowest) = summary(times);
    print!("{text}");
    let in_time = slowest.is_some_and(|slowest| slowest <= LATENCY_MAX);
    Ok(Outcome { points: ROUNDS, failures: usize::from(!in_time) })
}

struct Trial {
    retro: PathBuf,
    home: PathBuf,
    root: PathBuf,
    session: String,
}

impl Trial {
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.retro);
        command.arg("--home").arg(&self.home).arg("--root").arg(&self.root).args(arguments);
        command
    }

    /// How long it takes from `start` until the store holds every byte of the log.
    fn wait_for(&self, log: &Path, start: Instant) -> Result<Duration, Failure> {
        let written = std::fs::read(log).map_err(|error| Failure::at(log, error))?;
        while start.elapsed() < PATIENCE {
            let mut raw = self.command(&["--no-sync", "raw", "claude", &self.session]);
            let output = raw.stderr(Stdio::null()).output();
            let output = output.map_err(|error| Failure::at(&self.retro, error))?;
            if output.status.success() && output.stdout == written {
                return Ok(start.elapsed());
            }
            std::thread::sleep(PAUSE);
        }
        Err(Failure::new(format!(
            "retro raw did not show what was written within {}",
            run::seconds(PATIENCE)
        )))
    }
}

/// The watching program, ended when this goes.
pub(crate) struct Watcher(Child);

impl Watcher {
    /// CPU time that it has used so far, if the kernel tells.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        running_time(self.0.id())
    }

    pub(crate) fn start(mut command: Command) -> Result<Watcher, Failure> {
        let child = command.stdout(Stdio::null()).spawn();
        child
            .map(Watcher)
            .map_err(|error| Failure::new(format!("retro sync --watch cannot be started: {error}")))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The table, and the slowest time.
fn summary(mut times: Vec<Duration>) -> (String, Option<Duration>) {
    times.sort();
    let cell =
        |time: Option<&Duration>| time.map_or_else(|| "unknown".to_owned(), |time| run::seconds(*time));
    let row = vec![
        "line written until captured".to_owned(),
        cell(times.first()),
        cell(times.get(times.len() / 2)),
        cell(times.last()),
        run::seconds(LATENCY_MAX),
    ];
    let text = table(&["retro sync --watch", "fastest", "median", "slowest", "bar"], &[row]);
    (text, times.last().copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_time_decides() {
        let times = [30, 10, 20].map(Duration::from_millis).to_vec();
        let (text, slowest) = summary(times);
        assert!(text.contains("| 10.0 ms | 20.0 ms | 30.0 ms | 2.0 s |"), "{text}");
        assert_eq!(slowest, Some(Duration::from_millis(30)));
        assert_eq!(summary(Vec::new()).1, None);
    }
}
