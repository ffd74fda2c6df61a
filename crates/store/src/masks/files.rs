//! Putting masks over forgotten texts in every file that is kept: raw files, documents of
//! sessions, journals, notes.

use retro_model::SessionKey;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{MASKS, Masks};
use crate::documents::{self, Form, KINDS, Kind, document_path};
use crate::files::{Worth, entries, read_regular};
use crate::layout::{ASIDE, HEAD, INDEX, LOCK, PART, RAW, Slot};
use crate::sections::{Document, Section};
use crate::{Error, MaskedReader, Store, TOMBSTONES, lines, sealed};

/// What was covered in a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Covered {
    /// Masks that were put.
    pub masks: u64,
    /// The sources in whose raw files they are; nothing for one that serves many sessions.
    pub slots: Vec<Slot>,
    /// Raw files that cannot be read, and so not be covered. They are removed if they hold
    /// one of the texts as they are; the others are named.
    pub unreadable: Vec<PathBuf>,
    /// Raw files that hold something compressed, which is not looked into.
    pub compressed: Vec<PathBuf>,
}

/// How compressed data begins, as it is and in base64: gzip, zip, zstd, PNG.
const COMPRESSED: &[&[u8]] =
    &[b"\x1f\x8b\x08", b"H4sI", b"PK\x03\x04", b"UEsDB", b"\x28\xb5\x2f\xfd", b"KLUv/", b"iVBORw0KGgo"];

impl Store {
    /// Every raw file, of sessions and of those that serve many.
    pub fn all_slots(&self) -> Result<Vec<Slot>, Error> {
        let mut slots = Vec::new();
        for key in self.raw_keys()? {
            slots.extend(self.raw_slots(&key)?);
        }
        for (agent, _) in self.agents(RAW)? {
            slots.extend(self.shared_slots(&agent)?);
        }
        Ok(slots)
    }

    /// Looks where masks would be put. Changes nothing.
    pub fn uncovered(&self, masks: &Arc<Masks>) -> Result<Covered, Error> {
        let mut covered = Covered::default();
        for slot in self.all_slots()? {
            let Some((hits, is_compressed)) = self.hits_in(&slot, masks)? else {
                covered.unreadable.push(self.slot_path(&slot));
                continue;
            };
            if is_compressed {
                covered.compressed.push(self.slot_path(&slot));
            }
            if hits > 0 {
                covered.masks += hits;
                covered.slots.push(slot);
            }
        }
        Ok(covered)
    }

    /// Masks that a raw file needs, and whether it holds something compressed. Nothing of one
    /// that cannot be read.
    fn hits_in(&self, slot: &Slot, masks: &Arc<Masks>) -> Result<Option<(u64, bool)>, Error> {
        let reader = match self.archive(slot).read() {
            Err(Error::Damaged { .. }) => return Ok(None),
            reader => reader?,
        };
        let mut masked = MaskedReader::new(Sniffing { source: reader, found: false }, Arc::clone(masks));
        match std::io::copy(&mut masked, &mut std::io::sink()) {
            Ok(_) => Ok(Some((masked.hits(), masked.source().found))),
            Err(_) => Ok(None),
        }
    }

