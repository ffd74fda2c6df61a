//! The definition of a stage: when it runs, its inputs, and its work.
//!
//! The stages themselves are in [`crate::stages`], one file each.

use retro_agents::Agent;
use retro_model::{Event, Passage, SessionKey};
use retro_store::{
    Changes, Follow, Index, Kind, KnownPassages, Mark, PlaceRow, SessionFile, Store, TurnRow, Writer,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Config, Error, Progress, World};

/// A session is quiet after this many minutes without a change.
pub const QUIET_MINUTES: i64 = 10;

/// Hours without a change after which its raw files are packed.
pub const PACK_HOURS: i64 = 24;

/// A step that turns captured sessions into something else.
#[derive(Clone)]
pub struct Stage {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its version. Raise it when the same input gives a different result: the stage then runs
    /// again on every session.
    pub version: u32,
    /// When it runs by itself.
    pub when: When,
    /// A description for people.
    pub help: &'static str,
    /// Its inputs. Its stamp covers exactly these.
    pub inputs: &'static [Input],
    /// The function or trait object that does its work.
    pub work: Work,
    /// Makes its rows again after the raw bytes of a session were evicted. A stage without it makes
    /// nothing of such a session.
    pub truth: Option<Truth>,
    /// Its file of truth, if it writes one. A damaged file is made again from raw.
    pub document: Option<&'static Kind>,
    /// Adds rows for the new events of a large session that still grows, so that an append costs
    /// only its own size. The stage stays due, because only the whole session shows all.
    pub tail: Option<Begin>,
    /// Compares its rows in the index with the raw files.
    pub compare: Option<Compare>,
}

