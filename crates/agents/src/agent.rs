//! What an agent says of itself, and the types of discovery.

use retro_model::{Format, RowsStamp, SessionKey, SourceKey, SourceKind, Stamp, Stat};
use retro_text::Redacted;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::integration::{HookInput, Integration};
use crate::script::Script;
use crate::{Database, DatabaseError, Draft, Parse, Part, Row, Sightings};

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

    /// Reports every file below `root` that belongs to a session or serves many, every
    /// database with rows of sessions, and every place that cannot be read. Reads names and
    /// file metadata; contents only of files whose names say nothing, and only their heads.
    fn discover(&self, root: &Path, seen: &mut Sightings);

    /// Reports what [`Agent::discover`] reports of one session, and of the sessions that it
    /// may have started meanwhile. `transcript` is the file that the agent itself named, if
    /// it did. Costs little however many sessions there are, since an agent's hook waits.
    fn discover_session(
        &self,
        root: &Path,
        _session: &str,
        _transcript: Option<&Path>,
        seen: &mut Sightings,
    ) {
        self.discover(root, seen);
    }

    /// Whether a folder is laid out like one of its roots. Asked for any folder a user
    /// points at, so names that other programs use too are no proof.
    fn is_root(&self, folder: &Path) -> bool;

    /// The folders of a root in which it keeps its logs.
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

    /// The titles of sessions that a file which serves many has, by the name under which
    /// it is kept. It is read only if it may have some.
    fn titles(&self, _name: &str, _bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
        Vec::new()
    }

    /// Why its logs do not tell how much of a subscription's allowance is used, if
    /// they do not.
    fn tells_no_limits(&self) -> Option<&'static str> {
        Some("its logs do not tell")
    }

    /// Variables that say where its logs are.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The variable that only this agent sets for the hooks it runs, if there is one.
    /// Some agents run the hooks of others too.
    fn hook_variable(&self) -> Option<&'static str> {
        None
    }

    /// Whether a hook's input that names no transcript has a shape that only this
    /// agent gives it.
    fn is_hook_input(&self, _input: &HookInput) -> bool {
        false
    }

    /// What it lets other programs do, as far as we make use of it.
    fn integration(&self) -> Option<&'static Integration> {
        None
    }

    /// How a source of this name changes and is read, for a store that has only
    /// the raw file left.
    fn source_form(&self, source: &SourceKey) -> (SourceKind, Format) {
        if source.is_main() {
            (SourceKind::Log, Format::JsonLines)
        } else {
            (SourceKind::Document, Format::Opaque)
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

/// How the bytes of a file are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// As they are.
    Plain,
    /// Compressed; the source is what comes out.
    Zstd,
}

/// A title of a session that is in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitleOf {
    /// The session's id, or the id of the last record of one of its turns.
    pub of: String,
    /// Whether it is the id of a record.
    pub is_leaf: bool,
    /// The title.
    pub title: Redacted<String>,
}

/// A part of a session, or a file that serves many, that was found.
#[derive(Debug, Clone)]
pub struct Found {
    /// Whom it belongs to.
    pub owner: Owner,
    /// Which part of that session it is.
    pub source: SourceKey,
    /// How it changes.
    pub kind: SourceKind,
    /// How to read it.
    pub format: Format,
    /// Where it is. Rows have the path of their database with `#` and the session's id
    /// behind it.
    pub path: PathBuf,
    /// What holds its bytes.
    pub held: Held,
    /// Large and seldom wanted: captured only if the user asks for extras.
    pub extra: bool,
}

/// What holds the bytes of a source.
#[derive(Debug, Clone)]
pub enum Held {
    /// A file.
    File {
        /// What the file system says of it.
        stat: Stat,
        /// How the bytes are stored.
        encoding: Encoding,
    },
    /// Rows of a database, which are read when they are wanted.
    Rows {
        /// What the database says of them.
        stamp: RowsStamp,
        /// The database, which may be closed.
        database: Arc<Database>,
    },
    /// The files of a folder, which are listed again when they are wanted.
    Files {
        /// What the file system says of all of them.
        stamp: RowsStamp,
    },
}

impl Found {
    /// How it looks.
    pub fn stamp(&self) -> Stamp {
        match &self.held {
            Held::File { stat, .. } => Stamp::File(*stat),
            Held::Rows { stamp, .. } | Held::Files { stamp } => Stamp::Rows(*stamp),
        }
    }

    /// Bytes on disk, or of its rows.
    pub fn size(&self) -> u64 {
        self.stamp().size()
    }

    /// Whether it is a file whose bytes are the source itself.
    pub fn is_plain_file(&self) -> bool {
        matches!(self.held, Held::File { encoding: Encoding::Plain, .. })
    }
}
