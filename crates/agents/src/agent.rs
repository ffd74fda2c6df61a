//! The [`Agent`] trait, and the types of discovery.

use retro_model::{Format, RowsStamp, SessionKey, SourceKey, SourceKind, Stamp, Stat};
use retro_text::Redacted;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::integration::{HookInput, Integration};
use crate::script::Script;
use crate::{Database, DatabaseError, Draft, Parse, Part, Row, Sightings};

/// Describes one coding agent. Each folder of this crate implements it once, and the registry lists
/// them.
pub trait Agent: Send + Sync {
    /// The agent's name in retro, such as `claude`. Also names its folder in the store.
    fn name(&self) -> &'static str;

    /// The agent's name for people, such as `Claude Code`.
    fn title(&self) -> &'static str;

    /// Other names a user may type.
    fn aliases(&self) -> &'static [&'static str];

    /// The version of this parser. Raise it when the same bytes give other events.
    fn parser_version(&self) -> u32;

    /// Version of what reading a record gives: of the parser and of the rules for secrets, since
    /// titles and other facts are redacted when they are read.
    fn reading_version(&self) -> u32 {
        self.parser_version().saturating_mul(1_000).saturating_add(retro_text::secrets::RULES_VERSION)
    }

    /// The folders that may hold the agent's logs, whether they exist or not.
    fn roots(&self, places: &Places) -> Vec<PathBuf>;

    /// Reports every file below `root` that belongs to a session or serves many, every
    /// database with rows of sessions, and every place that cannot be read. Reads names and
    /// file metadata; contents only of files whose names say nothing, and only their heads.
    fn discover(&self, root: &Path, seen: &mut Sightings);

    /// Like [`Agent::discover`], but for one session and the sessions that it may have started
    /// meanwhile. `transcript` is the file that the agent itself named, if it did. Must cost little
    /// however many sessions there are, because an agent's hook waits for it.
    fn discover_session(
        &self,
        root: &Path,
        _session: &str,
        _transcript: Option<&Path>,
        seen: &mut Sightings,
    ) {
        self.discover(root, seen);
    }

    /// True if a folder is laid out like one of the agent's roots. The user may point at any
    /// folder, so names that other programs use too prove nothing.
    fn is_root(&self, folder: &Path) -> bool;

    /// The folders of a root that hold its logs.
    fn log_folders(&self) -> &'static [&'static str];

    /// Reports the sessions that have rows in a database which [`Agent::discover`] reported,
    /// and files that only the database knows of. Asked only if the database changed.
    fn list(&self, _database: &Database, _seen: &mut Sightings) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// The rows of one part of a session, as canonical lines: the same rows always give the
    /// same bytes. Asked only for sessions whose rows changed.
    fn rows(
        &self,
        _database: &Database,
        _session: &str,
        _source: &SourceKey,
    ) -> Result<Vec<u8>, DatabaseError> {
        Ok(Vec::new())
    }

    /// Says which session or shared name a file belongs to, from its first bytes (`head`), if its
    /// name alone is not enough. Also called for any file that the user points at.
    fn identify(&self, path: &Path, head: &[u8]) -> Option<Kindred>;

    /// A parser for one source, continuing from `state` if there is one.
    fn parser(&self, part: &Part, state: Option<&[u8]>) -> Box<dyn Parse>;

    /// Settles the drafts of one session. They come in source order; texts,
    /// arguments and data may have been taken out.
    fn settle(&self, session: &SessionKey, drafts: &mut Vec<Draft>);

    /// True if settling may split a very large session before this draft (see [`crate::Folding`]):
    /// nothing that belongs together is on both sides.
    fn parts_at(&self, draft: &Draft) -> bool {
        draft.hint.opens_turn && draft.event.thread.is_main()
    }

    /// The command that resumes the session.
    fn resume(&self, session_id: &str, cwd: Option<&str>) -> Option<String>;

    /// When the agent deletes its own logs. `None` if it never does.
    fn deletion(&self) -> Option<Deletion> {
        None
    }

    /// The titles of sessions in a shared file, which is kept under `name`. The file is read only
    /// if it may hold titles.
    fn titles(&self, _name: &str, _bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
        Vec::new()
    }

    /// Why the agent's logs do not show how much of a subscription's allowance is used. `None` if
    /// they do.
    fn tells_no_limits(&self) -> Option<&'static str> {
        Some("its logs do not tell")
    }

    /// Environment variables that name the folder of its logs.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The variable that only this agent sets for the hooks it runs, if there is one.
    /// Some agents run the hooks of others too.
    fn hook_variable(&self) -> Option<&'static str> {
        None
    }

    /// True if a hook's input that names no transcript has a shape that only this agent uses.
    fn is_hook_input(&self, _input: &HookInput) -> bool {
        false
    }

    /// The hooks, status line and headless run that the agent offers, as far as retro uses them.
    fn integration(&self) -> Option<&'static Integration> {
        None
    }

    /// How a source of this name grows and is read, for a store that has only the raw file left.
    fn source_form(&self, source: &SourceKey) -> (SourceKind, Format) {
        if source.is_main() {
            (SourceKind::Log, Format::JsonLines)
        } else {
            (SourceKind::Document, Format::Opaque)
        }
    }

    /// The records that this agent writes, and the events that each becomes, sorted.
    fn mapping(&self) -> &'static [Row];

    /// Writes a script as this agent would have logged it: paths relative to
    /// the home directory, with their bytes.
    fn write(&self, script: &Script) -> Vec<(PathBuf, Vec<u8>)>;

    /// The ways in which one of its sessions can begin with the history of another, as `@ fork` of
    /// a script names them. Empty if it cannot fork.
    fn forks(&self) -> &'static [&'static str] {
        &[]
    }

    /// A script in an older form of the logs, and those logs as the agent itself rewrites them in
    /// place. `None` if it never rewrites logs.
    fn write_migrated(&self, _script: &Script) -> Option<Migrated> {
        None
    }

    /// The database in which the agent also keeps the session: its path relative to the home
    /// directory, and the SQL that creates it. `None` if the agent has no database.
    fn write_database(&self, _script: &Script) -> Option<(PathBuf, String)> {
        None
    }
}

