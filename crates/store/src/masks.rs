//! Texts that were forgotten: a journal that keeps no word of them, and finds them in bytes.
//!
//! Each form of a text (plain, escaped, encoded) is kept as its length, a keyed hash of all of
//! it, and two short keyed hashes, of its first eight bytes and of all of it, by which bytes are
//! sieved quickly. The key is this store's. Who has the store can check a guess of a whole text,
//! and learns 16 bits about the beginning of each form; see SECURITY.md.
//!
//! **Invariant.** A mask has the length of what it covers and keeps line ends, so that records
//! and their places stay the same. Masking twice changes nothing.

mod files;
mod matcher;
mod reader;

use retro_model::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::files::read_regular;
use crate::{Error, Journal, Lock, Store, TombstoneEvent, head};
pub use files::Covered;
use matcher::Matcher;
pub use reader::MaskedReader;

/// The journal.
pub const MASKS: &str = "masks.jsonl";

/// Hexadecimal digits of a mask's id.
const ID_DIGITS: usize = 12;

/// One line: a text was forgotten, all of that is done, or it may be kept again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// Names it: the beginning of the keyed hash of its plain form.
    pub id: String,
    /// What happened.
    pub event: TombstoneEvent,
    /// When.
    pub at: Timestamp,
    /// Names the key of the hashes.
    pub key: String,
    /// Its forms; none in later lines.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub forms: Vec<Form>,
}

/// A form of a text, without the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// Its bytes.
    pub length: u32,
    /// A short keyed hash of the first eight bytes.
    pub start: u16,
    /// A short keyed hash of all of it.
    pub short: u16,
    /// A keyed hash of all of it.
    pub hash: String,
}

/// The texts that are forgotten.
#[derive(Debug, Clone, Default)]
pub struct Masks {
    key: [u8; 32],
    key_name: String,
    /// The newest line of each, by id, with the forms of the first.
    lines: BTreeMap<String, Mask>,
    matcher: Option<Arc<Matcher>>,
}

static JOURNAL: Journal<Mask> = Journal::at(MASKS);

impl Store {
    /// The texts that are forgotten. Costs one look at a file while it is as it was.
    pub fn masks(&self) -> Result<Arc<Masks>, Error> {
        let stat = std::fs::symlink_metadata(self.root().join(MASKS)).ok();
        let looks = stat.map(|meta| (meta.len(), meta.modified().ok()));
        let mut known = self.masks.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((before, masks)) = &*known
            && *before == looks
        {
            return Ok(Arc::clone(masks));
        }
        let lines = if looks.is_some() { JOURNAL.read(self)?.0 } else { Vec::new() };
        let masks = Arc::new(Masks::of(key_of(self.head_key()), lines));
        *known = Some((looks, Arc::clone(&masks)));
        Ok(masks)
    }

    /// Adds lines. They are on the medium when it returns.
    pub fn add_masks(&self, lock: &Lock, lines: &[Mask]) -> Result<(), Error> {
        JOURNAL.append(lock, self, lines)?;
        *self.masks.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = None;
        Ok(())
    }

    /// Names a value by a hash with this store's key: the same for the same value, in whatever
    /// session it is.
    pub fn value_id(&self, value: &str) -> String {
        id_of(&key_of(self.head_key()), value.as_bytes())
    }
}

fn key_of(head_key: &str) -> [u8; 32] {
    blake3::derive_key("retro store 1 forgotten texts", head_key.as_bytes())
}

fn id_of(key: &[u8; 32], text: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(b"id\0").update(text);
    hasher.finalize().to_hex().chars().take(ID_DIGITS).collect()
}

impl Masks {
    /// What is forgotten in the store at `root`; nothing where there is no store.
    pub fn at(root: &Path) -> Masks {
        let read = || -> Option<Masks> {
            let bytes = read_regular(&root.join(MASKS)).ok()??;
            let key = key_of(&head::open(root).ok()?.key);
            let lines = bytes.split(|byte| *byte == b'\n');
            Some(Masks::of(key, lines.filter_map(|line| serde_json::from_slice(line).ok()).collect()))
        };
        read().unwrap_or_default()
    }

