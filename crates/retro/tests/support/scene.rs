//! The one scenario that all faults are tried on: three agents, each with a
//! sub-agent, a fork, files that serve many sessions, a log that grows, one that is
//! rewritten, a session that is new, and a job in the queue.

use retro::engine::SyncOptions;
use retro::store::Job;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

use super::machine::{self, Machine, OTHER, STORY};

/// A log that an agent writes to.
pub struct Log {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// A machine on which all logs are written and nothing is captured.
pub fn empty() -> Machine {
    let machine = Machine::new();
    write_all(&machine);
    machine
}

/// A machine whose store has everything, settled and packed.
pub fn whole() -> Machine {
    let machine = empty();
    machine.sync();
    machine
}

/// A machine whose store has every byte, captured while all sessions were growing:
/// what is made of quiet ones is still to come.
pub fn fresh() -> Machine {
    let machine = empty();
    machine.sync_with_clock_now();
    machine
}

/// A machine that was synced while its logs were half written. Since then they have
/// grown, one was rewritten, sessions are new, and a hook has left a job.
pub fn grown() -> Machine {
    let machine = Machine::new();
    let mut logs = Vec::new();
    for agent in machine::agents() {
        logs.extend(tell(&machine, agent.name(), STORY));
    }
    for Log { path, bytes } in &logs {
        std::fs::write(path, bytes.get(..bytes.len() / 2).unwrap()).unwrap();
    }
    result(&machine, "b1.txt", "half of it");
    result(&machine, "b2.txt", "all of it");
    machine.sync_with_clock_now();
    for (at, Log { path, bytes }) in logs.iter().enumerate() {
        let rewritten = bytes.split_inclusive(|byte| *byte == b'\n').skip(1).collect::<Vec<_>>().concat();
        std::fs::write(path, if at == 0 { &rewritten } else { bytes }).unwrap();
    }
    tell(&machine, "claude", OTHER);
    results(&machine);
    shared(&machine);
    fork(&machine);
    let job = Job { agent: Some("claude".into()), path: None, session_id: None };
    machine.store().enqueue(&job).unwrap();
    machine
}

/// A machine whose store has lost a session file, has another damaged, and an index
/// that is none.
pub fn damaged() -> Machine {
    let machine = whole();
    let store = machine.store();
    let keys = store.session_keys().unwrap();
    std::fs::write(store.session_path(keys.first().unwrap()), b"{ torn").unwrap();
    std::fs::remove_file(store.session_path(keys.last().unwrap())).unwrap();
    std::fs::write(store.root().join("index/retro.sqlite"), b"garbled").unwrap();
    machine
}

/// A machine with nothing of its own, and a store of the Python program beside it.
pub fn seed() -> Machine {
    let machine = Machine::new();
    let elsewhere = Machine::new();
    let log = tell(&elsewhere, "claude", STORY).into_iter().next().unwrap();
    let id = log.path.file_stem().unwrap().to_str().unwrap().to_owned();
    let folder = seed_path(&machine).join("raw/claude-code").join(id);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("transcript.jsonl"), &log.bytes).unwrap();
    machine
}

/// A machine whose sessions meet the same two errors again and again.
pub fn recurring() -> Machine {
    let machine = Machine::new();
    for number in 0..5 {
        met(&machine, number);
    }
    machine.sync();
    machine
}

/// The same, decided about, and met once more since.
pub fn recurring_more() -> Machine {
    let machine = recurring();
    super::commands::curated(&machine, &machine.world).unwrap();
    met(&machine, 6);
    machine.sync();
    machine
}

/// A machine with decisions that no sink has taken.
pub fn waiting() -> Machine {
    let machine = recurring();
    super::commands::curated(&machine, &machine.world).unwrap();
    machine
}

/// What the sink of a machine has got.
pub fn received(machine: &Machine) -> PathBuf {
    machine.path().join("received.jsonl")
}

/// The configuration of a machine that has a sink.
pub fn with_sink(machine: &Machine) -> retro::engine::Config {
    let mut config = machine.config.clone();
    let path = received(machine).display().to_string();
    config.curate.value.sink = ["tee", "-a", &path].map(str::to_owned).to_vec();
    config
}

