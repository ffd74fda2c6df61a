//! Stores in which something is not what it was, stores in odd places, and stores that
//! another program keeps busy: every command ends, follows nothing and stays small.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod machine;

use machine::{Answer, Machine};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Words that are only outside the store.
const OUTSIDE: &str = "words from outside";

/// Commands that read or write a store in different ways.
const COMMANDS: &[&[&str]] = &[
    &["list"],
    &["sync"],
    &["usage", "--no-sync"],
    &["show", "claude", SESSION],
    &["events", "claude", SESSION],
    &["search", "please"],
    &["verify", "--deep"],
    &["rebuild"],
];

/// Memory that a command may reserve; a file that is read whole is larger.
const KILOBYTES_MAX: u64 = 6_000_000;
const HUGE_BYTES: u64 = 64_000_000_000;

/// A command that lasts longer waits for something that never comes.
const PATIENCE: Duration = Duration::from_secs(120);

fn log(session: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u-1","parentUuid":null,"sessionId":"{session}","cwd":"/p","version":"2.1.0","timestamp":"2026-11-15T02:00:01.000Z","message":{{"role":"user","content":"please look"}}}}
{{"type":"assistant","uuid":"a-1","parentUuid":"u-1","sessionId":"{session}","cwd":"/p","version":"2.1.0","timestamp":"2026-11-15T02:00:02.000Z","requestId":"r1","message":{{"id":"m1","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"ok"}}],"stop_reason":"end_turn","usage":{{"input_tokens":10,"output_tokens":20}}}}}}
"#
    )
}

/// A machine with one session, captured when it was quiet for days.
fn machine() -> Machine {
    let machine = Machine::empty();
    machine.write(&format!(".claude/projects/-p/{SESSION}.jsonl"), log(SESSION));
    let file = File::options()
        .write(true)
        .open(machine.home().join(format!(".claude/projects/-p/{SESSION}.jsonl")))
        .unwrap();
    file.set_modified(std::time::SystemTime::now() - Duration::from_secs(3 * 86_400)).unwrap();
    let synced = machine.run(&["sync"]);
    assert_eq!(synced.code, 0, "{}", synced.all());
    machine
}

/// Runs a command on a store in another place.
fn at(machine: &Machine, root: &Path, command: &str) -> Answer {
    let mut other = Command::new(env!("CARGO_BIN_EXE_retro"));
    other.arg("--root").arg(root).arg(command).env_clear().env("HOME", machine.home());
    machine.answer(other.stdin(Stdio::null()).output().unwrap())
}

/// Files and folders below a folder, by their path inside it.
fn below(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        found.push(path.strip_prefix(root).unwrap().to_owned());
        if path.is_dir() {
            found.extend(below(root, &path));
        }
    }
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn remove(path: &Path) {
    match path.is_dir() && !path.is_symlink() {
        true => fs::remove_dir_all(path).unwrap(),
        false => drop(fs::remove_file(path)),
    }
}

/// Runs a command with little memory. It is ended if it waits for something that never
/// comes.
fn run(machine: &Machine, args: &[&str]) -> (ExitStatus, String) {
    let ours = machine.command(args);
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("ulimit -v {KILOBYTES_MAX}; exec \"$0\" \"$@\"")]);
    command.arg(ours.get_program()).args(ours.get_args()).env_clear().current_dir(machine.home());
    command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let said = [read(child.stdout.take().unwrap()), read(child.stderr.take().unwrap())];
    let status = wait(&mut child);
    (status, said.map(|said| said.join().unwrap()).concat())
}

fn read(mut pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> ExitStatus {
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            return child.wait().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Puts something odd in the place of each file and folder of a store, one after the other,
/// and runs a command on it; every command with `RETRO_TRIAL`.
fn everywhere(odd: impl Fn(&Path, &Path)) {
    let machine = machine();
    let (root, good) = (machine.root().to_owned(), machine.home().join("good"));
    copy(&root, &good);
    let outside = machine.home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), OUTSIDE).unwrap();
    let mut places = below(&good, &good);
    let extra =
        ["config.toml", "index/retro.sqlite-wal", "index/retro.sqlite-journal", "index/copies", "queue"];
    places.extend(extra.map(PathBuf::from));
    places.sort();
    places.dedup();
    let mut bad = Vec::new();
    let is_trial = std::env::var_os("RETRO_TRIAL").is_some();
    for (number, place) in places.iter().enumerate() {
        for (at, command) in COMMANDS.iter().enumerate() {
            if !is_trial && number % COMMANDS.len() != at {
                continue;
            }
            remove(&root);
            copy(&good, &root);
            remove(&root.join(place));
            odd(&root.join(place), &outside);
            let (status, said) = run(&machine, command);
            let is_ended = status.signal().is_none() && status.code().is_some_and(|code| code <= 2);
            if !is_ended || said.contains(OUTSIDE) {
                bad.push(format!("{} with {command:?}: {status}\n{said}", place.display()));
            }
            assert_eq!(below(&outside, &outside), [PathBuf::from("file")], "{}", place.display());
            assert_eq!(fs::read(outside.join("file")).unwrap(), OUTSIDE.as_bytes(), "{}", place.display());
        }
    }
    assert!(bad.is_empty(), "{} bad, {} places:\n{}", bad.len(), places.len(), bad.join("\n"));
}

#[test]
fn links_in_a_store_to_a_file_are_not_followed() {
    everywhere(|place, outside| symlink(outside.join("file"), place).unwrap());
}

#[test]
fn links_in_a_store_to_an_endless_file_are_not_followed() {
    everywhere(|place, _| symlink("/dev/zero", place).unwrap());
}

#[test]
fn folders_in_the_place_of_files_stop_no_command() {
    everywhere(|place, _| fs::create_dir(place).unwrap());
}

#[test]
fn files_larger_than_memory_are_not_read_whole() {
    everywhere(|place, _| File::create(place).unwrap().set_len(HUGE_BYTES).unwrap());
}

#[test]
fn a_store_inside_the_folder_of_an_agent_is_mentioned() {
    let machine = machine();
    for inside in [".claude/store", ".claude/projects/store"] {
        let root = machine.home().join(inside);
        let synced = at(&machine, &root, "sync");
        assert_eq!(synced.code, 0, "{}", synced.all());
        assert!(synced.stderr.contains("is inside a folder of Claude Code"), "{}", synced.all());
    }
    let elsewhere = machine.run(&["sync"]);
    assert!(!elsewhere.stderr.contains("inside a folder"), "{}", elsewhere.all());
}

#[test]
fn what_systems_leave_in_a_folder_does_not_keep_a_store_out_of_it() {
    let machine = machine();
    let root = machine.home().join("disk");
    fs::create_dir_all(root.join("lost+found")).unwrap();
    fs::write(root.join(".DS_Store"), "x").unwrap();
    for command in ["sync", "verify"] {
        let answer = at(&machine, &root, command);
        assert_eq!(answer.code, 0, "{}", answer.all());
    }
    fs::create_dir(machine.home().join("photos")).unwrap();
    fs::write(machine.home().join("photos/one.jpg"), "x").unwrap();
    let refused = at(&machine, &machine.home().join("photos"), "sync");
    assert_eq!(refused.code, 2, "{}", refused.all());
}

#[test]
fn a_link_that_leads_nowhere_is_named_as_such() {
    let machine = machine();
    let root = machine.home().join("link");
    symlink(machine.home().join("nowhere"), &root).unwrap();
    let refused = at(&machine, &root, "sync");
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("is a link to a place that is not there"), "{}", refused.all());
}