/// Logs that an agent migrated to a newer form.
#[derive(Debug, Clone)]
pub struct Migrated {
    /// The logs as the older version wrote them.
    pub before: Vec<(PathBuf, Vec<u8>)>,
    /// The logs after the migration, under the same paths.
    pub after: Vec<(PathBuf, Vec<u8>)>,
}

/// How an agent deletes its own logs.
#[derive(Debug, Clone, Copy)]
pub struct Deletion {
    /// Days after the last change of a log.
    pub after_days: u32,
    /// The setting that changes the period, for people.
    pub setting: &'static str,
}

/// The machine as an agent sees it. Passed in, so that rules for other
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

/// The session or shared name that a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// The session with this id.
    Session(String),
    /// Many sessions: the file is kept once, under this name.
    Shared(String),
}

/// The result of [`Agent::identify`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kindred {
    /// The session or shared name that the file belongs to.
    pub owner: Owner,
    /// The part of the session.
    pub source: SourceKey,
    /// How the source grows.
    pub kind: SourceKind,
    /// The format of its records.
    pub format: Format,
}

/// How the bytes of a file are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// The file's bytes are the source.
    Plain,
    /// Zstandard. The source is the decompressed content.
    Zstd,
}

/// A session's title that is kept in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleOf {
    /// The session's id, or the id of the last record of one of its turns.
    pub of: String,
    /// True if `of` is the id of a record.
    pub is_leaf: bool,
    /// The title, without secrets.
    pub title: Redacted<String>,
}

/// A part of a session that was found, or a file that belongs to many.
#[derive(Debug, Clone)]
pub struct Found {
    /// The session or shared name that it belongs to.
    pub owner: Owner,
    /// The part of the session.
    pub source: SourceKey,
    /// How the source grows.
    pub kind: SourceKind,
    /// The format of its records.
    pub format: Format,
    /// Its path. For rows, the path of their database followed by `#` and the session's id.
    pub path: PathBuf,
    /// Where its bytes are read from.
    pub held: Held,
    /// Large and seldom needed: captured only if the user asks for extras.
    pub extra: bool,
}

/// Where the bytes of a source are read from.
#[derive(Debug, Clone)]
pub enum Held {
    /// One file on disk.
    File {
        /// The file's metadata.
        stat: Stat,
        /// How the bytes are stored.
        encoding: Encoding,
    },
    /// Rows of a database, read on demand.
    Rows {
        /// The stamp that the database gives for them.
        stamp: RowsStamp,
        /// The database, which may not be open.
        database: Arc<Database>,
    },
    /// The files of a folder, listed again on demand.
    Files {
        /// The combined stamp of all the files.
        stamp: RowsStamp,
    },
}

impl Found {
    /// Its stamp, to compare with the store's.
    pub fn stamp(&self) -> Stamp {
        match &self.held {
            Held::File { stat, .. } => Stamp::File(*stat),
            Held::Rows { stamp, .. } | Held::Files { stamp } => Stamp::Rows(*stamp),
        }
    }

    /// Size in bytes, on disk or of the rows.
    pub fn size(&self) -> u64 {
        self.stamp().size()
    }

    /// True if it is a file whose bytes are the source itself.
    pub fn is_plain_file(&self) -> bool {
        matches!(self.held, Held::File { encoding: Encoding::Plain, .. })
    }
}
