//! The sessions below a session: which they are, and a name for what is captured of them.

use retro_model::{LinkKind, SessionKey};
use retro_store::{Index, SessionRow};

use crate::Error;

/// Generations of children that are followed: parents may name each other in a circle.
const DEPTH_MAX: u32 = 32;

/// Names the captured bytes of all sessions below one.
pub(crate) fn children_content(index: &Index, key: &SessionKey, depth: u32) -> Result<String, Error> {
    let mut parts = String::new();
    if depth < DEPTH_MAX {
        for child in children_of(index, key)? {
            let below = children_content(index, &child.key(), depth + 1)?;
            parts.push_str(&format!("{}={}({below}) ", child.id, child.content));
        }
    }
    Ok(parts)
}

/// The sessions that name this one as their parent, and those that it names as its
/// children: some agents write only one of the two.
fn children_of(index: &Index, key: &SessionKey) -> Result<Vec<SessionRow>, Error> {
    let mut children = index.children_of(key)?;
    let links = index.session_row(key)?.map(|row| row.links).unwrap_or_default();
    for link in links.iter().filter(|link| link.kind == LinkKind::Child) {
        let child = SessionKey::new(&key.agent, &link.session_id);
        if !children.iter().any(|known| known.key() == child) {
            children.extend(index.session_row(&child)?);
        }
    }
    children.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(children)
}

/// All sessions below one, parents before their children.
pub(crate) fn family(index: &Index, key: &SessionKey) -> Result<Vec<SessionKey>, Error> {
    let mut family: Vec<SessionKey> = Vec::new();
    let mut next = vec![key.clone()];
    while let Some(parent) = next.pop() {
        for child in children_of(index, &parent)? {
            let child = child.key();
            if child != *key && !family.contains(&child) {
                family.push(child.clone());
                next.push(child);
            }
        }
    }
    Ok(family)
}