/// Starts a stage that sees every settled event of a session.
pub type Begin = fn(&Subject<'_>) -> Result<Box<dyn Making>, Error>;

/// Reads the rows of a session from the index, to compare them with its events.
pub type Compare = fn(&Store, &Index, &SessionKey) -> Result<Box<dyn Comparing>, Error>;

/// Compares rows of the index with the settled events that they come from.
pub trait Comparing: Send {
    /// Takes the next settled event.
    fn event(&mut self, event: &Event) -> Result<(), Error>;

    /// Names what differs, if anything does.
    fn difference(self: Box<Self>) -> Result<Option<&'static str>, Error>;
}

/// Keeps the results of a stage for a session whose raw bytes were evicted.
#[derive(Clone, Copy)]
pub struct Truth {
    /// The part of its rows that no file of truth holds, as JSON. It goes into the session's
    /// remains.
    pub keep: fn(&Index, &SessionKey) -> Result<Value, Error>,
    /// Makes its product again from files of truth and from the kept value. The value is null if
    /// none was kept.
    pub restore: fn(&Subject<'_>, &Value) -> Result<Product, Error>,
}

impl Truth {
    /// For a stage whose files of truth already hold everything.
    pub(crate) const fn in_files(restore: fn(&Subject<'_>, &Value) -> Result<Product, Error>) -> Truth {
        Truth { keep: |_, _| Ok(Value::Null), restore }
    }
}

/// Serializes the rows that a stage keeps as JSON.
pub(crate) fn to_keep(kept: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(kept).map_err(|error| Error::Scratch(error.into()))
}

/// Deserializes the rows that a stage kept of a session. The default if it kept none.
pub(crate) fn from_kept<T: DeserializeOwned + Default>(
    subject: &Subject<'_>,
    kept: &Value,
) -> Result<T, Error> {
    if kept.is_null() {
        return Ok(T::default());
    }
    T::deserialize(kept).map_err(|error| {
        let what = format!("the remains of {}", subject.key);
        Error::Raw { what, source: error.into() }
    })
}

/// Condition under which a stage runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// On every append.
    Append,
    /// On every append, and once more when the session has gone quiet.
    AppendAndQuiet,
    /// When the session has not changed for [`QUIET_MINUTES`].
    Quiet,
    /// When the session has not changed for [`PACK_HOURS`].
    Old,
    /// Only on request.
    Asked,
}

impl When {
    /// Whether it runs on every append.
    pub fn is_hot(self) -> bool {
        matches!(self, When::Append | When::AppendAndQuiet)
    }

    /// Quiet time required before it runs. `None`: only on request.
    pub(crate) fn wait_ms(self) -> Option<i64> {
        match self {
            When::Append | When::AppendAndQuiet => Some(0),
            When::Quiet => Some(QUIET_MINUTES * 60_000),
            When::Old => Some(PACK_HOURS * 3_600_000),
            When::Asked => None,
        }
    }
}

/// An input of a stage.
#[derive(Clone, Copy)]
pub enum Input {
    /// The settled events of the session. They depend on its bytes, the parser and the rules
    /// for secrets.
    Events,
    /// The captured bytes alone.
    Raw,
    /// The result of an earlier stage for the same session.
    Made(&'static str),
    /// A part of the configuration as text: a threshold, the id of a model.
    Config(fn(&Config) -> String),
    /// The captured bytes of its child sessions, to any depth.
    Children,
    /// Facts about it from other programs.
    Facts,
    /// Changes over all sessions, for a consumer: it receives only these.
    Changes(Follow),
}

/// How a stage does its work.
#[derive(Clone, Copy)]
pub enum Work {
    /// Sync does it itself, before any other stage.
    Sync,
    /// It asks other programs: sync does it last, without the lock.
    Outside,
    /// It sees every settled event of a session once. All such stages that are due share
    /// one reading.
    Events(Begin),
    /// It reads other inputs of one session.
    Session(fn(&Subject<'_>) -> Result<Product, Error>),
    /// It keeps one result for all sessions and follows their changes.
    Store(&'static dyn Consumer),
}

/// A stage at work on one session.
pub trait Making {
    /// Takes the next settled event.
    fn event(&mut self, event: &Event) -> Result<(), Error>;

    /// Ends the session. Files are written here; rows of the index are put later, in one
    /// transaction with those of other sessions.
    fn finish(self: Box<Self>) -> Result<Product, Error>;
}

/// Writes the rows that a stage made.
pub type Put = Box<dyn FnOnce(&Writer<'_>) -> Result<(), retro_store::Error> + Send>;

/// The result of a stage for a session.
#[derive(Default)]
pub struct Product {
    /// Names the result for stages that read it: equal output means equal content.
    pub output: String,
    /// Its rows in the index, if it has any.
    pub put: Option<Put>,
    /// Texts that it leaves for consumers.
    pub bodies: Vec<Body>,
}

/// A text that a stage leaves for consumers. They follow its name, and are notified when the text
/// changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// The name that consumers follow.
    pub name: &'static str,
    /// The part, if there are several under this name.
    pub part: String,
    /// Its text. `None` removes it.
    pub text: Option<String>,
}

impl Stage {
    /// Defaults for the fields that a stage does not set.
    pub const PLAIN: Stage = Stage {
        name: "",
        version: 1,
        when: When::Asked,
        help: "",
        inputs: &[],
        work: Work::Sync,
        truth: None,
        document: None,
        tail: None,
        compare: None,
    };

    /// Whether it reads the result of another stage for the same session.
    pub(crate) fn reads(&self, other: &str) -> bool {
        self.inputs.iter().any(|input| matches!(input, Input::Made(name) if *name == other))
    }

    /// The changes that its consumer follows.
    pub(crate) fn follows(&self) -> Vec<Follow> {
        let follow = |input: &Input| match input {
            Input::Changes(follow) => Some(*follow),
            _ => None,
        };
        self.inputs.iter().filter_map(follow).collect()
    }
}

/// A session that stages work on.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// Where its files are.
    pub store: &'a Store,
    /// The configuration in force.
    pub config: &'a Config,
    /// The agent that wrote it.
    pub agent: &'static dyn Agent,
    /// Its agent and id.
    pub key: &'a SessionKey,
    /// Its session file.
    pub file: &'a SessionFile,
    /// The stamp of the stage's inputs. Cache files carry it.
    pub stamp: &'a str,
    /// Whether it has not changed for a while.
    pub is_quiet: bool,
    /// Names its captured bytes.
    pub content: &'a str,
    /// Names the facts about it from other programs.
    pub facts: &'a str,
    /// Rows from the index that stages need beside it.
    pub lookup: &'a Lookup,
}

impl<'a> Subject<'a> {
    /// The inputs for the stamps of its stages.
    pub(crate) fn inputs(&self) -> StampInputs<'a> {
        StampInputs {
            config: self.config,
            agent: self.agent,
            content: self.content,
            children: &self.lookup.children,
            facts: self.facts,
            is_quiet: self.is_quiet,
        }
    }
}

/// Rows looked up in the index for the stages of a session, because stages run on threads that
/// cannot query it.
#[derive(Default)]
pub struct Lookup {
    /// Names the captured bytes of the sessions below it.
    pub children: String,
    /// The sessions below it, to any depth.
    pub family: Vec<SessionKey>,
    /// Stamps of its live files, if they may be packed.
    pub places: Vec<PlaceRow>,
    /// Its passages, if it is settled as a whole, so that unchanged ones are not packed again.
    pub passages: KnownPassages,
    /// Where a session continues that is too long to be settled on every append.
    pub last: Last,
}

/// The last turn and the last passage of each thread of a large session.
#[derive(Debug, Default)]
pub struct Last {
    /// The last turns.
    pub turns: Vec<TurnRow>,
    /// The last passages.
    pub passages: Vec<Passage>,
}

/// How far a consumer has read, and by which stage version and settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The last change that it processed.
    pub mark: Mark,
    /// Its stamp at that time. With a different stamp it starts over.
    pub stamp: String,
}

impl Seen {
    /// Writes this as one line of text, for consumers that keep it in a file.
    pub fn text(&self) -> String {
        format!("{} {} {}", self.mark.series, self.mark.number, self.stamp)
    }

    /// Reads what [`Seen::text`] wrote.
    pub fn parse(text: &str) -> Option<Seen> {
        let mut parts = text.splitn(3, ' ');
        let (series, number, stamp) = (parts.next()?, parts.next()?, parts.next()?);
        let mark = Mark { series: series.to_owned(), number: number.parse().ok()? };
        Some(Seen { mark, stamp: stamp.to_owned() })
    }
}

/// An output that covers all sessions, such as an index or a page.
pub trait Consumer: Sync {
    /// How far it has come. It stores this with its output, so that both are lost or kept together.
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error>;

    /// Processes the changes, and remembers `changes.mark` and `stamp`.
    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error>;

    /// Whether it released the lock before it had processed everything, and must continue.
    fn is_unfinished(&self, _: &Everything<'_>) -> Result<bool, Error> {
        Ok(false)
    }
}

/// Everything that a consumer may read.
pub struct Everything<'a> {
    /// The clock, the disk, and the request to stop.
    pub world: &'a World,
    /// The configuration in force.
    pub config: &'a Config,
    /// The files of the store.
    pub store: &'a Store,
    /// The rows of the index.
    pub index: &'a Index,
    /// Receives progress reports during long work.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// Everything that the stamps of a session's stages may depend on.
#[derive(Clone, Copy)]
pub(crate) struct StampInputs<'a> {
    pub config: &'a Config,
    pub agent: &'a dyn Agent,
    /// Names the captured bytes of the session.
    pub content: &'a str,
    /// Names the captured bytes of its child sessions.
    pub children: &'a str,
    /// Names the facts about it from other programs.
    pub facts: &'a str,
    pub is_quiet: bool,
}

impl<'a> StampInputs<'a> {
    /// The inputs of stages that read only the events of a quiet session.
    pub(crate) fn of_events(config: &'a Config, agent: &'a dyn Agent, content: &'a str) -> StampInputs<'a> {
        StampInputs { config, agent, content, children: "", facts: "", is_quiet: true }
    }
}
