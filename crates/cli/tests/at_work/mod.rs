//! A machine whose agents write while the real program runs and is killed.
//!
//! When to kill is decided by progress, never by a clock: after a number of changes
//! that were seen in the store. The throws come from a seed that is printed.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use retro::agents::{AGENTS, script::Script};
use retro::engine::read::feed_raw;
use retro::model::SourceKind;
use retro::store::{RealDisk, Slot, SourceEntry, Store};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A user's machine, whose three agents write.
pub struct Machine {
    dir: tempfile::TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        // A program of its own, which no build replaces meanwhile.
        let (built, program) = (env!("CARGO_BIN_EXE_retro"), dir.path().join("retro"));
        std::fs::hard_link(built, &program).or_else(|_| std::fs::copy(built, &program).map(drop)).unwrap();
        Machine { dir }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_at(&self.root(), arguments)
    }

    pub fn command_at(&self, root: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.dir.path().join("retro"));
        command.args(arguments).arg("--root").arg(root);
        command.env_clear().env("HOME", self.home()).env("TZ", "UTC").current_dir(self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    pub fn output(&self, arguments: &[&str]) -> std::process::Output {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap()
    }

    /// Some command that writes.
    pub fn command_of(&self, dice: &mut Dice) -> Command {
        match dice.below(8) {
            0 => self.command(&["usage"]),
            1 => self.command(&["rebuild"]),
            2 => {
                let log = files_below(&self.home())
                    .into_iter()
                    .find(|path| path.extension().is_some_and(|e| e == "jsonl"));
                let input = serde_json::json!({"transcript_path": log, "session_id": "any"});
                self.command(&["sync", "--hook", &input.to_string()])
            }
            _ => self.command(&["sync"]),
        }
    }

    /// Sessions that are written in this round.
    pub fn growth(&self, round: usize, dice: &mut Dice) -> Growth {
        let mut logs = Vec::new();
        for (at, agent) in AGENTS.iter().enumerate() {
            let id = format!("{:08x}-0000-4000-8000-{:012}", round + 1, at + 1);
            let story = format!("@ session {id}\n@ cwd /home/dev/shop\n{STORY}");
            for (path, bytes) in agent.write(&Script::parse(&story).unwrap()) {
                logs.push((self.home().join(path), bytes, 0));
            }
        }
        for (path, _, _) in &logs {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        // Documents are written whole.
        let mut growth = Growth { logs, dice: Dice(dice.throw()) };
        growth.write_whole(|path| path.extension().is_none_or(|ext| ext != "jsonl"));
        growth
    }

    /// The store verifies; if the first program was killed before it made one, there
    /// is none yet.
    pub fn verify(&self) -> Result<(), String> {
        let verify = self.output(&["verify", "--deep"]);
        if verify.status.success() || !self.root().join("store.json").exists() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&[verify.stdout, verify.stderr].concat()).into_owned())
    }

    /// A sync gets through, and every log lies in the store byte for byte. One that
    /// was never rewritten has one line of growth.
    pub fn whole(&self, rewritten: &[PathBuf]) -> Result<(), String> {
        let sync = self.output(&["sync"]);
        if !sync.status.success() {
            return Err(format!("the next sync: {}", String::from_utf8_lossy(&sync.stderr)));
        }
        self.verify()?;
        let store = Store::open(&self.root(), Arc::new(RealDisk)).unwrap();
        let mut logs = 0;
        for key in store.session_keys().unwrap() {
            for (source, entry) in store.session(&key).unwrap().unwrap().sources {
                if entry.kind != SourceKind::Log {
                    continue;
                }
                let place = PathBuf::from(entry.places.first().unwrap());
                let live = std::fs::read(&place).unwrap();
                let kept = |revision| {
                    let mut bytes = Vec::new();
                    let slot = Slot::Session { key: key.clone(), source: source.clone(), revision };
                    feed_raw(&store, &slot, &mut |piece| bytes.extend_from_slice(piece)).unwrap();
                    bytes
                };
                let grew_only = !rewritten.contains(&place);
                if !(1..=entry.revisions).any(|revision| kept(revision) == live) {
                    return Err(format!("{key}#{source}: its {} bytes are in no revision", live.len()));
                }
                if grew_only && entry.revisions != 1 {
                    return Err(format!(
                        "{key}#{source}: {} revisions of a log that only grew",
                        entry.revisions
                    ));
                }
                logs += 1;
            }
        }
        if logs == 0 { Err("the store is empty".to_owned()) } else { Ok(()) }
    }

    /// The store holds what one holds that was made of the same logs in one go; of
    /// what was rewritten a new store cannot know.
    pub fn like_a_fresh_store(&self) -> Result<(), String> {
        let fresh = self.dir.path().join("fresh");
        for (root, command) in [(&self.root(), "rebuild"), (&fresh, "sync"), (&fresh, "rebuild")] {
            let output = self.command_at(root, &[command]).stderr(Stdio::piped()).output().unwrap();
            if !output.status.success() {
                return Err(format!("{command}: {}", String::from_utf8_lossy(&output.stderr)));
            }
        }
        let (content, expected) = (self.content(&self.root()), self.content(&fresh));
        let once = |entry: &SourceEntry| entry.revisions == 1;
        let store = Store::open(&self.root(), Arc::new(RealDisk)).unwrap();
        let keys = store.session_keys().unwrap().into_iter();
        let grown = keys.filter(|key| store.session(key).unwrap().unwrap().sources.values().all(once));
        let different = grown.map(|key| key.to_string()).find(|key| expected.get(key) != content.get(key));
        different.map_or(Ok(()), |name| Err(format!("{name} is not what a fresh store has")))
    }

    /// Events and ledger of every session.
    pub fn content(&self, root: &Path) -> BTreeMap<String, Vec<String>> {
        let store = Store::open(root, Arc::new(RealDisk)).unwrap();
        let mut content = BTreeMap::new();
        for key in store.session_keys().unwrap() {
            let events = retro::views::events(&store, &key).unwrap();
            let mut lines: Vec<String> =
                events.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
            lines.push(format!("{:?}", store.ledger(&key).unwrap()));
            content.insert(key.to_string(), lines);
        }
        assert!(!content.is_empty());
        content
    }
}

