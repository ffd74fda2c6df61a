//! Looking through a store for anything that is not as it was written.
//!
//! What a stop or a power cut can leave is no problem: it is noted, and the next
//! sync mends it. A problem is what no stop can explain.

use retro_model::{SessionKey, SourceKey};
use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;

use crate::archive::commit::Commit;
use crate::archive::tail::{self, Depth};
use crate::documents::{self, DOCUMENTS, KINDS, Kind, SESSIONS};
use crate::error::{REBUILD, RESTORE, RESTORE_LEDGER};
use crate::files::{Entry, entries, read_regular};
use crate::index::refuse_odd;
use crate::layout::{self, INDEX, RAW, Slot};
use crate::names::{self, Decoded, SHARED};
use crate::sections::Document;
use crate::session_file::decode_session;
use crate::store::{is_part, whole_name};
use crate::{Error, Index, SessionFile, Store, head};

/// What a look through the store found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Files looked at.
    pub checked: u64,
    /// What is wrong.
    pub problems: Vec<Problem>,
    /// What is left over and harmless: the next sync mends or ignores it.
    pub notes: Vec<Problem>,
}

/// Something found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where.
    pub path: PathBuf,
    /// What.
    pub what: String,
    /// What helps.
    pub help: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.path.display(), self.what, self.help)
    }
}

impl Store {
    /// Looks through the store without changing it. Names, session files and the
    /// last commit of every raw file; with `deep` every byte of them.
    pub fn verify(&self, deep: bool, progress: &mut dyn FnMut(&str)) -> Result<Report, Error> {
        let mut walk = Walk { store: self, deep, progress, report: Report::default(), raw: HashSet::new() };
        walk.report.checked += 1;
        if let Some(error) = head::check(self.root()) {
            walk.problem(self.root().join(layout::HEAD), error);
        }
        walk.raw()?;
        walk.documents()?;
        for kind in KINDS.iter().filter(|kind| kind.is_truth() && kind.section_name().is_none()) {
            walk.files(kind)?;
        }
        let earlier = self.earlier_kinds()?;
        for kind in &earlier {
            walk.earlier(kind, &earlier)?;
        }
        if deep {
            walk.index()?;
        }
        Ok(walk.report)
    }
}

/// A walk through the store.
struct Walk<'a> {
    store: &'a Store,
    deep: bool,
    progress: &'a mut dyn FnMut(&str),
    report: Report,
    /// Raw files that hold something, good or damaged.
    raw: HashSet<PathBuf>,
}

const STRANGE: &str = "retro did not make it and leaves it alone";
const UNFINISHED: &str = "the next sync takes care of it";
const LATER: &str =
    "its log was captured again beside it; only a backup has what this file alone held, if anything";

/// Whether the next revision of a raw file is beside it.
fn has_later(entry: &Entry) -> bool {
    let name = entry.name.as_deref().unwrap_or_default();
    if let Some((session, _)) = layout::main_session(name) {
        return entry.path.with_file_name(session).join(layout::revision_name(SourceKey::MAIN, 2)).is_file();
    }
    let later = layout::raw_name(name).map(|(encoded, _, revision)| {
        entry.path.with_file_name(layout::revision_name(encoded, revision.saturating_add(1)))
    });
    later.is_some_and(|path| path.is_file())
}

