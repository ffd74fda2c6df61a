//! Mining results: two sections for each method in the document of a session, its result and a
//! block for prompts. Any method may have them; the store knows none by name.

use retro_model::SessionKey;
use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::documents::{Kind, method_of};
use crate::{Error, Store};

impl Store {
    /// Stores the result of a method for a session, and its block for prompts. `None` removes both.
    /// The caller holds the lock.
    pub fn put_mined(
        &self,
        method: &str,
        key: &SessionKey,
        found: Option<(&[u8], &str)>,
    ) -> Result<(), Error> {
        let (mined, prompt) = (Kind::mined(method), Kind::mined_prompt(method));
        match found {
            Some((json, block)) => {
                self.put_document(&mined, key, json.to_vec())?;
                self.put_document(&prompt, key, block.as_bytes().to_vec())?;
            }
            None => {
                self.remove_document(&mined, key)?;
                self.remove_document(&prompt, key)?;
            }
        }
        Ok(())
    }

    /// The result of a method for a session. `None` also if it is damaged.
    pub fn mined(&self, method: &str, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        self.unless_damaged(&Kind::mined(method), key)
    }

    /// The block for prompts of that result. `None` also if it is damaged.
    pub fn mined_prompt(&self, method: &str, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        self.unless_damaged(&Kind::mined_prompt(method), key)
    }

    fn unless_damaged(&self, kind: &Kind, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        match self.document(kind, key) {
            Err(Error::Damaged { .. }) => Ok(None),
            found => found,
        }
    }

    /// Whether these bytes are the result of a method, and its block for prompts exists.
    pub fn has_mined(&self, method: &str, key: &SessionKey, json: &[u8]) -> Result<bool, Error> {
        let is_same = self.mined(method, key)?.as_deref() == Some(json);
        Ok(is_same && self.mined_prompt(method, key)?.is_some())
    }

    /// Path of the document with the result of a method, and the name of its section.
    pub fn mined_path(&self, method: &str, key: &SessionKey) -> (PathBuf, String) {
        let kind = Kind::mined(method);
        (kind.path(self.root(), key), kind.section_name().unwrap_or_default().to_owned())
    }

    /// The methods with results for a session, damaged or not.
    pub fn mined_methods(&self, key: &SessionKey) -> Result<BTreeSet<String>, Error> {
        Ok(self.section_names(key)?.iter().filter_map(|name| method_of(name)).collect())
    }

    /// All results, by method and session. Reads every document.
    pub fn all_mined(&self) -> Result<Vec<(String, SessionKey, Vec<u8>)>, Error> {
        let mut found = Vec::new();
        for key in self.kept_keys()? {
            for method in self.mined_methods(&key)? {
                let mined = self.mined(&method, &key)?;
                found.extend(mined.map(|bytes| (method, key.clone(), bytes)));
            }
        }
        found.sort();
        Ok(found)
    }
}
