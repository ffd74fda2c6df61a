//! What a stage is: when it runs, what it reads, and how it makes something of that.
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

/// Minutes without a change after which a session is quiet.
pub const QUIET_MINUTES: i64 = 10;

/// Hours without a change after which its raw files are packed.
pub const PACK_HOURS: i64 = 24;

/// One stage.
#[derive(Clone)]
pub struct Stage {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its version. Raise it when it makes something else of the same input: it then runs
    /// again on every session.
    pub version: u32,
    /// When it runs by itself.
    pub when: When,
    /// What it does, for people.
    pub help: &'static str,
    /// What it reads. Its stamp covers exactly this.
    pub inputs: &'static [Input],
    /// How it makes what it makes.
    pub work: Work,
    /// How its rows are made again once the raw bytes of a session were given up. A stage
    /// without makes nothing of such a session.
    pub truth: Option<Truth>,
    /// Its file of truth, if it writes one. A damaged file is made again from raw.
    pub document: Option<&'static Kind>,
    /// Adds rows for the new events of a large session that still grows, so that an append
    /// costs what is new. The stage stays due, because only the whole session shows all.
    pub tail: Option<Begin>,
    /// Compares its rows in the index with what raw says.
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

/// What a stage keeps of a session whose raw bytes were given up.
#[derive(Clone, Copy)]
pub struct Truth {
    /// The part of its rows that no file of truth holds, as JSON. It goes into the session's remains.
    pub keep: fn(&Index, &SessionKey) -> Result<Value, Error>,
    /// Makes its product again from files of truth and what was kept; null where nothing was.
    pub restore: fn(&Subject<'_>, &Value) -> Result<Product, Error>,
}

impl Truth {
    /// Files of truth already hold everything.
    pub(crate) const fn in_files(restore: fn(&Subject<'_>, &Value) -> Result<Product, Error>) -> Truth {
        Truth { keep: |_, _| Ok(Value::Null), restore }
    }
}

/// What a stage keeps, as JSON.
pub(crate) fn to_keep(kept: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(kept).map_err(|error| Error::Scratch(error.into()))
}

/// What a stage kept of a session; the default where it kept nothing.
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

/// When a stage runs by itself.
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
    /// Only when somebody asks for its result.
    Asked,
}

impl When {
    /// Whether it runs on every append.
    pub fn is_hot(self) -> bool {
        matches!(self, When::Append | When::AppendAndQuiet)
    }

