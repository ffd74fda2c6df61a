//! Taking over a store of an older format: its files move to their present places.
//!
//! Everything is read in either place, so a stop at any instant does no harm, and the next
//! run goes on. It also moves what a backup of an older format brought back. Before anything
//! moves, the head says the present format: an older retro refuses the store from then on. A
//! folder goes only when the new names of what was in it are on the medium.
//!
//! Format 1 had the main raw file of a session in a folder of its own, as `m.zst`, and the
//! settled events of every quiet session in `normalized/`.

use std::path::{Path, PathBuf};

use crate::documents::NORMALIZED;
use crate::files::{Entry, Worth, entries};
use crate::head;
use crate::layout::{self, EARLIER_MAIN, PART, RAW};
use crate::{Comparison, Error, Lock, Store, names};

/// Folders that are removed together, after one wait for the disk.
const FOLDERS_AT_ONCE: usize = 1000;

impl Store {
    /// Whether it was of an older format when it was opened.
    pub fn is_older(&self) -> bool {
        self.format() < head::FORMAT
    }

    /// Moves files that are where an older format had them. Ends early once `stop` says so.
    pub fn take_over(&self, _lock: &Lock, stop: &dyn Fn() -> bool) -> Result<(), Error> {
        if self.is_older() {
            self.files.remove_tree(&self.root().join(NORMALIZED.folder()), Worth::Truth)?;
            self.sync_all()?;
            head::raise(&self.files)?;
        }
        let mut emptied = Vec::new();
        for (_, agent) in self.agents(RAW)? {
            for session in entries(&agent)?.into_iter().filter(|entry| entry.is_dir) {
                if stop() {
                    break;
                }
                emptied.extend(self.take_over_raw(&agent, session)?);
                if emptied.len() >= FOLDERS_AT_ONCE {
                    self.remove_emptied(&mut emptied)?;
                }
            }
        }
        self.remove_emptied(&mut emptied)
    }

    /// Moves the main raw file out of the folder of a session. The folder, if it is empty now.
    fn take_over_raw(&self, agent: &Path, session: Entry) -> Result<Option<PathBuf>, Error> {
        let Some(name) = session.name.filter(|name| names::decode(name).is_some()) else { return Ok(None) };
        let (from, to) = (session.path.join(EARLIER_MAIN), agent.join(layout::main_name(&name)));
        let mut left = 0;
        for entry in entries(&session.path)? {
            let is_gone = match entry.name.as_deref() {
                Some(EARLIER_MAIN) if entry.is_file => self.take_over_main(&from, &to)?,
                Some(name) if entry.is_file && name.strip_suffix(PART) == Some(EARLIER_MAIN) => {
                    self.files.remove(&entry.path, Worth::Cache)?
                }
                _ => false,
            };
            left += usize::from(!is_gone);
        }
        Ok((left == 0).then_some(session.path))
    }

    /// Moves a main raw file; false if it has to stay where it is. Where there is one in its
    /// place, the one that goes on after the other is kept. Two that differ both stay.
    fn take_over_main(&self, from: &Path, to: &Path) -> Result<bool, Error> {
        self.standings.forget(from);
        if to.symlink_metadata().is_err() {
            self.files.move_to(from, to)?;
            return Ok(true);
        }
        let (earlier, present) = (self.archive_at(from.to_owned()), self.archive_at(to.to_owned()));
        let compared = || -> Result<Comparison, Error> {
            match (earlier.tail()?, present.tail()?) {
                (None, _) => Ok(Comparison::SourceIsPrefix),
                (Some(_), None) => Ok(Comparison::SourceExtends),
                (Some(_), Some(_)) => present.compare(&mut earlier.read()?),
            }
        };
        match compared() {
            Ok(Comparison::Equal | Comparison::SourceIsPrefix) => self.files.remove(from, Worth::Truth),
            Ok(Comparison::SourceExtends) => {
                self.standings.forget(to);
                self.files.move_to(from, to)?;
                self.standings.forget(from);
                Ok(true)
            }
            Ok(Comparison::Differs) | Err(Error::Damaged { .. } | Error::Source(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn remove_emptied(&self, emptied: &mut Vec<PathBuf>) -> Result<(), Error> {
        if !emptied.is_empty() {
            self.sync_all()?;
        }
        emptied.drain(..).try_for_each(|folder| self.files.remove_empty(&folder))
    }
}
