//! Texts of which every session has at most one of each kind: one table says where they are,
//! what they look like, and whether losing one matters.
//!
//! Most kinds are sections of the one document of a session (`sections.rs`); the others have a
//! file each. Adding a kind is one line of [`KINDS`] and one of the register
//! ([`crate::kept`]); what mining methods find has a section a method (`mined.rs`). Paths,
//! listing, sizes, verification and removal follow from it. What is truth waits in memory
//! until [`Store::sync_all`] has made the raw files durable that it speaks of; this store and
//! its clones see it at once.

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
use crate::sections::{Document, Section};
use crate::session_file::decode_session;
use crate::store::whole_name;
use crate::{Error, SessionFile, Slot, Store, lines, sealed};

/// One kind of text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kind {
    place: Place,
    pub(crate) form: Form,
}

/// Where texts of a kind are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// In the document of the session. Formats 1 and 2 had a folder for each.
    Section { name: Cow<'static, str>, earlier: Cow<'static, str>, ending: &'static str },
    /// In a folder below the root, one file a session.
    Folder { name: &'static str, ending: &'static str },
}

/// What such a text looks like, and with it whether it is truth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Form {
    /// Truth: one JSON object. A file of its own carries its checksum.
    Object,
    /// Truth: JSON lines. Formats 1 and 2 had a checksum in each.
    Lines,
    /// Truth that people may read and change: text as it is.
    Text,
    /// A cache: written without waiting for the disk, believed only if it says what it
    /// was made from.
    Cache,
}

/// The folder of documents, and the ending of their names.
pub(crate) const DOCUMENTS: &str = "sessions";
pub(crate) const DOCUMENT_ENDING: &str = ".zst";

/// Where the document of a session is.
pub(crate) fn document_path(root: &Path, key: &SessionKey) -> PathBuf {
    path_of(root, DOCUMENTS, key, DOCUMENT_ENDING)
}

fn path_of(root: &Path, folder: &str, key: &SessionKey, ending: &str) -> PathBuf {
    root.join(folder).join(names::encode(&key.agent)).join(format!("{}{ending}", names::encode(&key.id)))
}

impl Kind {
    const fn section(
        name: &'static str,
        (earlier, ending): (&'static str, &'static str),
        form: Form,
    ) -> Kind {
        let (name, earlier) = (Cow::Borrowed(name), Cow::Borrowed(earlier));
        Kind { place: Place::Section { name, earlier, ending }, form }
    }

    const fn file(name: &'static str, ending: &'static str, form: Form) -> Kind {
        Kind { place: Place::Folder { name, ending }, form }
    }

    /// What one method found in a session.
    pub(crate) fn mined(method: &str) -> Kind {
        Kind::of_method(method, MINED_ENDING)
    }

    /// The same, as a block for a prompt.
    pub(crate) fn mined_prompt(method: &str) -> Kind {
        Kind::of_method(method, PROMPT_ENDING)
    }

    fn of_method(method: &str, ending: &'static str) -> Kind {
        let earlier = format!("{MINED}/{}", names::encode(method));
        let name = format!("{earlier}{ending}");
        Kind {
            place: Place::Section { name: name.into(), earlier: earlier.into(), ending },
            form: Form::Text,
        }
    }

    /// The folder below the root that its texts are in.
    pub fn folder(&self) -> &str {
        match self.place {
            Place::Section { .. } => DOCUMENTS,
            Place::Folder { name, .. } => name,
        }
    }

