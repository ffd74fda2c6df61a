//! The files, folders and databases that a walk over an agent's folders found.
//!
//! A sync without news walks past some thousand files and keeps none of them. An agent therefore
//! lends each file it sees. A collection puts the strings of all of them into one buffer, with a
//! small row for each, until they are compared with the store.

use retro_model::{RowsStamp, SourceKey, SourceKind, Stat};
use std::path::{Path, PathBuf};

use crate::folder::FolderSeen;
use crate::walk::Unreadable;
use crate::{Encoding, Format, Found, Held, Owner};

/// Everything that a walk found, in the order it was found.
#[derive(Debug, Default)]
pub struct Sightings {
    files: Vec<Row>,
    /// Owner, source and path of each file.
    texts: String,
    /// Paths that are not UTF-8, with the number of their row. Nearly always empty.
    odd_paths: Vec<(usize, PathBuf)>,
    folders: Vec<FolderSeen>,
    rows: Vec<RowsSeen>,
    databases: Vec<DatabaseSeen>,
    unreadable: Vec<(PathBuf, String)>,
    no_logs: Vec<(PathBuf, String)>,
}

/// A file of one session, or of many, as a walk sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// The session or shared name that it belongs to.
    pub owner: Whose<'a>,
    /// The agent's own name of this part. [`SourceKey::new`] makes its key. A guess if the owner is
    /// [`Whose::Inside`].
    pub source: &'a str,
    /// How the source grows.
    pub kind: SourceKind,
    /// The format of its records.
    pub format: Format,
    /// How its bytes are stored.
    pub encoding: Encoding,
    /// Where it is.
    pub path: &'a Path,
    /// The file's metadata.
    pub stat: Stat,
    /// Large and seldom needed: captured only if the user asks for extras.
    pub extra: bool,
}

/// The owner of a file, as far as its path shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The session with this id.
    Session(&'a str),
    /// Many sessions: the file is kept once, under this name.
    Shared(&'a str),
    /// Only the contents show the owner: ask [`crate::Agent::identify`].
    Inside,
}

/// The rows of one session in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsSeen {
    /// The id of the session.
    pub session: String,
    /// The part of the session that the rows are.
    pub source: SourceKey,
    /// How the rows grow.
    pub kind: SourceKind,
    /// The format of their records.
    pub format: Format,
    /// The stamp of the rows.
    pub stamp: RowsStamp,
}

/// A database with rows of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseSeen {
    /// The path of the database.
    pub path: PathBuf,
    /// A number for everything else that its list of sessions depends on: see
    /// [`Sightings::database`].
    pub beside: u64,
}

/// One file. Its strings end here, and begin where those of the previous row end.
#[derive(Debug)]
struct Row {
    whose: Named,
    kind: SourceKind,
    format: Format,
    encoding: Encoding,
    extra: bool,
    owner_end: usize,
    source_end: usize,
    path_end: usize,
    stat: Stat,
}

/// [`Whose`], without the name.
#[derive(Debug, Clone, Copy)]
enum Named {
    Session,
    Shared,
    Inside,
}

/// The initial capacity, in files: untouched memory costs less than moving a buffer that has become
/// too small.
const ROWS: usize = 4096;

impl Sightings {
    /// An empty collection with capacity for the files of one machine.
    pub fn roomy() -> Self {
        let texts = String::with_capacity(ROWS * 192);
        Sightings { files: Vec::with_capacity(ROWS), texts, ..Sightings::default() }
    }

    /// Adds a file.
    pub fn file(&mut self, sight: Sight<'_>) {
        let Sight { kind, format, encoding, extra, stat, .. } = sight;
        let (whose, owner) = match sight.owner {
            Whose::Session(id) => (Named::Session, id),
            Whose::Shared(name) => (Named::Shared, name),
            Whose::Inside => (Named::Inside, ""),
        };
        let path = sight.path.to_str().unwrap_or_else(|| {
            self.odd_paths.push((self.files.len(), sight.path.to_owned()));
            ""
        });
        let [owner_end, source_end, path_end] = [owner, sight.source, path].map(|text| {
            self.texts.push_str(text);
            self.texts.len()
        });
        self.files.push(Row { whose, kind, format, encoding, extra, owner_end, source_end, path_end, stat });
    }

    /// Adds a folder whose files are one part of a session.
    pub fn folder(&mut self, folder: FolderSeen) {
        self.folders.push(folder);
    }

    /// Adds the rows of a session. Only [`crate::Agent::list`] calls this.
    pub fn rows(&mut self, rows: RowsSeen) {
        self.rows.push(rows);
    }

    /// Adds a database. Nothing is read from it until it has changed. `beside` is a number that
    /// differs whenever something else that [`crate::Agent::list`] depends on differs, such as the
    /// logs that its rows belong to.
    pub fn database(&mut self, path: &Path, beside: u64) {
        self.databases.push(DatabaseSeen { path: path.to_owned(), beside });
    }

