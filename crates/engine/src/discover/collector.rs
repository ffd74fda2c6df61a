//! Groups found files by session, and finds the ones with news.
//!
//! A sync without news passes some thousand files through here. Each is compared with its stamp on
//! arrival. For an unchanged file only the number of its stamp is kept; it becomes a file again if
//! its session is to be read.

mod folders;
mod rows;

use hashbrown::HashTable;
use retro_agents::{Agent, Database, Encoding, Format, Found, Held, Kindred, Owner, Sight, Sightings, Whose};
use retro_model::{SessionKey, SourceKey, SourceKind, Stamp};
use retro_store::{PlaceRef, PlaceRow, Stamps};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

use super::{Cut, Discovery, HEAD_BYTES, Keep, SessionFiles, SharedFile, Skipped, head_of, open_file};
use crate::Config;

/// Sorts found files by session and notes which have changed.
pub(super) struct Collector<'a> {
    extras: bool,
    known: &'a Stamps,
    /// Where databases may be copied to.
    copies: Option<PathBuf>,
    sessions: Vec<Session<'a>>,
    /// The number of each session, by the hash of its id.
    by_id: HashTable<u32>,
    /// The files of sessions, each with the number of its session.
    files: Vec<(u32, Taken)>,
    databases: Vec<Arc<Database>>,
    found: Discovery,
}

/// A session, and the facts that its files share.
struct Session<'a> {
    agent: &'static dyn Agent,
    id: Cow<'a, str>,
    bytes: u64,
    /// Whether one of its files makes it a session. Leftovers beside its log do not: agents forget
    /// to delete them.
    carried: bool,
    news: bool,
}

/// A file of a session.
enum Taken {
    /// It still matches the stamp with this number.
    Same(u32, Form),
    /// Any other file, in full.
    Whole(Box<Found>),
}

/// Facts about a file that its stamp lacks, because its path implies them.
#[derive(Clone, Copy)]
struct Form {
    kind: SourceKind,
    format: Format,
    bytes: Bytes,
    extra: bool,
}

/// Where the bytes are.
#[derive(Clone, Copy)]
enum Bytes {
    File(Encoding),
    /// In the database with this number.
    Rows(usize),
    /// In the files of a folder.
    Folder,
}

impl<'a> Collector<'a> {
    pub(super) fn new(config: &Config, known: &'a Stamps, copies: Option<PathBuf>) -> Self {
        Collector {
            extras: config.extras.value,
            known,
            copies,
            sessions: Vec::with_capacity(known.len()),
            by_id: HashTable::with_capacity(known.len()),
            files: Vec::with_capacity(known.len()),
            databases: Vec::new(),
            found: Discovery::default(),
        }
    }

    /// Takes everything that an agent saw.
    pub(super) fn see_all(&mut self, agent: &'static dyn Agent, seen: &Sightings) {
        for file in seen.files() {
            self.see(agent, &file);
        }
        for folder in seen.folders() {
            self.see_folder(agent, folder);
        }
        for (path, reason) in seen.all_unreadable() {
            self.lack(agent, path, reason.clone());
        }
        for (path, reason) in seen.all_no_logs() {
            self.skip(agent, path, reason.clone(), false);
        }
        for database in seen.databases() {
            self.see_database(agent, database);
        }
    }

    fn see(&mut self, agent: &'static dyn Agent, sight: &Sight<'_>) {
        if sight.extra && !self.extras {
            return;
        }
        if let Some((number, place)) = self.unchanged(sight) {
            let Sight { kind, format, encoding, extra, .. } = *sight;
            let form = Form { kind, format, bytes: Bytes::File(encoding), extra };
            return self.take_same(agent, number, place, form);
        }
        match self.settled(agent, sight) {
            Ok(file) => self.take(agent, file),
            Err(Unsettled::Unreadable(error)) => self.lack(agent, sight.path, error.to_string()),
            Err(Unsettled::Nameless) => self.skip(agent, sight.path, NAMELESS.to_owned(), false),
        }
    }

    /// The stamp of an unchanged file that is the same part of the same session.
    fn unchanged(&self, sight: &Sight<'_>) -> Option<(u32, PlaceRef<'a>)> {
        let number = self.known.number(sight.path)?;
        let place = self.known.place_at(number)?;
        let session = place.session.filter(|_| place.stamp.is_same(&Stamp::File(sight.stat)))?;
        let is_same = match sight.owner {
            Whose::Session(id) => id == session && sight.is_part(place.source),
            Whose::Shared(_) => false,
            Whose::Inside => true,
        };
        is_same.then_some((number, place))
    }

