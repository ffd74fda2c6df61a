//! Files of which every session has at most one of each kind: one table says where they
//! are, what they look like, and whether losing one matters.
//!
//! Adding a kind is one line of [`KINDS`] and one of the register ([`crate::kept`]); what
//! mining methods find has a folder a method (`mined.rs`). Paths, listing, sizes,
//! verification and removal follow from it. What is truth waits in memory until [`Store::sync_all`] has
//! made the raw files durable that it speaks of; this store and its clones see it at once.

use retro_model::{SessionKey, SourceKey};
use serde::Serialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::error::RESTORE;
use crate::files::{Worth, bytes_in, entries, read_regular};
use crate::names::{self, Decoded};
use crate::session_file::read_session;
use crate::{Error, SessionFile, Slot, Store, lines, sealed};

/// One kind of file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    folder: Cow<'static, str>,
    ending: &'static str,
    pub(crate) form: Form,
}

/// What such a file looks like, and with it whether it is truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Truth: one JSON object that carries its checksum.
    Object,
    /// Truth: JSON lines, each with its checksum.
    Lines,
    /// Truth that people may read and change: text as it is.
    Text,
    /// A cache: written without waiting for the disk, believed only if it says what it
    /// was made from.
    Cache,
}

impl Kind {
    const fn of(folder: &'static str, ending: &'static str, form: Form) -> Kind {
        Kind { folder: Cow::Borrowed(folder), ending, form }
    }

    /// What one method found in a session.
    pub(crate) fn mined(method: &str) -> Kind {
        Kind { folder: Cow::Owned(mined_folder(method)), ending: ".json", form: Form::Text }
    }

    /// The same, as a block for a prompt.
    pub(crate) fn mined_prompt(method: &str) -> Kind {
        Kind { folder: Cow::Owned(mined_folder(method)), ending: ".prompt.md", form: Form::Text }
    }

    /// Its folder below the root, which is also its name.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// How the names of its files end.
    pub fn ending(&self) -> &'static str {
        self.ending
    }

    /// Whether it cannot be made again once raw bytes are gone.
    pub fn is_truth(&self) -> bool {
        self.form != Form::Cache
    }

    pub(crate) fn worth(&self) -> Worth {
        if self.is_truth() { Worth::Truth } else { Worth::Cache }
    }

    pub(crate) fn path(&self, root: &Path, key: &SessionKey) -> PathBuf {
        let name = format!("{}{}", names::encode(&key.id), self.ending);
        root.join(self.folder()).join(names::encode(&key.agent)).join(name)
    }

    /// What a file name in its folder stands for.
    pub(crate) fn decode(&self, name: &str) -> Option<Decoded> {
        names::decode(name.strip_suffix(self.ending)?)
    }

    /// What is wrong with the bytes of such a file, if anything is.
    pub(crate) fn check(&self, bytes: &[u8]) -> Option<String> {
        match self.form {
            Form::Object => sealed::unseal::<IgnoredAny>(bytes).err(),
            Form::Lines => lines::decode::<IgnoredAny>(bytes).err(),
            Form::Text | Form::Cache => None,
        }
    }
}

/// The folder of all that was mined.
pub(crate) const MINED: &str = "mined";

fn mined_folder(method: &str) -> String {
    format!("{MINED}/{}", names::encode(method))
}

/// How a session went.
pub static DIGESTS: Kind = Kind::of("digests", ".json", Form::Object);
/// What the outside world said of a session, one line an observation.
pub static FACTS: Kind = Kind::of("facts", ".jsonl", Form::Lines);
/// The settled use of models: one line a response.
pub static LEDGER: Kind = Kind::of("ledger", ".jsonl", Form::Lines);
/// The settled events of a quiet session.
pub(crate) static NORMALIZED: Kind = Kind::of("normalized", ".events.jsonl.zst", Form::Cache);
/// What the index knew of a session whose raw bytes were given up.
pub static REMAINS: Kind = Kind::of("remains", ".json", Form::Object);
/// A session as Markdown.
pub(crate) static RENDERED: Kind = Kind::of("rendered", ".md", Form::Cache);
/// What a session is.
pub(crate) static SESSIONS: Kind = Kind::of("sessions", ".json", Form::Object);

