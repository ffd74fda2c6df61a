//! Facts about a session as a whole.

use retro_text::Redacted;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::{Address, Event, Kind, LimitReading, Timestamp, TitleRank, title};

/// How a source changes on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKind {
    /// A log that grows at its end.
    Log,
    /// Rewritten as a whole. Each version is kept.
    Document,
    /// Rows of a database, as canonical lines.
    Rows,
    /// Small and rewritten. Its facts are in a log too, so only the latest version is kept.
    State,
    /// The files of a folder. Each is kept once, and again after a change.
    Files,
}

/// How the bytes of a source are divided into records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// One JSON value per line.
    JsonLines,
    /// The whole file is one JSON value.
    Json,
    /// Not divided: kept, but not parsed.
    Opaque,
    /// Files one after the other, each after lines that name it: kept, but not parsed.
    Files,
}

impl Format {
    /// True if such a source has records to read.
    pub fn has_records(self) -> bool {
        matches!(self, Format::JsonLines | Format::Json)
    }
}

/// A title and its origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Title {
    /// The rank of its origin.
    pub rank: TitleRank,
    /// The record that contains it.
    pub at: Address,
    /// The text of the title.
    pub text: Redacted<String>,
}

/// The relation between two sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    /// This session is a sub-agent of that one.
    Parent,
    /// That session is a sub-agent of this one.
    Child,
    /// This session began as a copy of that one.
    ForkedFrom,
    /// This session continues that one.
    Continues,
    /// That session continues this one.
    ContinuedIn,
}

/// A link to another session of the same agent.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// The kind of relation.
    pub kind: LinkKind,
    /// The other session's id.
    pub session_id: String,
}

/// A value with the record that had it first.
type At<T> = Option<(Address, T)>;

/// Facts about a session from a set of records.
///
/// Facts are a fold: [`Facts::merge`] is commutative, associative and idempotent, so the result
/// does not depend on the pieces and the order in which a session arrived. A single value is chosen
/// by the address of its record.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Facts {
    /// Earliest time of any record.
    pub started_at: Option<Timestamp>,
    /// Latest time of any record.
    pub ended_at: Option<Timestamp>,
    /// The first working directory.
    pub cwd: At<Redacted<String>>,
    /// The first git branch.
    pub branch: At<Redacted<String>>,
    /// The newest title that the user set.
    pub title_user: At<Redacted<String>>,
    /// The newest title that the agent made.
    pub title_agent: At<Redacted<String>>,
    /// The first real prompt or accepted plan, shortened.
    pub title_prompt: At<Redacted<String>>,
    /// The first command or task of an agent, for a session without a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title_task: At<Redacted<String>>,
    /// Program versions in the records.
    pub versions: BTreeSet<String>,
    /// Models that answered.
    pub models: BTreeSet<String>,
    /// Links to other sessions.
    pub links: BTreeSet<Link>,
    /// How the program was started, such as `cli` or `sdk`.
    pub entrypoint: At<String>,
    /// The newest reading of each window of the account's allowance, by its name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, LimitReading>,
}

impl Facts {
    /// Adds the facts of one event.
    pub fn absorb(&mut self, event: &Event) {
        let at = event.id.address();
        self.see(event.ts);
        if let Some(cwd) = &event.cwd {
            first(&mut self.cwd, &at, cwd);
        }
        if let Some(branch) = &event.branch {
            first(&mut self.branch, &at, branch);
        }
        if let Some(model) = &event.model
            && matches!(event.kind, Kind::Usage | Kind::Model)
            && !self.models.contains(model)
        {
            self.models.insert(model.clone());
        }
        let slot = match title::rank(event) {
            Some(TitleRank::Prompt) => &mut self.title_prompt,
            Some(_) => &mut self.title_task,
            None => return,
        };
        if slot.as_ref().is_none_or(|(known, _)| at <= *known)
            && let Some(title) = title::of(event)
        {
            first(slot, &at, &title);
        }
    }

    /// Extends the time span of the session.
    pub fn see(&mut self, ts: Option<Timestamp>) {
        if let Some(ts) = ts {
            self.started_at = Some(self.started_at.map_or(ts, |old| old.min(ts)));
            self.ended_at = Some(self.ended_at.map_or(ts, |old| old.max(ts)));
        }
    }

    /// Adds a title.
    pub fn title(&mut self, rank: TitleRank, at: &Address, text: &Redacted<String>) {
        match rank {
            TitleRank::User => last(&mut self.title_user, at, text),
            TitleRank::Agent => last(&mut self.title_agent, at, text),
            TitleRank::Elsewhere => {}
            TitleRank::Prompt => first(&mut self.title_prompt, at, text),
            TitleRank::Task => first(&mut self.title_task, at, text),
        }
    }

    /// Adds a reading of a window of the account's allowance.
    pub fn limit(&mut self, window: &str, reading: &LimitReading) {
        match self.limits.get_mut(window) {
            Some(known) if *known >= *reading => {}
            Some(known) => *known = reading.clone(),
            None => {
                self.limits.insert(window.to_owned(), reading.clone());
            }
        }
    }

    /// The best title of its own.
    pub fn own_title(&self) -> Option<Title> {
        let ranked = [
            (TitleRank::User, &self.title_user),
            (TitleRank::Agent, &self.title_agent),
            (TitleRank::Prompt, &self.title_prompt),
            (TitleRank::Task, &self.title_task),
        ];
        ranked.into_iter().find_map(|(rank, title)| {
            let (at, text) = title.as_ref()?;
            Some(Title { rank, at: at.clone(), text: text.clone() })
        })
    }

    /// The parent of this session, if it is a sub-agent.
    pub fn parent(&self) -> Option<&str> {
        self.links.iter().find(|link| link.kind == LinkKind::Parent).map(|link| link.session_id.as_str())
    }

    /// Adds the facts of other records.
    pub fn merge(&mut self, other: &Facts) {
        self.see(other.started_at);
        self.see(other.ended_at);
        for (mine, theirs) in [
            (&mut self.cwd, &other.cwd),
            (&mut self.branch, &other.branch),
            (&mut self.title_prompt, &other.title_prompt),
            (&mut self.title_task, &other.title_task),
        ] {
            if let Some((at, value)) = theirs {
                first(mine, at, value);
            }
        }
        for (mine, theirs) in
            [(&mut self.title_user, &other.title_user), (&mut self.title_agent, &other.title_agent)]
        {
            if let Some((at, value)) = theirs {
                last(mine, at, value);
            }
        }
        if let Some((at, value)) = &other.entrypoint {
            first(&mut self.entrypoint, at, value);
        }
        self.versions.extend(other.versions.iter().cloned());
        self.models.extend(other.models.iter().cloned());
        self.links.extend(other.links.iter().cloned());
        for (window, reading) in &other.limits {
            self.limit(window, reading);
        }
    }
}

fn first<T: Clone + Ord>(slot: &mut At<T>, at: &Address, value: &T) {
    if slot.as_ref().is_none_or(|(old_at, old)| (at, value) < (old_at, old)) {
        *slot = Some((at.clone(), value.clone()));
    }
}

fn last<T: Clone + Ord>(slot: &mut At<T>, at: &Address, value: &T) {
    if slot.as_ref().is_none_or(|(old_at, old)| (at, value) > (old_at, old)) {
        *slot = Some((at.clone(), value.clone()));
    }
}
