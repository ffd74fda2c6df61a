//! Sessions on this machine and in the store, in one list.

mod figures;
mod titles;

pub(crate) use figures::costs;

use retro_agents::by_name;
use retro_engine::discover::{Keep, Scope, SessionFiles, look};
use retro_engine::door::Door;
use retro_engine::platform::{is_below, project_name};
use retro_engine::{Config, Failure, World, read::peek};
use retro_model::{Facts, LinkKind, SessionKey, Timestamp};
use retro_store::{RealDisk, SessionRow, Stamps, Store};
use retro_usage::Figures;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::clock::plausible;
use crate::deletion::deletion_warnings;
use crate::family::Roots;
use crate::ids::short_ids;
use crate::{Error, nearest, unreadable};

/// The sessions to list, and their order.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Only this agent.
    pub agent: Option<String>,
    /// Only sessions of this project: its name, part of its name, or a folder.
    pub project: Option<String>,
    /// Only sessions that have all of these words in title, project, folder, branch or id.
    pub words: Vec<String>,
    /// Only sessions that were active at or after this time.
    pub since: Option<Timestamp>,
    /// Only sessions that began before this time.
    pub before: Option<Timestamp>,
    /// The order of the list.
    pub sort: Sort,
    /// At most this many.
    pub limit: Option<usize>,
    /// Include sub-agents of other sessions.
    pub children: bool,
    /// Only sessions with this outcome.
    pub outcome: Option<String>,
}

/// The order of a list. Sessions without the value come last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// By last activity, newest first.
    #[default]
    Last,
    /// By start, newest first.
    Started,
    /// By cost, most expensive first.
    Cost,
    /// By turns, most first.
    Turns,
    /// By duration, longest first.
    Duration,
    /// By size, largest first.
    Size,
    /// By project, then by time.
    Project,
}

/// The result of `retro list`.
#[derive(Debug, Clone, Serialize)]
pub struct ListView {
    /// `retro.list/1`.
    pub schema: &'static str,
    /// The sessions, newest first unless sorted otherwise.
    pub sessions: Vec<SessionView>,
    /// Number of matches before the limit is applied.
    pub total: usize,
    /// How many of these are in the store.
    pub captured: usize,
    /// How many of those have grown since they were captured.
    pub grown: usize,
    /// How many exist only in the store.
    pub only_here: usize,
    /// Matching sub-agents that are not listed.
    pub below: usize,
    /// Length of prefix that makes all ids differ, at least 8. Most ids need less: see `short_id`.
    pub id_length: usize,
    /// The project with the most similar name, if no session matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest_project: Option<String>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// Logs, folders and databases that cannot be read and may hold more sessions.
    pub unreadable_files: Vec<Failure>,
    /// Unsupported agents that this machine has.
    pub unsupported: Vec<&'static str>,
}

/// One session of the list.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The shortest unique prefix of the id.
    pub short_id: String,
    /// The agent's title, else the first real prompt.
    pub title: Option<String>,
    /// Its prompt from the word where it differs from other sessions with the same beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
    /// The project's name.
    pub project: Option<String>,
    /// The project's domain, if the configuration sets one.
    pub domain: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The git branch.
    pub branch: Option<String>,
    /// The first timestamp in the log.
    pub started_at: Option<Timestamp>,
    /// The last timestamp in the log.
    pub ended_at: Option<Timestamp>,
    /// Total size of its sources.
    pub bytes: u64,
    /// True if it is in the store.
    pub captured: bool,
    /// True if the store has all of it.
    pub up_to_date: bool,
    /// True if its raw bytes were given up. Its digest, costs, files and memories are kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub evicted: bool,
    /// True if it was forgotten: its log still exists and is not captured.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub forgotten: bool,
    /// True if its files are still where the agent wrote them.
    pub on_disk: bool,
    /// The session it belongs to.
    pub parent_session_id: Option<String>,
    /// True if that session is also in the list.
    #[serde(skip)]
    pub is_below: bool,
    /// The command that resumes it. Null if the agent's own log is gone.
    pub resume: Option<String>,
    /// Messages that open a turn. Null if unknown.
    pub turns: Option<u64>,
    /// Time between the first and last timestamps in the log.
    pub duration_ms: Option<u64>,
    /// List price of the session and its sub-agents. Null if unknown.
    pub cost_usd: Option<f64>,
    /// True if the cost covers everything.
    pub cost_complete: bool,
    /// The parts of the cost. `None` if unknown.
    #[serde(skip)]
    pub figures: Option<Box<Figures>>,
    /// The outcome: `success`, `failed`, `abandoned`, `unknown`. Null without a digest.
    pub outcome: Option<String>,
}

