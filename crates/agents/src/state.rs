//! Saving the state of a parser between two records of a source.
//!
//! A state is written as JSON, so that reading a log can continue where it ended.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Reads what [`save`] wrote; anything else is a fresh start.
pub(crate) fn load<S: DeserializeOwned + Default>(bytes: Option<&[u8]>) -> S {
    bytes.and_then(|bytes| serde_json::from_slice(bytes).ok()).unwrap_or_default()
}

/// Everything a parser remembers, as bytes.
pub(crate) fn save<S: Serialize>(state: &S) -> Vec<u8> {
    serde_json::to_vec(state).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_cannot_be_read_is_a_fresh_start() {
        let state = Some("model".to_owned());
        assert_eq!(load::<Option<String>>(Some(&save(&state))), state);
        assert_eq!(load::<Option<String>>(Some(b"not json")), None);
        assert_eq!(load::<Option<String>>(None), None);
    }
}
