//! Which found files belong together, and which of them are news.
//!
//! A sync without news hands some thousand files through here. They are compared with
//! their stamps as they come; of one that looks as its stamp says, only the number of that
//! stamp is kept, and it becomes a file again if somebody wants to read its session.

use hashbrown::HashTable;
use retro_agents::{Agent, Encoding, Format, Found, Owner, Sight, Stat, Whose};
use retro_model::{SessionKey, SourceKey, SourceKind};
use retro_store::{PlaceRow, Stamp, Stamps};
use std::borrow::Cow;
use std::cmp::Reverse;
use xxhash_rust::xxh3::xxh3_64;

use super::{Discovery, HEAD_BYTES, SessionFiles, SharedFile, Skipped, read_head};
use crate::Config;

/// Sorts found files by session, and tells which of them are news.
pub(crate) struct Collector<'a> {
    extras: bool,
    known: &'a Stamps,
    sessions: Vec<Session<'a>>,
    /// The number of each session, by the hash of its id.
    by_id: HashTable<u32>,
    /// The files of sessions, each with the number of its own.
    files: Vec<(u32, Taken)>,
    found: Discovery,
}

/// A session, and what its files have in common.
struct Session<'a> {
    agent: &'static dyn Agent,
    id: Cow<'a, str>,
    bytes: u64,
    /// Whether one of its files makes it a session. What a session leaves beside its log is
    /// none: agents forget to delete it.
    carried: bool,
    news: bool,
}

/// A file of a session.
enum Taken {
    /// It looks as the stamp with this number says.
    Same(u32, Form),
    /// Anything else.
    Whole(Box<Found>),
}

/// What a stamp does not say of a file, since its place does.
#[derive(Clone, Copy)]
struct Form {
    kind: SourceKind,
    format: Format,
    encoding: Encoding,
    extra: bool,
}

impl<'a> Collector<'a> {
    pub(crate) fn new(config: &Config, known: &'a Stamps) -> Self {
        Collector {
            extras: config.extras.value,
            known,
            sessions: Vec::with_capacity(known.len()),
            by_id: HashTable::with_capacity(known.len()),
            files: Vec::with_capacity(known.len()),
            found: Discovery::default(),
        }
    }

    /// Takes a file as its agent sees it.
    pub(crate) fn see(&mut self, agent: &'static dyn Agent, sight: Sight<'_>) {
        if sight.extra && !self.extras {
            return;
        }
        match unchanged(self.known, &sight) {
            Some(same) => self.take_same(agent, &sight, same),
            None => self.take(agent, sight.keep()),
        }
    }

    /// Takes a file that is not seen by its agent, or not as its stamp says.
    pub(crate) fn take(&mut self, agent: &'static dyn Agent, mut file: Found) {
        if file.extra && !self.extras {
            return;
        }
        if let Some(reason) = file.unreadable.take() {
            self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
            return;
        }
        if needs_a_look(&file) {
            match seen(self.known, &file) {
                Some(stamp) => self.settle(stamp, &mut file),
                None => {
                    if let Err(reason) = look_inside(agent, &mut file) {
                        self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
                        return;
                    }
                }
            }
        }
        self.take_as_is(agent, file);
    }

    /// Takes a file whose owner is settled.
    pub(crate) fn take_as_is(&mut self, agent: &'static dyn Agent, file: Found) {
        let news = !seen(self.known, &file).is_some_and(|stamp| belongs(stamp, &file.owner));
        match &file.owner {
            Owner::Session(id) => {
                let number = self.session(agent, Cow::Owned(id.clone()));
                self.note(number, &file.stat, carries(file.source.as_str(), file.kind), news);
                self.files.push((number, Taken::Whole(Box::new(file))));
            }
            Owner::Shared(name) => {
                let name = name.clone();
                self.found.shared.push(SharedFile { agent, name, file, news });
            }
            Owner::Inside => self.found.skipped.push(Skipped {
                agent: agent.name(),
                path: file.path,
                reason: "its session cannot be told from its contents".to_owned(),
            }),
        }
    }

    fn take_same(&mut self, agent: &'static dyn Agent, sight: &Sight<'_>, same: Same<'a>) {
        let number = self.session(agent, Cow::Borrowed(same.session));
        self.note(number, &sight.stat, carries(same.source, sight.kind), false);
        let Sight { kind, format, encoding, extra, .. } = *sight;
        self.files.push((number, Taken::Same(same.stamp, Form { kind, format, encoding, extra })));
    }

    /// Gives a file that must be looked into the owner it had when it was last captured.
    fn settle(&self, stamp: Stamp<'_>, file: &mut Found) {
        if !belongs(stamp, &file.owner) {
            file.owner = match stamp.session {
                Some(id) => Owner::Session(id.to_owned()),
                None => Owner::Shared(stamp.source.to_owned()),
            };
        }
        if let Some(row) = self.known.get(&file.path) {
            file.source = row.source;
        }
    }

    /// The number of a session, of which this may be the first file.
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

    /// Notes what a file means for its session.
    fn note(&mut self, session: u32, stat: &Stat, carries: bool, news: bool) {
        if let Some(session) = self.sessions.get_mut(session as usize) {
            session.bytes += stat.size;
            session.carried |= carries;
            session.news |= news;
        }
    }