/// A session that meets one of two errors. Enough is done in it that it counts as work.
fn met(machine: &Machine, number: usize) {
    let reads: String = (0..9).map(|page| format!(": docs/{number}-{page}.md\n| line {page}\n")).collect();
    let met = match number % 2 {
        0 => {
            "$ npm run dev\n| Error: listen EADDRINUSE: address already in use :::3000\n! 1\n$ fuser -k 3000/tcp\n| done\n$ npm run dev\n| ok\n"
        }
        _ => {
            "$ alembic upgrade head\n| OperationalError: lock timeout while waiting for relation alembic_version\n! 1\n"
        }
    };
    let story = format!(
        "@ session {number:08}-5555-4555-8555-555555555555\n@ cwd /home/dev/shop\n@ time 2026-03-0{}T10:00:00Z\n> Bring part {number} of the release over the line today\n{reads}~ src/part{number}.txt\n- a\n+ b\n{met}< As far as it goes.\n",
        number + 1
    );
    tell(machine, ["claude", "codex"][number / 2 % 2], &story);
}

pub fn seed_path(machine: &Machine) -> PathBuf {
    machine.path().join("seed")
}

fn write_all(machine: &Machine) {
    for agent in machine::agents() {
        tell(machine, agent.name(), STORY);
    }
    tell(machine, "claude", OTHER);
    results(machine);
    shared(machine);
    fork(machine);
}

/// Outputs of tools that Claude Code keeps as files.
fn results(machine: &Machine) {
    result(machine, "b1.txt", "half of it, and the rest");
    result(machine, "b2.txt", "all of it");
    result(machine, "deep/b3.txt", "");
}

fn result(machine: &Machine, name: &str, text: &str) {
    let is_story = |path: &PathBuf| {
        path.to_string_lossy().contains("/.claude/") && path.to_string_lossy().ends_with("1111.jsonl")
    };
    let main = machine.logs().into_iter().find(is_story).unwrap();
    machine.write(&main.with_extension("").join("tool-results").join(name), text.as_bytes());
}

/// Writes a story, and says which of its files are logs.
fn tell(machine: &Machine, agent: &str, story: &str) -> Vec<Log> {
    let paths = machine.tell(agent, story);
    let logs = machine.logs();
    let logs = paths.into_iter().filter(|path| logs.contains(path));
    logs.map(|path| Log { bytes: std::fs::read(&path).unwrap(), path }).collect()
}

/// The prompts of all sessions, in one file.
fn shared(machine: &Machine) {
    let line = json!({"display": "Fix the tax test", "timestamp": 1_772_359_200_000_u64, "project": "/home/dev/shop"});
    machine.write(".claude/history.jsonl".as_ref(), format!("{line}\n").as_bytes());
}

/// A Codex thread, and a fork whose history lies in it.
fn fork(machine: &Machine) {
    let (parent, fork) = ("019ca000-0000-7000-8000-000000000001", "019ca000-0000-7000-8000-000000000002");
    let first = [line(0, "session_meta", meta(parent, json!({}))), says(1, "Before the fork.")].concat();
    let base = json!({
        "forked_from_id": parent,
        "history_base": {"thread_id": parent, "end_ordinal_exclusive": 2, "end_byte_offset": first.len()},
    });
    let forked = [line(2, "session_meta", meta(fork, base)), says(3, "Only in the fork.")].concat();
    for (id, text) in [(parent, first), (fork, forked)] {
        let path = format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
        machine.write(Path::new(&path), text.as_bytes());
    }
}

fn line(ordinal: u64, kind: &str, payload: Value) -> String {
    let time = "2026-03-01T10:00:00.000Z";
    format!("{}\n", json!({"timestamp": time, "ordinal": ordinal, "type": kind, "payload": payload}))
}

fn says(ordinal: u64, text: &str) -> String {
    let content = json!([{"type": "output_text", "text": text}]);
    line(ordinal, "response_item", json!({"type": "message", "role": "assistant", "content": content}))
}

fn meta(id: &str, base: Value) -> Value {
    let mut payload = json!({
        "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w", "history_mode": "paginated",
    });
    payload.as_object_mut().unwrap().extend(base.as_object().unwrap().clone());
    payload
}

impl Machine {
    /// Syncs at the present hour, at which nothing is quiet.
    pub fn sync_with_clock_now(&self) {
        let now = jiff::Timestamp::now().into();
        let world = self.world.clone().with_clock(now);
        retro::engine::sync(&world, &self.config, &SyncOptions::default(), &|_| {}).unwrap();
    }
}
