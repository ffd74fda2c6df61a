//! Sub-agents that are logged as separate sessions.
//!
//! Some agents keep a sub-agent's work inside the session, others as a session beside it. A reader
//! of the parent sees both the same way: the child's events are on a thread named after its id.

use retro_agents::by_name;
use retro_engine::read;
use retro_model::{Event, LinkKind, SessionKey, Thread};
use retro_store::Store;
use std::collections::{HashMap, HashSet};

use crate::Error;

/// At most this many sessions of a tree are shown together.
const FAMILY_MAX: usize = 200;

/// Finds the root sessions: those without a parent, those whose parent is missing, and those whose
/// ancestors form a cycle. Every session is a root or below one, so every session is in some list.
pub(crate) struct Roots<'a>(HashMap<(&'a str, &'a str), Option<&'a str>>);

impl<'a> Roots<'a> {
    /// Takes the agent, id and parent id of each session.
    pub(crate) fn of(sessions: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>)>) -> Roots<'a> {
        Roots(sessions.map(|(agent, id, parent)| ((agent, id), parent)).collect())
    }

    /// True if the session is a root.
    pub(crate) fn contains(&self, agent: &str, id: &str) -> bool {
        let parent_of = |id: &str| self.0.get(&(agent, id)).copied().flatten();
        let Some(parent) = parent_of(id) else { return true };
        if !self.0.contains_key(&(agent, parent)) {
            return true;
        }
        let mut above = Some(parent);
        let mut seen = HashSet::new();
        while let Some(next) = above.filter(|next| seen.insert(*next)) {
            if next == id {
                return true;
            }
            above = parent_of(next);
        }
        false
    }
}

/// The events of all descendants of a session, each session on its own thread.
pub(crate) fn children(store: &Store, key: &SessionKey, events: &[Event]) -> Result<Vec<Event>, Error> {
    let mut seen = HashSet::from([key.clone()]);
    let mut waiting = named(key, events);
    waiting.extend(linked(store, key)?);
    let mut all = Vec::new();
    while let Some(child) = waiting.pop() {
        if seen.len() > FAMILY_MAX || !seen.insert(child.clone()) || store.session(&child)?.is_none() {
            continue;
        }
        let Some(agent) = by_name(&child.agent) else { continue };
        let mut events = read::legible(store, agent, &child)?.settled.events;
        // A child that got its parent's history holds copies of it.
        events.retain(|event| event.copy_of.is_none());
        waiting.extend(named(&child, &events));
        for event in events.iter_mut().filter(|event| event.thread.is_main()) {
            event.thread = Thread::sub(child.id.clone());
        }
        all.extend(events);
    }
    Ok(all)
}

/// Sessions that the events name as started or reported on.
fn named(key: &SessionKey, events: &[Event]) -> Vec<SessionKey> {
    let ids: HashSet<&String> = events.iter().filter_map(|event| event.child.as_ref()).collect();
    ids.into_iter().map(|id| SessionKey::new(key.agent.clone(), id.clone())).collect()
}

/// Sessions that name this one as their parent.
fn linked(store: &Store, key: &SessionKey) -> Result<Vec<SessionKey>, Error> {
    let Some(index) = store.index_if_there()? else { return Ok(Vec::new()) };
    let is_child = |row: &retro_store::SessionRow| {
        row.agent == key.agent
            && row.links.iter().any(|link| link.kind == LinkKind::Parent && link.session_id == key.id)
    };
    Ok(index.session_rows()?.iter().filter(|row| is_child(row)).map(|row| row.key()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_is_a_root_or_below_one() {
        let sessions = [
            ("x", "root", None),
            ("x", "child", Some("root")),
            ("x", "orphan", Some("gone")),
            ("x", "below", Some("orphan")),
            ("x", "a", Some("b")),
            ("x", "b", Some("a")),
            ("x", "own", Some("own")),
            ("y", "child", Some("root")),
        ];
        let roots = Roots::of(sessions.into_iter());
        let are: Vec<String> = sessions
            .iter()
            .filter(|(agent, id, _)| roots.contains(agent, id))
            .map(|(agent, id, _)| format!("{agent} {id}"))
            .collect();
        assert_eq!(are, ["x root", "x orphan", "x a", "x b", "x own", "y child"]);
    }
}