    /// How the names of its files end.
    pub fn ending(&self) -> &'static str {
        match self.place {
            Place::Section { .. } => DOCUMENT_ENDING,
            Place::Folder { ending, .. } => ending,
        }
    }

    /// The name of its section, if it is one of the document.
    pub fn section_name(&self) -> Option<&str> {
        match &self.place {
            Place::Section { name, .. } => Some(name),
            Place::Folder { .. } => None,
        }
    }

    /// The folder that formats 1 and 2 had for it, and the ending of its files there.
    pub(crate) fn earlier(&self) -> Option<(&str, &'static str)> {
        match &self.place {
            Place::Section { earlier, ending, .. } => Some((earlier, ending)),
            Place::Folder { .. } => None,
        }
    }

    /// Where formats 1 and 2 had the text of a session.
    pub(crate) fn earlier_path(&self, root: &Path, key: &SessionKey) -> Option<PathBuf> {
        self.earlier().map(|(folder, ending)| path_of(root, folder, key, ending))
    }

    /// Whether it cannot be made again once raw bytes are gone.
    pub fn is_truth(&self) -> bool {
        self.form != Form::Cache
    }

    pub(crate) fn worth(&self) -> Worth {
        if self.is_truth() { Worth::Truth } else { Worth::Cache }
    }

    pub(crate) fn path(&self, root: &Path, key: &SessionKey) -> PathBuf {
        path_of(root, self.folder(), key, self.ending())
    }

    /// What a file name in its folder stands for.
    pub(crate) fn decode(&self, name: &str) -> Option<Decoded> {
        names::decode(name.strip_suffix(self.ending())?)
    }

    /// What is wrong with the bytes of such a text, if anything is.
    pub(crate) fn check(&self, bytes: &[u8]) -> Option<String> {
        match self.form {
            Form::Object => self.parse::<IgnoredAny>(bytes).err(),
            Form::Lines => lines::decode::<IgnoredAny>(bytes).err(),
            Form::Text | Form::Cache => None,
        }
    }

    /// The object of a text, or what is wrong with it. A section is checked by its document;
    /// one that comes from a file of an older format still has its own checksum.
    pub(crate) fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, String> {
        match self.place {
            Place::Section { .. } => sealed::unseal_if_sealed(bytes),
            Place::Folder { .. } => sealed::unseal(bytes),
        }
    }
}

/// Begins the names of sections that methods left, and the folder that older formats had for them.
pub(crate) const MINED: &str = "mined";

/// How the names of these sections end: what a method found, and its block for a prompt.
const MINED_ENDING: &str = ".json";
const PROMPT_ENDING: &str = ".prompt.md";

/// The method of a section that holds what one found.
pub(crate) fn method_of(section: &str) -> Option<String> {
    whole_name(section.strip_prefix(MINED)?.strip_prefix('/')?.strip_suffix(MINED_ENDING)?)
}

/// How a session went.
pub static DIGESTS: Kind = Kind::section("digest.json", ("digests", ".json"), Form::Object);
/// What the outside world said of a session, one line an observation.
pub static FACTS: Kind = Kind::section("facts.jsonl", ("facts", ".jsonl"), Form::Lines);
/// The settled use of models: one line a response.
pub static LEDGER: Kind = Kind::section("ledger.jsonl", ("ledger", ".jsonl"), Form::Lines);
/// The settled events of a quiet session.
pub(crate) static NORMALIZED: Kind = Kind::file("normalized", ".events.jsonl.zst", Form::Cache);
/// What the index knew of a session whose raw bytes were given up.
pub static REMAINS: Kind = Kind::file("remains", ".json", Form::Object);
/// A session as Markdown.
pub(crate) static RENDERED: Kind = Kind::file("rendered", ".md", Form::Cache);
/// What a session is.
pub static SESSIONS: Kind = Kind::section("session.json", ("sessions", ".json"), Form::Object);

/// Every kind but those of mining methods, sorted by folder.
pub(crate) static KINDS: &[&Kind] = &[&NORMALIZED, &REMAINS, &RENDERED, &SESSIONS, &LEDGER, &DIGESTS, &FACTS];

/// The kinds that are sections of the document, but those of methods.
pub(crate) fn sections() -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().copied().filter(|kind| kind.section_name().is_some())
}

/// Truth that is not on the disk yet.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Sections of documents, by session and name.
    pub sections: BTreeMap<SessionKey, Sections>,
    /// Files, by kind and session.
    pub files: BTreeMap<(Kind, SessionKey), Vec<u8>>,
}

/// Sections of one document, by name.
pub(crate) type Sections = BTreeMap<String, Section>;

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.sections.is_empty() && self.files.is_empty()
    }
}

