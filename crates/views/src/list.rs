//! What is on this machine and what is in the store, together.

use retro_agents::{AGENTS, Agent, by_name};
use retro_engine::discover::{Discovery, Keep, Scope, SessionFiles, look};
use retro_engine::platform::{is_below, project_name};
use retro_engine::{Config, World, read::peek};
use retro_model::{Facts, LinkKind, SessionKey, Timestamp};
use retro_store::{RealDisk, SessionRow, Stamps, Store};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::Error;

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Only this agent.
    pub agent: Option<String>,
    /// Only sessions of this project: its name, or a folder.
    pub project: Option<String>,
    /// At most so many, newest first.
    pub limit: Option<usize>,
    /// Also sessions that are sub-agents of others.
    pub children: bool,
}

/// The answer.
#[derive(Debug, Clone, Serialize)]
pub struct ListView {
    /// `retro.list/1`.
    pub schema: &'static str,
    /// Newest first.
    pub sessions: Vec<SessionView>,
    /// How many fit, before the limit.
    pub total: usize,
    /// How many of these are in the store.
    pub captured: usize,
    /// Characters of an id that tell all of them apart, at least 8.
    pub id_length: usize,
    /// What the user should hear.
    pub warnings: Vec<String>,
    /// Agents that are used here and not supported yet.
    pub unsupported: Vec<&'static str>,
}

/// One session.
#[derive(Debug, Clone, Serialize)]
pub struct SessionView {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The agent's title, else the first real prompt.
    pub title: Option<String>,
    /// The project's name.
    pub project: Option<String>,
    /// The project's domain, where the configuration has one.
    pub domain: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The branch.
    pub branch: Option<String>,
    /// First time in the log.
    pub started_at: Option<Timestamp>,
    /// Last time in the log.
    pub ended_at: Option<Timestamp>,
    /// Bytes of its sources.
    pub bytes: u64,
    /// Whether it is in the store.
    pub captured: bool,
    /// Whether the store has all of it.
    pub up_to_date: bool,
    /// Whether its files are still where the agent wrote them.
    pub on_disk: bool,
    /// The session it is a part of.
    pub parent_session_id: Option<String>,
    /// The command that takes it up again.
    pub resume: Option<String>,
}

/// How far ahead of ours another clock may be. A session that claims to be later is
/// not the newest, or it would stand on top for ever.
const CLOCK_SKEW_MS_MAX: i64 = 86_400_000;

/// Lists sessions. Never captures and never creates a store.
pub fn list(world: &World, config: &Config, options: &ListOptions) -> Result<ListView, Error> {
    let scope = Scope::new(options.agent.as_deref(), None);
    let (rows, _, found) = look(world, config, &scope, Keep::All, || stored(config))?;
    let warnings = deletion_warnings(world, &found);
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
    for session in live.into_values() {
        sessions.push(from_files(config, session));
    }
    adopt(&mut sessions, &rows);
    let id_length = id_length(&sessions);
    sessions.retain(|session| options.children || session.parent_session_id.is_none());
    if let Some(project) = &options.project {
        sessions.retain(|session| in_project(session, project));
    }
    let latest = Timestamp::from_millis(world.now().as_millis().saturating_add(CLOCK_SKEW_MS_MAX));
    let when = |session: &SessionView| {
        [session.ended_at, session.started_at].into_iter().flatten().find(|ts| Some(*ts) <= latest)
    };
    sessions.sort_by(|a, b| (when(b), &a.session_id).cmp(&(when(a), &b.session_id)));
    let total = sessions.len();
    let captured = sessions.iter().filter(|session| session.captured).count();
    sessions.truncate(options.limit.unwrap_or(usize::MAX));
    Ok(ListView {
        schema: "retro.list/1",
        sessions,
        total,
        captured,
        id_length,
        warnings,
        unsupported: found.unsupported,
    })
}

/// Ids that are times (UUIDv7) begin alike: how much of them must be shown.
fn id_length(sessions: &[SessionView]) -> usize {
    let longest = sessions.iter().map(|session| session.session_id.chars().count()).max().unwrap_or(0);
    let told_apart = |length: &usize| {
        let mut seen = std::collections::HashSet::new();
        sessions.iter().all(|session| {
            let id: String = session.session_id.chars().take(*length).collect();
            seen.insert((session.agent.as_str(), id))
        })
    };
    (8..longest).find(told_apart).unwrap_or(longest.max(8))
}

