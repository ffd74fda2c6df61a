//! Resolves the names that a user types.

use retro_agents::{AGENTS, Agent, by_name};
use retro_engine::ask::Ledgers;
use retro_model::{SessionKey, Timestamp};
use retro_store::{SessionRow, Store};

use crate::Error;
use crate::clock::plausible;
use crate::family::Roots;

/// Selects the newest session.
const LATEST: &str = "latest";

/// The agents with this name: one, or all of them for `*` and `all`.
pub fn agent(name: &str) -> Result<Vec<&'static dyn Agent>, Error> {
    if matches!(name, "*" | "all") {
        return Ok(AGENTS.to_vec());
    }
    by_name(name).map(|agent| vec![agent]).ok_or_else(|| {
        let names = AGENTS.iter().flat_map(|a| std::iter::once(a.name()).chain(a.aliases().iter().copied()));
        let near = nearest(name, names);
        let hint = near.map_or(String::new(), |near| format!(", did you mean {near:?}?"));
        Error::NoAgent { name: name.to_owned(), hint }
    })
}

/// The known name nearest to a mistyped one, if any is similar.
pub fn nearest<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let likeness = |known: &&str| (strsim::jaro_winkler(typed, known) * 1000.0) as u32;
    names.into_iter().filter(|known| likeness(known) > 750).max_by_key(likeness)
}

/// Finds the session that the user's words name: an agent and a prefix of an id, an id alone,
/// `agent/id`, an agent alone for its newest session, or `latest`.
pub fn session(store: &Store, words: &[&str], now: Timestamp) -> Result<SessionKey, Error> {
    let rows = || match store.index_if_there()? {
        Some(index) => Ok(index.session_rows()?),
        None => Ok(Vec::new()),
    };
    among(store.session_keys()?, rows, words, now)
}

/// Like [`session`], for the sessions of a query, which need not be in the store yet.
pub fn session_in(ledgers: &Ledgers<'_>, words: &[&str], now: Timestamp) -> Result<SessionKey, Error> {
    session_among(ledgers.sessions()?, words, now)
}

/// Like [`session`], among the given rows.
pub(crate) fn session_among(
    rows: Vec<SessionRow>,
    words: &[&str],
    now: Timestamp,
) -> Result<SessionKey, Error> {
    among(rows.iter().map(SessionRow::key).collect(), || Ok(rows), words, now)
}

/// Splits the user's words into agent and id.
fn parted<'w>(words: &[&'w str]) -> (&'w str, &'w str) {
    match words {
        [agent, id, ..] => (agent, id),
        [one] => match one.split_once('/') {
            Some((agent, id)) if by_name(agent).is_some() => (agent, id),
            _ if matches!(*one, "*" | "all") || by_name(one).is_some() => (one, LATEST),
            _ => ("*", one),
        },
        [] => ("*", LATEST),
    }
}

/// Splits off the part behind a `#`: a turn number or an event id.
pub fn without_place<'w>(words: &[&'w str]) -> (Vec<&'w str>, Option<&'w str>) {
    let mut words = words.to_vec();
    let mut place = None;
    if let Some(last) = words.last_mut()
        && let Some((id, after)) = last.split_once('#')
    {
        (*last, place) = (id, Some(after));
    }
    (words, place)
}

fn among(
    mut keys: Vec<SessionKey>,
    rows: impl FnOnce() -> Result<Vec<SessionRow>, Error>,
    words: &[&str],
    now: Timestamp,
) -> Result<SessionKey, Error> {
    let (words, _) = without_place(words);
    let (agent_name, id) = parted(&words);
    let agents = agent(agent_name)?;
    keys.retain(|key| agents.iter().any(|agent| agent.name() == key.agent));
    if id == LATEST {
        let when = |row: &SessionRow| plausible([row.ended_at, row.started_at], now);
        let rows = rows()?;
        let roots =
            Roots::of(rows.iter().map(|row| (row.agent.as_str(), row.id.as_str(), row.parent.as_deref())));
        let is_wanted = |row: &&SessionRow| agents.iter().any(|agent| agent.name() == row.agent);
        let newest = rows
            .iter()
            .filter(|row| roots.contains(&row.agent, &row.id) && is_wanted(row))
            .max_by_key(|row| (when(row), row.mtime_ns, row.id.clone()));
        return newest.map(|row| row.key()).ok_or(Error::NoneYet);
    }
    if let Some(exact) = keys.iter().find(|key| key.id == id) {
        return Ok(exact.clone());
    }
    keys.retain(|key| key.id.starts_with(id));
    match keys.as_slice() {
        [] => Err(Error::NoSession { agent: agent_name.to_owned(), id: id.to_owned() }),
        [one] => Ok(one.clone()),
        several => Err(Error::Ambiguous {
            id: id.to_owned(),
            count: several.len(),
            examples: several.iter().take(3).map(|key| key.id.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(agent: &str, id: &str, ended: &str) -> SessionRow {
        let mut row = SessionRow::new(&SessionKey::new(agent, id));
        row.ended_at = Timestamp::parse(ended);
        row.started_at = row.ended_at;
        row
    }

    fn find(words: &[&str]) -> Result<String, String> {
        let rows = vec![
            row("claude", "6a1f0c52", "2026-03-02T09:00:00Z"),
            row("claude", "b2c94e10", "2026-03-03T09:00:00Z"),
            row("codex", "6a1f0c99", "2026-03-01T09:00:00Z"),
            row("grok", "future00", "2090-01-01T00:00:00Z"),
        ];
        let now = Timestamp::parse("2026-03-04T00:00:00Z").unwrap();
        let keys = rows.iter().map(SessionRow::key).collect();
        among(keys, || Ok(rows), words, now).map(|key| key.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_id_alone_an_agent_alone_or_both_name_a_session() {
        let claude = Ok("claude/b2c94e10".to_owned());
        for words in [
            &["b2c9"][..],
            &["claude", "b2c9"],
            &["cc", "latest"],
            &["claude"],
            &["claude/b2"],
            &["latest"],
            &["*", "latest"],
            &[],
        ] {
            assert_eq!(find(words), claude, "{words:?}");
        }
        assert_eq!(find(&["codex"]), Ok("codex/6a1f0c99".to_owned()));
        assert!(find(&["6a1f"]).unwrap_err().contains("2 sessions"));
        assert!(find(&["clade", "6a1f"]).unwrap_err().contains("did you mean \"claude\"?"));
    }

    #[test]
    fn a_clock_that_is_ahead_does_not_make_a_session_the_latest() {
        assert_eq!(find(&["latest"]), Ok("claude/b2c94e10".to_owned()));
        assert_eq!(find(&["grok", "latest"]), Ok("grok/future00".to_owned()));
    }
}