    /// Reports a place that may hold sessions and cannot be read, and why. Figures without it are
    /// lower bounds.
    pub fn unreadable(&mut self, path: &Path, reason: impl Into<String>) {
        self.unreadable.push((path.to_owned(), reason.into()));
    }

    /// Reports a place that is named like a log but is not one: a pipe, a folder, a link that is
    /// not followed.
    pub fn no_log(&mut self, path: &Path, reason: impl Into<String>) {
        self.no_logs.push((path.to_owned(), reason.into()));
    }

    /// The files that were found.
    pub fn files(&self) -> impl Iterator<Item = Sight<'_>> {
        let text = |start: usize, end: usize| self.texts.get(start..end).unwrap_or_default();
        let mut start = 0;
        let mut odd = self.odd_paths.iter().peekable();
        self.files.iter().enumerate().map(move |(number, row)| {
            let owner = text(start, row.owner_end);
            start = row.path_end;
            let Row { kind, format, encoding, extra, stat, .. } = *row;
            Sight {
                owner: match row.whose {
                    Named::Session => Whose::Session(owner),
                    Named::Shared => Whose::Shared(owner),
                    Named::Inside => Whose::Inside,
                },
                source: text(row.owner_end, row.source_end),
                kind,
                format,
                encoding,
                path: match odd.next_if(|(at, _)| *at == number) {
                    Some((_, path)) => path,
                    None => Path::new(text(row.source_end, row.path_end)),
                },
                stat,
                extra,
            }
        })
    }

    /// How many files were seen.
    pub fn files_count(&self) -> usize {
        self.files.len()
    }

    /// True if no file was found.
    pub fn has_no_files(&self) -> bool {
        self.files.is_empty()
    }

    /// The folders whose files are one part of a session each.
    pub fn folders(&self) -> &[FolderSeen] {
        &self.folders
    }

    /// The rows of sessions.
    pub fn all_rows(&self) -> &[RowsSeen] {
        &self.rows
    }

    /// The databases that were found.
    pub fn databases(&self) -> &[DatabaseSeen] {
        &self.databases
    }

    /// The places that may hold sessions and cannot be read, with the reasons.
    pub fn all_unreadable(&self) -> &[(PathBuf, String)] {
        &self.unreadable
    }

    /// The places that are named like a log but are not one, with the reasons.
    pub fn all_no_logs(&self) -> &[(PathBuf, String)] {
        &self.no_logs
    }

    /// Reports a place where a walk could not continue.
    pub(crate) fn not_walked(&mut self, place: Unreadable<'_>) {
        if place.may_hold_logs {
            self.unreadable(place.path, place.reason);
        } else {
            self.no_log(place.path, place.reason);
        }
    }
}

impl Sight<'_> {
    /// True if it is the part with this key.
    pub fn is_part(&self, key: &str) -> bool {
        // Nearly every name is its own key. Then nothing needs encoding.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if self.source.as_bytes().iter().all(plain) {
            self.source == key
        } else {
            SourceKey::new(self.source).as_str() == key
        }
    }

    /// An owned copy, for this owner.
    pub fn keep(self, owner: Owner) -> Found {
        Found {
            owner,
            source: match self.source {
                SourceKey::MAIN => SourceKey::main(),
                name => SourceKey::new(name),
            },
            kind: self.kind,
            format: self.format,
            path: self.path.to_owned(),
            held: Held::File { stat: self.stat, encoding: self.encoding },
            extra: self.extra,
        }
    }
}

impl Whose<'_> {
    /// The owner. `None` if only the contents show it.
    pub fn owner(self) -> Option<Owner> {
        match self {
            Whose::Session(id) => Some(Owner::Session(id.to_owned())),
            Whose::Shared(name) => Some(Owner::Shared(name.to_owned())),
            Whose::Inside => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_back_in_order_with_their_names() {
        let sight = |owner, source, path| Sight {
            owner,
            source,
            kind: SourceKind::Log,
            format: Format::JsonLines,
            encoding: Encoding::Plain,
            path,
            stat: Stat { size: 7, ..Stat::default() },
            extra: false,
        };
        #[cfg(unix)]
        let odd = Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"/h/\xff"));
        #[cfg(not(unix))]
        let odd = Path::new("/h/odd");
        let mut seen = Sightings::default();
        assert!(seen.has_no_files());
        seen.file(sight(Whose::Session("s1"), "m", Path::new("/h/a")));
        seen.file(sight(Whose::Inside, "agent-1", odd));
        seen.file(sight(Whose::Shared("history"), "history", Path::new("/h/c")));
        let files: Vec<_> = seen.files().map(|file| (file.owner, file.source, file.path)).collect();
        assert_eq!(
            files,
            [
                (Whose::Session("s1"), "m", Path::new("/h/a")),
                (Whose::Inside, "agent-1", odd),
                (Whose::Shared("history"), "history", Path::new("/h/c")),
            ]
        );
    }
}