/// Lists sessions. Never captures and never creates a store.
pub fn list(world: &World, config: &Config, options: &ListOptions) -> Result<ListView, Error> {
    let scope = Scope::new(options.agent.as_deref(), None);
    let (rows, _, found) = look(world, config, &scope, Keep::All, |_| stored(config))?;
    let unreadable = unreadable::unreadable(&found);
    let mut warnings = deletion_warnings(world, &found);
    warnings.extend(unreadable::warnings(&unreadable));
    let mut live: BTreeMap<&SessionKey, &SessionFiles> =
        found.sessions.iter().map(|session| (&session.key, session)).collect();

    let mut sessions = Vec::new();
    for row in &rows {
        let key = row.key();
        if options.agent.as_deref().is_some_and(|agent| agent != key.agent) {
            continue;
        }
        sessions.push(from_row(config, row, live.remove(&key)));
    }
    let door = Door::at(&config.root.value);
    for session in live.into_values() {
        sessions.push(from_files(config, &door, session));
    }
    for session in &found.forgotten {
        let key = &session.key;
        sessions.retain(|known| (&known.agent, &known.session_id) != (&key.agent, &key.id));
        sessions.push(SessionView { forgotten: true, ..from_files(config, &door, session) });
    }
    adopt(&mut sessions, &rows);
    let id_length = shorten_ids(&mut sessions);
    place_children(&mut sessions);
    let nearest_project = choose_project(&mut sessions, options.project.as_deref());
    let words: Vec<String> = options.words.iter().map(|word| word.to_lowercase()).collect();
    sessions.retain(|session| words.iter().all(|word| mentions(session, word)) && in_time(session, options));
    let fitting = sessions.len();
    sessions.retain(|session| options.children || !session.is_below);
    let below = fitting - sessions.len();
    // An order that needs none of it leaves it to the sessions that are listed.
    let is_needed = matches!(options.sort, Sort::Cost | Sort::Turns) || options.outcome.is_some();
    if is_needed && !rows.is_empty() {
        figures::fill(world, config, &mut sessions)?;
    }
    if let Some(outcome) = &options.outcome {
        sessions.retain(|session| session.outcome.as_ref() == Some(outcome));
    }
    sort(&mut sessions, options.sort, world.now());
    let total = sessions.len();
    let captured = sessions.iter().filter(|session| session.captured).count();
    let grown = sessions.iter().filter(|session| session.captured && !session.up_to_date).count();
    let only_here = sessions.iter().filter(|session| !session.on_disk).count();
    sessions.truncate(options.limit.unwrap_or(usize::MAX));
    if !is_needed && !rows.is_empty() {
        figures::fill(world, config, &mut sessions)?;
    }
    titles::tell_apart(config, &mut sessions);
    Ok(ListView {
        schema: "retro.list/1",
        sessions,
        total,
        captured,
        grown,
        only_here,
        below,
        id_length,
        nearest_project,
        warnings,
        unreadable_files: unreadable,
        unsupported: found.unsupported,
    })
}

/// Marks the sessions that are below another one in the list.
fn place_children(sessions: &mut [SessionView]) {
    let roots = Roots::of(sessions.iter().map(|session| {
        let parent = session.parent_session_id.as_deref();
        (session.agent.as_str(), session.session_id.as_str(), parent)
    }));
    let is_root: Vec<bool> =
        sessions.iter().map(|session| roots.contains(&session.agent, &session.session_id)).collect();
    for (session, is_root) in sessions.iter_mut().zip(is_root) {
        session.is_below = !is_root;
    }
}