/// Some agents name a child only in its parent's log: tells such children.
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

/// Rows and stamps of the store, if there is one.
pub(crate) fn stored(config: &Config) -> Result<(Vec<SessionRow>, Stamps), retro_engine::Error> {
    let store = match Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Ok(Default::default()),
        Err(error) => return Err(error.into()),
    };
    match store.index_if_there()? {
        Some(index) => Ok((index.session_rows()?, index.stamps()?)),
        None => Ok(Default::default()),
    }
}

fn from_row(config: &Config, row: &SessionRow, live: Option<&SessionFiles>) -> SessionView {
    let up_to_date = live.is_none_or(|session| !session.news);
    SessionView {
        agent: row.agent.clone(),
        session_id: row.id.clone(),
        title: row.title.clone(),
        domain: row.project.as_deref().and_then(|project| config.domain(project)).map(str::to_owned),
        project: row.project.clone(),
        cwd: row.cwd.clone(),
        branch: row.branch.clone(),
        started_at: row.started_at,
        ended_at: row.ended_at,
        bytes: row.bytes,
        captured: true,
        up_to_date,
        on_disk: live.is_some(),
        parent_session_id: row.parent.clone(),
        resume: by_name(&row.agent).and_then(|agent| agent.resume(&row.id, row.cwd.as_deref())),
    }
}

fn from_files(config: &Config, session: &SessionFiles) -> SessionView {
    let facts: Facts = peek(session);
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string());
    let project = cwd.as_deref().and_then(project_name);
    SessionView {
        agent: session.key.agent.clone(),
        session_id: session.key.id.clone(),
        title: facts.own_title().map(|title| title.text.to_string()),
        domain: project.as_deref().and_then(|project| config.domain(project)).map(str::to_owned),
        project,
        branch: facts.branch.as_ref().map(|(_, branch)| branch.to_string()),
        started_at: facts.started_at,
        ended_at: facts.ended_at,
        bytes: session.bytes(),
        captured: false,
        up_to_date: false,
        on_disk: true,
        parent_session_id: facts.parent().map(str::to_owned),
        resume: session.agent.resume(&session.key.id, cwd.as_deref()),
        cwd,
    }
}

fn in_project(session: &SessionView, wanted: &str) -> bool {
    let named = session.project.as_deref().is_some_and(|name| name.eq_ignore_ascii_case(wanted));
    named || session.cwd.as_deref().is_some_and(|cwd| wanted.contains(['/', '\\']) && is_below(cwd, wanted))
}

/// Days before its deletion at which a transcript is worth a warning.
const WARN_DAYS_BEFORE: u32 = 5;

/// Warnings about transcripts that their agent will soon delete.
pub(crate) fn deletion_warnings(world: &World, found: &Discovery) -> Vec<String> {
    let now_ms = world.now().as_millis();
    AGENTS.iter().filter_map(|agent| deletion_warning(*agent, found, now_ms)).collect()
}

fn deletion_warning(agent: &dyn Agent, found: &Discovery, now_ms: i64) -> Option<String> {
    let deletion = agent.deletion()?;
    let age_days = |session: &SessionFiles| (now_ms - session.mtime_ns() / 1_000_000) / 86_400_000;
    let near = |session: &&SessionFiles| {
        age_days(session) > i64::from(deletion.after_days.saturating_sub(WARN_DAYS_BEFORE))
    };
    let old: Vec<&SessionFiles> =
        found.sessions.iter().filter(|session| session.key.agent == agent.name()).filter(near).collect();
    let oldest = old.iter().map(|session| age_days(session)).max()?;
    let lost = old.iter().filter(|session| session.news).count();
    let safety = match lost {
        0 => "all of them are in the store".to_owned(),
        _ => format!("{lost} of them are not in the store: run `retro sync` now"),
    };
    Some(format!(
        "{} deletes transcripts after {} days ({}); {} here are close to it (oldest {oldest} days); {safety}",
        agent.title(),
        deletion.after_days,
        deletion.setting,
        old.len(),
    ))
}