impl Store {
    /// Keeps an object under a kind; false if it was so already.
    pub fn put_object(&self, kind: &Kind, key: &SessionKey, object: &impl Serialize) -> Result<bool, Error> {
        let bytes = match kind.section_name() {
            Some(_) => sealed::pretty(object),
            None => sealed::seal(object),
        };
        let path = kind.path(self.root(), key);
        self.put_document(kind, key, bytes.map_err(|error| Error::io("write", &path)(error.into()))?)
    }

    /// The object kept under a kind.
    pub fn object<T: DeserializeOwned>(&self, kind: &Kind, key: &SessionKey) -> Result<Option<T>, Error> {
        let Some(bytes) = self.document(kind, key)? else { return Ok(None) };
        let path = kind.path(self.root(), key);
        let damaged = |what| Error::Damaged { path, what, help: RESTORE };
        kind.parse(&bytes).map(Some).map_err(damaged)
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
        match self.look(kind, key) {
            Ok((Some(before), None)) if before == bytes => return Ok(false),
            Ok(_) | Err(Error::Damaged { .. }) => {}
            Err(error) => return Err(error),
        }
        let Some(name) = kind.section_name() else {
            self.waiting().files.insert((kind.clone(), key.clone()), bytes);
            return Ok(true);
        };
        let section = Section::pack(name, &bytes);
        let section = section.map_err(Error::io("write", &kind.path(self.root(), key)))?;
        self.put_section(name, key, section);
        Ok(true)
    }

    pub(crate) fn put_section(&self, name: &str, key: &SessionKey, section: Section) {
        self.waiting().sections.entry(key.clone()).or_default().insert(name.to_owned(), section);
    }

    /// Keeps any text under a kind.
    #[cfg(any(test, feature = "testing"))]
    pub fn put_text(&self, kind: &Kind, key: &SessionKey, text: &[u8]) -> Result<bool, Error> {
        self.put_document(kind, key, text.to_vec())
    }

    /// The text of a document as it is kept, for people and tests.
    pub fn text_of(&self, kind: &Kind, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        self.document(kind, key)
    }

    /// The bytes of a document.
    pub(crate) fn document(&self, kind: &Kind, key: &SessionKey) -> Result<Option<Vec<u8>>, Error> {
        self.look(kind, key).map(|(bytes, _)| bytes)
    }

    /// The bytes of a document, and what is wrong with the directory of its file.
    fn look(&self, kind: &Kind, key: &SessionKey) -> Result<(Option<Vec<u8>>, Option<String>), Error> {
        let path = kind.path(self.root(), key);
        let Some(name) = kind.section_name() else {
            if let Some(bytes) = self.waiting().files.get(&(kind.clone(), key.clone())) {
                return Ok((Some(bytes.clone()), None));
            }
            self.files.own(&path)?;
            return Ok((read_regular(&path)?, None));
        };
        let damaged = |what| Error::Damaged { path: path.clone(), what, help: RESTORE };
        let waiting = self.waiting().sections.get(key).and_then(|sections| sections.get(name).cloned());
        if let Some(waiting) = waiting {
            return waiting.text(name).map(|text| (Some(text), None)).map_err(damaged);
        }
        self.files.own(&path)?;
        let document = read_regular(&path)?.map(|bytes| Document::read(&bytes)).unwrap_or_default();
        if let Some(section) = document.get(name) {
            return section.text(name).map(|text| (Some(text), document.damage)).map_err(damaged);
        }
        // Whether it had this section cannot be said.
        if let Some(what) = document.damage {
            return Err(damaged(what));
        }
        match kind.earlier_path(self.root(), key).filter(|_| self.has_earlier(kind)) {
            Some(earlier) => {
                self.files.own(&earlier)?;
                Ok((read_regular(&earlier)?, None))
            }
            None => Ok((None, None)),
        }
    }

    /// Whether an older format left texts of a kind here when this store was opened.
    fn has_earlier(&self, kind: &Kind) -> bool {
        let top = kind.earlier().and_then(|(folder, _)| folder.split('/').next());
        top.is_some_and(|top| self.earlier.contains(top))
    }

