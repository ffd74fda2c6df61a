//! What methods found in a session, as it is kept: a section of its document and a body a
//! method, and what they saw of it.

use retro_memory::{Mined, prompt};
use retro_model::SessionKey;
use retro_store::Store;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;

/// The stage that mines.
pub(crate) const STAGE: &str = "mine";
/// Bodies: what methods found in a session, a part a method.
pub(crate) const MINED: &str = "mined";
/// What a session did after memories were shown to it.
pub(crate) const PAST: &str = "past";
/// Everything that methods saw in a session, to choose from again.
pub(crate) const FINDINGS: &str = "findings";

/// The part that no file holds. What methods found is in the document of the session.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Rest {
    pub past: Option<String>,
    pub findings: Option<String>,
}

/// Takes everything that was found out of what was kept, if it holds these words, written as JSON.
pub(crate) fn clear_words(kept: &mut Value, words: &str) -> bool {
    let Ok(mut rest) = serde_json::from_value::<Rest>(kept.clone()) else { return false };
    let holds = |text: &String| text.contains(words);
    let is_there = rest.findings.as_ref().is_some_and(holds);
    rest.findings.take_if(|text| holds(text));
    *kept = serde_json::to_value(rest).unwrap_or_default();
    is_there
}

/// Keeps what a method found, and its block for a prompt; gives the content. It comes to the
/// disk with the next `Store::sync_all`.
pub fn keep(store: &Store, key: &SessionKey, mined: &Mined) -> Result<String, Error> {
    let mut json = serde_json::to_string_pretty(mined).unwrap_or_default();
    json.push('\n');
    if store.has_mined(&mined.method, key, json.as_bytes())? {
        return Ok(json);
    }
    store.put_mined(&mined.method, key, Some((json.as_bytes(), &prompt::prompt_block(mined))))?;
    Ok(json)
}
