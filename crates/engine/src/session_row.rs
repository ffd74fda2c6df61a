//! Facts about a session from its sources, and the session's row for lists.

use retro_model::Facts;
use retro_store::{SessionFile, SessionRow, SourceRow};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

use crate::platform::project_name;

/// Facts about a session from the records of one source. The unfinished last line is kept apart,
/// because it is read again when it grows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceFacts {
    /// Facts from whole lines.
    pub lines: Facts,
    /// Facts from the last line, if it has no end yet but parses as a record.
    #[serde(default)]
    pub tail: Facts,
}

/// The facts in the row of a source. `None` if they cannot be read.
pub(crate) fn facts_of(row: &SourceRow) -> Option<SourceFacts> {
    match row.facts == *NO_FACTS {
        true => Some(SourceFacts::default()),
        false => serde_json::from_str(&row.facts).ok(),
    }
}

/// The encoding of a source without facts. A session may have thousands of such sources, so they
/// are not parsed.
static NO_FACTS: LazyLock<String> =
    LazyLock::new(|| serde_json::to_string(&SourceFacts::default()).unwrap_or_default());

/// The facts of a session from those of its sources, in source order.
pub(crate) fn merged_facts(sources: impl Iterator<Item = SourceFacts>) -> Facts {
    let mut facts = Facts::default();
    for of_source in sources {
        facts.merge(&of_source.lines);
        facts.merge(&of_source.tail);
    }
    facts
}

/// The row of a session for lists.
pub(crate) fn session_row<'a>(
    file: &SessionFile,
    rows: impl Iterator<Item = &'a SourceRow>,
    mtime_ns: i64,
    content: String,
) -> SessionRow {
    let facts = &file.facts;
    let title = facts.own_title();
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string());
    SessionRow {
        agent: file.key.agent.clone(),
        id: file.key.id.clone(),
        title_rank: title.as_ref().map(|title| title.rank),
        title: title.map(|title| title.text.to_string()),
        project: cwd.as_deref().and_then(project_name),
        cwd,
        branch: facts.branch.as_ref().map(|(_, branch)| branch.to_string()),
        started_at: facts.started_at,
        ended_at: facts.ended_at,
        parent: facts.parent().map(str::to_owned),
        bytes: rows.map(|row| row.end).sum(),
        mtime_ns,
        links: facts.links.clone(),
        limits: facts.limits.clone(),
        content,
    }
}
