//! Which found files belong together, and which of them are news.
//!
//! A sync without news hands some thousand files through here. They stay where they
//! were put, are compared with their stamps as they come, and become sessions only
//! where somebody wants to read them.

use retro_agents::{Agent, Encoding, Found, Owner, Stat};
use retro_model::{SessionKey, SourceKind};
use retro_store::{Stamp, Stamps};
use std::cmp::Reverse;
use xxhash_rust::xxh3::xxh3_64;

use super::{Discovery, HEAD_BYTES, SessionFiles, SharedFile, Skipped, read_head};
use crate::Config;

/// Sorts found files by session, and tells which of them are news.
pub(crate) struct Collector<'a> {
    extras: bool,
    known: &'a Stamps,
    /// The files of sessions, until they are handed to theirs.
    files: Vec<Option<Taken>>,
    /// The hash of each such file's session id, and the file's number.
    by_session: Vec<(u64, usize)>,
    found: Discovery,
}

/// A file of a session.
struct Taken {
    agent: &'static dyn Agent,
    file: Found,
    news: bool,
}

impl Taken {
    fn session(&self) -> (&'static str, &str) {
        match &self.file.owner {
            Owner::Session(id) => (self.agent.name(), id),
            Owner::Shared(_) | Owner::Inside => (self.agent.name(), ""),
        }
    }

    /// Whether it makes a session of the files it is with. What a session leaves beside
    /// its log is no session: agents forget to delete it.
    fn carries(&self) -> bool {
        self.file.source.is_main() || matches!(self.file.kind, SourceKind::Log)
    }
}

impl<'a> Collector<'a> {
    pub(crate) fn new(config: &Config, known: &'a Stamps) -> Self {
        Collector {
            extras: config.extras.value,
            known,
            files: Vec::with_capacity(known.len()),
            by_session: Vec::with_capacity(known.len()),
            found: Discovery::default(),
        }
    }

    pub(crate) fn take(&mut self, agent: &'static dyn Agent, mut file: Found) {
        if file.extra && !self.extras {
            return;
        }
        if let Some(reason) = file.unreadable.take() {
            self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
            return;
        }
        let seen = seen(self.known, &file);
        if needs_a_look(&file) {
            match seen {
                Some(stamp) => {
                    if !belongs(stamp, &file.owner) {
                        file.owner = match stamp.session {
                            Some(id) => Owner::Session(id.to_owned()),
                            None => Owner::Shared(stamp.source.as_str().to_owned()),
                        };
                    }
                    file.source = stamp.source.clone();
                }
                None => {
                    if let Err(reason) = look_inside(agent, &mut file) {
                        self.found.skipped.push(Skipped { agent: agent.name(), path: file.path, reason });
                        return;
                    }
                }
            }
        }
        let news = !seen.is_some_and(|stamp| belongs(stamp, &file.owner));
        self.put(agent, file, news);
    }

    /// Takes a file whose owner is settled.
    pub(crate) fn take_as_is(&mut self, agent: &'static dyn Agent, file: Found) {
        let news = !seen(self.known, &file).is_some_and(|stamp| belongs(stamp, &file.owner));
        self.put(agent, file, news);
    }

    fn put(&mut self, agent: &'static dyn Agent, file: Found, news: bool) {
        match &file.owner {
            Owner::Session(id) => {
                self.by_session.push((xxh3_64(id.as_bytes()), self.files.len()));
                self.files.push(Some(Taken { agent, file, news }));
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

    /// Every session.
    pub(crate) fn finish(self) -> Discovery {
        self.gather(|_| true)
    }

    /// Those with news, and how many others there are.
    pub(crate) fn finish_news(self) -> Discovery {
        self.gather(|news| news)
    }

    fn gather(mut self, wanted: impl Fn(bool) -> bool) -> Discovery {
        let mut files = self.files;
        let of = |number: usize| files.get(number).and_then(Option::as_ref);
        let session = |number| of(number).map(Taken::session);
        self.by_session.sort_unstable_by(|(a_hash, a), (b_hash, b)| {
            let by_key = || session(*a).cmp(&session(*b)).then(a.cmp(b));
            a_hash.cmp(b_hash).then_with(by_key)
        });
        let same = |a: &(u64, usize), b: &(u64, usize)| a.0 == b.0 && session(a.1) == session(b.1);
        let mut groups = Vec::new();
        for group in self.by_session.chunk_by(same) {
            let parts = || group.iter().filter_map(|(_, number)| of(*number));
            if !parts().any(Taken::carries) {
                continue;
            }
            if wanted(parts().any(|part| part.news)) {
                groups.push(group);
            } else {
                self.found.quiet.sessions += 1;
                self.found.quiet.bytes += parts().map(|part| part.file.stat.size).sum::<u64>();
            }
        }
        let taken = |group: &[(u64, usize)]| {
            let parts = group.iter().filter_map(|(_, number)| files.get_mut(*number)?.take());
            in_one(parts.collect())
        };
        let mut sessions: Vec<SessionFiles> = groups.into_iter().filter_map(taken).collect();
        let newest = |session: &SessionFiles| Reverse(session.mtime_ns());
        sessions.sort_unstable_by(|a, b| (newest(a), &a.key).cmp(&(newest(b), &b.key)));
        self.found.sessions = sessions;
        self.found.shared.sort_by(|a, b| a.file.path.cmp(&b.file.path));
        self.found.skipped.sort_by(|a, b| (a.agent, &a.path).cmp(&(b.agent, &b.path)));
        self.found
    }
}

/// Files of the same session as that session; nothing if there are none.
fn in_one(parts: Vec<Taken>) -> Option<SessionFiles> {
    let first = parts.first()?;
    let (agent, (name, id)) = (first.agent, first.session());
    let key = SessionKey::new(name, id);
    let news = parts.iter().any(|part| part.news);
    let mut files: Vec<Found> = parts.into_iter().map(|part| part.file).collect();
    files.sort_by(|a, b| (&a.source, &a.path).cmp(&(&b.source, &b.path)));
    Some(SessionFiles { key, agent, files, news })
}

/// A file as the store has seen it, if it still looks so.
fn seen<'a>(known: &'a Stamps, file: &Found) -> Option<Stamp<'a>> {
    let stamp = known.stamp(&file.path)?;
    let Stamp { size, mtime_ns, device, inode, .. } = stamp;
    (Stat { size, mtime_ns, device, inode } == file.stat).then_some(stamp)
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
