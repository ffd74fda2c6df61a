//! What is damaged, unreadable or half there is listed with the command that helps, and
//! `doctor --fix` mends what can be mended.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const ID: &str = "6a1f0c52-3b7d-4c1e-9a55-0d2b8e7f1a01";

fn checks<'v>(doctor: &'v Value, name: &str) -> Vec<&'v Value> {
    doctor["checks"].as_array().unwrap().iter().filter(|check| check["name"] == name).collect()
}

fn raw(machine: &Machine) -> PathBuf {
    machine.root().join("raw/claude").join(format!("{ID}~m.zst"))
}

fn flip(path: &PathBuf) {
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0xff;
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_raw_file_is_set_aside_and_taken_again_from_the_log() {
    let machine = Machine::with_demo();
    let before = machine.run(&["show", ID, "--full"]).stdout;
    flip(&raw(&machine));
    let found = machine.json(&["doctor"]);
    assert_eq!(found["ok"], false);
    let damaged = checks(&found, "damaged");
    assert!(damaged[0]["what"].as_str().unwrap().contains(ID), "{found}");
    assert!(damaged[0]["help"].as_str().unwrap().starts_with("retro doctor --fix"), "{found}");
    let damage = std::fs::read(raw(&machine)).unwrap();
    let fixed = machine.run(&["doctor", "--fix"]);
    assert!(fixed.stderr.contains(&format!("took claude/{ID} again")), "{}", fixed.all());
    assert_eq!(fixed.code, 0, "{}", fixed.all());
    let aside = std::fs::read_dir(machine.root().join("aside")).unwrap().next().unwrap().unwrap();
    assert_eq!(std::fs::read(aside.path()).unwrap(), damage, "the damaged file is kept as it is");
    assert_ne!(std::fs::read(raw(&machine)).unwrap(), damage);
    let after = machine.run(&["show", ID, "--full"]).stdout;
    let story = |text: &str| {
        let said = text.lines().filter(|line| !line.starts_with("gap ") && !line.contains(" records"));
        said.skip(4).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(story(&after), story(&before));
    assert!(checks(&machine.json(&["doctor"]), "damaged").is_empty());
}

#[test]
fn after_the_cure_everything_is_well() {
    let machine = Machine::with_demo();
    flip(&raw(&machine));
    assert_eq!(machine.run(&["doctor", "--fix"]).code, 0);
    for _ in 0..2 {
        let synced = machine.run(&["sync"]);
        assert_eq!(synced.code, 0, "{}", synced.all());
    }
    let listed = machine.run(&["list", "--limit", "0"]);
    assert!(!listed.stdout.contains('◐') && listed.stderr.contains("all in the store"), "{}", listed.all());
    let verified = machine.run(&["verify", "--deep"]);
    assert_eq!(verified.code, 0, "{}", verified.all());
    assert_eq!(machine.run(&["doctor"]).code, 0);
}

#[test]
fn damage_without_a_log_says_that_only_a_backup_helps() {
    let machine = Machine::with_demo();
    flip(&raw(&machine));
    std::fs::remove_dir_all(machine.home().join(".claude")).unwrap();
    let found = machine.json(&["doctor"]);
    let damaged = checks(&found, "damaged");
    assert!(damaged[0]["help"].as_str().unwrap().contains("backup"), "{found}");
    let fixed = machine.run(&["doctor", "--fix"]);
    assert_eq!(fixed.code, 1, "{}", fixed.all());
}

#[test]
fn gaps_unknown_records_and_halves_are_listed_with_their_place() {
    let machine = Machine::empty();
    let session = "99999999-0000-4000-8000-000000000001";
    let prompt = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"{session}\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"Hello\"}}}}\n"
    );
    let log = format!(
        "{prompt}{{\"type\":\"user\", broken\n{{\"type\":\"hologram\",\"sessionId\":\"{session}\"}}\n"
    );
    machine.write(&format!(".claude/projects/-w/{session}.jsonl"), log);
    let half = "77777777-0000-4000-8000-000000000001";
    let agent =
        prompt.replace(session, half).replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1\",\"uuid\"");
    machine.write(&format!(".claude/projects/-w/{half}/subagents/agent-a1.jsonl"), agent);
    let synced = machine.run(&["sync"]);
    assert!(synced.stderr.contains("1 gap (`retro doctor` lists them)"), "{}", synced.all());
    let found = machine.json(&["doctor"]);
    let [gap] = checks(&found, "gaps")[..] else { panic!("{found}") };
    assert!(gap["what"].as_str().unwrap().contains(session), "{gap}");
    assert!(gap["what"].as_str().unwrap().contains('2'), "the line: {gap}");
    assert_eq!(gap["help"], format!("retro show claude {session} shows what was read around it"));
    let [unknown] = checks(&found, "unknown")[..] else { panic!("{found}") };
    assert!(
        unknown["what"].as_str().unwrap().starts_with(&format!("claude/{session}: 1 record")),
        "{unknown}"
    );
    let [half_one] = checks(&found, "half")[..] else { panic!("{found}") };
    assert!(half_one["what"].as_str().unwrap().contains(half), "{half_one}");
    assert_eq!(found["ok"], true, "none of these needs somebody: {found}");
}

