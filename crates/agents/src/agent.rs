//! What an agent has to tell retro about itself.

use retro_model::{Format, SessionKey, SourceKey, SourceKind};
use serde_json::Value;
use std::path::{Path, PathBuf};

use crate::script::Script;
use crate::{Draft, Parse, Part, Row, Sight};

/// Everything retro knows of one coding agent. Implemented once per folder of
/// this crate and listed in the registry.
pub trait Agent: Send + Sync {
    /// Our name of it, e.g. `claude`; also the folder name in the store.
    fn name(&self) -> &'static str;

    /// Its name for people, e.g. `Claude Code`.
    fn title(&self) -> &'static str;

    /// Other names a user may type.
    fn aliases(&self) -> &'static [&'static str];

    /// Number of this parser. Raise it when the same bytes give other events.
    fn parser_version(&self) -> u32;

    /// The folders in which it may keep its logs, whether they exist or not.
    fn roots(&self, places: &Places) -> Vec<PathBuf>;

    /// Reports every file below `root` that belongs to a session or serves many.
    /// Reads names and file metadata; contents only of a database that lists
    /// sessions, and heads of files whose names say nothing. Unreadable folders are
    /// reported through [`Sight::unreadable`].
    fn discover(&self, root: &Path, found: &mut dyn FnMut(Sight<'_>));

    /// Whose file this is, when its name alone does not tell: `head` is its
    /// first bytes. Also asked for any file a user points at.
    fn identify(&self, path: &Path, head: &[u8]) -> Option<Kindred>;

    /// A parser for one source, continuing from `state` if there is one.
    fn parser(&self, part: &Part, state: Option<&[u8]>) -> Box<dyn Parse>;

    /// Settles the drafts of one session. They come in source order; texts,
    /// arguments and data may have been taken out.
    fn settle(&self, session: &SessionKey, drafts: &mut Vec<Draft>);

    /// Whether a very large session may be parted before this draft (see
    /// [`crate::Folding`]): nothing that belongs together lies on both sides.
    fn parts_at(&self, draft: &Draft) -> bool {
        draft.hint.opens_turn && draft.event.thread.is_main()
    }

    /// The command that takes the session up again.
    fn resume(&self, session_id: &str, cwd: Option<&str>) -> Option<String>;

    /// When it deletes its own logs, if it does.
    fn deletion(&self) -> Option<Deletion> {
        None
    }

    /// Why its logs do not tell how much of a subscription's allowance is used, if
    /// they do not.
    fn tells_no_limits(&self) -> Option<&'static str> {
        Some("its logs do not tell")
    }

    /// The variable that only this agent sets for the hooks it runs, if there is one.
    /// Some agents run the hooks of others too.
    fn hook_variable(&self) -> Option<&'static str> {
        None
    }

    /// Whether a hook's input that names no transcript has a shape that only this
    /// agent gives it.
    fn is_hook_input(&self, _input: &Value) -> bool {
        false
    }

    /// How a source of this name changes and is read, for a store that has only
    /// the raw file left.
    fn source_form(&self, source: &SourceKey) -> (SourceKind, Format) {
        match source.is_main() {
            true => (SourceKind::Log, Format::JsonLines),
            false => (SourceKind::Document, Format::Opaque),
        }
    }

    /// The records this agent writes and what becomes of each, sorted.
    fn mapping(&self) -> &'static [Row];

    /// Writes a script as this agent would have logged it: paths relative to
    /// the home directory, with their bytes.
    fn write(&self, script: &Script) -> Vec<(PathBuf, Vec<u8>)>;

    /// The ways in which a session of it can begin with another's history, as
    /// `@ fork` of a script names them; none if it cannot.
    fn forks(&self) -> &'static [&'static str] {
        &[]
    }

    /// A script in an older form of the logs, and those logs as the program itself
    /// rewrites them in place; none if it never does that.
    fn write_migrated(&self, _script: &Script) -> Option<Migrated> {
        None
    }

    /// The database in which it also keeps what a script tells: its path relative to
    /// the home directory, and the SQL that makes it; none if there is none.
    fn write_database(&self, _script: &Script) -> Option<(PathBuf, String)> {
        None
    }
}