const STORY: &str = "\
> Fix the tax test
? Rounding, perhaps.
$ cargo test
| 1 failed
! 101
& Look for callers
. $ grep -r vat
. | two
. < Two callers.
< Done.
> Thanks, now add docs
< Added.
";

/// Logs being written, each as far as it is.
pub struct Growth {
    pub logs: Vec<(PathBuf, Vec<u8>, usize)>,
    dice: Dice,
}

impl Growth {
    /// Writes piece after piece, anywhere, until told to stop.
    pub fn write_until(&mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let at = self.dice.below(self.logs.len());
            let length = self.dice.below(400);
            self.append(at, length);
        }
    }

    pub fn finish(&mut self) {
        (0..self.logs.len()).for_each(|at| self.append(at, usize::MAX));
    }

    pub fn write_whole(&mut self, which: impl Fn(&Path) -> bool) {
        for at in 0..self.logs.len() {
            if which(&self.logs[at].0) {
                self.append(at, usize::MAX);
            }
        }
    }

    pub fn append(&mut self, at: usize, length: usize) {
        let (path, bytes, written) = &mut self.logs[at];
        let end = written.saturating_add(length).min(bytes.len());
        if end > *written {
            let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
            file.write_all(&bytes[*written..end]).unwrap();
            *written = end;
        }
    }
}

/// Runs a command and kills it once the store was seen to change so many times;
/// says whether it was still running.
pub fn kill_after(mut command: Command, root: &Path, changes: usize) -> bool {
    let mut child: Child = command.spawn().unwrap();
    let mut seen = Vec::new();
    let mut left = changes;
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let now = sizes(root);
        if now != seen {
            if left == 0 {
                child.kill().unwrap();
                child.wait().unwrap();
                return true;
            }
            left -= 1;
            seen = now;
        }
        std::thread::yield_now();
    }
}

pub fn sizes(root: &Path) -> Vec<(PathBuf, u64)> {
    let files = files_below(root).into_iter();
    files.map(|path| (path.clone(), std::fs::metadata(path).map_or(0, |meta| meta.len()))).collect()
}

/// Every file below a folder; what comes and goes meanwhile is left out.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            true => files.extend(files_below(&entry.path())),
            false => files.push(entry.path()),
        }
    }
    files.sort();
    files
}

/// Throws that can be repeated.
pub struct Dice(pub u64);

impl Dice {
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 16
    }

    pub fn below(&mut self, sides: usize) -> usize {
        self.throw() as usize % sides.max(1)
    }
}