/// Gives each session its short id. Returns the length of the longest.
fn shorten_ids(sessions: &mut [SessionView]) -> usize {
    let ids: Vec<String> = sessions.iter().map(|session| session.session_id.clone()).collect();
    let short = short_ids(ids.iter().map(String::as_str));
    for session in sessions.iter_mut() {
        if let Some(id) = short.get(session.session_id.as_str()) {
            session.short_id.clone_from(id);
        }
    }
    short.values().map(|id| id.chars().count()).max().unwrap_or(8)
}

/// Keeps the sessions of a project: those with exactly this name or folder, else those whose
/// project contains it. Returns the most similar name if none match.
fn choose_project(sessions: &mut Vec<SessionView>, wanted: Option<&str>) -> Option<String> {
    let wanted = wanted?;
    let part = wanted.to_lowercase();
    let has_part = |session: &SessionView| {
        session.project.as_deref().is_some_and(|name| name.to_lowercase().contains(&part))
    };
    if sessions.iter().any(|session| in_project(session, wanted)) {
        sessions.retain(|session| in_project(session, wanted));
    } else if sessions.iter().any(has_part) {
        sessions.retain(has_part);
    } else {
        let names = sessions.iter().filter_map(|session| session.project.as_deref());
        let near = nearest(wanted, names).map(str::to_owned);
        sessions.clear();
        return near;
    }
    None
}

fn mentions(session: &SessionView, word: &str) -> bool {
    let texts = [&session.title, &session.project, &session.cwd, &session.branch];
    let said = texts.into_iter().flatten().any(|text| text.to_lowercase().contains(word));
    said || session.session_id.to_lowercase().starts_with(word) || session.agent == word
}

fn in_time(session: &SessionView, options: &ListOptions) -> bool {
    let last = session.ended_at.or(session.started_at);
    let first = session.started_at.or(session.ended_at);
    options.since.is_none_or(|since| last.is_some_and(|last| last >= since))
        && options.before.is_none_or(|before| first.is_some_and(|first| first < before))
}

fn sort(sessions: &mut [SessionView], by: Sort, now: Timestamp) {
    let when = |session: &SessionView| plausible([session.ended_at, session.started_at], now);
    let number = |session: &SessionView| match by {
        Sort::Last => when(session).map(|ts| ts.as_millis() as f64),
        Sort::Started => plausible([session.started_at], now).map(|ts| ts.as_millis() as f64),
        Sort::Cost => session.cost_usd,
        Sort::Turns => session.turns.map(|turns| turns as f64),
        Sort::Duration => session.duration_ms.map(|ms| ms as f64),
        Sort::Size => Some(session.bytes as f64),
        Sort::Project => None,
    };
    sessions.sort_by(|a, b| {
        let first = match by {
            Sort::Project => (a.project.is_none(), &a.project).cmp(&(b.project.is_none(), &b.project)),
            _ => number(b).unwrap_or(f64::MIN).total_cmp(&number(a).unwrap_or(f64::MIN)),
        };
        first.then_with(|| (when(b), &a.session_id).cmp(&(when(a), &b.session_id)))
    });
}

/// Sets the parent of children that only the parent's log names.
fn adopt(sessions: &mut [SessionView], rows: &[SessionRow]) {
    let mut parents: HashMap<(&str, &str), &str> = HashMap::new();
    for row in rows {
        for link in row.links.iter().filter(|link| link.kind == LinkKind::Child) {
            parents.insert((&row.agent, &link.session_id), &row.id);
        }
    }
    for session in sessions.iter_mut().filter(|session| session.parent_session_id.is_none()) {
        let parent = parents.get(&(session.agent.as_str(), session.session_id.as_str()));
        session.parent_session_id = parent.map(|id| (*id).to_owned());
    }
}

