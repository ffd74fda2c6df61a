//! The program as a whole: a search, and a turn that is appended and can be found.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::super::best_of;
use super::super::many::{Grown, Many};
use super::super::measure::{Cost, Meter};
use crate::failure::Failure;

/// How often each is run; the cheapest counts.
const RUNS: usize = 12;

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

    /// A sync after one turn was appended to the one session of a home, in a store with so
    /// many sessions.
    pub(super) fn append(&self, sessions: usize) -> Result<Cost, Failure> {
        let many = Many { retro: &self.retro, meter: &self.meter, scratch: self.scratch };
        Grown::new(&many, sessions)?.append(&many, Grown::sync)
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
