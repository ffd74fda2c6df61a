//! Captures the files of a folder that is one source.
//!
//! Its raw file is a stream of pieces (`retro_store::pieces`), which only grows: each new or
//! changed file is appended. The catalog lists the files that need not be read. Several small files
//! are committed together, a large one in several commits; each commit holds whole pieces, so that
//! a stop loses no more than the file that was being read.

use retro_agents::{Agent, FolderFile, FolderStamp, Part, Reader, files_of};
use retro_model::{SourceKind, Stamp, Stat};
use retro_store::pieces::{COMMIT_BYTES_MAX, PIECE_BYTES_MAX, push_piece};
use retro_store::{Archive, Commit, Slot, SourceRow, Store};
use std::io;
use std::path::PathBuf;

use super::live::{count_lines, give_back, lend};
use super::reading::ReadPart;
use super::source::{Failure, Target, archive, next_revision, part, tail};
use super::{Rows, slot};
use crate::Error;
use crate::catalog::{Catalog, Content};
use crate::door::LiveFile;
use crate::read::format_name;
use crate::session_row::SourceFacts;

/// The result of capturing a folder.
pub(crate) struct FolderTaken {
    /// The revision that holds its files. `None` if the folder is empty.
    pub revision: Option<u32>,
    pub new_bytes: u64,
    /// The combined stamp of its files. If some were not kept as they were listed, this stamp
    /// matches no folder, so the next sync looks again.
    pub stamp: Stamp,
    /// Files that could not be read, and why.
    pub failed: Vec<(PathBuf, String)>,
    /// The updated row of the source.
    pub read: Option<ReadPart>,
}

/// Captures the new and changed files of a folder.
pub(crate) fn take(target: &Target<'_>, rows: &mut Rows) -> Result<FolderTaken, Failure> {
    let Standing { revision, commit, mut catalog } = standing(target, rows)?;
    let mut news: Vec<News> = Vec::new();
    let mut stamp = FolderStamp::default();
    let mut seals = Vec::new();
    files_of(&target.found.path, &mut |file| {
        // Unreadable entries were reported when the folder was found.
        let Ok(file) = file else { return };
        let seal = stamp.add(&file);
        seals.push(seal);
        if !catalog.seen.contains(&seal) {
            news.push(News::of(&file, seal));
        }
    });
    // Folders are listed in no fixed order.
    news.sort_by(|a, b| a.name.cmp(&b.name));
    if commit.is_none() && revision > target.revisions {
        archive(target, revision).note_absent();
    }
    let start = commit.map_or(0, |commit| commit.end);
    let mut keeping = Keeping {
        archive: archive(target, revision),
        target,
        catalog: &mut catalog,
        end: start,
        records: commit.map_or(0, |commit| commit.records),
        batch: Vec::new(),
        is_all: true,
        failed: Vec::new(),
    };
    let mut piece = lend();
    let kept = news.iter().try_for_each(|file| keeping.file(file, &mut piece));
    give_back(piece);
    kept?;
    keeping.flush()?;
    let Keeping { end, is_all, failed, .. } = keeping;
    forget_old(&mut catalog, &seals);
    let mut taken = FolderTaken {
        revision: (end > 0).then_some(revision),
        new_bytes: end - start,
        stamp: Stamp::Rows(stamp.stamp().filter(|_| is_all && failed.is_empty()).unwrap_or_default()),
        failed,
        read: None,
    };
    if end > 0 {
        let part = part(target, revision);
        let row = row(target.agent, &part, target.found.kind, end, &catalog);
        let at = (part.source.clone(), revision);
        if rows.get(&at) != Some(&row) {
            taken.read = Some(read_nothing(target.agent, part));
            rows.insert(at, row);
        }
    }
    Ok(taken)
}

