//! The store as its users see it: raw files, session files, and when they last.

use retro_model::{SessionKey, SourceKey};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::archive::Standings;
use crate::documents::{self, SESSIONS, Waiting};
use crate::error::RESTORE;
use crate::files::{Entry, Files, Worth, entries, file_names};
use crate::head::{self, Head};
use crate::layout::{self, HEAD, PART, Slot};
use crate::names::{self, Decoded};
use crate::session_file::decode_session;
use crate::{Archive, Disk, Error, Masks, SessionFile};

/// An open store. Clones are the same store.
#[derive(Debug, Clone)]
pub struct Store {
    pub(crate) files: Arc<Files>,
    pub(crate) standings: Arc<Standings>,
    pub(crate) head: Arc<Head>,
    /// Documents that wait for [`Store::sync_all`].
    waiting: Arc<Mutex<Waiting>>,
    /// The masks, and how their file looked when they were read.
    pub(crate) masks: Arc<Mutex<Option<KnownMasks>>>,
    /// Folders that older formats had for documents, as far as there are any.
    pub(crate) earlier: Arc<BTreeSet<&'static str>>,
}

/// Masks, with the size and time of their file; nothing if there was none.
pub(crate) type KnownMasks = (Option<(u64, Option<SystemTime>)>, Arc<Masks>);

impl Store {
    /// Opens a store that exists.
    pub fn open(root: &Path, disk: Arc<dyn Disk>) -> Result<Store, Error> {
        let head = head::open(root)?;
        Ok(Store::over(Files::new(root.to_owned(), disk), head))
    }

    /// Opens a store, or makes one of an empty or missing folder. Any other
    /// folder is refused.
    pub fn open_or_create(root: &Path, disk: Arc<dyn Disk>) -> Result<Store, Error> {
        let files = Files::new(root.to_owned(), disk);
        let head = head::open_or_create(&files)?;
        Ok(Store::over(files, head))
    }

    fn over(files: Files, head: Head) -> Store {
        // Its maker may have been stopped before the name of the head was synced.
        files.touch_names(&files.root.join(HEAD));
        let folders = documents::sections().filter_map(|kind| Some(kind.earlier()?.0));
        let earlier = folders.chain([documents::MINED]).filter(|folder| files.root.join(folder).is_dir());
        let earlier = Arc::new(earlier.collect());
        Store {
            files: Arc::new(files),
            standings: Arc::default(),
            head: Arc::new(head),
            waiting: Arc::default(),
            masks: Arc::default(),
            earlier,
        }
    }

    /// Where it lies.
    pub fn root(&self) -> &Path {
        &self.files.root
    }

    /// Its own id, which no other store has.
    pub fn id(&self) -> &str {
        &self.head.id
    }

    /// Id of the machine it was made on.
    pub fn machine(&self) -> &str {
        &self.head.machine
    }

    /// Key for hashes of secrets, which stand in the index alone.
    pub fn hash_key(&self) -> [u8; 32] {
        blake3::derive_key("retro store 1 hashes kept in the index", self.head.key.as_bytes())
    }

    /// The text from which keys of hashes are derived.
    pub(crate) fn head_key(&self) -> &str {
        &self.head.key
    }

    /// Number of its layout on disk.
    pub fn format(&self) -> u32 {
        self.head.format
    }

    /// One raw file, whether it exists or not.
    pub fn archive(&self, slot: &Slot) -> Archive {
        self.archive_at(self.slot_path(slot))
    }

    pub(crate) fn archive_at(&self, path: PathBuf) -> Archive {
        Archive::new(self.files.clone(), self.standings.clone(), path)
    }

    /// Where a raw file is: in its place, or where an older format had it and it still is.
    pub fn slot_path(&self, slot: &Slot) -> PathBuf {
        let path = layout::raw_file(self.root(), slot);
        let earlier = layout::earlier_raw_file(self.root(), slot);
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        earlier.filter(|earlier| !is_there(&path) && is_there(earlier)).unwrap_or(path)
    }

