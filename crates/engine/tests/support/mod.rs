//! A machine of its own for each test: a home with agents' logs, and a store.
#![allow(dead_code, clippy::unwrap_used)]

use retro_agents::{AGENTS, Agent, by_name, script::Script};
use retro_engine::discover::discover;
use retro_engine::stages::{STAGES, Stage};
use retro_engine::{Config, SyncOptions, SyncReport, World, events, read, sync};
use retro_model::{Event, SessionKey, SourceKind, Timestamp};
use retro_store::pieces::{Told, each_piece};
use retro_store::{RealDisk, Slot, Stamps, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Machine {
    dir: tempfile::TempDir,
    pub world: World,
    pub config: Config,
    /// The stages that syncs run.
    pub stages: &'static [Stage],
}

impl Machine {
    /// An empty machine on which every session is quiet.
    pub fn new() -> Machine {
        let dir = folder();
        let home = dir.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        let tomorrow = Timestamp::from_millis(jiff_now() + 3 * 86_400_000).unwrap();
        let world = World::at(home).with_clock(tomorrow);
        let config = Config::for_root(dir.path().join("store"));
        Machine { dir, world, config, stages: STAGES }
    }

    /// The same machine now: nothing is quiet yet.
    pub fn busy(mut self) -> Machine {
        self.world = self.world.clone().with_clock(Timestamp::from_millis(jiff_now()).unwrap());
        self
    }

    /// The same machine days later: everything is quiet, and old.
    pub fn quiet(mut self) -> Machine {
        self.world =
            self.world.clone().with_clock(Timestamp::from_millis(jiff_now() + 3 * 86_400_000).unwrap());
        self
    }

    pub fn home(&self) -> PathBuf {
        self.world.home.clone()
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn write(&self, path: &Path, bytes: &[u8]) {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Writes a script as an agent would have, and says which files that gave.
    pub fn tell(&self, agent: &str, script: &str) -> Vec<PathBuf> {
        let script = Script::parse(script).unwrap();
        let files = by_name(agent).unwrap().write(&script);
        for (path, bytes) in &files {
            self.write(path, bytes);
        }
        files.into_iter().map(|(path, _)| self.home().join(path)).collect()
    }

    pub fn sync(&self) -> SyncReport {
        self.sync_with(&SyncOptions::default())
    }

    pub fn sync_with(&self, options: &SyncOptions) -> SyncReport {
        let options = SyncOptions { stages: Some(self.stages), ..options.clone() };
        sync(&self.world, &self.config, &options, &|_| {}).unwrap()
    }

    pub fn store(&self) -> Store {
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }

    pub fn events(&self, key: &SessionKey) -> Vec<Event> {
        let agent = by_name(&key.agent).unwrap();
        events::all(&self.store(), agent, key).unwrap()
    }

    /// The logs on this machine: what grows at its end. Anything else is written whole.
    pub fn logs(&self) -> BTreeSet<PathBuf> {
        let found = discover(&self.world, &self.config, None, &Stamps::default());
        let files = found.sessions.into_iter().flat_map(|session| session.files);
        files.filter(|file| file.kind == SourceKind::Log).map(|file| file.path).collect()
    }

    /// Everything the store answers with: raw bytes, session files, events, rows.
    pub fn answers(&self) -> BTreeMap<String, String> {
        let store = self.store();
        let mut answers = BTreeMap::new();
        for key in store.session_keys().unwrap() {
            for slot in store.raw_slots(&key).unwrap() {
                let bytes = raw(&store, &slot);
                // In which order the files of a folder came is all that may differ.
                let files = slot.to_string().contains("#tool-results").then(|| kept(&store, &slot));
                answers.insert(format!("length {slot}"), bytes.len().to_string());
                answers.insert(
                    format!("raw {slot}"),
                    match files {
                        Some(files) => files
                            .iter()
                            .map(|(name, bytes)| format!("{} {}\n", hex(name), hex(bytes)))
                            .collect(),
                        None => hex(&bytes),
                    },
                );
            }
            let text = |kind| store.text_of(kind, &key).unwrap().map(|text| String::from_utf8(text).unwrap());
            let file = text(&retro_store::SESSIONS).unwrap();
            answers.insert(format!("file {key}"), self.anonymous(&file));
            let events: Vec<String> =
                self.events(&key).iter().map(|event| serde_json::to_string(event).unwrap()).collect();
            answers.insert(format!("events {key}"), events.join("\n"));
            let row = store.index().unwrap().session_row(&key).unwrap();
            let row = row.map(|mut row| {
                row.mtime_ns = 0;
                format!("{row:?}")
            });
            answers.insert(format!("row {key}"), row.unwrap_or_default());
            let ledger = text(&retro_store::LEDGER).unwrap_or_default();
            answers.insert(format!("ledger {key}"), ledger);
            let digest: Option<serde_json::Value> = store.object(&retro_store::DIGESTS, &key).unwrap();
            answers.insert(format!("digest {key}"), format!("{digest:#?}"));
            let responses = store.index().unwrap().responses_of(&key).unwrap();
            answers.insert(format!("responses {key}"), format!("{responses:#?}"));
            let turns = store.index().unwrap().turns_of(&key).unwrap();
            answers.insert(format!("turns {key}"), format!("{turns:#?}"));
        }
        answers
    }

    /// The text without the name of this machine's folder and what depends on it.
    fn anonymous(&self, text: &str) -> String {
        let text = text.replace(&self.path().display().to_string(), "MACHINE");
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json.as_object_mut().unwrap().remove("check");
        serde_json::to_string_pretty(&json).unwrap()
    }

    pub fn verify(&self) {
        let report = retro_engine::verify::verify(&self.store(), true, &mut |_| {}).unwrap();
        assert!(report.problems.is_empty(), "{:?}", report.problems);
    }
}

/// Bytes that must be free before a machine is kept in memory.
const ROOM_BYTES: u64 = 1 << 30;

/// A folder of its own, in memory where there is room: trials make and remove
/// thousands of files, and disks are slow at that.
fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    let roomy = fs4::available_space(memory).is_ok_and(|free| free > ROOM_BYTES);
    match roomy.then(|| tempfile::tempdir_in(memory)) {
        Some(Ok(folder)) => folder,
        _ => tempfile::tempdir().unwrap(),
    }
}

/// Files of a folder, by their names.
pub type Files = BTreeMap<Vec<u8>, Vec<u8>>;

/// The newest versions of all files in a raw file.
pub fn kept(store: &Store, slot: &Slot) -> Files {
    let (mut files, mut open) = (Files::new(), (Vec::new(), Vec::new()));
    each_piece(store.archive(slot).read().unwrap(), &mut |told| match told {
        Told::Begins(name, _) => open = (name.to_owned(), Vec::new()),
        Told::Bytes(bytes) => open.1.extend_from_slice(bytes),
        Told::Ends(_) => drop(files.insert(std::mem::take(&mut open.0), std::mem::take(&mut open.1))),
    })
    .unwrap();
    files
}

pub fn raw(store: &Store, slot: &Slot) -> Vec<u8> {
    let mut bytes = Vec::new();
    read::feed_raw(store, slot, &mut |piece| bytes.extend_from_slice(piece)).unwrap();
    bytes
}

pub fn hex(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

pub fn agents() -> &'static [&'static dyn Agent] {
    AGENTS
}

fn jiff_now() -> i64 {
    let now: Timestamp = jiff::Timestamp::now().into();
    now.as_millis()
}

/// A story with everything the notation can say.
pub const STORY: &str = "\
@ session 11111111-1111-4111-8111-111111111111
@ cwd /home/dev/shop
@ branch main
@ model claude-opus-5
> Fix the tax test
? Rounding, perhaps.
$ cargo test
| 1 failed
! 101
~ src/tax.rs
- old
+ new
& Look for callers
. $ grep -r vat
. | two
. < Two callers.
< Done.
@ title Fix tax
> Thanks, now add docs
< Added.
";

/// A second session.
pub const OTHER: &str = "\
@ session 22222222-2222-4222-8222-222222222222
@ cwd /home/dev/notes
> Add a search box
< There is one now.
";