/// Reads the raw file of a folder from its start and puts its row among `rows`.
pub(crate) fn read_raw(
    store: &Store,
    agent: &dyn Agent,
    part: Part,
    kind: SourceKind,
    rows: &mut Rows,
) -> Result<ReadPart, Error> {
    let slot = slot(&part.session, &part.source, part.revision);
    let catalog = read_catalog(store, &slot)?;
    let end = store.archive(&slot).tail()?.map_or(0, |commit| commit.end);
    rows.insert((part.source.clone(), part.revision), row(agent, &part, kind, end, &catalog));
    Ok(read_nothing(agent, part))
}

fn read_catalog(store: &Store, slot: &Slot) -> Result<Catalog, Error> {
    let raw_error = |source| Error::Raw { what: slot.to_string(), source };
    Catalog::of_raw(store.archive(slot).read()?).map_err(raw_error)
}

/// The reading of a source without records.
fn read_nothing(agent: &dyn Agent, part: Part) -> ReadPart {
    let parsed = Reader::new(agent, part, None).finish();
    ReadPart { parsed, facts: SourceFacts::default(), from_start: false, overflowed: false, gaps: 0 }
}

fn row(agent: &dyn Agent, part: &Part, kind: SourceKind, end: u64, catalog: &Catalog) -> SourceRow {
    SourceRow {
        agent: part.session.agent.clone(),
        session: part.session.id.clone(),
        source: part.source.clone(),
        revision: part.revision,
        kind,
        format: format_name(part.format).to_owned(),
        end,
        line_end: end,
        records: 0,
        parser_version: agent.reading_version(),
        state: catalog.encode(),
        tail_hash: Vec::new(),
        facts: serde_json::to_string(&SourceFacts::default()).unwrap_or_default(),
    }
}

/// The revision that takes the next files, and its present contents.
struct Standing {
    revision: u32,
    commit: Option<Commit>,
    catalog: Catalog,
}

/// The newest revision, if it is good; else the next one, which starts with nothing.
fn standing(target: &Target<'_>, rows: &Rows) -> Result<Standing, Failure> {
    if target.revisions > 0
        && let Some(commit) = tail(target, target.revisions)?
        && let Some(catalog) = catalog(target, rows, &commit)?
    {
        return Ok(Standing { revision: target.revisions, commit: Some(commit), catalog });
    }
    Ok(Standing { revision: next_revision(target)?, commit: None, catalog: Catalog::default() })
}