/// Logs that an agent brought into a newer form.
#[derive(Debug, Clone)]
pub struct Migrated {
    /// As they were written.
    pub before: Vec<(PathBuf, Vec<u8>)>,
    /// As the program left them, under the same paths.
    pub after: Vec<(PathBuf, Vec<u8>)>,
}

/// How an agent deletes its own logs.
#[derive(Debug, Clone, Copy)]
pub struct Deletion {
    /// Days after their last change.
    pub after_days: u32,
    /// The setting that changes it, for people.
    pub setting: &'static str,
}

/// The machine as an agent sees it. Handed in, so that rules for other
/// platforms can be tested on this one.
pub struct Places<'a> {
    /// The user's home directory.
    pub home: PathBuf,
    /// Looks up an environment variable; always empty when the user pointed at
    /// another home.
    pub env: &'a dyn Fn(&str) -> Option<String>,
    /// Roots from the configuration, beside the agent's own.
    pub extra_roots: Vec<PathBuf>,
}

/// Whom a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The session with this id.
    Session(String),
    /// No session alone: kept once, under this name.
    Shared(String),
    /// Its contents tell; ask [`Agent::identify`].
    Inside,
}

/// What [`Agent::identify`] read from a file's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kindred {
    /// Whom it belongs to.
    pub owner: Owner,
    /// Which part of that session it is.
    pub source: SourceKey,
    /// How it changes.
    pub kind: SourceKind,
    /// How to read it.
    pub format: Format,
}

/// How the bytes lie on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Plain,
    /// Compressed; the source is what comes out.
    Zstd,
}

/// What the file system says of a file: enough to see that it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stat {
    /// Bytes on disk.
    pub size: u64,
    /// Last change, nanoseconds since 1970.
    pub mtime_ns: i64,
    /// Device, where there is such a thing.
    pub device: u64,
    /// Inode, where there is such a thing.
    pub inode: u64,
}

impl Stat {
    /// From metadata that was just read.
    pub fn of(meta: &std::fs::Metadata) -> Stat {
        #[cfg(unix)]
        let (mtime_ns, device, inode) = {
            use std::os::unix::fs::MetadataExt;
            let whole = meta.mtime().saturating_mul(1_000_000_000);
            (whole.saturating_add(meta.mtime_nsec()), meta.dev(), meta.ino())
        };
        #[cfg(not(unix))]
        let (mtime_ns, device, inode) = (modified_ns(meta), 0, 0);
        Stat { size: meta.len(), mtime_ns, device, inode }
    }
}

/// The last change of a file, nanoseconds since 1970.
#[cfg(not(unix))]
fn modified_ns(meta: &std::fs::Metadata) -> i64 {
    match meta.modified().map(|time| time.duration_since(std::time::UNIX_EPOCH)) {
        Ok(Ok(after)) => i64::try_from(after.as_nanos()).unwrap_or(i64::MAX),
        Ok(Err(before)) => -i64::try_from(before.duration().as_nanos()).unwrap_or(i64::MAX),
        Err(_) => 0,
    }
}

/// A file that was found and kept.
#[derive(Debug, Clone)]
pub struct Found {
    /// Whom it belongs to.
    pub owner: Owner,
    /// Which part of that session it is. For [`Owner::Inside`] only a guess.
    pub source: SourceKey,
    /// How it changes.
    pub kind: SourceKind,
    /// How to read it.
    pub format: Format,
    /// How it lies on disk.
    pub encoding: Encoding,
    /// Where it lies.
    pub path: PathBuf,
    /// What the file system says of it.
    pub stat: Stat,
    /// Large and seldom wanted: captured only if the user asks for extras.
    pub extra: bool,
    /// Why it cannot be captured, if it cannot: unreadable, not a regular file.
    pub unreadable: Option<String>,
    /// The bytes themselves, for rows that were read out of a database: `path` is
    /// then that database's path with `#` and the session's id behind it, and
    /// `stat` tells the rows' size, change time and (as inode) their hash.
    pub content: Option<std::sync::Arc<[u8]>>,
}
