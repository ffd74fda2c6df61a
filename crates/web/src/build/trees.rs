//! Which sessions belong together: a session, its sub-agents, and theirs.

use retro::model::SessionKey;
use std::collections::{HashMap, HashSet};

/// A tree that is deeper than this is taken for a circle.
const TREE_DEPTH_MAX: usize = 64;

/// The session at the top of each one's tree.
pub fn roots(rows: &[retro::store::SessionRow]) -> HashMap<SessionKey, SessionKey> {
    let mut parents: HashMap<SessionKey, SessionKey> = HashMap::new();
    let known: HashSet<SessionKey> = rows.iter().map(retro::store::SessionRow::key).collect();
    for row in rows {
        for link in row.links.iter().filter(|link| link.kind == retro::model::LinkKind::Child) {
            let child = SessionKey::new(row.agent.clone(), link.session_id.clone());
            parents.insert(child, row.key());
        }
    }
    for row in rows {
        if let Some(parent) = &row.parent {
            parents.insert(row.key(), SessionKey::new(row.agent.clone(), parent.clone()));
        }
    }
    let root_of = |key: &SessionKey| {
        let mut at = key;
        for _ in 0..TREE_DEPTH_MAX {
            match parents.get(at).filter(|parent| known.contains(parent)) {
                Some(parent) if parent == key => return key.clone(),
                Some(parent) => at = parent,
                None => return at.clone(),
            }
        }
        key.clone()
    };
    known.iter().map(|key| (key.clone(), root_of(key))).collect()
}
