//! Taking over a store of an older format: its files move to their present places.
//!
//! Everything is read in either place, so a stop at any instant does no harm, and the next
//! run goes on. It also moves what a backup of an older format brought back. Before anything
//! moves, the head says the present format: an older retro refuses the store from then on. A
//! folder goes only when the new names of what was in it are on the medium.
//!
//! Format 1 had the main raw file of a session in a folder of its own, as `m.zst`, and the settled
//! events of every quiet session in `normalized/`. Formats 1 and 2 had a file for each section of
//! a document.

use retro_model::SessionKey;
use std::path::{Path, PathBuf};

use crate::documents::{self, Kind, NORMALIZED};
use crate::files::{Entry, Worth, entries, read_regular};
use crate::head;
use crate::layout::{self, EARLIER_MAIN, MARK, PART, RAW};
use crate::names::Decoded;
use crate::sections::{Document, Section};
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
            if self.format() < head::FORMAT_OF_FLAT_RAW {
                self.files.remove_tree(&self.root().join(NORMALIZED.folder()), Worth::Truth)?;
            }
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
        self.remove_emptied(&mut emptied)?;
        self.take_over_documents(stop)
    }

    /// Puts texts that have a file each into the documents of their sessions.
    fn take_over_documents(&self, stop: &dyn Fn() -> bool) -> Result<(), Error> {
        for kind in self.earlier_kinds()? {
            let (Some((folder, ending)), Some(section)) = (kind.earlier(), kind.section_name()) else {
                continue;
            };
            let mut kept = Vec::new();
            for (agent, agents) in self.agents(folder)? {
                for entry in entries(&agents)?.into_iter().filter(|entry| entry.is_file) {
                    if stop() {
                        break;
                    }
                    let Some(name) = entry.name.as_deref() else { continue };
                    if name.strip_suffix(PART).is_some_and(|name| name.ends_with(ending)) {
                        self.files.remove(&entry.path, Worth::Cache)?;
                    }
                    let Some(decoded) = name.strip_suffix(ending).and_then(names::decode) else { continue };
                    let key = match decoded {
                        Decoded::Id(id) => Some(SessionKey::new(agent.clone(), id)),
                        Decoded::Cut => {
                            self.key_of_cut(&agents, name.strip_suffix(ending).unwrap_or(name))?
                        }
                    };
                    if let Some(key) = key
                        && self.take_over_text(&kind, section, &key, &entry.path)?
                    {
                        kept.push(entry.path);
                    }
                    if kept.len() >= FOLDERS_AT_ONCE {
                        self.remove_kept(&mut kept)?;
                    }
                }
            }
            self.remove_kept(&mut kept)?;
            if folder != documents::DOCUMENTS && !stop() {
                self.remove_folders(&self.root().join(folder))?;
            }
        }
        self.remove_folders(&self.root().join(documents::MINED))
    }

    /// The session of a name that was cut, from its session file, taken over or not.
    fn key_of_cut(&self, agent: &Path, name: &str) -> Result<Option<SessionKey>, Error> {
        let folder = self.root().join(documents::DOCUMENTS).join(agent.file_name().unwrap_or_default());
        for ending in [".json", documents::DOCUMENT_ENDING] {
            match documents::session_at(&folder.join(format!("{name}{ending}"))) {
                Ok(Some(file)) => return Ok(Some(file.key)),
                Ok(None) | Err(Error::Damaged { .. } | Error::Newer { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Puts a text into the document of its session; false if it has to stay where it is,
    /// because the document has another one or it is damaged.
    fn take_over_text(
        &self,
        kind: &Kind,
        section: &str,
        key: &SessionKey,
        path: &Path,
    ) -> Result<bool, Error> {
        self.files.own(path)?;
        let Some(text) = read_regular(path)?.filter(|text| kind.check(text).is_none()) else {
            return Ok(false);
        };
        let document = read_regular(&documents::document_path(self.root(), key))?;
        let document = document.map(|bytes| Document::read(&bytes)).unwrap_or_default();
        // A damaged one is replaced.
        if let Some(Ok(present)) = document.get(section).map(|present| present.text(section)) {
            return Ok(present == text);
        }
        let packed = Section::pack(section, &text).map_err(Error::io("write", path))?;
        self.put_section(section, key, packed);
        Ok(true)
    }

    /// Removes files whose texts are in documents, once these are on the medium.
    fn remove_kept(&self, kept: &mut Vec<PathBuf>) -> Result<(), Error> {
        if !kept.is_empty() {
            self.sync_all()?;
        }
        kept.drain(..).try_for_each(|path| self.files.remove(&path, Worth::Truth).map(drop))
    }

    /// Removes a folder that older formats had, with its mark and those of agents, if nothing is
    /// left in it.
    fn remove_folders(&self, folder: &Path) -> Result<(), Error> {
        if !folder.is_dir() {
            return Ok(());
        }
        for below in entries(folder)?.into_iter().filter(|entry| entry.is_dir) {
            self.files.remove_empty(&below.path)?;
        }
        if entries(folder)?.iter().all(|entry| entry.name.as_deref() == Some(MARK)) {
            self.files.remove(&folder.join(MARK), Worth::Cache)?;
            self.files.remove_empty(folder)?;
        }
        Ok(())
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
