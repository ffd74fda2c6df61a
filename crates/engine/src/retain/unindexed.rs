//! Sessions that the store has and the index has not: those of a lost index, and those that
//! nothing can read.
//!
//! Which of both only a sync can tell. It also brings back what else a sweep needs to know: who
//! is of one tree, and how live files looked. So a sync remembers in the index what it could not
//! read; with the index that is lost too.

use retro_model::SessionKey;
use retro_store::{Index, SessionRow, Store};
use std::collections::{BTreeSet, HashSet};

use crate::Error;

/// Under which name the index remembers what a sync could not read.
const UNREAD: &str = "retention_unread";

/// Sessions of the store that the index does not have.
#[derive(Default)]
pub(super) struct Unindexed {
    /// A sync could not read these.
    pub unread: BTreeSet<SessionKey>,
    /// No sync has tried these.
    pub lost: BTreeSet<SessionKey>,
}

fn unindexed(store: &Store, index: &Index) -> Result<BTreeSet<SessionKey>, Error> {
    let known: HashSet<SessionKey> = index.session_rows()?.iter().map(SessionRow::key).collect();
    let all = store.session_keys()?.into_iter().chain(store.raw_keys()?);
    Ok(all.filter(|key| !known.contains(key)).collect())
}

/// Remembers which sessions a sync of everything, which has just ended, could not read.
pub(super) fn remember(store: &Store, index: &Index) -> Result<(), Error> {
    let unread: Vec<String> = unindexed(store, index)?.iter().map(name).collect();
    let text = unread.join("\n");
    if index.meta(UNREAD)?.unwrap_or_default() != text {
        index.write(|index| index.set_meta(UNREAD, &text))?;
    }
    Ok(())
}

/// Sessions that the index does not have, by whether a sync has tried them.
pub(super) fn look(store: &Store, index: &Index) -> Result<Unindexed, Error> {
    let all = unindexed(store, index)?;
    if all.is_empty() {
        return Ok(Unindexed::default());
    }
    let text = index.meta(UNREAD)?.unwrap_or_default();
    let tried: HashSet<&str> = text.lines().collect();
    let (unread, lost) = all.into_iter().partition(|key| tried.contains(name(key).as_str()));
    Ok(Unindexed { unread, lost })
}

/// Names a session on one line.
fn name(key: &SessionKey) -> String {
    format!("{} {}", retro_store::names::encode(&key.agent), retro_store::names::encode(&key.id))
}