    /// The file with its owner. It may have to be opened to find the owner.
    fn settled(&self, agent: &dyn Agent, sight: &Sight<'_>) -> Result<Found, Unsettled> {
        let owner = sight.owner.owner();
        if let Some(owner) = owner.clone().filter(|_| !is_small_main(sight)) {
            return Ok(sight.keep(owner));
        }
        if let Some(place) = self.known.place(sight.path)
            && place.stamp.is_same(&Stamp::File(sight.stat))
        {
            // It was captured for this owner, and has not changed since.
            let owner = owner.filter(|owner| belongs(place, owner)).unwrap_or_else(|| owner_of(place));
            let source = self.known.get(sight.path).map(|row| row.source);
            let file = sight.keep(owner);
            return Ok(Found { source: source.unwrap_or_else(|| file.source.clone()), ..file });
        }
        let head = open_file(sight.path, sight.encoding, &Cut::default())
            .and_then(head_of)
            .map_err(Unsettled::Unreadable)?;
        match (agent.identify(sight.path, &head), owner) {
            // The name is right unless the file holds no conversation at all.
            (Some(Kindred { owner: owner @ Owner::Shared(_), format, .. }), Some(_)) => {
                Ok(Found { format, ..sight.keep(owner) })
            }
            (_, Some(owner)) => Ok(sight.keep(owner)),
            (Some(Kindred { owner, source, kind, format }), None) => {
                Ok(Found { source, kind, format, ..sight.keep(owner) })
            }
            // Its first record is damaged. The file is kept under its own name, because nothing may
            // be lost.
            (None, None) if is_damaged(&head) => Ok(sight.keep(Owner::Session(own_name(sight.path)))),
            (None, None) => Err(Unsettled::Nameless),
        }
    }

    fn take_same(&mut self, agent: &'static dyn Agent, number: u32, place: PlaceRef<'a>, form: Form) {
        let Some(id) = place.session else { return };
        let session = self.session(agent, Cow::Borrowed(id));
        self.note(session, place.stamp.size(), carries(place.source, form.kind), false);
        self.files.push((session, Taken::Same(number, form)));
    }

    /// Takes a file whose owner is settled.
    pub(super) fn take(&mut self, agent: &'static dyn Agent, file: Found) {
        if file.extra && !self.extras {
            return;
        }
        let is_seen = |place: PlaceRef<'_>| place.stamp.is_same(&file.stamp()) && belongs(place, &file.owner);
        let news = !self.known.place(&file.path).is_some_and(is_seen);
        match &file.owner {
            Owner::Session(id) => {
                let session = self.session(agent, Cow::Owned(id.clone()));
                self.note(session, file.size(), carries(file.source.as_str(), file.kind), news);
                self.files.push((session, Taken::Whole(Box::new(file))));
            }
            Owner::Shared(name) => {
                let name = name.clone();
                self.found.shared.push(SharedFile { agent, name, file, news });
            }
        }
    }

    /// Records an unreadable file that may hold sessions.
    fn lack(&mut self, agent: &dyn Agent, path: &Path, reason: String) {
        self.skip(agent, path, reason, true);
    }

    fn skip(&mut self, agent: &dyn Agent, path: &Path, reason: String, may_hold_logs: bool) {
        let path = path.to_owned();
        self.found.skipped.push(Skipped { agent: agent.name(), path, reason, may_hold_logs });
    }

    /// The number of a session, added if this is its first file.
    fn session(&mut self, agent: &'static dyn Agent, id: Cow<'a, str>) -> u32 {
        let Collector { sessions, by_id, .. } = self;
        let hash = xxh3_64(id.as_bytes());
        let is_it = |number: &u32| {
            let session = sessions.get(*number as usize);
            session.is_some_and(|session| session.id == id && session.agent.name() == agent.name())
        };
        if let Some(number) = by_id.find(hash, is_it) {
            return *number;
        }
        let number = sessions.len() as u32;
        by_id.insert_unique(hash, number, |number| {
            sessions.get(*number as usize).map_or(0, |session| xxh3_64(session.id.as_bytes()))
        });
        sessions.push(Session { agent, id, bytes: 0, carried: false, news: false });
        number
    }