    /// The names of the sections of a session, and of files that older formats had for them.
    pub(crate) fn section_names(&self, key: &SessionKey) -> Result<BTreeSet<String>, Error> {
        let path = document_path(self.root(), key);
        self.files.own(&path)?;
        let document = read_regular(&path)?.map(|bytes| Document::read(&bytes)).unwrap_or_default();
        let mut names: BTreeSet<String> = document.iter().map(|(name, _)| name.to_owned()).collect();
        names
            .extend(self.waiting().sections.get(key).into_iter().flat_map(|waiting| waiting.keys().cloned()));
        for kind in self.earlier_kinds()? {
            let is_there = kind.earlier_path(self.root(), key).is_some_and(|path| path.is_file());
            names.extend(kind.section_name().filter(|_| is_there).map(str::to_owned));
        }
        Ok(names)
    }

    /// The kinds of which older formats left folders here.
    pub(crate) fn earlier_kinds(&self) -> Result<Vec<Kind>, Error> {
        let mut kinds: Vec<Kind> = sections().filter(|kind| self.has_earlier(kind)).cloned().collect();
        if self.earlier.contains(MINED) {
            for entry in entries(&self.root().join(MINED))?.into_iter().filter(|entry| entry.is_dir) {
                let method = entry.name.as_deref().and_then(whole_name);
                kinds.extend(
                    method.iter().flat_map(|method| [Kind::mined(method), Kind::mined_prompt(method)]),
                );
            }
        }
        Ok(kinds)
    }

    /// Whether a text of a session is damaged, or the directory of the file that it is in.
    pub fn is_damaged(&self, kind: &Kind, key: &SessionKey) -> Result<bool, Error> {
        match self.look(kind, key) {
            Ok((_, Some(_))) | Err(Error::Damaged { .. }) => Ok(true),
            Ok((bytes, None)) => Ok(bytes.is_some_and(|bytes| kind.check(&bytes).is_some())),
            Err(error) => Err(error),
        }
    }

    /// Every session that has a document of a kind, sorted. For sections, every session that
    /// has a document. The id of a name that was cut is in its session file.
    pub(crate) fn document_keys(&self, kind: &Kind) -> Result<Vec<SessionKey>, Error> {
        let mut keys: BTreeSet<SessionKey> = match kind.section_name() {
            Some(_) => self.waiting().sections.keys().cloned().collect(),
            None => {
                let waiting = self.waiting();
                let of_kind = waiting.files.keys().filter(|(other, _)| other == kind);
                of_kind.map(|(_, key)| key.clone()).collect()
            }
        };
        for (agent, folder) in self.agents(kind.folder())? {
            for entry in entries(&folder)?.into_iter().filter(|entry| entry.is_file) {
                let name = entry.name.as_deref().unwrap_or_default();
                let earlier = || {
                    let (_, ending) = kind.earlier().filter(|(folder, _)| *folder == DOCUMENTS)?;
                    names::decode(name.strip_suffix(ending)?)
                };
                match kind.decode(name).or_else(earlier) {
                    Some(Decoded::Id(id)) => keys.extend([SessionKey::new(agent.clone(), id)]),
                    Some(Decoded::Cut) => keys.extend(session_at(&entry.path)?.map(|file| file.key)),
                    None => {}
                }
            }
        }
        Ok(keys.into_iter().collect())
    }

    /// Every session that has a document of any kind, by the names of its files.
    pub fn kept_keys(&self) -> Result<BTreeSet<SessionKey>, Error> {
        let mut keys: BTreeSet<SessionKey> = self.document_keys(&SESSIONS)?.into_iter().collect();
        for kind in KINDS.iter().filter(|kind| kind.section_name().is_none()) {
            keys.extend(self.document_keys(kind)?);
        }
        for kind in self.earlier_kinds()? {
            let Some((folder, ending)) = kind.earlier() else { continue };
            for (agent, folder) in self.agents(folder)? {
                for entry in entries(&folder)?.into_iter().filter(|entry| entry.is_file) {
                    let id = entry.name.as_deref().and_then(|name| whole_name(name.strip_suffix(ending)?));
                    keys.extend(id.map(|id| SessionKey::new(agent.clone(), id)));
                }
            }
        }
        Ok(keys)
    }

