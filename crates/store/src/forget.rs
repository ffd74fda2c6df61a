//! Forgets a session: the register decides which files are removed.
//!
//! The document with the session file goes last: it names the session as long as any other file is
//! left. It goes as a whole, with damaged and unknown sections. Afterwards the files are searched
//! directly, without using derived data.

use retro_model::SessionKey;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::documents::{self, KINDS, Kind, LEDGER, SESSIONS, document_path};
use crate::files::{Worth, entries, read_regular};
use crate::kept::{Forget, Place, REGISTER};
use crate::layout::{ASIDE, INDEX, RAW, part_of};
use crate::names;
use crate::sections::Document;
use crate::{Error, Store, Tombstones};

/// Whether some bytes contain one of the searched texts.
pub type Holds<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// Folder with the output of model runs, by method, agent and session.
const HEADLESS: &str = "headless";

impl Store {
    /// Removes every file of a session. `keep_costs` keeps its ledger.
    pub fn forget_files(&self, key: &SessionKey, keep_costs: bool) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.forget == Forget::Remove) {
            match line.place {
                Place::Folder(RAW) => self.remove_raw(key)?,
                Place::Document(kind) if kind.section_name().is_some() => {}
                Place::Document(kind) => self.forget_document(kind, key)?,
                // `Writer::forget_session` removes rows, `forget_sections` the document.
                _ => {}
            }
        }
        for method in entries(&self.root().join(HEADLESS))?.into_iter().filter(|entry| entry.is_dir) {
            let folder = method.path.join(names::encode(&key.agent));
            for ending in ["jsonl", "part"] {
                let name = format!("{}.{ending}", names::encode(&key.id));
                self.files.remove(&folder.join(name), Worth::Truth)?;
            }
        }
        self.forget_aside(key)?;
        self.forget_sections(key, keep_costs)
    }

    /// Removes the document of a session, or all of it but the ledger.
    fn forget_sections(&self, key: &SessionKey, keep_costs: bool) -> Result<(), Error> {
        let stays = |kind: &Kind| keep_costs && *kind == LEDGER;
        if let Some(sections) = self.waiting().sections.get_mut(key) {
            sections.retain(|name, _| keep_costs && LEDGER.section_name() == Some(name));
        }
        // Files of older formats: that of the session is the last of them.
        let mut kinds: Vec<Kind> = documents::sections().cloned().chain(self.earlier_kinds()?).collect();
        kinds.sort_by_key(|kind| *kind == SESSIONS);
        for kind in kinds.iter().filter(|kind| !stays(kind)) {
            let Some(path) = kind.earlier_path(self.root(), key) else { continue };
            self.files.remove(&path, Worth::Truth)?;
            self.files.remove(&part_of(&path), Worth::Cache)?;
        }
        let path = document_path(self.root(), key);
        self.files.remove(&part_of(&path), Worth::Cache)?;
        self.files.own(&path)?;
        let Some(bytes) = read_regular(&path)? else { return Ok(()) };
        let (document, mut kept) = (Document::read(&bytes), Document::default());
        for (name, section) in document.iter().filter(|_| keep_costs) {
            let is_good = LEDGER.section_name() == Some(name) && section.text(name).is_ok();
            kept.put(name, is_good.then(|| section.clone()));
        }
        match kept.is_empty() {
            true => self.files.remove(&path, Worth::Truth).map(drop),
            false => self.files.put(&path, &kept.bytes(), Worth::Truth),
        }
    }

    /// Removes raw files that were set aside and belong to a session, by their name or contents.
    fn forget_aside(&self, key: &SessionKey) -> Result<(), Error> {
        let name = names::encode(&key.id);
        let says = |bytes: &[u8]| memchr::memmem::find(bytes, key.id.as_bytes()).is_some();
        for entry in entries(&self.root().join(ASIDE))?.into_iter().filter(|entry| entry.is_file) {
            let is_named = entry.name.as_ref().is_some_and(|known| known.contains(&name));
            if is_named || has(&entry.path, &says)? {
                self.files.remove(&entry.path, Worth::Truth)?;
            }
        }
        Ok(())
    }

    fn forget_document(&self, kind: &Kind, key: &SessionKey) -> Result<(), Error> {
        self.remove_document(kind, key)?;
        // An interrupted write may have left a part file.
        self.files.remove(&part_of(&kind.path(self.root(), key)), Worth::Cache).map(drop)
    }

    /// Removes folders outside of sessions that hold words of them and that a command can make
    /// again: exports, copies of databases, an index that was moved aside.
    pub fn forget_exports(&self) -> Result<(), Error> {
        for line in REGISTER {
            let Place::Folder(folder) = line.place else { continue };
            let is_of_search = folder.starts_with(INDEX) && line.forget == Forget::Remake;
            if line.text
                && matches!(line.forget, Forget::Remake | Forget::Remove)
                && folder != RAW
                && !is_of_search
            {
                self.files.remove_tree(&self.root().join(folder), Worth::Cache)?;
            }
        }
        let old = self.index_path().with_extension("sqlite.old");
        self.files.remove(&old, Worth::Cache).map(drop)
    }

    /// Removes the lines about forgotten sessions from files that serve many. Returns the number of
    /// lines removed.
    pub fn mask_shared(&self, stones: &Tombstones) -> Result<u64, Error> {
        let mut masked = 0;
        for (agent, _) in self.agents(RAW)? {
            for slot in self.shared_slots(&agent)? {
                let archive = self.archive(&slot);
                let mut bytes = Vec::new();
                let read = archive.read().map(|mut reader| reader.read_to_end(&mut bytes));
                if !matches!(read, Ok(Ok(_))) {
                    // An unreadable file cannot be edited. The next sync captures it again.
                    archive.remove()?;
                    continue;
                }
                if let Some((kept, lines)) = stones.masked(&agent, &bytes) {
                    masked += lines;
                    let records = kept.iter().filter(|byte| **byte == b'\n').count() as u64;
                    archive.replace(&kept, records)?;
                }
            }
        }
        Ok(masked)
    }

    /// Lines about these sessions in files that serve many.
    pub fn shared_lines(&self, stones: &Tombstones) -> Result<u64, Error> {
        let mut lines = 0;
        for (agent, _) in self.agents(RAW)? {
            for slot in self.shared_slots(&agent)? {
                let mut bytes = Vec::new();
                let Ok(mut reader) = self.archive(&slot).read() else { continue };
                if reader.read_to_end(&mut bytes).is_ok() {
                    lines += stones.masked(&agent, &bytes).map_or(0, |(_, lines)| lines);
                }
            }
        }
        Ok(lines)
    }

    /// The files of the root that contain one of these texts or have it in their name. Compressed
    /// files are decompressed for this. `skip` leaves out files by their path below the root.
    pub fn files_with(&self, texts: &Holds<'_>, skip: &dyn Fn(&Path) -> bool) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        let mut folders = vec![self.root().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in entries(&folder)? {
                let below = entry.path.strip_prefix(self.root()).unwrap_or(&entry.path).to_owned();
                if entry.is_dir {
                    folders.push(entry.path);
                } else if entry.is_file && !skip(&below) {
                    let name = below.to_string_lossy();
                    if texts(name.as_bytes()) || has(&entry.path, texts)? {
                        found.push(below);
                    }
                }
            }
        }
        found.sort();
        Ok(found)
    }

    /// The documents with one of these texts, by kind and session, decoded as their kind says.
    pub fn documents_with(&self, texts: &Holds<'_>) -> Result<Vec<String>, Error> {
        let mut found = Vec::new();
        for kind in KINDS.iter().filter(|kind| kind.section_name().is_none()) {
            for key in self.document_keys(kind)? {
                let bytes = self.document(kind, &key)?;
                if bytes.is_some_and(|bytes| texts(&bytes)) {
                    found.push(format!("{}/{key}", kind.folder()));
                }
            }
        }
        for key in self.kept_keys()? {
            let bytes = read_regular(&document_path(self.root(), &key))?.unwrap_or_default();
            let document = Document::read(&bytes);
            let mut sections = document.iter().filter_map(|(name, section)| section.text(name).ok());
            if sections.any(|text| texts(&text)) {
                found.push(format!("{}/{key}", SESSIONS.folder()));
            }
        }
        Ok(found)
    }
}