/// A log that is a folder cannot be read, whoever asks.
#[test]
fn what_cannot_be_read_is_named_by_every_answer_that_lacks_it() {
    let machine = Machine::with_demo();
    let log = machine.home().join(".codex/sessions/2026/03/02/rollout-2026-03-02T10-00-00-019a0000-0000-7000-8000-00000000dead.jsonl.zst");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    std::fs::write(&log, b"no zstd at all").unwrap();
    let synced = machine.run(&["sync"]);
    assert!(synced.stderr.contains("00000000dead"), "{}", synced.all());
    let found = machine.run(&["doctor"]);
    assert!(found.stdout.contains("00000000dead"), "{}", found.all());
    assert!(found.stdout.contains("→"), "{}", found.all());
}

#[test]
fn a_watch_sees_an_agent_that_comes_later_and_prints_a_line_of_json_for_each_sync() {
    use std::io::{BufRead, BufReader};
    let machine = Machine::empty();
    let mut child = machine
        .command(&["--json", "sync", "--watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let first = next();
    assert_eq!((&first["schema"], &first["discovered"]), (&"retro.sync/1".into(), &0.into()));
    let session = "99999999-0000-4000-8000-000000000009";
    machine.write(
        &format!(".claude/projects/-w/{session}.jsonl"),
        format!("{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"{session}\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"Hello\"}}}}\n"),
    );
    let second = next();
    assert_eq!(second["ingested"], 1, "{second}");
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Every file of the store outside `raw/` that contains these words.
fn files_with(root: &Path, words: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() && !path.ends_with("raw") {
                folders.push(path);
            } else if path.is_file() {
                let bytes = std::fs::read(&path).unwrap();
                if bytes.windows(words.len()).any(|part| part == words.as_bytes()) {
                    found.push(path);
                }
            }
        }
    }
    found
}

#[test]
fn what_older_rules_for_secrets_left_is_redacted_by_the_next_sync() {
    let machine = Machine::with_demo();
    let token = format!("gh{}_{}", "p", "k7Tq0ZpX4mWvR2sLk7Tq0ZpX4mWvR2sLa8Kd");
    assert_eq!(machine.run(&["memory", "add", "Use the longest name for the release"]).code, 0);
    // As a version that did not know the token wrote it.
    let items = machine.root().join("memories/items.jsonl");
    let text = std::fs::read_to_string(&items).unwrap();
    std::fs::write(&items, text.replace("the longest name", &token)).unwrap();
    assert_eq!(machine.run(&["sync"]).code, 0);
    let index = rusqlite::Connection::open(machine.root().join("index/retro.sqlite")).unwrap();
    assert_eq!(index.execute("UPDATE meta SET value = '1' WHERE key = 'rules'", []).unwrap(), 1);
    drop(index);
    assert!(!files_with(machine.root(), &token).is_empty());
    assert_eq!(machine.run(&["sync"]).code, 0);
    assert_eq!(files_with(machine.root(), &token), Vec::<PathBuf>::new());
    let listed = machine.run(&["memory", "list"]);
    assert!(listed.stdout.contains("[redacted:github-token]"), "{}", listed.all());
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}
