//! Giving up the raw bytes of sessions, and keeping every answer that does not need them.
//!
//! A session goes with its whole tree, because a digest tells of the sessions below it, and
//! only once every stage has seen all of its bytes. What the index knows of it becomes its
//! remains (`remains.rs`). Files of truth, remains and the session file that says so are on
//! the medium before a byte is removed; whatever a stop leaves, the next sync finishes.

use retro_model::SessionKey;
use retro_store::{DIGESTS, Index, REMAINS, Store};
use serde::de::IgnoredAny;
use std::collections::{BTreeMap, HashSet};

use crate::Progress;
use crate::consumers::{self, Following};
use crate::family::trees;
use crate::remains::Remains;
use crate::stages::turns::FIRST_EVENT;
use crate::stages::{Everything, STAGES, Stage, When, Work};
use crate::sync::settle;
use crate::{Config, Error, World, digest_words};

/// What came of giving up sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Sessions whose raw bytes are gone.
    pub sessions: Vec<SessionKey>,
    /// Bytes on disk that are free now.
    pub freed: u64,
    /// Sessions that were left as they are, and why.
    pub left: Vec<(SessionKey, String)>,
}

/// Gives up the raw bytes of sessions and of every session in the same trees.
pub fn evict(
    world: &World,
    config: &Config,
    keys: &[SessionKey],
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Evicted, Error> {
    evict_with_loss(world, config, keys, &HashSet::new(), progress)
}

/// How often the members of a tree are brought up to date before one that is not is left.
const SETTLES_MAX: usize = 4;

/// The same. Those in `lost` go even if a stage has not seen all of them.
pub(crate) fn evict_with_loss(
    world: &World,
    config: &Config,
    keys: &[SessionKey],
    lost: &HashSet<SessionKey>,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Evicted, Error> {
    let store = Store::open(&config.root.value, world.disk.clone())?;
    let index = store.index()?;
    let mut evicted = Evicted::default();
    let trees = trees(&index, keys)?;
    let members: HashSet<SessionKey> = trees.iter().flatten().cloned().collect();
    // What is made of a child makes its parent due again.
    for _ in 0..SETTLES_MAX {
        settle(world, config, &store, &index, &members, progress)?;
        let is_due = |key| Ok::<_, Error>(!index.due_of(key)?.is_empty());
        if !members.iter().map(is_due).collect::<Result<Vec<_>, _>>()?.contains(&true) {
            break;
        }
    }
    // Somebody else may write in between: whether all was seen is asked under the lock.
    let lock = world.lock(&store)?.ok_or(Error::Interrupted)?;
    for tree in trees {
        if world.stopping() {
            break;
        }
        match why_not(&store, &index, &tree, lost) {
            Ok(Some((key, why))) => evicted.left.push((key, why)),
            Ok(None) => one_tree(world, &store, &index, &tree, &mut evicted)?,
            Err(error) if error.is_of_one_session() => {
                evicted.left.extend(tree.into_iter().next().map(|key| (key, error.to_string())));
            }
            Err(error) => return Err(error),
        }
    }
    drop(lock);
    let all = Everything { world, config, store: &store, index: &index, progress: &|_| {} };
    consumers::follow(&all, Following::default())?;
    Ok(evicted)
}

/// The stages that must have seen all of a session before its raw bytes go.
pub(crate) fn required() -> impl Iterator<Item = &'static Stage> {
    let is_of_session = |stage: &&Stage| matches!(stage.work, Work::Events(_) | Work::Session(_));
    STAGES.iter().filter(is_of_session).filter(|stage| stage.truth.is_some() || stage.when == When::Quiet)
}

/// The reason why a tree cannot be evicted, if there is one.
fn why_not(
    store: &Store,
    index: &Index,
    tree: &[SessionKey],
    lost: &HashSet<SessionKey>,
) -> Result<Option<(SessionKey, String)>, Error> {
    for key in tree {
        let Some(file) = store.session(key)? else {
            return Ok(Some((key.clone(), "it is not in the store".to_owned())));
        };
        if file.evicted_at.is_some() || lost.contains(key) {
            continue;
        }
        let due = index.due_of(key)?;
        for stage in required() {
            if due.iter().any(|name| name == stage.name) || index.made(key, stage.name)?.is_none() {
                return Ok(Some((key.clone(), format!("the stage {} has not seen all of it", stage.name))));
            }
        }
        if store.object::<IgnoredAny>(&DIGESTS, key)?.is_none() {
            return Ok(Some((key.clone(), "it has no digest".to_owned())));
        }
    }
    Ok(None)
}

fn one_tree(
    world: &World,
    store: &Store,
    index: &Index,
    tree: &[SessionKey],
    evicted: &mut Evicted,
) -> Result<(), Error> {
    let fits = index.marks()? == store.marks();
    let mut gone = Vec::new();
    for key in tree {
        let Some(mut file) = store.session(key)?.filter(|file| file.evicted_at.is_none()) else { continue };
        let before = store.disk_bytes_of(key)?;
        // On a full disk this makes the room for what is written next.
        store.remove_caches(key)?;
        file.evicted_at = Some(world.now());
        if let Some(remains) = remains_of(index, key)? {
            store.put_object(&REMAINS, key, &remains)?;
        }
        store.put_session(&file)?;
        gone.push((key.clone(), before));
    }
    store.sync_all()?;
    gone.iter().try_for_each(|(key, _)| store.remove_evicted(key))?;
    store.sync_all()?;
    let mut left = Vec::new();
    for (key, before) in &gone {
        let after = store.disk_bytes_of(key)?;
        evicted.freed += before.saturating_sub(after);
        let first = index.turns_of(key)?.into_iter().next().map(|turn| turn.event);
        let words = digest_words::packed(store, key, first.as_deref().unwrap_or(FIRST_EVENT))?;
        left.push((key, after, words));
    }
    let marks = fits.then(|| store.marks());
    index.write(|index| {
        for (key, bytes, words) in &mut left {
            index.evict_session(key)?;
            index.put_passages(key, words)?;
            index.put_disk_bytes(key, *bytes)?;
        }
        marks.iter().try_for_each(|marks| index.put_marks(marks))
    })?;
    evicted.sessions.extend(gone.into_iter().map(|(key, _)| key));
    Ok(())
}

/// Everything that the index has about a session. `None` if it does not know the session.
fn remains_of(index: &Index, key: &SessionKey) -> Result<Option<Remains>, Error> {
    let Some(session) = index.session_row(key)? else { return Ok(None) };
    let mut stages = BTreeMap::new();
    for Stage { name, truth, .. } in STAGES {
        let kept = truth.map(|truth| (truth.keep)(index, key)).transpose()?;
        stages.extend(kept.filter(|kept| !kept.is_null()).map(|kept| ((*name).to_owned(), kept)));
    }
    Ok(Some(Remains::new(session, index.stamps_of(key)?.iter().collect(), stages)))
}
