//! The sessions below a session, and a name for their captured bytes.

use retro_model::{Link, LinkKind, SessionKey};
use retro_store::{Index, SessionRow, Store};
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::Error;

/// Generations of children that are followed, because parents may name each other in a circle.
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

/// The sessions that name this one as their parent, and those that it names as its children. Some
/// agents write only one of the two.
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

/// The trees that contain these sessions, each complete and listed once.
pub(crate) fn trees(index: &Index, keys: &[SessionKey]) -> Result<Vec<Vec<SessionKey>>, Error> {
    let mut seen: BTreeSet<SessionKey> = BTreeSet::new();
    let mut trees = Vec::new();
    let linked = index.linked_sessions()?;
    for key in keys {
        if seen.contains(key) {
            continue;
        }
        let root = root(index, key, &linked)?;
        let mut tree = family(index, &root)?;
        tree.insert(0, root);
        seen.extend(tree.iter().cloned());
        seen.insert(key.clone());
        trees.push(tree);
    }
    Ok(trees)
}

/// The work left after part of a tree was captured again. A digest covers the whole tree and is
/// made from its bytes.
#[derive(Default)]
pub(crate) struct Rest {
    /// Sessions for which a stage may have seen an incomplete tree.
    pub members: Vec<SessionKey>,
    /// Live files of members that are still evicted. Without their stamps these files are captured
    /// again.
    pub paths: Vec<PathBuf>,
}

/// The members and live files of trees in which some sessions are still evicted.
pub(crate) fn rest_of_trees(store: &Store, index: &Index, keys: &[SessionKey]) -> Result<Rest, Error> {
    let mut rest = Rest::default();
    for tree in trees(index, keys)? {
        let mut paths = Vec::new();
        for key in &tree {
            if store.session(key)?.is_some_and(|file| file.evicted_at.is_some()) {
                paths.extend(index.stamps_of(key)?.iter().map(|place| place.path));
            }
        }
        if !paths.is_empty() {
            rest.paths.extend(paths);
            rest.members.extend(tree);
        }
    }
    Ok(rest)
}

/// The topmost session above a session. Parents may name each other in a circle.
fn root(index: &Index, key: &SessionKey, named: &[SessionRow]) -> Result<SessionKey, Error> {
    let mut root = key.clone();
    let mut passed = BTreeSet::from([root.clone()]);
    loop {
        let own = index.session_row(&root)?.and_then(|row| row.parent);
        let names = |row: &&SessionRow| {
            let is_root = |link: &Link| {
                link.kind == LinkKind::Child && link.session_id == root.id && row.agent == root.agent
            };
            row.links.iter().any(is_root)
        };
        let above = match own {
            Some(parent) => Some(SessionKey::new(&root.agent, &parent)),
            None => named.iter().find(names).map(SessionRow::key),
        };
        let Some(above) = above else { return Ok(root) };
        if index.session_row(&above)?.is_none() || !passed.insert(above.clone()) {
            return Ok(root);
        }
        root = above;
    }
}