/// Rows and stamps of the store, if it exists.
pub(crate) fn stored(config: &Config) -> Result<(Vec<SessionRow>, Stamps), retro_engine::Error> {
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(Default::default()),
        Err(error) => return Err(error.into()),
    };
    match store.index_if_there()? {
        Some(index) if index.marks()? == store.marks() => Ok((index.session_rows()?, index.stamps()?)),
        // The index is from another time than the files, which may have more.
        Some(index) => {
            let mut rows = index.session_rows()?;
            let known: HashSet<SessionKey> = rows.iter().map(SessionRow::key).collect();
            let files = retro_engine::read::rows_of_files(&store)?;
            rows.extend(files.into_iter().filter(|row| !known.contains(&row.key())));
            rows.sort_by(|a, b| (&a.agent, &a.id).cmp(&(&b.agent, &b.id)));
            Ok((rows, index.stamps()?))
        }
        // The index is a cache. Without it, the session files list the captured sessions.
        None => Ok((retro_engine::read::rows_of_files(&store)?, Stamps::default())),
    }
}

fn from_row(config: &Config, row: &SessionRow, live: Option<&SessionFiles>) -> SessionView {
    let up_to_date = live.is_none_or(|session| !session.news);
    let resume = || by_name(&row.agent).and_then(|agent| agent.resume(&row.id, row.cwd.as_deref()));
    SessionView {
        short_id: row.id.clone(),
        turns: None,
        duration_ms: duration_ms(row.started_at, row.ended_at),
        cost_usd: None,
        cost_complete: false,
        figures: None,
        difference: None,
        outcome: None,
        agent: row.agent.clone(),
        session_id: row.id.clone(),
        title: row.title.as_deref().map(on_one_line),
        domain: row.project.as_deref().and_then(|project| config.domain(project)).map(str::to_owned),
        project: row.project.clone(),
        cwd: row.cwd.clone(),
        branch: row.branch.clone(),
        started_at: row.started_at,
        ended_at: row.ended_at,
        bytes: row.bytes,
        captured: true,
        up_to_date,
        evicted: false,
        forgotten: false,
        on_disk: live.is_some(),
        parent_session_id: row.parent.clone(),
        is_below: false,
        resume: live.filter(|session| can_resume(session)).and_then(|_| resume()),
    }
}

/// True if the agent still has the session: its main log is where the agent wrote it.
fn can_resume(session: &SessionFiles) -> bool {
    session.files.iter().any(|file| file.source.is_main())
}

/// The title without line breaks.
pub(crate) fn on_one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn duration_ms(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<u64> {
    u64::try_from(to?.as_millis().checked_sub(from?.as_millis())?).ok()
}

fn from_files(config: &Config, door: &Door, session: &SessionFiles) -> SessionView {
    let facts: Facts = peek(door, session);
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string());
    let project = cwd.as_deref().and_then(project_name);
    SessionView {
        agent: session.key.agent.clone(),
        session_id: session.key.id.clone(),
        short_id: session.key.id.clone(),
        turns: None,
        duration_ms: duration_ms(facts.started_at, facts.ended_at),
        cost_usd: None,
        cost_complete: false,
        figures: None,
        difference: None,
        outcome: None,
        title: facts.own_title().map(|title| on_one_line(&title.text)),
        domain: project.as_deref().and_then(|project| config.domain(project)).map(str::to_owned),
        project,
        branch: facts.branch.as_ref().map(|(_, branch)| branch.to_string()),
        started_at: facts.started_at,
        ended_at: facts.ended_at,
        bytes: session.bytes(),
        captured: false,
        up_to_date: false,
        evicted: false,
        forgotten: false,
        on_disk: true,
        parent_session_id: facts.parent().map(str::to_owned),
        is_below: false,
        resume: Some(session)
            .filter(|session| can_resume(session))
            .and_then(|session| session.agent.resume(&session.key.id, cwd.as_deref())),
        cwd,
    }
}

fn in_project(session: &SessionView, wanted: &str) -> bool {
    let named = session.project.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
    named || session.cwd.as_deref().is_some_and(|cwd| wanted.contains(['/', '\\']) && is_below(cwd, wanted))
}