/// Every kind but those of mining methods, sorted by folder.
pub(crate) static KINDS: &[&Kind] = &[&DIGESTS, &FACTS, &LEDGER, &NORMALIZED, &REMAINS, &RENDERED, &SESSIONS];

/// Truth that is not on the disk yet, by kind and session.
pub(crate) type Waiting = BTreeMap<(Kind, SessionKey), Vec<u8>>;

impl Store {
    /// Keeps an object under a kind; false if it was so already.
    pub fn put_object(&self, kind: &Kind, key: &SessionKey, object: &impl Serialize) -> Result<bool, Error> {
        let path = kind.path(self.root(), key);
        let bytes = sealed::seal(object).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.put_document(kind, key, bytes)
    }

    /// The object kept under a kind.
    pub fn object<T: DeserializeOwned>(&self, kind: &Kind, key: &SessionKey) -> Result<Option<T>, Error> {
        let Some(bytes) = self.document(kind, key)? else { return Ok(None) };
        let path = kind.path(self.root(), key);
        let damaged = |what| Error::Damaged { path, what, help: RESTORE };
        sealed::unseal(&bytes).map(Some).map_err(damaged)
    }

    /// Keeps objects as the lines of a document; false if it was so already.
    pub fn put_lines(&self, kind: &Kind, key: &SessionKey, rows: &[impl Serialize]) -> Result<bool, Error> {
        let path = kind.path(self.root(), key);
        let bytes = lines::encode(rows).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.put_document(kind, key, bytes)
    }

    /// The lines kept under a kind; none where there is no such document.
    pub fn lines<T: DeserializeOwned>(&self, kind: &Kind, key: &SessionKey) -> Result<Vec<T>, Error> {
        let Some(bytes) = self.document(kind, key)? else { return Ok(Vec::new()) };
        let path = kind.path(self.root(), key);
        lines::decode(&bytes).map_err(|what| Error::Damaged { path, what, help: RESTORE })
    }

    /// Names the content of a document: equal name, equal content. Empty where there is none.
    pub fn name_of(&self, kind: &Kind, key: &SessionKey) -> Result<String, Error> {
        let Some(bytes) = self.document(kind, key)? else { return Ok(String::new()) };
        Ok(blake3::hash(&bytes).to_hex().chars().take(32).collect())
    }

    /// Keeps the bytes of a document; false if it was so already. Truth comes to the disk
    /// with the next [`Store::sync_all`], a cache at once.
    pub(crate) fn put_document(&self, kind: &Kind, key: &SessionKey, bytes: Vec<u8>) -> Result<bool, Error> {
        if !kind.is_truth() {
            self.files.put(&kind.path(self.root(), key), &bytes, Worth::Cache)?;
            return Ok(true);
        }
        if self.document(kind, key)?.as_ref() == Some(&bytes) {
            return Ok(false);
        }
        self.waiting().insert((kind.clone(), key.clone()), bytes);
        Ok(true)
    }

    /// The bytes of a document.
    pub(crate) fn document(&self, kind: &Kind, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        if let Some(bytes) = self.waiting().get(&(kind.clone(), key.clone())) {
            return Ok(Some(bytes.clone()));
        }
        let path = kind.path(self.root(), key);
        self.files.own(&path)?;
        read_regular(&path)
    }

    /// Whether the document of a session is damaged.
    pub fn is_damaged(&self, kind: &Kind, key: &SessionKey) -> Result<bool, Error> {
        Ok(self.document(kind, key)?.is_some_and(|bytes| kind.check(&bytes).is_some()))
    }