impl Walk<'_> {
    /// Every document of a session.
    fn documents(&mut self) -> Result<(), Error> {
        let earlier = SESSIONS.earlier().map(|(_, ending)| ending).unwrap_or_default();
        for (agent, folder) in self.folders(DOCUMENTS)? {
            (self.progress)(&format!("{DOCUMENTS} of {agent}"));
            for entry in entries(&folder)? {
                let name = entry.name.as_deref().unwrap_or_default();
                if is_part(&entry) {
                    self.note(&entry, "is a write that was not finished", UNFINISHED);
                    continue;
                }
                let is_earlier = name.strip_suffix(earlier).is_some_and(|name| names::decode(name).is_some());
                match SESSIONS.decode(name).filter(|_| entry.is_file) {
                    Some(decoded) => self.document(&entry, &agent, &decoded)?,
                    None if is_earlier && entry.is_file => {}
                    None => self.note(&entry, &format!("does not belong in {DOCUMENTS}"), STRANGE),
                }
            }
        }
        Ok(())
    }

    fn document(&mut self, entry: &Entry, agent: &str, name: &Decoded) -> Result<(), Error> {
        self.report.checked += 1;
        let bytes = match read_regular(&entry.path) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                self.problem(entry.path.clone(), error);
                return Ok(());
            }
        };
        let document = Document::read(&bytes);
        if let Some(what) = &document.damage {
            self.found(entry.path.clone(), what.clone(), RESTORE_LEDGER);
        }
        for (section, packed) in document.iter() {
            let kind = documents::sections().find(|kind| kind.section_name() == Some(section));
            let text = match packed.text(section) {
                Ok(text) => text,
                Err(what) => {
                    self.found(entry.path.clone(), what, RESTORE_LEDGER);
                    continue;
                }
            };
            if kind == Some(&SESSIONS) {
                match decode_session(&entry.path, &text) {
                    Ok(file) => self.session(entry, agent, name, &file),
                    Err(error) => self.problem(entry.path.clone(), error),
                }
            } else if let Some(what) = kind.and_then(|kind| kind.check(&text)) {
                self.found(entry.path.clone(), format!("{section}: {what}"), RESTORE_LEDGER);
            }
        }
        Ok(())
    }

    /// Files that older formats had for a section, and that were not taken over yet.
    fn earlier(&mut self, kind: &Kind, kinds: &[Kind]) -> Result<(), Error> {
        let Some((top, ending)) = kind.earlier() else { return Ok(()) };
        for (agent, folder) in self.folders(top)? {
            for entry in entries(&folder)? {
                let name = entry.name.as_deref().unwrap_or_default();
                let decoded = |ending| name.strip_suffix(ending).and_then(names::decode);
                let is_of_another = || {
                    let others = kinds.iter().filter(|other| *other != kind).filter_map(Kind::earlier);
                    others.filter(|(folder, _)| *folder == top).any(|(_, ending)| decoded(ending).is_some())
                };
                match decoded(ending).filter(|_| entry.is_file) {
                    Some(decoded) => self.text(kind, &entry, &agent, &decoded)?,
                    None if kind == &SESSIONS || is_of_another() => {}
                    None if is_part(&entry) => {
                        self.note(&entry, "is a write that was not finished", UNFINISHED);
                    }
                    None => self.note(&entry, "does not belong here", STRANGE),
                }
            }
        }
        Ok(())
    }

    /// Kinds that have a file each.
    fn files(&mut self, kind: &Kind) -> Result<(), Error> {
        for (agent, folder) in self.folders(kind.folder())? {
            (self.progress)(&format!("{} of {agent}", kind.folder()));
            for entry in entries(&folder)? {
                if is_part(&entry) {
                    self.note(&entry, "is a write that was not finished", UNFINISHED);
                    continue;
                }
                let name = entry.name.as_deref().unwrap_or_default();
                let (Some(decoded), true) = (kind.decode(name), entry.is_file) else {
                    self.note(&entry, &format!("does not belong in {}", kind.folder()), STRANGE);
                    continue;
                };
                self.text(kind, &entry, &agent, &decoded)?;
            }
        }
        Ok(())
    }

    /// A text that has a file of its own.
    fn text(&mut self, kind: &Kind, entry: &Entry, agent: &str, name: &Decoded) -> Result<(), Error> {
        self.report.checked += 1;
        match read_regular(&entry.path) {
            Ok(Some(bytes)) if *kind == SESSIONS => match decode_session(&entry.path, &bytes) {
                Ok(file) => self.session(entry, agent, name, &file),
                Err(error) => self.problem(entry.path.clone(), error),
            },
            Ok(bytes) => {
                if let Some(what) = bytes.and_then(|bytes| kind.check(&bytes)) {
                    self.found(entry.path.clone(), what, RESTORE_LEDGER);
                }
            }
            Err(error) => self.problem(entry.path.clone(), error),
        }
        Ok(())
    }

    fn session(&mut self, entry: &Entry, agent: &str, name: &Decoded, file: &SessionFile) {
        let fits = match name {
            Decoded::Id(id) => file.key == SessionKey::new(agent, id),
            Decoded::Cut => {
                let earlier = SESSIONS.earlier_path(self.store.root(), &file.key);
                self.store.session_path(&file.key) == entry.path || earlier.as_ref() == Some(&entry.path)
            }
        };
        if !fits {
            let what = format!("it says that it is the file of {}", file.key);
            self.found(entry.path.clone(), what, "move it away; `retro sync` makes the right one");
            return;
        }
        if file.evicted_at.is_some() {
            return;
        }
        for (source, part) in &file.sources {
            let slots = (1..=part.revisions).map(|revision| {
                let slot = Slot::Session { key: file.key.clone(), source: source.clone(), revision };
                (self.store.slot_path(&slot), slot)
            });
            // The first is enough: a file from elsewhere may name any number of them.
            if let Some((path, slot)) = slots.into_iter().find(|(path, _)| !self.raw.contains(path)) {
                self.found(path, format!("the session file lists {slot}, and it is not there"), RESTORE);
            }
        }
    }

    fn raw(&mut self) -> Result<(), Error> {
        for (agent, folder) in self.folders(RAW)? {
            for session in entries(&folder)? {
                let name = session.name.as_deref().unwrap_or_default();
                let place = name.strip_suffix(layout::PART).unwrap_or(name);
                if session.is_file && layout::main_session(place).is_some() {
                    self.raw_file(session)?;
                    continue;
                }
                if !session.is_dir || (name != SHARED && names::decode(name).is_none()) {
                    self.note(&session, "is no folder of a session", STRANGE);
                    continue;
                }
                (self.progress)(&format!("raw files of {agent}/{name}"));
                for entry in entries(&session.path)? {
                    self.raw_file(entry)?;
                }
            }
        }
        Ok(())
    }

    fn raw_file(&mut self, entry: Entry) -> Result<(), Error> {
        if is_part(&entry) {
            self.note(&entry, "is a write that was not finished", UNFINISHED);
            return Ok(());
        }
        let name = entry.name.as_deref().unwrap_or_default();
        let is_ours = layout::raw_name(name).is_some() || layout::main_session(name).is_some();
        if !entry.is_file || !is_ours {
            self.note(&entry, "is no raw file", STRANGE);
            return Ok(());
        }
        self.report.checked += 1;
        match self.last_commit(&entry) {
            Ok(Some(commit)) => {
                self.raw.insert(entry.path.clone());
                let rest = entry.size.saturating_sub(commit.file_end());
                if rest > 0 {
                    self.note(&entry, &format!("ends in {rest} bytes that were not finished"), UNFINISHED);
                }
            }
            Ok(None) => self.note(&entry, "holds nothing that was finished", UNFINISHED),
            Err(Error::Damaged { what, help, .. }) => {
                let help = if has_later(&entry) { LATER } else { help };
                self.raw.insert(entry.path.clone());
                self.found(entry.path, what, help);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    fn last_commit(&self, entry: &Entry) -> Result<Option<Commit>, Error> {
        let path = &entry.path;
        let mut file = File::open(path).map_err(Error::io("open", path))?;
        let commit = if self.deep {
            tail::standing(&mut file, entry.size, Depth::Everything).map_err(Error::raw(path))?
        } else {
            tail::last_before(&mut file, entry.size).map_err(Error::raw(path))?
        };
        if tail::is_cut_off(&mut file, entry.size).map_err(Error::raw(path))? {
            // It was whole once: no stop can have done this.
            let what = "its last commit cannot be read".to_owned();
            return Err(Error::Damaged { path: path.clone(), what, help: RESTORE });
        }
        Ok(commit)
    }

    fn index(&mut self) -> Result<(), Error> {
        let path = self.store.root().join(INDEX).join(Index::FILE);
        if !path.is_file() {
            return Ok(());
        }
        (self.progress)("the index");
        self.report.checked += 1;
        match refuse_odd(&path) {
            Err(Error::Damaged { path, what, help }) => self.found(path, what, help),
            _ => {
                if let Some(what) = Index::check(&path) {
                    self.found(path, what, REBUILD);
                }
            }
        }
        Ok(())
    }

    /// The agents' folders in one of ours.
    fn folders(&mut self, folder: &str) -> Result<Vec<(String, PathBuf)>, Error> {
        let mut folders = Vec::new();
        for entry in entries(&self.store.root().join(folder))? {
            if entry.is_file && entry.name.as_deref() == Some(layout::MARK) {
                continue;
            }
            match entry.name.as_deref().and_then(whole_name).filter(|_| entry.is_dir) {
                Some(agent) => folders.push((agent, entry.path)),
                None => self.note(&entry, "is no folder of an agent", STRANGE),
            }
        }
        Ok(folders)
    }

    fn problem(&mut self, path: PathBuf, error: Error) {
        match error {
            Error::Damaged { what, help, .. } => self.found(path, what, help),
            error => self.found(path, error.to_string(), head::HELP),
        }
    }

    fn found(&mut self, path: PathBuf, what: String, help: &str) {
        self.report.problems.push(Problem { path, what, help: help.to_owned() });
    }

    fn note(&mut self, entry: &Entry, what: &str, help: &str) {
        let (path, what, help) = (entry.path.clone(), what.to_owned(), help.to_owned());
        self.report.notes.push(Problem { path, what, help });
    }
}