    fn of(key: [u8; 32], lines: Vec<Mask>) -> Masks {
        let mut known: BTreeMap<String, Mask> = BTreeMap::new();
        for line in lines {
            match known.get_mut(&line.id).filter(|_| line.event != TombstoneEvent::Forgotten) {
                Some(known) => (known.event, known.at) = (line.event, line.at),
                None => drop(known.insert(line.id.clone(), line)),
            }
        }
        let standing = known.values().filter(|line| line.event != TombstoneEvent::Undone);
        let forms: Vec<Form> = standing.flat_map(|line| line.forms.clone()).collect();
        let matcher = (!forms.is_empty()).then(|| Arc::new(Matcher::new(&key, &forms)));
        let key_name = blake3::hash(&key).to_hex().chars().take(16).collect();
        Masks { key, key_name, lines: known, matcher }
    }

    /// The same with further lines.
    pub fn with(&self, more: Vec<Mask>) -> Masks {
        Masks::of(self.key, self.lines.values().cloned().chain(more).collect())
    }

    /// Only these lines.
    pub fn only(&self, lines: Vec<Mask>) -> Masks {
        Masks::of(self.key, lines)
    }

    /// A line about a text, of which these are the forms.
    pub fn line(&self, text: &str, forms: &[Vec<u8>], at: Timestamp) -> Mask {
        Mask {
            id: id_of(&self.key, text.as_bytes()),
            event: TombstoneEvent::Forgotten,
            at,
            key: self.key_name.clone(),
            forms: forms.iter().filter_map(|form| Matcher::form(&self.key, form)).collect(),
        }
    }

    /// Whether nothing is forgotten.
    pub fn is_empty(&self) -> bool {
        self.matcher.is_none()
    }

    /// Every mask that holds, by id.
    pub fn standing(&self) -> impl Iterator<Item = &Mask> {
        self.lines.values().filter(|line| line.event != TombstoneEvent::Undone)
    }

    /// Those of which not everything is known to be removed.
    pub fn unfinished(&self) -> impl Iterator<Item = &Mask> {
        self.lines.values().filter(|line| line.event == TombstoneEvent::Forgotten)
    }

    /// Bytes of the longest form.
    pub fn longest(&self) -> usize {
        self.matcher.as_ref().map_or(0, |matcher| matcher.longest())
    }

    /// Whether some bytes hold one of the texts.
    pub fn has(&self, bytes: &[u8]) -> bool {
        self.matcher.as_ref().is_some_and(|matcher| matcher.has(bytes))
    }

    /// Puts masks over the texts in some bytes. Says over how many.
    pub fn apply(&self, bytes: &mut [u8]) -> u64 {
        self.matcher.as_ref().map_or(0, |matcher| matcher.apply(bytes))
    }

    /// The same in a text.
    pub fn masked(&self, text: &str) -> Option<String> {
        let mut bytes = text.as_bytes().to_vec();
        (self.apply(&mut bytes) > 0).then(|| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same in every text of a JSON value. Says whether there was one.
    pub fn mask_value(&self, value: &mut serde_json::Value) -> bool {
        use serde_json::Value;
        match value {
            Value::String(text) => match self.masked(text) {
                Some(masked) => {
                    *text = masked;
                    true
                }
                None => false,
            },
            Value::Array(values) => {
                let mut any = false;
                values.iter_mut().for_each(|value| any |= self.mask_value(value));
                any
            }
            Value::Object(fields) => {
                let mut any = false;
                let names: Vec<String> =
                    fields.keys().filter(|name| self.has(name.as_bytes())).cloned().collect();
                for name in names {
                    any = true;
                    if let (Some(value), Some(masked)) = (fields.remove(&name), self.masked(&name)) {
                        fields.insert(masked, value);
                    }
                }
                fields.values_mut().fold(any, |any, value| self.mask_value(value) || any)
            }
            _ => false,
        }
    }

    /// A source that is read through the masks, or as it is where there are none.
    pub fn reader<'a>(self: &Arc<Masks>, source: Box<dyn std::io::Read + 'a>) -> Box<dyn std::io::Read + 'a> {
        match self.is_empty() {
            true => source,
            false => Box::new(MaskedReader::new(source, Arc::clone(self))),
        }
    }

    pub(crate) fn matcher(&self) -> Option<&Arc<Matcher>> {
        self.matcher.as_ref()
    }
}

#[cfg(test)]
mod tests;
