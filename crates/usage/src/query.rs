//! A query on the ledger, with the session facts that it needs.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use retro_model::{SessionKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use crate::calendar::Days;
use crate::cost::Mode;

/// The grouping of a report's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// By day in the time zone of the query.
    #[default]
    Daily,
    /// By week, named after its first day.
    Weekly,
    /// By calendar month.
    Monthly,
    /// By session, with its sub-agents.
    Session,
    /// By project name.
    Project,
    /// By model, as logged.
    Model,
    /// By agent name.
    Agent,
    /// By window of five hours.
    Blocks,
}

/// The order of rows: by time if they have one, else by cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    Asc,
    Desc,
}

/// A limit to compare a block with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimit {
    /// A fixed number of tokens.
    Tokens(u64),
    /// The tokens of the largest finished block.
    Max,
}

/// Facts about a session that the ledger does not have.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    /// Id of its parent session, if it is a sub-agent.
    pub parent: Option<String>,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Name of its project.
    pub project: Option<String>,
    /// When it began. Rows without a time are assigned to it.
    pub started_at: Option<Timestamp>,
    /// True if its log may still grow: then nothing is missing yet.
    pub growing: bool,
}

/// A question about use and cost.
#[derive(Debug, Clone)]
pub struct Query {
    /// The grouping of the rows.
    pub by: By,
    /// First day, in `tz`.
    pub since: Option<Date>,
    /// Last day, in `tz`.
    pub until: Option<Date>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// True if `project` may be only a part of a project's name.
    pub project_part: bool,
    /// Only this model, as logged or as the price table names it.
    pub model: Option<String>,
    /// The time zone that defines days.
    pub tz: TimeZone,
    /// The source of the cost figures.
    pub mode: Mode,
    /// True if each row is broken down by model.
    pub breakdown: bool,
    /// Order of rows.
    pub order: Order,
    /// First day of a week.
    pub start_of_week: Weekday,
    /// Blocks: only the running one.
    pub active: bool,
    /// Blocks: only those of the last three days.
    pub recent: bool,
    /// Blocks: a limit to compare them with.
    pub token_limit: Option<TokenLimit>,
    /// The current time. Without it no block is running.
    pub now: Option<Timestamp>,
    /// Facts about the sessions, by key.
    pub sessions: HashMap<SessionKey, SessionFacts>,
}

impl Default for Query {
    fn default() -> Self {
        Query {
            by: By::default(),
            since: None,
            until: None,
            agent: None,
            project: None,
            project_part: false,
            model: None,
            tz: TimeZone::UTC,
            mode: Mode::default(),
            breakdown: false,
            order: Order::default(),
            start_of_week: Weekday::Monday,
            active: false,
            recent: false,
            token_limit: None,
            now: None,
            sessions: HashMap::new(),
        }
    }
}

/// A deeper tree is treated as a cycle.
const TREE_DEPTH_MAX: usize = 64;

/// How a row got its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dated {
    /// By its own time.
    Itself,
    /// By the start of its session.
    BySession,
    /// It has no day.
    No,
}

impl Query {
    /// The time of a row, as far as it is known.
    pub(crate) fn when(&self, session: &SessionKey, ts: Option<Timestamp>) -> (Option<Timestamp>, Dated) {
        let started = || self.sessions.get(session).and_then(|facts| facts.started_at);
        match (ts, started) {
            (Some(ts), _) => (Some(ts), Dated::Itself),
            (None, started) => match started() {
                Some(ts) => (Some(ts), Dated::BySession),
                None => (None, Dated::No),
            },
        }
    }

    /// True if the query includes an instant. A row without a day is not between two days.
    pub(crate) fn admits_time(&self, when: Option<Timestamp>, days: &mut Days) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        when.map(|ts| days.day(ts)).is_some_and(|day| {
            self.since.is_none_or(|since| since <= day) && self.until.is_none_or(|until| day <= until)
        })
    }

    /// True if the query includes a session.
    pub(crate) fn admits_session(&self, session: &SessionKey) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == session.agent)
            && self.project.as_ref().is_none_or(|wanted| {
                self.project_of(session).is_some_and(|project| {
                    project.eq_ignore_ascii_case(wanted)
                        || (self.project_part && project.to_lowercase().contains(&wanted.to_lowercase()))
                })
            })
    }

    /// True if the query includes a logged model name, for callers without a row.
    pub(crate) fn admits_name(&self, model: Option<&str>) -> bool {
        self.model.as_ref().is_none_or(|asked| model.is_some_and(|model| model.eq_ignore_ascii_case(asked)))
    }

    /// The session at the top of a tree. A missing parent is ignored: its children are roots.
    pub(crate) fn root_of(&self, session: &SessionKey) -> SessionKey {
        let mut root = session.clone();
        for _ in 0..TREE_DEPTH_MAX {
            let parent = self.sessions.get(&root).and_then(|facts| facts.parent.as_ref());
            let parent = parent.map(|id| SessionKey { agent: root.agent.clone(), id: id.clone() });
            match parent.filter(|parent| self.sessions.contains_key(parent)) {
                Some(parent) => root = parent,
                None => return root,
            }
        }
        session.clone()
    }

    /// The project of a session, or else of the root of its tree.
    pub(crate) fn project_of(&self, session: &SessionKey) -> Option<&str> {
        let of = |session: &SessionKey| self.sessions.get(session).and_then(|facts| facts.project.as_deref());
        of(session).or_else(|| of(&self.root_of(session)))
    }
}