    /// Every session.
    pub(crate) fn finish(self) -> Discovery {
        self.gather(|_| true)
    }

    /// Those with news, and how many others there are.
    pub(crate) fn finish_news(self) -> Discovery {
        self.gather(|session| session.news)
    }

    fn gather(self, wanted: impl Fn(&Session<'_>) -> bool) -> Discovery {
        let Collector { known, sessions, mut files, mut found, .. } = self;
        for session in sessions.iter().filter(|session| session.carried && !wanted(session)) {
            found.quiet.sessions += 1;
            found.quiet.bytes += session.bytes;
        }
        let of =
            |number: u32| sessions.get(number as usize).filter(|session| session.carried && wanted(session));
        files.retain(|(number, _)| of(*number).is_some());
        files.sort_by_key(|(number, _)| *number);
        let mut last = None;
        for (number, file) in files {
            let Some(session) = of(number) else { continue };
            if last.replace(number) != Some(number) {
                found.sessions.push(session.without_files());
            }
            if let Some(session) = found.sessions.last_mut() {
                session.files.extend(file.whole(known));
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

impl Session<'_> {
    fn without_files(&self) -> SessionFiles {
        let key = SessionKey::new(self.agent.name(), &*self.id);
        SessionFiles { key, agent: self.agent, files: Vec::new(), news: self.news }
    }
}

impl Taken {
    /// The file as discovery would report it.
    fn whole(self, known: &Stamps) -> Option<Found> {
        let (stamp, Form { kind, format, encoding, extra }) = match self {
            Taken::Whole(file) => return Some(*file),
            Taken::Same(stamp, form) => (stamp, form),
        };
        let PlaceRow { path, session, source, size, mtime_ns, device, inode, .. } = known.get_at(stamp)?;
        let (owner, stat) = (Owner::Session(session?), Stat { size, mtime_ns, device, inode });
        Some(Found {
            owner,
            source,
            kind,
            format,
            encoding,
            path,
            stat,
            extra,
            unreadable: None,
            content: None,
        })
    }
}

/// A stamp that says all of a file that its place does not.
struct Same<'a> {
    /// Its number.
    stamp: u32,
    session: &'a str,
    source: &'a str,
}

/// The stamp of a file that still looks so and belongs to the same part of the same session.
fn unchanged<'a>(known: &'a Stamps, sight: &Sight<'_>) -> Option<Same<'a>> {
    if sight.unreadable.is_some() || sight.content.is_some() {
        return None;
    }
    let number = known.number(sight.path)?;
    let stamp = known.stamp_at(number).filter(|stamp| stat(*stamp) == sight.stat)?;
    let Stamp { session: Some(session), source, .. } = stamp else { return None };
    let same = match sight.owner {
        Whose::Session(id) => id == session && sight.is_part(source),
        Whose::Shared(_) => false,
        Whose::Inside => true,
    };
    same.then_some(Same { stamp: number, session, source })
}

/// A file as the store has seen it, if it still looks so.
fn seen<'a>(known: &'a Stamps, file: &Found) -> Option<Stamp<'a>> {
    known.stamp(&file.path).filter(|stamp| stat(*stamp) == file.stat)
}

fn stat(stamp: Stamp<'_>) -> Stat {
    let Stamp { size, mtime_ns, device, inode, .. } = stamp;
    Stat { size, mtime_ns, device, inode }
}

/// Whether a file makes a session of the files it is with.
fn carries(source: &str, kind: SourceKind) -> bool {
    source == SourceKey::MAIN || kind == SourceKind::Log
}

/// Whether a file was captured for this owner.
fn belongs(stamp: Stamp<'_>, owner: &Owner) -> bool {
    match (owner, stamp.session) {
        (Owner::Session(id), Some(session)) => id == session,
        (Owner::Shared(_), None) => true,
        _ => false,
    }
}

/// Whether a name does not settle whose file it is: files that say so, and main
/// logs so small that they may hold no conversation.
fn needs_a_look(file: &Found) -> bool {
    file.owner == Owner::Inside || is_small_main(file)
}

fn is_small_main(file: &Found) -> bool {
    file.source.is_main()
        && file.encoding == Encoding::Plain
        && file.stat.size <= HEAD_BYTES as u64
        && matches!(file.owner, Owner::Session(_))
}

/// Asks the agent whose file this is.
fn look_inside(agent: &dyn Agent, file: &mut Found) -> Result<(), String> {
    let small_main = is_small_main(file);
    let head = read_head(file).map_err(|error| error.to_string())?;
    match agent.identify(&file.path, &head) {
        Some(kindred) if small_main => {
            // The name is right unless the contents are no conversation at all.
            if matches!(kindred.owner, Owner::Shared(_)) {
                file.owner = kindred.owner;
                file.format = kindred.format;
            }
        }
        Some(kindred) => {
            file.owner = kindred.owner;
            file.source = kindred.source;
            file.kind = kindred.kind;
            file.format = kindred.format;
        }
        None => {}
    }
    Ok(())
}