/// The catalog of the newest revision. `None` if it cannot be read. The row is trusted if it covers
/// the whole raw file. An unknown folder is treated as never seen.
fn catalog(target: &Target<'_>, rows: &Rows, commit: &Commit) -> Result<Option<Catalog>, Failure> {
    let revision = target.revisions;
    let is_known = target.place.as_ref().is_some_and(|place| place.revision == revision);
    let row = rows.get(&(target.found.source.clone(), revision));
    let row = row.filter(|row| is_known && row.end == commit.end);
    if let Some(catalog) = row.and_then(|row| Catalog::decode(&row.state)) {
        return Ok(Some(catalog));
    }
    match read_catalog(target.store, &slot(target.key, &target.found.source, revision)) {
        Ok(catalog) => Ok(Some(catalog)),
        Err(error) if error.is_of_one_session() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A folder may have copies elsewhere whose files look different. Seals beyond this many for each
/// file of this folder belong to files that changed or are gone.
const SEALS_MAX: usize = 8;
const SEALS_FEW: usize = 1024;

fn forget_old(catalog: &mut Catalog, here: &[u64]) {
    if catalog.seen.len() > here.len() * SEALS_MAX + SEALS_FEW {
        catalog.seen = here.iter().filter(|seal| catalog.seen.contains(seal)).copied().collect();
    }
}

/// A file that looks different from every file read so far.
struct News {
    name: Vec<u8>,
    path: PathBuf,
    stat: Stat,
    seal: u64,
}

impl News {
    fn of(file: &FolderFile<'_>, seal: u64) -> News {
        News { name: file.name.to_owned(), path: file.path.to_owned(), stat: file.stat, seal }
    }
}

/// A raw file that is being extended with files.
struct Keeping<'a> {
    archive: Archive,
    target: &'a Target<'a>,
    catalog: &'a mut Catalog,
    /// Bytes of the raw file, without the pending batch.
    end: u64,
    records: u64,
    /// Whole pieces that wait to be committed.
    batch: Vec<u8>,
    /// True while every file was read and did not change during the reading.
    is_all: bool,
    failed: Vec<(PathBuf, String)>,
}

impl Keeping<'_> {
    /// Captures one file, unless a stop was requested. An unreadable file does not stop the others.
    fn file(&mut self, file: &News, piece: &mut Vec<u8>) -> Result<(), Failure> {
        if (self.target.stop)() {
            self.is_all = false;
            return Ok(());
        }
        match self.read(file, piece) {
            Ok(true) => drop(self.catalog.seen.insert(file.seal)),
            Ok(false) => self.is_all = false,
            Err(Failure::Source(reason)) => self.failed.push((file.path.clone(), reason)),
            Err(failure) => return Err(failure),
        }
        Ok(())
    }

    /// Returns true if the file was kept as it was listed. A file that changed while it was read is
    /// kept as read, and the next sync looks at it again.
    fn read(&mut self, file: &News, piece: &mut Vec<u8>) -> Result<bool, Failure> {
        let mut live = match self.target.door.file(&file.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            live => live.map_err(failed)?,
        };
        next(&mut live, 0, piece).map_err(failed)?;
        let mut content = Content::of(&file.name);
        content.push(piece);
        let is_small = piece.len() < PIECE_BYTES_MAX;
        if !is_small {
            let mut more = Vec::new();
            let mut at = piece.len() as u64;
            loop {
                next(&mut live, at, &mut more).map_err(failed)?;
                content.push(&more);
                at += more.len() as u64;
                if more.len() < PIECE_BYTES_MAX {
                    break;
                }
            }
        }
        let content = content.name();
        if !self.catalog.kept.contains(&content) {
            let content = match is_small {
                true => self.push(&file.name, 0, piece, true).map(|()| Some(content))?,
                false => self.large(&file.name, &mut live, piece)?,
            };
            let Some(content) = content else { return Ok(false) };
            self.catalog.kept.insert(content);
        }
        let now = live.stat().map_err(failed)?;
        Ok(now == file.stat)
    }

    /// Captures a file of several pieces. Returns `None` if a stop was requested before its end.
    fn large(
        &mut self,
        name: &[u8],
        live: &mut LiveFile,
        piece: &mut Vec<u8>,
    ) -> Result<Option<u128>, Failure> {
        let mut content = Content::of(name);
        let mut at = 0;
        loop {
            next(live, at, piece).map_err(failed)?;
            let is_last = piece.len() < PIECE_BYTES_MAX;
            self.push(name, at, piece, is_last)?;
            content.push(piece);
            at += piece.len() as u64;
            if is_last {
                return Ok(Some(content.name()));
            }
            if (self.target.stop)() {
                return Ok(None);
            }
        }
    }

    fn push(&mut self, name: &[u8], at: u64, piece: &[u8], is_last: bool) -> Result<(), Failure> {
        let before = self.batch.len();
        push_piece(&mut self.batch, name, at, piece, is_last);
        if self.batch.len() > COMMIT_BYTES_MAX {
            let more = self.batch.split_off(before);
            self.flush()?;
            self.batch = more;
        }
        Ok(())
    }

    /// Commits the pending pieces.
    fn flush(&mut self) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.records += count_lines(&self.batch);
        self.archive.append_packed(&self.batch, self.records, self.target.is_old)?;
        self.end += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }
}

/// Reads the next piece. Only the last piece is shorter than the others.
fn next(live: &mut LiveFile, at: u64, piece: &mut Vec<u8>) -> io::Result<()> {
    piece.clear();
    live.read_at(at, PIECE_BYTES_MAX as u64, piece)
}

fn failed(error: io::Error) -> Failure {
    Failure::Source(error.to_string())
}