#[test]
fn who_waits_for_another_writer_says_so() {
    for command in [&["sync"][..], &["rebuild"], &["import", "claude", "--latest", "--no-render"]] {
        let machine = machine();
        let path = format!(".claude/projects/-p/{}.jsonl", SESSION.replace('1', "2"));
        machine.write(&path, log(&SESSION.replace('1', "2")));
        let held = File::options().write(true).open(machine.root().join("lock")).unwrap();
        held.lock().unwrap();
        let mut child = machine.command(command).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = said.next().unwrap().unwrap();
        assert!(first.starts_with("Waiting for another retro that writes to "), "{command:?}: {first}");
        held.unlock().unwrap();
        assert!(said.all(|line| line.is_ok()));
        assert_eq!(child.wait().unwrap().code(), Some(0), "{command:?}");
    }
}

#[test]
fn an_import_that_was_stopped_claims_nothing() {
    let machine = machine();
    let other = SESSION.replace('1', "2");
    machine.write(&format!(".claude/projects/-p/{other}.jsonl"), log(&other));
    let held = File::options().write(true).open(machine.root().join("lock")).unwrap();
    held.lock().unwrap();
    let args = ["import", "claude", "--session-id", &other];
    let mut child = machine.command(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.next().unwrap().unwrap().starts_with("Waiting"));
    let stopped =
        Command::new("/bin/sh").args(["-c", &format!("kill -TERM {}", child.id())]).status().unwrap();
    assert!(stopped.success());
    let rest: Vec<String> = said.map(|line| line.unwrap()).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(rest, ["Stopped: 1 session not reached."]);
}

#[test]
fn values_of_the_environment_are_escaped_in_complaints() {
    let machine = machine();
    let output = machine.command(&["usage"]).env("RETRO_COST_MODE", "x\u{9b}31m").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\u{9b}'));
}
