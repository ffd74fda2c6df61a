//! Raw files that somebody removes, empties, cuts or exchanges: what is lost comes back from
//! the agent's log, and what is not a session's own is named.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use retro::model::SessionKey;
use retro::store::{RealDisk, Slot, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ONE: &str = "11111111-2222-4333-8444-555555555555";
const TWO: &str = "22222222-2222-4333-8444-555555555555";

fn line(session: &str, text: &str, number: u32) -> String {
    let common = format!(
        r#""uuid":"u-{number}","parentUuid":null,"isSidechain":false,"sessionId":"{session}","cwd":"/home/dev/p","version":"2.1.0","timestamp":"2026-03-02T10:00:{number:02}.000Z""#
    );
    format!(r#"{{"type":"user",{common},"message":{{"role":"user","content":"{text}"}}}}"#) + "\n"
}

fn log(session: &str) -> String {
    format!(".claude/projects/-home-dev-p/{session}.jsonl")
}

/// Two sessions of the same length, and a history that serves both, synced twice.
fn machine() -> Machine {
    let machine = Machine::empty();
    for (session, word) in [(ONE, "alpha"), (TWO, "omega")] {
        let text: String =
            (1..20).map(|number| line(session, &format!("please look at {word}"), number)).collect();
        machine.write(&log(session), text);
    }
    machine.write(".claude/history.jsonl", "{\"display\":\"hello\",\"project\":\"/home/dev/p\"}\n");
    for _ in 0..2 {
        assert_eq!(machine.run(&["sync"]).code, 0);
    }
    machine
}

fn store(machine: &Machine) -> Store {
    Store::open(machine.root(), Arc::new(RealDisk)).unwrap()
}

/// Where the raw file of a session is.
fn raw(machine: &Machine, session: &str) -> PathBuf {
    let store = store(machine);
    let slots = store.raw_slots(&SessionKey::new("claude", session)).unwrap();
    store.slot_path(&slots[0])
}

fn shared(machine: &Machine) -> PathBuf {
    let store = store(machine);
    let slots = store.all_shared_slots().unwrap();
    let history = slots.iter().find(|slot| slot.to_string().contains("history")).unwrap();
    store.slot_path(history)
}

/// Everything that is kept of sessions and of what serves many, by its place.
fn kept(machine: &Machine) -> Vec<(String, Vec<u8>)> {
    let store = store(machine);
    let mut slots: Vec<Slot> = store.all_shared_slots().unwrap();
    for session in [ONE, TWO] {
        slots.extend(store.raw_slots(&SessionKey::new("claude", session)).unwrap());
    }
    let mut kept: Vec<(String, Vec<u8>)> = slots
        .iter()
        .map(|slot| {
            let bytes = std::fs::read(store.slot_path(slot)).unwrap();
            (slot.to_string(), zstd::decode_all(&*bytes).unwrap())
        })
        .collect();
    kept.sort();
    kept
}

fn cut(path: &Path) {
    let bytes = std::fs::read(path).unwrap();
    std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

/// What a test does to a store.
type Harm = fn(&Machine);

const HARMS: &[(&str, Harm)] = &[
    ("removed", |machine| std::fs::remove_file(raw(machine, ONE)).unwrap()),
    ("removed with its session file", |machine| {
        let session = store(machine).session_path(&SessionKey::new("claude", ONE));
        std::fs::remove_file(raw(machine, ONE)).unwrap();
        std::fs::remove_file(session).unwrap();
    }),
    ("emptied", |machine| std::fs::write(raw(machine, ONE), "").unwrap()),
    ("cut in half", |machine| cut(&raw(machine, ONE))),
    ("all of an agent removed", |machine| {
        std::fs::remove_dir_all(machine.root().join("raw/claude")).unwrap();
    }),
    ("all removed", |machine| std::fs::remove_dir_all(machine.root().join("raw")).unwrap()),
    ("of many sessions, removed", |machine| std::fs::remove_file(shared(machine)).unwrap()),
    ("of many sessions, emptied", |machine| std::fs::write(shared(machine), "").unwrap()),
    ("of many sessions, cut in half", |machine| cut(&shared(machine))),
];

#[test]
fn raw_files_that_are_lost_come_back_with_the_next_sync() {
    for (name, harm) in HARMS {
        let machine = machine();
        let before = kept(&machine);
        harm(&machine);
        let seen = machine.run(&["verify"]);
        assert_eq!(seen.code, 1, "{name}: {}", seen.all());
        let synced = machine.run(&["sync"]);
        assert_eq!(kept(&machine), before, "{name}: {}", synced.all());
        let verified = machine.run(&["verify", "--deep"]);
        assert_eq!(verified.code, 0, "{name}: {}", verified.all());
    }
}

#[test]
fn raw_files_that_are_lost_come_back_with_doctor() {
    for (name, harm) in HARMS {
        let machine = machine();
        let before = kept(&machine);
        harm(&machine);
        assert_eq!(machine.run(&["doctor"]).code, 1, "{name}");
        let fixed = machine.run(&["doctor", "--fix"]);
        assert_eq!(fixed.code, 0, "{name}: {}", fixed.all());
        assert_eq!(kept(&machine), before, "{name}: {}", fixed.all());
    }
}

#[test]
fn a_raw_file_of_another_session_is_seen_and_set_aside() {
    let machine = machine();
    let before = kept(&machine);
    let foreign = std::fs::read(raw(&machine, TWO)).unwrap();
    std::fs::write(raw(&machine, ONE), &foreign).unwrap();
    let found = machine.run(&["verify"]);
    assert_eq!(found.code, 1, "{}", found.all());
    assert!(found.stdout.contains("does not hold the bytes that were captured"), "{}", found.all());
    // A sync removes nothing unasked.
    machine.run(&["sync"]);
    assert_eq!(std::fs::read(raw(&machine, ONE)).unwrap(), foreign);
    let fixed = machine.run(&["doctor", "--fix"]);
    assert_eq!(fixed.code, 0, "{}", fixed.all());
    assert_eq!(kept(&machine), before);
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
    let shown = machine.run(&["show", "claude", ONE, "--no-sync"]).stdout;
    assert!(shown.contains("alpha") && !shown.contains("omega"), "{shown}");
    let aside: Vec<PathBuf> =
        std::fs::read_dir(machine.root().join("aside")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    assert_eq!(std::fs::read(&aside[0]).unwrap(), foreign, "what was there is kept");
}

/// Two sessions that went quiet long ago, each with answers of its own.
fn answered() -> Machine {
    let machine = Machine::empty();
    for (session, word, answers) in [(ONE, "alpha", 2), (TWO, "omega", 3)] {
        let mut text = line(session, &format!("please look at {word}"), 1);
        for number in 2..2 + answers {
            let message = format!(
                r#"{{"id":"msg_{word}{number}","role":"assistant","model":"claude-opus-4-5","content":[{{"type":"text","text":"{word}"}}],"usage":{{"input_tokens":10,"output_tokens":{number}00}}}}"#
            );
            let said = line(session, "x", number).replace(r#""type":"user""#, r#""type":"assistant""#);
            let said = said.replace(r#"{"role":"user","content":"x"}"#, &message);
            text.push_str(
                &said.replace(r#","message""#, &format!(r#","requestId":"req_{word}{number}","message""#)),
            );
        }
        machine.write(&log(session), text);
        let file = std::fs::File::options().append(true).open(machine.home().join(log(session))).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(7_200)).unwrap();
    }
    assert_eq!(machine.run(&["sync"]).code, 0);
    machine
}

#[test]
fn a_ledger_of_another_session_is_seen_and_made_again() {
    let machine = answered();
    let key = |session| SessionKey::new("claude", session);
    let ledger = |session| store(&machine).ledger(&key(session)).unwrap().unwrap();
    let costs = |machine: &Machine| machine.json(&["usage", "session"])["rows"].clone();
    let (before, own) = (costs(&machine), ledger(ONE));
    assert_ne!(own, ledger(TWO));
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
    let mark = machine.root().join("sessions/mark");
    let marked = std::fs::read(&mark).unwrap();
    let changed = store(&machine);
    changed.put_ledger(&key(ONE), &ledger(TWO)).unwrap();
    changed.sync_all().unwrap();
    std::fs::write(&mark, marked).unwrap();
    let seen = machine.run(&["verify", "--deep"]);
    assert_eq!(seen.code, 1, "{}", seen.all());
    assert!(seen.all().contains("it is not the ledger of"), "{}", seen.all());
    assert_eq!(costs(&machine), before);
    let fixed = machine.run(&["doctor", "--fix"]);
    assert!(fixed.all().contains("rebuilt the ledger"), "{}", fixed.all());
    assert_eq!(ledger(ONE), own);
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
    assert_eq!(costs(&machine), before);
}

#[test]
fn words_of_another_store_are_no_answer() {
    let (machine, other) = (machine(), Machine::empty());
    other.write(&log(ONE), line(ONE, "the zebra of another store", 1));
    assert_eq!(other.run(&["sync"]).code, 0);
    for name in ["text", "vectors"] {
        let (from, to) = (other.root().join("index").join(name), machine.root().join("index").join(name));
        if from.is_dir() {
            std::fs::remove_dir_all(&to).unwrap();
            copy(&from, &to);
        }
    }
    for arguments in [&["search", "zebra", "--no-sync"][..], &["search", "zebra"]] {
        let said = machine.run(arguments);
        assert!(!said.all().contains("another store"), "{}", said.all());
    }
    assert!(machine.run(&["search", "alpha"]).stdout.contains("look at alpha"));
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

#[test]
fn a_hook_does_not_wait_for_a_transcript_that_is_none() {
    use std::io::Write;
    let machine = machine();
    let pipe = machine.home().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/etc/passwd"), Path::new("/none")] {
        let input = serde_json::json!({
            "session_id": "33333333-2222-4333-8444-555555555555", "transcript_path": path,
            "cwd": "/home/dev/p", "hook_event_name": "Stop",
        });
        let mut hook = machine
            .command(&["sync", "--hook"])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        hook.stdin.take().unwrap().write_all(input.to_string().as_bytes()).unwrap();
        let said = machine.answer(hook.wait_with_output().unwrap());
        assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{}: {}", path.display(), said.all());
    }
    let keys = store(&machine).session_keys().unwrap();
    assert_eq!(keys.len(), 2, "{keys:?}");
}

#[test]
fn what_is_lost_without_a_log_stays_findable_and_is_named() {
    let machine = machine();
    std::fs::remove_dir_all(machine.home().join(".claude")).unwrap();
    std::fs::remove_file(raw(&machine, ONE)).unwrap();
    for command in [&["sync"][..], &["doctor", "--fix"], &["sync"]] {
        machine.run(command);
    }
    let verified = machine.run(&["verify"]);
    assert_eq!(verified.code, 1, "{}", verified.all());
    assert!(verified.stdout.contains(ONE), "{}", verified.all());
    let found = machine.run(&["search", "alpha", "--no-sync"]);
    assert!(found.stdout.contains("alpha"), "{}", found.all());
}

#[test]
fn an_index_of_another_store_is_not_believed() {
    let (ours, other) = (machine(), Machine::empty());
    other.write(&log(ONE), line(ONE, "zforeign words", 1));
    assert_eq!(other.run(&["sync"]).code, 0);
    let exchange = || {
        std::fs::remove_dir_all(ours.root().join("index")).unwrap();
        std::fs::create_dir(ours.root().join("index")).unwrap();
        for name in ["retro.sqlite", "retro.sqlite-wal"] {
            let from = other.root().join("index").join(name);
            if from.exists() {
                std::fs::copy(from, ours.root().join("index").join(name)).unwrap();
            }
        }
    };
    exchange();
    let verified = ours.run(&["verify"]);
    assert_eq!(verified.code, 1, "{}", verified.all());
    assert!(verified.stdout.contains("the index of another store"), "{}", verified.all());
    for question in
        [&["search", "zforeign", "--no-sync"][..], &["list", "--no-sync"], &["search", "zforeign"]]
    {
        exchange();
        let answer = ours.run(question);
        assert!(!answer.stdout.contains("zforeign"), "{}", answer.all());
    }
    exchange();
    let found = ours.run(&["search", "alpha"]);
    assert!(found.stdout.contains("alpha"), "{}", found.all());
    assert_eq!(ours.run(&["verify", "--deep"]).code, 0);
}

#[test]
fn any_flipped_byte_in_the_name_of_the_vectors_is_seen() {
    let machine = machine();
    let path = machine.root().join("index/vectors/current");
    let good = std::fs::read(&path).unwrap();
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
    // The last byte ends the line and means nothing.
    for at in 0..good.len() - 1 {
        let mut bad = good.clone();
        bad[at] ^= 0x20;
        std::fs::write(&path, &bad).unwrap();
        let verified = machine.run(&["verify", "--deep"]);
        assert_eq!(verified.code, 1, "byte {at}: {}", verified.all());
    }
}

#[test]
fn doctor_names_decisions_that_cannot_be_read() {
    let machine = machine();
    let add = ["memory", "add", "Port 8080 is for staging.", "--when", "ports come up", "--id", "own"];
    assert_eq!(machine.run(&add).code, 0);
    assert_eq!(machine.run(&["memory", "retire", "own"]).code, 0);
    assert_eq!(machine.run(&["doctor"]).code, 0);
    let journal = machine.root().join("memories/events.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    assert!(lines.contains("memory_retired"), "{lines}");
    std::fs::write(&journal, lines.replace("memory_retired", "memory_retireD")).unwrap();
    let found = machine.json_at(1, &["doctor"]);
    let checks = found["checks"].as_array().unwrap();
    let decisions: Vec<_> = checks.iter().filter(|check| check["name"] == "decisions").collect();
    assert_eq!(decisions.len(), 1, "{found}");
    assert!(decisions[0]["what"].as_str().unwrap().contains("line "), "{found}");
}

#[test]
fn a_status_line_waits_for_no_input_that_never_ends() {
    let machine = machine();
    let mut child = machine
        .command(&["statusline"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let held = child.stdin.take();
    let started = std::time::Instant::now();
    let status = child.wait().unwrap();
    drop(held);
    assert!(status.success());
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
}

/// A link among the projects that leads to an ordinary folder.
#[cfg(unix)]
#[test]
fn behind_a_link_to_a_project_only_what_a_project_holds_is_captured() {
    let machine = Machine::empty();
    let moved = machine.home().join("disk/moved");
    for path in [
        format!("disk/moved/{ONE}.jsonl"),
        format!("disk/moved/{ONE}/subagents/agent-a1.jsonl"),
        format!("disk/moved/{ONE}/diary/agent-a2.jsonl"),
        "disk/moved/diary/agent-a3.jsonl".to_owned(),
        "disk/moved/diary/deep/agent-a4.jsonl".to_owned(),
        "disk/moved/notes.jsonl".to_owned(),
    ] {
        machine.write(&path, line(ONE, "moved", 1));
    }
    machine.write("disk/moved/diary/note.txt", "private");
    machine.write(&format!("disk/moved/{ONE}/diary/note.txt"), "private");
    std::fs::create_dir_all(machine.home().join(".claude/projects")).unwrap();
    std::os::unix::fs::symlink(moved, machine.home().join(".claude/projects/-moved")).unwrap();
    assert_eq!(machine.run(&["sync"]).code, 0);
    let store = store(&machine);
    assert_eq!(store.session_keys().unwrap(), [SessionKey::new("claude", ONE)]);
    let sources: Vec<String> = store
        .session(&SessionKey::new("claude", ONE))
        .unwrap()
        .unwrap()
        .sources
        .keys()
        .map(ToString::to_string)
        .collect();
    assert_eq!(sources, ["m", "agent-a1"]);
}
