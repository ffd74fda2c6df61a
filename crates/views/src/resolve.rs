//! From what a user types to what is meant.

use retro_agents::{AGENTS, Agent, by_name};
use retro_engine::ask::Ledgers;
use retro_model::SessionKey;
use retro_store::{SessionRow, Store};

use crate::Error;

/// The agents a name means: one, or all of them for `*` and `all`.
pub fn agent(name: &str) -> Result<Vec<&'static dyn Agent>, Error> {
    if matches!(name, "*" | "all") {
        return Ok(AGENTS.to_vec());
    }
    by_name(name).map(|agent| vec![agent]).ok_or_else(|| {
        let names = AGENTS.iter().flat_map(|a| std::iter::once(a.name()).chain(a.aliases().iter().copied()));
        let likeness = |known: &&str| (strsim::jaro_winkler(name, known) * 1000.0) as u32;
        let near = names.into_iter().filter(|known| likeness(known) > 750).max_by_key(likeness);
        let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
        Error::NoAgent { name: name.to_owned(), hint }
    })
}

/// The session of the store that a prefix of its id means, or `latest`.
pub fn session(store: &Store, agent_name: &str, id: &str) -> Result<SessionKey, Error> {
    let rows = || match store.index_if_there()? {
        Some(index) => Ok(index.session_rows()?),
        None => Ok(Vec::new()),
    };
    among(store.session_keys()?, rows, agent_name, id)
}

/// The same among sessions that a question is answered from: they may not lie in the
/// store yet.
pub fn session_in(ledgers: &Ledgers<'_>, agent_name: &str, id: &str) -> Result<SessionKey, Error> {
    let rows = ledgers.sessions()?;
    among(rows.iter().map(SessionRow::key).collect(), || Ok(rows), agent_name, id)
}

fn among(
    mut keys: Vec<SessionKey>,
    rows: impl FnOnce() -> Result<Vec<SessionRow>, Error>,
    agent_name: &str,
    id: &str,
) -> Result<SessionKey, Error> {
    let agents = agent(agent_name)?;
    keys.retain(|key| agents.iter().any(|agent| agent.name() == key.agent));
    if id == "latest" {
        let newest = rows()?
            .into_iter()
            .filter(|row| row.parent.is_none() && agents.iter().any(|agent| agent.name() == row.agent))
            .max_by_key(|row| (row.ended_at, row.mtime_ns, row.id.clone()));
        return newest
            .map(|row| row.key())
            .ok_or_else(|| Error::NoSession { agent: agent_name.to_owned(), id: id.to_owned() });
    }
    if let Some(exact) = keys.iter().find(|key| key.id == id) {
        return Ok(exact.clone());
    }
    keys.retain(|key| key.id.starts_with(id));
    match keys.as_slice() {
        [] => Err(Error::NoSession { agent: agent_name.to_owned(), id: id.to_owned() }),
        [one] => Ok(one.clone()),
        several => Err(Error::Ambiguous {
            agent: agent_name.to_owned(),
            id: id.to_owned(),
            count: several.len(),
            examples: several.iter().take(3).map(|key| key.id.as_str()).collect::<Vec<_>>().join(", "),
        }),
    }
}
