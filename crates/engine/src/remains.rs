//! What is left of a session whose raw bytes were given up: the row by which lists know it,
//! the stamps of its live files, and what each stage kept of its rows.
//!
//! The document is truth. An index without the session's rows gets them back from it, and
//! from the files of truth beside it: ledger, digest, facts, what was mined.

use retro_model::SessionKey;
use retro_store::{Index, PlaceRow, REMAINS, SessionRow, Store};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

use crate::stages::{Stage, mine};
use crate::{Error, World};

const SCHEMA: &str = "retro.remains/1";

/// What the index knew of a session when it was evicted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Remains {
    schema: String,
    /// The row by which lists know it.
    pub session: SessionRow,
    /// Stamps of its live files: while these are the same, it is not captured again.
    pub places: Vec<PlaceRow>,
    /// What each stage kept of its rows.
    pub stages: BTreeMap<String, Value>,
}

impl Remains {
    /// What the index knows of a session now; nothing if it does not know it.
    pub(crate) fn of(world: &World, index: &Index, key: &SessionKey) -> Result<Option<Remains>, Error> {
        let Some(session) = index.session_row(key)? else { return Ok(None) };
        // A path that is no text has no JSON; its file is looked at again.
        let is_text = |place: &PlaceRow| place.path.to_str().is_some();
        let mut places: Vec<PlaceRow> = index.stamps_of(key)?.iter().filter(is_text).collect();
        places.sort_by(|a, b| a.path.cmp(&b.path));
        let mut stages = BTreeMap::new();
        for Stage { name, truth, .. } in world.stages {
            let kept = truth.map(|truth| (truth.keep)(index, key)).transpose()?;
            stages.extend(kept.filter(|kept| !kept.is_null()).map(|kept| ((*name).to_owned(), kept)));
        }
        Ok(Some(Remains { schema: SCHEMA.to_owned(), session, places, stages }))
    }

    /// The remains of a session, if it has any.
    pub(crate) fn read(store: &Store, key: &SessionKey) -> Result<Option<Remains>, Error> {
        let remains: Option<Remains> = store.object(&REMAINS, key)?;
        Ok(remains.filter(|remains| remains.schema == SCHEMA && remains.session.key() == *key))
    }

    /// What a stage kept; null if nothing.
    pub(crate) fn kept(&self, stage: &str) -> &Value {
        self.stages.get(stage).unwrap_or(&Value::Null)
    }

    /// Whether the index says of the session what this does.
    pub(crate) fn fits(&self, index: &Index) -> Result<bool, Error> {
        let key = self.session.key();
        let stamps = index.stamps_of(&key)?;
        let has_place = |place: &PlaceRow| stamps.get(&place.path).as_ref() == Some(place);
        Ok(index.session_row(&key)?.as_ref() == Some(&self.session) && self.places.iter().all(has_place))
    }
}

/// Takes words that a person wants forgotten, written as JSON, out of what was found in evicted
/// sessions.
pub(crate) fn clear_words(store: &Store, words: &[String]) -> Result<(), Error> {
    if words.is_empty() {
        return Ok(());
    }
    for key in store.remains_keys()? {
        let Some(mut remains) = Remains::read(store, &key)? else { continue };
        let Some(found) = remains.stages.get_mut(mine::STAGE.name) else { continue };
        if words.iter().filter(|words| mine::clear_words(found, words)).count() > 0 {
            store.put_object(&REMAINS, &key, &remains)?;
        }
    }
    Ok(())
}