    /// Where the document of a session is.
    pub fn session_path(&self, key: &SessionKey) -> PathBuf {
        SESSIONS.path(self.root(), key)
    }

    /// Where the index lies.
    pub fn index_path(&self) -> PathBuf {
        self.root().join(layout::INDEX).join(crate::Index::FILE)
    }

    /// The folder of the text index.
    pub fn text_folder(&self) -> PathBuf {
        self.root().join(layout::INDEX).join("text")
    }

    /// The disk that everything in this store is written through.
    pub fn disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.files.disk)
    }

    /// The folder of the vectors.
    pub fn vectors_folder(&self) -> PathBuf {
        self.root().join(layout::INDEX).join("vectors")
    }

    /// The raw files of a session, by source and revision.
    pub fn raw_slots(&self, session: &SessionKey) -> Result<Vec<Slot>, Error> {
        let folder = layout::raw_folder(self.root(), session);
        let mut slots = Vec::new();
        let mut named: Option<BTreeMap<String, _>> = None;
        for name in file_names(&folder)? {
            let Some((encoded, decoded, revision)) = layout::raw_name(&name) else { continue };
            let source = match decoded {
                Decoded::Id(text) => layout::source_key(&text),
                // The name is cut: the session file has it whole.
                Decoded::Cut => {
                    if named.is_none() {
                        let file = self.session(session)?;
                        let keys = file.map_or_else(BTreeMap::new, |file| file.sources).into_keys();
                        named = Some(keys.map(|key| (names::encode(key.as_str()), key)).collect());
                    }
                    named.as_ref().and_then(|named| named.get(encoded)).cloned()
                }
            };
            let key = session.clone();
            slots.extend(source.map(|source| Slot::Session { key, source, revision }));
        }
        let main = Slot::Session { key: session.clone(), source: SourceKey::main(), revision: 1 };
        if layout::raw_file(self.root(), &main).symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            slots.push(main);
        }
        slots.sort();
        slots.dedup();
        Ok(slots)
    }

    /// The raw files that serve many sessions of an agent, by name and revision.
    /// Names too long for a file name are not among them.
    pub fn shared_slots(&self, agent: &str) -> Result<Vec<Slot>, Error> {
        let mut slots = Vec::new();
        for entry in entries(&layout::shared_folder(self.root(), agent))? {
            if let Some((_, Decoded::Id(name), revision)) = entry.name.as_deref().and_then(layout::raw_name) {
                slots.push(Slot::Shared { agent: agent.to_owned(), name, revision });
            }
        }
        slots.sort();
        Ok(slots)
    }

    /// The file of a session.
    pub fn session(&self, key: &SessionKey) -> Result<Option<SessionFile>, Error> {
        let path = self.session_path(key);
        let Some(bytes) = self.document(&SESSIONS, key)? else { return Ok(None) };
        let file = decode_session(&path, &bytes)?;
        if file.key != *key {
            let what = format!("it is the file of {}", file.key);
            return Err(Error::Damaged { path, what, help: RESTORE });
        }
        Ok(Some(file))
    }

    /// Keeps what is known of a session; false if it was known already.
    ///
    /// It comes to the disk with the next [`Store::sync_all`], after the raw files it
    /// speaks of: a session file never names a source that is not there.
    pub fn put_session(&self, file: &SessionFile) -> Result<bool, Error> {
        let path = self.session_path(&file.key);
        let bytes = file.encode().map_err(|error| Error::io("write", &path)(error.into()))?;
        self.put_document(&SESSIONS, &file.key, bytes)
    }

    /// Removes the file of a session; false if there was none.
    pub fn remove_session(&self, key: &SessionKey) -> Result<bool, Error> {
        self.remove_document(&SESSIONS, key)
    }

    /// Removes all raw files of a session. If the session stays, put its file
    /// with `evicted_at` and sync first: a missing raw file is damage otherwise.
    pub fn remove_raw(&self, key: &SessionKey) -> Result<(), Error> {
        let folder = layout::raw_folder(self.root(), key);
        self.standings.forget_folder(&folder);
        self.files.remove_tree(&folder, Worth::Truth)?;
        let main = Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 1 };
        self.archive_at(layout::raw_file(self.root(), &main)).remove().map(drop)
    }

    /// Whether a session has raw files.
    pub(crate) fn has_raw(&self, key: &SessionKey) -> bool {
        let main = Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 1 };
        layout::raw_folder(self.root(), key).is_dir() || layout::raw_file(self.root(), &main).is_file()
    }

    /// Every session that has a file, sorted.
    pub fn session_keys(&self) -> Result<Vec<SessionKey>, Error> {
        self.document_keys(&SESSIONS)
    }

    /// Every session that has raw files, sorted; the ids of those whose name was
    /// too long for a folder stand only in their session files.
    pub fn raw_keys(&self) -> Result<Vec<SessionKey>, Error> {
        let mut keys = BTreeSet::new();
        for (agent, folder) in self.agents(layout::RAW)? {
            for entry in entries(&folder)? {
                // The folder of files that serve many has a name that no id can have.
                let name = match entry.name.as_deref() {
                    Some(name) if entry.is_file => layout::main_session(name).map(|(session, _)| session),
                    name => name.filter(|_| entry.is_dir),
                };
                keys.extend(name.and_then(whole_name).map(|id| SessionKey::new(agent.clone(), id)));
            }
        }
        Ok(keys.into_iter().collect())
    }

    /// Whether there is nothing of any session.
    pub fn is_bare(&self) -> Result<bool, Error> {
        for part in [SESSIONS.folder(), layout::RAW] {
            for (_, folder) in self.agents(part)? {
                if !entries(&folder)?.is_empty() {
                    return Ok(false);
                }
            }
        }
        Ok(self.waiting().is_empty())
    }

    /// Waits until every change of truth so far is on the medium: raw files first, then
    /// the documents that speak of them.
    pub fn sync_all(&self) -> Result<(), Error> {
        self.renew_marks()?;
        let unsettled = self.standings.unsettled();
        self.files.sync(|path| match unsettled.get(path) {
            Some(commit) => self.standings.settle(&self.files, path, commit),
            None => Ok(()),
        })?;
        let files: Vec<(PathBuf, Vec<u8>, _)> = self
            .waiting()
            .files
            .iter()
            .map(|((kind, key), bytes)| {
                (kind.path(self.root(), key), bytes.clone(), (kind.clone(), key.clone()))
            })
            .collect();
        self.files.put_all(&files, |(path, bytes, _)| (path, bytes))?;
        // A document that says that its session was evicted comes after the remains.
        if !files.is_empty() {
            self.files.sync(|_| Ok(()))?;
        }
        self.sync_documents()?;
        self.renew_marks()?;
        self.files.sync(|_| Ok(()))?;
        let mut still = self.waiting();
        for (_, bytes, at) in &files {
            if still.files.get(at) == Some(bytes) {
                still.files.remove(at);
            }
        }
        Ok(())
    }

    /// Writes the documents of which sections wait.
    fn sync_documents(&self) -> Result<(), Error> {
        let documents = self.rewritten()?;
        self.files.put_all(&documents, |document| (&document.path, &document.bytes))?;
        documents.iter().for_each(|document| self.note_kept(document));
        Ok(())
    }

    /// The agents that have a folder here, with that folder.
    pub(crate) fn agents(&self, folder: &str) -> Result<Vec<(String, std::path::PathBuf)>, Error> {
        let found = entries(&self.root().join(folder))?.into_iter().filter(|entry| entry.is_dir);
        Ok(found.filter_map(|Entry { name, path, .. }| Some((whole_name(&name?)?, path))).collect())
    }

    pub(crate) fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The id of a name that was not cut.
pub(crate) fn whole_name(name: &str) -> Option<String> {
    match names::decode(name)? {
        Decoded::Id(id) => Some(id),
        Decoded::Cut => None,
    }
}

/// Whether a name is that of a file being written beside its place.
pub(crate) fn is_part(entry: &Entry) -> bool {
    entry.is_file && entry.name.as_deref().is_some_and(|name| name.ends_with(PART))
}