    /// Every session that has a document of a kind, sorted. The id of a name that was cut
    /// is in the document, where it is a session file.
    pub(crate) fn document_keys(&self, kind: &Kind) -> Result<Vec<SessionKey>, Error> {
        let of_kind = |(other, _): &&(Kind, SessionKey)| other == kind;
        let mut keys: BTreeSet<SessionKey> =
            self.waiting().keys().filter(of_kind).map(|(_, key)| key.clone()).collect();
        for (agent, folder) in self.agents(kind.folder())? {
            for entry in entries(&folder)?.into_iter().filter(|entry| entry.is_file) {
                match entry.name.as_deref().and_then(|name| kind.decode(name)) {
                    Some(Decoded::Id(id)) => keys.extend([SessionKey::new(agent.clone(), id)]),
                    Some(Decoded::Cut) => {
                        keys.extend(read_session(&entry.path)?.map(|file| file.key));
                    }
                    None => {}
                }
            }
        }
        Ok(keys.into_iter().collect())
    }

    /// Every session that has a document of any kind, by the names of its files.
    pub fn kept_keys(&self) -> Result<BTreeSet<SessionKey>, Error> {
        let mut keys = BTreeSet::new();
        for kind in KINDS.iter().filter(|kind| **kind != &SESSIONS) {
            keys.extend(self.document_keys(kind)?);
        }
        Ok(keys)
    }

    /// Removes a document; false if there was none.
    pub(crate) fn remove_document(&self, kind: &Kind, key: &SessionKey) -> Result<bool, Error> {
        let waited = self.waiting().remove(&(kind.clone(), key.clone())).is_some();
        Ok(self.files.remove(&kind.path(self.root(), key), kind.worth())? || waited)
    }

    /// Every kind of which this store may have files: the fixed ones, and two for each method
    /// that left something.
    pub(crate) fn kinds(&self) -> Result<Vec<Kind>, Error> {
        let methods = self.mined_methods()?;
        let mined = methods.iter().flat_map(|method| [Kind::mined(method), Kind::mined_prompt(method)]);
        Ok(KINDS.iter().map(|kind| (*kind).clone()).chain(mined).collect())
    }

    /// Room that all files of a session take.
    pub fn disk_bytes_of(&self, key: &SessionKey) -> Result<u64, Error> {
        let main = Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 1 };
        let main = bytes_at(&crate::layout::raw_file(self.root(), &main));
        Ok(main + bytes_in(&crate::layout::raw_folder(self.root(), key))? + self.document_bytes_of(key)?)
    }

    /// The same for a session whose raw files are those that its file names, as after its
    /// first capture: no folder is listed.
    pub fn disk_bytes_named(&self, file: &SessionFile) -> Result<u64, Error> {
        let revisions = file.sources.iter().flat_map(|(source, entry)| {
            (1..=entry.revisions).map(move |revision| Slot::Session {
                key: file.key.clone(),
                source: source.clone(),
                revision,
            })
        });
        let raw = revisions.map(|slot| bytes_at(&self.slot_path(&slot)));
        Ok(raw.sum::<u64>() + self.document_bytes_of(&file.key)?)
    }

    fn document_bytes_of(&self, key: &SessionKey) -> Result<u64, Error> {
        Ok(self.kinds()?.iter().map(|kind| bytes_at(&kind.path(self.root(), key))).sum())
    }
}

/// Bytes of the file at a path; none if there is none.
fn bytes_at(path: &Path) -> u64 {
    fs::symlink_metadata(path).map_or(0, |meta| meta.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_sorted_and_their_names_come_back() {
        assert!(KINDS.is_sorted_by_key(|kind| kind.folder()));
        let key = SessionKey::new("claude", "S 1");
        let mined = [Kind::mined("a_method"), Kind::mined_prompt("a_method")];
        for kind in KINDS.iter().map(|kind| (*kind).clone()).chain(mined) {
            let path = kind.path(Path::new("root"), &key);
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(kind.decode(name), Some(Decoded::Id("S 1".to_owned())), "{}", kind.folder());
        }
    }
}
