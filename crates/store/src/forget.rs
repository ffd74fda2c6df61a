//! Forgetting a session: what the register says goes, goes.
//!
//! The session file is last: as long as anything else is left, it names the session. Files are
//! searched afterwards as they are, without asking anything that was derived from them.

use retro_model::SessionKey;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::documents::{Kind, LEDGER, SESSIONS};
use crate::files::{Worth, entries};
use crate::kept::{Forget, Place, REGISTER};
use crate::layout::{ASIDE, INDEX, RAW, part_of};
use crate::names;
use crate::{Error, Store, Tombstones};

/// Says whether some bytes hold one of the texts that are looked for.
pub type Holds<'a> = dyn Fn(&[u8]) -> bool + 'a;

/// Where the output of runs of a model is kept, by method, agent and session.
const HEADLESS: &str = "headless";

impl Store {
    /// Removes every file of a session. Its ledger stays if that is wanted.
    pub fn forget_files(&self, key: &SessionKey, keep_costs: bool) -> Result<(), Error> {
        for line in REGISTER.iter().filter(|line| line.forget == Forget::Remove) {
            match line.place {
                Place::Folder(RAW) => self.remove_raw(key)?,
                Place::Document(kind) if *kind == SESSIONS || (*kind == LEDGER && keep_costs) => {}
                Place::Document(kind) => self.forget_document(kind, key)?,
                Place::Mined => {
                    for method in self.mined_methods()? {
                        self.forget_document(&Kind::mined(&method), key)?;
                        self.forget_document(&Kind::mined_prompt(&method), key)?;
                    }
                }
                // Rows go with `Writer::forget_session`.
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
        self.forget_document(&SESSIONS, key)
    }

    /// Removes raw files that were set aside and are of a session, by their name or what they say.
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
        // What a stop left of a write.
        self.files.remove(&part_of(&kind.path(self.root(), key)), Worth::Cache).map(drop)
    }

    /// Removes folders outside of sessions that hold words of them and are made again by a
    /// command: exports, copies of databases, an index that was moved aside.
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

    /// Cuts forgotten sessions out of the files that serve many. Says how many lines went.
    pub fn mask_shared(&self, stones: &Tombstones) -> Result<u64, Error> {
        let mut masked = 0;
        for (agent, _) in self.agents(RAW)? {
            for slot in self.shared_slots(&agent)? {
                let archive = self.archive(&slot);
                let mut bytes = Vec::new();
                let read = archive.read().map(|mut reader| reader.read_to_end(&mut bytes));
                if !matches!(read, Ok(Ok(_))) {
                    // Nothing can be cut out of it, and the next sync captures the file again.
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

    /// The files of the root that hold one of these texts or have it in their name, decompressed
    /// where they are compressed. `skip` leaves files out, by their path below the root.
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
}

/// Bytes of a file that are searched at once, and how far two such pieces overlap.
const PIECE_BYTES: usize = 4 * 1024 * 1024;
const OVERLAP_BYTES: usize = 4 * 1024;

/// Whether a file holds a text, as it is or decompressed.
fn has(path: &Path, texts: &Holds<'_>) -> Result<bool, Error> {
    let open = || File::open(path);
    let file = match open() {
        // Gone since it was listed.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        file => file.map_err(Error::io("open", path))?,
    };
    if searched(file, texts).map_err(Error::io("read", path))? {
        return Ok(true);
    }
    if path.extension().is_none_or(|ending| ending != "zst") {
        return Ok(false);
    }
    let decoder = zstd::stream::read::Decoder::new(open().map_err(Error::io("open", path))?);
    // What cannot be decompressed has been searched as it is.
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