    /// How long a session must not have changed before it runs; nothing: it never runs
    /// by itself.
    pub(crate) fn wait_ms(self) -> Option<i64> {
        match self {
            When::Append | When::AppendAndQuiet => Some(0),
            When::Quiet => Some(QUIET_MINUTES * 60_000),
            When::Old => Some(PACK_HOURS * 3_600_000),
            When::Asked => None,
        }
    }
}

/// Something that a stage reads.
#[derive(Clone, Copy)]
pub enum Input {
    /// The settled events of the session: its bytes, the parser, the rules for secrets.
    Events,
    /// The captured bytes alone.
    Raw,
    /// What an earlier stage made of the same session.
    Made(&'static str),
    /// A part of the configuration as text: a threshold, the id of a model.
    Config(fn(&Config) -> String),
    /// The captured bytes of its child sessions, to any depth.
    Children,
    /// What other programs said of it.
    Facts,
    /// Changes over all sessions, for a consumer: it is told of these alone.
    Changes(Follow),
}

/// How a stage makes what it makes.
#[derive(Clone, Copy)]
pub enum Work {
    /// Sync does it itself, before any other stage.
    Sync,
    /// It asks other programs: sync does it last, without the lock.
    Outside,
    /// It sees every settled event of a session once. All such stages that are due share
    /// one reading.
    Events(Begin),
    /// It reads something else of one session.
    Session(fn(&Subject<'_>) -> Result<Product, Error>),
    /// It keeps something over all sessions and follows their changes.
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

/// What a stage made of a session.
#[derive(Default)]
pub struct Product {
    /// Names what was made, for stages that read it: equal output, equal content.
    pub output: String,
    /// Its rows in the index, if it has any.
    pub put: Option<Put>,
    /// What it leaves for consumers.
    pub bodies: Vec<Body>,
}

/// A text that a stage leaves for consumers. They follow its name, and are notified
/// when the text differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Body {
    /// What it is called.
    pub name: &'static str,
    /// Which part of it, where it has several.
    pub part: String,
    /// Its text. `None` removes it.
    pub text: Option<String>,
}

impl Stage {
    /// What a stage has that says nothing else.
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

    /// Whether it reads what another stage made of the same session.
    pub(crate) fn reads(&self, other: &str) -> bool {
        self.inputs.iter().any(|input| matches!(input, Input::Made(name) if *name == other))
    }

    /// The changes that its consumer is told of.
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
    /// The configuration.
    pub config: &'a Config,
    /// Its agent.
    pub agent: &'static dyn Agent,
    /// Which session.
    pub key: &'a SessionKey,
    /// What is known of it.
    pub file: &'a SessionFile,
    /// What the stage's result is made from. Files that are caches carry it.
    pub stamp: &'a str,
    /// Whether it has not changed for a while.
    pub is_quiet: bool,
    /// Names its captured bytes.
    pub content: &'a str,
    /// Names what other programs said of it.
    pub facts: &'a str,
    /// What the index has beside it.
    pub lookup: &'a Lookup,
}

impl<'a> Subject<'a> {
    /// What the stamps of its stages depend on.
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

/// What was looked up in the index for the stages of a session: they run on threads that
/// cannot ask it.
#[derive(Default)]
pub struct Lookup {
    /// Names the captured bytes of the sessions below it.
    pub children: String,
    /// The sessions below it, to any depth.
    pub family: Vec<SessionKey>,
    /// Stamps of its live files, where they may be packed.
    pub places: Vec<PlaceRow>,
    /// Its passages, where it is settled as a whole, so that those are not packed again.
    pub passages: KnownPassages,
    /// Where a session goes on that is too long to be settled on every append.
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

/// What a consumer has seen: how far, and made by which stage from which settings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Seen {
    /// The last change it has taken in.
    pub mark: Mark,
    /// The stamp it had then. With another one it starts over.
    pub stamp: String,
}

impl Seen {
    /// As one line of text, for consumers that keep it in a file.
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

/// Something that is kept over all sessions: an index, a page.
pub trait Consumer: Sync {
    /// How far it has come. It keeps this itself, together with what it made, so that both
    /// are lost or kept together.
    fn seen(&self, all: &Everything<'_>) -> Result<Seen, Error>;

    /// Takes in what changed, and remembers `changes.mark` and `stamp`.
    fn follow(&self, all: &Everything<'_>, changes: Changes, stamp: &str) -> Result<(), Error>;

    /// Whether it let the lock go before it had taken in everything, and wants to go on.
    fn is_unfinished(&self, _: &Everything<'_>) -> Result<bool, Error> {
        Ok(false)
    }
}

/// What a consumer may read.
pub struct Everything<'a> {
    /// Clock, disk, the wish to stop.
    pub world: &'a World,
    /// The configuration.
    pub config: &'a Config,
    /// The files.
    pub store: &'a Store,
    /// The rows.
    pub index: &'a Index,
    /// Hears how far work is that lasts.
    pub progress: &'a (dyn Fn(Progress) + Sync),
}

/// Everything that the stamps of a session's stages may depend on.
#[derive(Clone, Copy)]
pub(crate) struct StampInputs<'a> {
    pub config: &'a Config,
    pub agent: &'a dyn Agent,
    /// Names the captured bytes of the session.
    pub content: &'a str,
    /// Names those of its child sessions.
    pub children: &'a str,
    /// Names what other programs said of it.
    pub facts: &'a str,
    pub is_quiet: bool,
}

impl<'a> StampInputs<'a> {
    /// Those of stages that read nothing but the events of a quiet session.
    pub(crate) fn of_events(config: &'a Config, agent: &'a dyn Agent, content: &'a str) -> StampInputs<'a> {
        StampInputs { config, agent, content, children: "", facts: "", is_quiet: true }
    }
}
