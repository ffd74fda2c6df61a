//! What of a store is looked through, as a question names it.

use jiff::civil::Date;
use retro_agents::by_name;
use retro_engine::platform::is_below;
use retro_model::SessionKey;
use retro_search::{Query, Scope};
use retro_store::SessionRow;

use super::SearchQuestion;
use super::library::Shelf;
use crate::Error;

/// Whether a session is of the folder that the question is asked in.
pub(super) fn is_here(shelf: &Shelf<'_>, session: u32, cwd: Option<&str>) -> bool {
    let Some(cwd) = cwd else { return false };
    let row = shelf.session(session);
    row.and_then(|row| row.cwd).is_some_and(|folder| is_below(cwd, &folder) || is_below(&folder, cwd))
}

/// Which sessions, and when.
pub(super) fn scope(shelf: &Shelf<'_>, question: &SearchQuestion, query: &Query) -> Result<Scope, Error> {
    let start = |day: Date| start_ms(day, question);
    let until = question.until.into_iter().chain(query.until).min();
    let agents: Vec<String> = question
        .agent
        .iter()
        .cloned()
        .chain(
            query
                .agents
                .iter()
                .map(|name| by_name(name).map_or_else(|| name.clone(), |agent| agent.name().to_owned())),
        )
        .collect();
    let projects: Vec<&String> = question.project.iter().chain(&query.projects).collect();
    let mut sessions = None;
    if !agents.is_empty() || !projects.is_empty() || question.session.is_some() {
        let is_wanted = |row: &SessionRow| {
            (agents.is_empty() || agents.contains(&row.agent))
                && (projects.is_empty() || projects.iter().any(|wanted| is_of_project(row, wanted)))
                && question.session.as_ref().is_none_or(|key| row.key() == *key || is_child(row, key))
        };
        let all = shelf.all()?.into_iter();
        sessions = Some(all.filter(|(_, row)| is_wanted(row)).map(|(number, _)| number).collect());
    }
    Ok(Scope {
        sessions,
        since_ms: since_ms(question, query),
        until_ms: until.and_then(|day| day.tomorrow().ok()).and_then(start),
        kinds: question.kinds.clone(),
        rewound: question.rewound,
    })
}

/// The first instant that is looked at, where the question or its words name one.
pub(super) fn since_ms(question: &SearchQuestion, query: &Query) -> Option<i64> {
    let day = question.since.into_iter().chain(query.since).max()?;
    start_ms(day, question)
}

fn start_ms(day: Date, question: &SearchQuestion) -> Option<i64> {
    day.to_zoned(question.tz.clone()).ok().map(|at| at.timestamp().as_millisecond())
}

/// Whether a session was started by another.
pub(super) fn is_child(row: &SessionRow, of: &SessionKey) -> bool {
    row.agent == of.agent && row.parent.as_ref() == Some(&of.id)
}

fn is_of_project(row: &SessionRow, wanted: &str) -> bool {
    let part = wanted.to_lowercase();
    row.project.as_deref().is_some_and(|name| name.to_lowercase().contains(&part))
        || row.cwd.as_deref().is_some_and(|cwd| is_below(cwd, wanted))
}
