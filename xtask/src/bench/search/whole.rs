//! The program as a whole: a search, and a turn that is appended and can be found.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::logs::{self, Logs};
use super::super::measure::{Cost, Meter};
use super::super::{best_of, empty};
use crate::failure::Failure;
use crate::run;

/// How often each is run; the cheapest counts.
const RUNS: usize = 12;

/// Bytes of each session in the store that a turn is appended to.
const SESSION_BYTES: usize = 2_500;

pub(super) struct Whole<'a> {
    pub(super) retro: PathBuf,
    pub(super) meter: Meter,
    pub(super) scratch: &'a Path,
}

impl Whole<'_> {
    /// The bare start of the process.
    pub(super) fn start(&self) -> Result<Cost, Failure> {
        best_of(RUNS, || {
            self.meter.measure(&mut || {
                let mut command = Command::new(&self.retro);
                command.arg("--version");
                Ok(command)
            })
        })
    }

    /// A search in a store as it is, by words or by both.
    pub(super) fn search(&self, root: &Path, mode: &str, query: &str) -> Result<Cost, Failure> {
        let home = self.scratch.join("no-logs");
        std::fs::create_dir_all(&home).map_err(|error| Failure::at(&home, error))?;
        best_of(RUNS, || {
            self.meter.measure(&mut || {
                let mut command = self.retro(&home, root);
                command.args(["--no-sync", "search", "--mode", mode, query]);
                Ok(command)
            })
        })
    }

    /// A sync after one turn was appended, in a store with so many sessions.
    pub(super) fn append(&self, sessions: usize) -> Result<Cost, Failure> {
        let folder = self.scratch.join(format!("append-{sessions}"));
        let (home, root) = (folder.join("home"), folder.join("root"));
        let made = Logs::generate(&home, sessions, SESSION_BYTES)?;
        let sync = || {
            let mut command = self.retro(&home, &root);
            command.arg("sync");
            command
        };
        run::run(&mut sync())?;
        let session = made.files.first().ok_or_else(|| Failure::at(&home, "holds no session"))?;
        let mut turn = logs::turns(session)?;
        let cost = best_of(RUNS, || {
            self.meter.measure(&mut || {
                turn += 1;
                logs::append(session, turn).map(|()| sync())
            })
        })?;
        self.is_found(&home, &root, session)?;
        empty(&folder)?;
        Ok(cost)
    }

    /// Fails if the last turn of a session cannot be found.
    fn is_found(&self, home: &Path, root: &Path, session: &Path) -> Result<(), Failure> {
        let id = session.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let turns = logs::turns(session)?;
        let mut command = self.retro(home, root);
        command.args(["--no-sync", "--json", "show"]).arg(format!("{id}#{turns}"));
        let shown = run::output(&mut command)?;
        match shown.is_empty() {
            true => Err(Failure::new(format!("turn {turns} of {id} is not in the store"))),
            false => Ok(()),
        }
    }

    fn retro(&self, home: &Path, root: &Path) -> Command {
        let mut command = Command::new(&self.retro);
        command.arg("--home").arg(home).arg("--root").arg(root).arg("--quiet");
        command
    }
}

/// CPU time over the bare start.
pub(super) fn over(cost: Cost, start: Cost) -> Option<Duration> {
    Some(cost.cpu?.saturating_sub(start.cpu?))
}
