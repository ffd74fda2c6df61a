//! The empty working folder of a program, so that it sees no repository, and the folder that keeps
//! its output: `headless/<method>/<agent>/<id>.jsonl`.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use retro_agents::integration::RunFiles;
use retro_memory::headless;
use retro_model::SessionKey;
use retro_store::{Disk, Store, names};

/// The folder of all runs.
const TOP: &str = "headless";
/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: u64 = 1024 * 1024;

/// Number of desks that this process has made, because runs can be concurrent.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// The folder, with the schema of the answer beside it. Removed at the end.
pub(super) struct RunFolder {
    folder: PathBuf,
    work: PathBuf,
    schema: PathBuf,
    answer: PathBuf,
}

impl RunFolder {
    /// Makes a new folder in the store.
    pub(super) fn new(store: &Store, disk: &dyn Disk) -> io::Result<RunFolder> {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".desk-{}-{count}", std::process::id());
        let top = store.root().join(TOP);
        disk.create_dir(&top)?;
        let folder = top.join(name);
        let folder = RunFolder {
            work: folder.join("work"),
            schema: folder.join("schema.json"),
            answer: folder.join("answer.json"),
            folder,
        };
        disk.create_dir(&folder.folder)?;
        disk.create_dir(&folder.work)?;
        disk.write(&folder.schema, headless::schema().to_string().as_bytes())?;
        Ok(folder)
    }

    /// Files for the program: its folder, the schema and the answer.
    pub(super) fn files(&self) -> RunFiles<'_> {
        RunFiles { work: &self.work, schema: &self.schema, answer: &self.answer }
    }

    /// The answer, if there is one.
    pub(super) fn read_answer(&self) -> Option<String> {
        let mut text = String::new();
        fs::File::open(&self.answer).ok()?.take(ANSWER_BYTES_MAX).read_to_string(&mut text).ok()?;
        Some(text).filter(|text| !text.trim().is_empty())
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Stores the output of a run, replacing that of an earlier one. Returns the path.
pub(super) fn keep(
    store: &Store,
    disk: &dyn Disk,
    method: &str,
    key: &SessionKey,
    bytes: &[u8],
) -> io::Result<PathBuf> {
    let mut folder = store.root().join(TOP);
    for name in [method, &names::encode(&key.agent)] {
        folder = folder.join(name);
        disk.create_dir(&folder)?;
    }
    let path = folder.join(format!("{}.jsonl", names::encode(&key.id)));
    let part = path.with_extension("part");
    disk.write(&part, bytes)?;
    disk.rename(&part, &path)?;
    Ok(path)
}