    /// Adds the facts of one file to its session.
    fn note(&mut self, session: u32, size: u64, carries: bool, news: bool) {
        if let Some(session) = self.sessions.get_mut(session as usize) {
            session.bytes += size;
            session.carried |= carries;
            session.news |= news;
        }
    }

    /// Returns the wanted sessions, and counts the others.
    pub(super) fn finish(self, keep: Keep) -> Discovery {
        let Collector { known, sessions, mut files, databases, mut found, .. } = self;
        let is_wanted = |session: &Session<'_>| keep == Keep::All || session.news;
        for session in sessions.iter().filter(|session| session.carried && !is_wanted(session)) {
            found.quiet.sessions += 1;
            found.quiet.bytes += session.bytes;
        }
        let of = |number: u32| {
            sessions.get(number as usize).filter(|session| session.carried && is_wanted(session))
        };
        files.retain(|(number, _)| of(*number).is_some());
        files.sort_by_key(|(number, _)| *number);
        let mut last = None;
        for (number, file) in files {
            let Some(session) = of(number) else { continue };
            if last.replace(number) != Some(number) {
                found.sessions.push(session.without_files());
            }
            if let Some(session) = found.sessions.last_mut() {
                session.files.extend(file.whole(known, &databases));
            }
        }
        for session in &mut found.sessions {
            session.files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
        }
        let newest = |session: &SessionFiles| Reverse(session.mtime_ns());
        found.sessions.sort_unstable_by(|a, b| (newest(a), &a.key).cmp(&(newest(b), &b.key)));
        found.shared.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        found.skipped.sort_by(|a, b| (a.agent, &a.path).cmp(&(b.agent, &b.path)));
        found
    }
}

/// Whether the first line of a log is complete, and is not a record.
fn is_damaged(head: &[u8]) -> bool {
    let Some(end) = head.iter().position(|byte| *byte == b'\n') else { return false };
    let first = head.get(..end).unwrap_or_default().trim_ascii();
    !first.is_empty() && serde_json::from_slice::<serde::de::IgnoredAny>(first).is_err()
}

/// The name of a file up to its first dot.
fn own_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Why the owner of a file is unknown.
enum Unsettled {
    Unreadable(io::Error),
    /// The file was read, and matches no agent's log.
    Nameless,
}

const NAMELESS: &str = "its contents do not say whose session it is";

impl Session<'_> {
    fn without_files(&self) -> SessionFiles {
        let key = SessionKey::new(self.agent.name(), &*self.id);
        SessionFiles { key, agent: self.agent, files: Vec::new(), news: self.news }
    }
}

impl Taken {
    /// The file as discovery would report it.
    fn whole(self, known: &Stamps, databases: &[Arc<Database>]) -> Option<Found> {
        let (number, Form { kind, format, bytes, extra }) = match self {
            Taken::Whole(file) => return Some(*file),
            Taken::Same(number, form) => (number, form),
        };
        let PlaceRow { path, session, source, stamp, .. } = known.get_at(number)?;
        let held = match (stamp, bytes) {
            (Stamp::File(stat), Bytes::File(encoding)) => Held::File { stat, encoding },
            (Stamp::Rows(stamp), Bytes::Rows(database)) => {
                Held::Rows { stamp, database: databases.get(database)?.clone() }
            }
            (Stamp::Rows(stamp), Bytes::Folder) => Held::Files { stamp },
            _ => return None,
        };
        Some(Found { owner: Owner::Session(session?), source, kind, format, path, held, extra })
    }
}

/// Whether a file makes a session of the files it is with.
fn carries(source: &str, kind: SourceKind) -> bool {
    source == SourceKey::MAIN || matches!(kind, SourceKind::Log | SourceKind::Rows)
}

/// Whether a file was captured for this owner.
fn belongs(place: PlaceRef<'_>, owner: &Owner) -> bool {
    match (owner, place.session) {
        (Owner::Session(id), Some(session)) => id == session,
        (Owner::Shared(_), None) => true,
        _ => false,
    }
}

/// The owner that a file was captured for.
fn owner_of(place: PlaceRef<'_>) -> Owner {
    match place.session {
        Some(id) => Owner::Session(id.to_owned()),
        None => Owner::Shared(place.source.to_owned()),
    }
}

/// Whether a main log is so small that it may hold no conversation.
fn is_small_main(sight: &Sight<'_>) -> bool {
    sight.source == SourceKey::MAIN
        && sight.encoding == Encoding::Plain
        && sight.stat.size <= HEAD_BYTES as u64
        && matches!(sight.owner, Whose::Session(_))
}