/// Bytes of a file that are searched at once, and the overlap of two such pieces.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
const OVERLAP_BYTES: usize = 256 * 1024;

/// How compressed data begins.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// Whether a file contains a text, directly or after decompression.
pub(crate) fn has(path: &Path, texts: &Holds<'_>) -> Result<bool, Error> {
    let open = || File::open(path);
    let file = match open() {
        // The file was removed after it was listed.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(Error::io("open", path))?,
    };
    if searched(file, texts).map_err(Error::io("read", path))? {
        return Ok(true);
    }
    let mut magic = Vec::new();
    let file = open().map_err(Error::io("open", path))?;
    file.take(4).read_to_end(&mut magic).map_err(Error::io("read", path))?;
    if magic != ZSTD && path.extension().is_none_or(|ending| ending != "zst") {
        return Ok(false);
    }
    let decoder = zstd::stream::read::Decoder::new(open().map_err(Error::io("open", path))?);
    // An undecodable file was already searched as it is.
    Ok(decoder.map_or(Ok(false), |decoder| searched(decoder, texts)).unwrap_or(false))
}

fn searched(mut source: impl Read, texts: &Holds<'_>) -> std::io::Result<bool> {
    let mut piece = Vec::with_capacity(PIECE_BYTES);
    loop {
        let kept = piece.len().min(OVERLAP_BYTES);
        piece.drain(..piece.len() - kept);
        let read = source.by_ref().take((PIECE_BYTES - kept) as u64).read_to_end(&mut piece)?;
        if texts(&piece) {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}
