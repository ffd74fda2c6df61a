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

use crate::Error;

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
    /// What is left of a session: its row, the stamps of its live files, and what stages keep.
    pub(crate) fn new(
        session: SessionRow,
        mut places: Vec<PlaceRow>,
        stages: BTreeMap<String, Value>,
    ) -> Remains {
        // A path that is no text has no JSON; its file is looked at again.
        places.retain(|place| place.path.to_str().is_some());
        places.sort_by(|a, b| a.path.cmp(&b.path));
        Remains { schema: SCHEMA.to_owned(), session, places, stages }
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
