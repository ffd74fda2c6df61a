//! Mining results: a folder for each method, with a document and a block for prompts for each
//! session. Any method may have one; the store knows none by name.

use retro_model::SessionKey;
use std::path::PathBuf;

use crate::documents::{Kind, MINED};
use crate::files::entries;
use crate::names::Decoded;
use crate::store::whole_name;
use crate::{Error, Store};

impl Store {
    /// Stores the result of a method for a session, and its block for prompts. `None` removes both.
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

    /// The result of a method for a session.
    pub fn mined(&self, method: &str, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        self.document(&Kind::mined(method), key)
    }

    /// Whether these bytes are the result of a method, and its block for prompts exists.
    pub fn has_mined(&self, method: &str, key: &SessionKey, json: &[u8]) -> Result<bool, Error> {
        let is_same = self.mined(method, key)?.as_deref() == Some(json);
        Ok(is_same && self.document(&Kind::mined_prompt(method), key)?.is_some())
    }

    /// Path of the result of a method for a session.
    pub fn mined_path(&self, method: &str, key: &SessionKey) -> PathBuf {
        Kind::mined(method).path(self.root(), key)
    }

    /// The methods with results in this store, sorted.
    pub fn mined_methods(&self) -> Result<Vec<String>, Error> {
        let folders = entries(&self.root().join(MINED))?.into_iter().filter(|entry| entry.is_dir);
        let mut methods: Vec<String> =
            folders.filter_map(|entry| entry.name.as_deref().and_then(whole_name)).collect();
        methods.sort();
        Ok(methods)
    }

    /// Every session with a result, and the method, sorted.
    pub fn mined_keys(&self) -> Result<Vec<(String, SessionKey)>, Error> {
        let mut found = Vec::new();
        for method in self.mined_methods()? {
            let kind = Kind::mined(&method);
            for (agent, folder) in self.agents(kind.folder())? {
                for entry in entries(&folder)?.into_iter().filter(|entry| entry.is_file) {
                    if let Some(Decoded::Id(id)) = entry.name.as_deref().and_then(|name| kind.decode(name)) {
                        found.push((method.clone(), SessionKey::new(agent.clone(), id)));
                    }
                }
            }
        }
        found.sort();
        Ok(found)
    }
}
