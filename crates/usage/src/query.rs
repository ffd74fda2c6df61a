//! What is asked of the ledger, and what the asker knows of its sessions.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use retro_model::{SessionKey, Timestamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

use crate::calendar::Days;
use crate::cost::Mode;

/// What makes a row of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// A day in the asker's zone.
    #[default]
    Daily,
    /// A week, named by its first day.
    Weekly,
    /// A month.
    Monthly,
    /// A session with its sub-agents.
    Session,
    /// A project.
    Project,
    /// A model, as logged.
    Model,
    /// An agent.
    Agent,
    /// A window of five hours.
    Blocks,
}

/// How rows are ordered: by time where they have one, else by cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Order {
    #[default]
    Asc,
    Desc,
}

/// A limit to hold a block against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenLimit {
    /// So many tokens.
    Tokens(u64),
    /// As many as the largest finished block used.
    Max,
}

/// What the asker knows of a session and the ledger does not.
#[derive(Debug, Clone, Default)]
pub struct SessionFacts {
    /// Id of the session it is a sub-agent of.
    pub parent: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Name of its project.
    pub project: Option<String>,
    /// When it began; rows without a time are put there.
    pub started_at: Option<Timestamp>,
    /// Whether its log may still grow: then nothing is missing yet.
    pub growing: bool,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Query {
    /// What makes a row.
    pub by: By,
    /// First day, in `tz`.
    pub since: Option<Date>,
    /// Last day, in `tz`.
    pub until: Option<Date>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this project.
    pub project: Option<String>,
    /// Whether `project` may be only a part of a project's name.
    pub project_part: bool,
    /// Only this model, as logged or as the price table names it.
    pub model: Option<String>,
    /// Zone in which days are cut.
    pub tz: TimeZone,
    /// Whose cost figures count.
    pub mode: Mode,
    /// Whether each row is broken down by model.
    pub breakdown: bool,
    /// Order of rows.
    pub order: Order,
    /// First day of a week.
    pub start_of_week: Weekday,
    /// Blocks: only the one that is running.
    pub active: bool,
    /// Blocks: only those of the last three days.
    pub recent: bool,
    /// Blocks: a limit to hold them against.
    pub token_limit: Option<TokenLimit>,
    /// The present; without it no block is running.
    pub now: Option<Timestamp>,
    /// What is known of the sessions.
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

/// A tree that is deeper than this is taken for a circle.
const TREE_DEPTH_MAX: usize = 64;

/// How a row got its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dated {
    /// It has a time.
    Itself,
    /// By the start of its session.
    BySession,
    /// Not at all.
    No,
}

impl Query {
    /// When a row was, as far as is known.
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

    /// Whether an instant is asked for. What has no day is not between two.
    pub(crate) fn admits_time(&self, when: Option<Timestamp>, days: &mut Days) -> bool {
        if self.since.is_none() && self.until.is_none() {
            return true;
        }
        when.map(|ts| days.day(ts)).is_some_and(|day| {
            self.since.is_none_or(|since| since <= day) && self.until.is_none_or(|until| day <= until)
        })
    }

    /// Whether a session is asked for.
    pub(crate) fn admits_session(&self, session: &SessionKey) -> bool {
        self.agent.as_ref().is_none_or(|agent| *agent == session.agent)
            && self.project.as_ref().is_none_or(|wanted| {
                self.project_of(session).is_some_and(|project| {
                    project.eq_ignore_ascii_case(wanted)
                        || (self.project_part && project.to_lowercase().contains(&wanted.to_lowercase()))
                })
            })
    }

    /// Whether a model as logged is asked for, where no row is at hand.
    pub(crate) fn admits_name(&self, model: Option<&str>) -> bool {
        self.model.as_ref().is_none_or(|asked| model.is_some_and(|model| model.eq_ignore_ascii_case(asked)))
    }

    /// The session at the top of a tree. A parent that is not there leads to nothing: its
    /// children stand for themselves.
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

    /// The project of a session, else of the session at the top of its tree.
    pub(crate) fn project_of(&self, session: &SessionKey) -> Option<&str> {
        let of = |session: &SessionKey| self.sessions.get(session).and_then(|facts| facts.project.as_deref());
        of(session).or_else(|| of(&self.root_of(session)))
    }
}