    /// Puts masks over texts in all raw files. What cannot be read and holds one of them goes.
    pub fn mask_raw(&self, masks: &Arc<Masks>, found: &Covered) -> Result<u64, Error> {
        let mut count = 0;
        for slot in &found.slots {
            count += self.archive(slot).mask(masks)?;
        }
        for path in &found.unreadable {
            if self.holds_text(path, masks)? {
                self.archive_at(path.clone()).remove()?;
            }
        }
        for entry in entries(&self.root().join(ASIDE))?.into_iter().filter(|entry| entry.is_file) {
            if self.holds_text(&entry.path, masks)? {
                self.files.remove(&entry.path, Worth::Truth)?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn holds_text(&self, path: &Path, masks: &Masks) -> Result<bool, Error> {
        crate::forget::has(path, &|bytes| masks.has(bytes))
    }

    /// Puts masks over texts in the documents of sessions. Those of older formats have been taken
    /// over; one that had to stay beside a document goes if it holds a text.
    pub fn mask_documents(&self, masks: &Masks) -> Result<u64, Error> {
        self.sync_all()?;
        let mut count = 0;
        for kind in KINDS.iter().filter(|kind| kind.is_truth() && kind.section_name().is_none()) {
            for key in self.document_keys(kind)? {
                count += u64::from(self.mask_document(kind, &key, masks)?);
            }
        }
        for key in self.kept_keys()? {
            count += self.mask_sections(&key, masks)?;
        }
        for kind in self.earlier_kinds()? {
            let Some((folder, ending)) = kind.earlier() else { continue };
            for (_, agent) in self.agents(folder)? {
                for entry in entries(&agent)?.into_iter().filter(|entry| entry.is_file) {
                    let is_one = entry.name.as_deref().is_some_and(|name| name.ends_with(ending));
                    if is_one && self.holds_text(&entry.path, masks)? {
                        self.files.remove(&entry.path, Worth::Truth)?;
                        count += 1;
                    }
                }
            }
        }
        Ok(count)
    }

    /// Puts masks over texts in the sections of a document. Says in how many. A damaged section
    /// goes: what it holds cannot be seen.
    fn mask_sections(&self, key: &SessionKey, masks: &Masks) -> Result<u64, Error> {
        let path = document_path(self.root(), key);
        self.files.own(&path)?;
        let Some(bytes) = read_regular(&path)? else { return Ok(0) };
        let before = Document::read(&bytes);
        let (mut after, mut count) = (Document::default(), 0);
        for (name, section) in before.iter() {
            let Ok(text) = section.text(name) else { continue };
            if !masks.has(&text) {
                after.put(name, Some(section.clone()));
                continue;
            }
            count += 1;
            let packed = masked(name, text, masks).map(|text| Section::pack(name, &text)).transpose();
            after.put(name, packed.map_err(Error::io("write", &path))?);
        }
        if after != before {
            match after.is_empty() {
                true => drop(self.files.remove(&path, Worth::Truth)?),
                false => self.files.put(&path, &after.bytes(), Worth::Truth)?,
            }
        }
        Ok(count)
    }

    fn mask_document(&self, kind: &Kind, key: &SessionKey, masks: &Masks) -> Result<bool, Error> {
        let Some(mut bytes) = self.document(kind, key)?.filter(|bytes| masks.has(bytes)) else {
            return Ok(false);
        };
        match kind.form {
            Form::Object => match sealed::unseal::<Value>(&bytes) {
                Ok(mut value) => {
                    masks.mask_value(&mut value);
                    self.put_object(kind, key, &value)?;
                }
                // It is damaged: there is nothing to keep of it.
                Err(_) => drop(self.remove_document(kind, key)?),
            },
            Form::Lines => match lines::decode::<Value>(&bytes) {
                Ok(mut rows) => {
                    for row in &mut rows {
                        masks.mask_value(row);
                    }
                    self.put_lines(kind, key, &rows)?;
                }
                Err(_) => drop(self.remove_document(kind, key)?),
            },
            Form::Text | Form::Cache => {
                masks.apply(&mut bytes);
                self.put_document(kind, key, bytes)?;
            }
        }
        Ok(true)
    }

    /// Puts masks over texts in every other file: journals, notes, the catalog of this store,
    /// what runs of a model printed.
    pub fn mask_others(&self, masks: &Masks) -> Result<u64, Error> {
        let kinds = KINDS.iter().map(|kind| kind.folder());
        let earlier = documents::sections().filter_map(|kind| Some(kind.earlier()?.0));
        let folders = kinds.chain(earlier).chain([documents::MINED]);
        let mut left: BTreeSet<PathBuf> = folders.map(|folder| self.root().join(folder)).collect();
        left.extend([RAW, INDEX, ASIDE].map(|folder| self.root().join(folder)));
        left.extend([HEAD, LOCK, MASKS, TOMBSTONES, "config.toml"].map(|name| self.root().join(name)));
        let (mut count, mut folders) = (0, vec![self.root().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in entries(&folder)?.into_iter().filter(|entry| !left.contains(&entry.path)) {
                if entry.is_dir {
                    folders.push(entry.path);
                } else if entry.is_file {
                    count += u64::from(self.mask_file(&entry.path, masks)?);
                }
            }
        }
        Ok(count)
    }

    /// Puts masks over texts in one file.
    pub fn mask_file(&self, path: &Path, masks: &Masks) -> Result<bool, Error> {
        let Some(bytes) = read_regular(path)? else { return Ok(false) };
        if path.to_string_lossy().ends_with(PART) {
            // What a stop left of a write.
            return if masks.has(&bytes) { self.files.remove(path, Worth::Cache) } else { Ok(false) };
        }
        let is_packed = path.extension().is_some_and(|ending| ending == "zst");
        let mut plain = match is_packed {
            true => {
                let mut plain = Vec::new();
                let decoder = zstd::stream::read::Decoder::new(&*bytes);
                let read = decoder.and_then(|mut decoder| decoder.read_to_end(&mut plain));
                if read.is_err() {
                    return Ok(false);
                }
                plain
            }
            false => bytes,
        };
        if masks.apply(&mut plain) == 0 {
            return Ok(false);
        }
        let bytes = match is_packed {
            true => zstd::encode_all(&*plain, 0).map_err(Error::io("compress for", path))?,
            false => plain,
        };
        self.files.put(path, &bytes, Worth::Truth)?;
        Ok(true)
    }
}

/// The text of a section with masks applied. `None` if the section is damaged or unknown.
fn masked(name: &str, mut text: Vec<u8>, masks: &Masks) -> Option<Vec<u8>> {
    let kind = documents::sections().find(|kind| kind.section_name() == Some(name));
    match kind.map(|kind| (kind, kind.form)) {
        Some((kind, Form::Object)) => {
            let mut value: Value = kind.parse(&text).ok()?;
            if let Value::Object(fields) = &mut value {
                // The checksum that older formats put there.
                fields.remove("check");
            }
            masks.mask_value(&mut value);
            sealed::pretty(&value).ok()
        }
        Some((_, Form::Lines)) => {
            let mut rows: Vec<Value> = lines::decode(&text).ok()?;
            for row in &mut rows {
                if let Value::Object(fields) = row {
                    fields.remove("check");
                }
                masks.mask_value(row);
            }
            lines::encode(&rows).ok()
        }
        _ => {
            masks.apply(&mut text);
            Some(text)
        }
    }
}

/// Looks at what goes by for the beginnings of compressed data.
struct Sniffing<R> {
    source: R,
    found: bool,
}

impl<R: Read> Read for Sniffing<R> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.source.read(out)?;
        let bytes = out.get(..count).unwrap_or_default();
        let begins = |mark: &&[u8]| memchr::memmem::find(bytes, mark).is_some();
        self.found = self.found || COMPRESSED.iter().any(begins);
        Ok(count)
    }
}