    /// Removes a document; false if there was none.
    pub(crate) fn remove_document(&self, kind: &Kind, key: &SessionKey) -> Result<bool, Error> {
        let path = kind.path(self.root(), key);
        let Some(name) = kind.section_name() else {
            let waited = self.waiting().files.remove(&(kind.clone(), key.clone())).is_some();
            return Ok(self.files.remove(&path, kind.worth())? || waited);
        };
        let mut was_there = false;
        let mut waiting = self.waiting();
        if let Some(sections) = waiting.sections.get_mut(key) {
            was_there = sections.remove(name).is_some();
            if sections.is_empty() {
                waiting.sections.remove(key);
            }
        }
        drop(waiting);
        if let Some(earlier) = kind.earlier_path(self.root(), key).filter(|_| self.has_earlier(kind)) {
            was_there |= self.files.remove(&earlier, Worth::Truth)?;
        }
        self.files.own(&path)?;
        let Some(bytes) = read_regular(&path)? else { return Ok(was_there) };
        let mut document = Document::read(&bytes);
        if document.get(name).is_none() {
            return Ok(was_there);
        }
        document.put(name, None);
        match document.is_empty() {
            true => drop(self.files.remove(&path, Worth::Truth)?),
            false => self.files.put(&path, &document.bytes(), Worth::Truth)?,
        }
        Ok(true)
    }

    /// The documents as they are with what waits.
    pub(crate) fn rewritten(&self) -> Result<Vec<Rewritten>, Error> {
        let waiting: Vec<(SessionKey, Sections)> = {
            let mut waiting = self.waiting();
            waiting.sections.retain(|_, sections| !sections.is_empty());
            waiting.sections.iter().map(|(key, sections)| (key.clone(), sections.clone())).collect()
        };
        let mut rewritten = Vec::with_capacity(waiting.len());
        for (key, sections) in waiting {
            let path = document_path(self.root(), &key);
            self.files.own(&path)?;
            let mut document = read_regular(&path)?.map(|bytes| Document::read(&bytes)).unwrap_or_default();
            sections.iter().for_each(|(name, section)| document.put(name, Some(section.clone())));
            rewritten.push(Rewritten { path, bytes: document.bytes(), key, sections });
        }
        Ok(rewritten)
    }

    /// Forgets what waited and is in its document now.
    pub(crate) fn note_kept(&self, kept: &Rewritten) {
        let mut waiting = self.waiting();
        if let Some(sections) = waiting.sections.get_mut(&kept.key) {
            sections.retain(|name, section| kept.sections.get(name) != Some(section));
            if sections.is_empty() {
                waiting.sections.remove(&kept.key);
            }
        }
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
        let mut paths: BTreeSet<PathBuf> = KINDS.iter().map(|kind| kind.path(self.root(), key)).collect();
        paths.extend(self.earlier_kinds()?.iter().filter_map(|kind| kind.earlier_path(self.root(), key)));
        Ok(paths.iter().map(|path| bytes_at(path)).sum())
    }
}

/// A whole document, and what waited for it.
#[derive(Debug)]
pub(crate) struct Rewritten {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    key: SessionKey,
    sections: Sections,
}

/// The session file of a document, or a session file of an older format, wherever it is.
pub(crate) fn session_at(path: &Path) -> Result<Option<SessionFile>, Error> {
    let Some(bytes) = read_regular(path)? else { return Ok(None) };
    let is_document = path.to_string_lossy().ends_with(DOCUMENT_ENDING);
    let text = match SESSIONS.section_name().filter(|_| is_document) {
        None => bytes,
        Some(name) => match Document::read(&bytes).get(name) {
            None => return Ok(None),
            Some(section) => section.text(name).map_err(|what| Error::Damaged {
                path: path.to_owned(),
                what,
                help: RESTORE,
            })?,
        },
    };
    decode_session(path, &text).map(Some)
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
        let earlier = LEDGER.earlier_path(Path::new("root"), &key).unwrap();
        assert_eq!(earlier, Path::new("root/ledger/claude/%53%201.jsonl"));
        let found = Kind::mined("A method");
        assert_eq!(found.section_name().and_then(method_of).as_deref(), Some("A method"));
        assert_eq!(Kind::mined_prompt("A method").section_name().and_then(method_of), None);
    }
}
