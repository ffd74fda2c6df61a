//! Stores in which something is not what it was, stores in odd places, and stores that
//! another program keeps busy: every command ends, follows nothing and stays small.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]
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

/// Places of a store that are empty most of the time: what is written there and moved at once,
/// and what only some stores have.
const UNUSED: &[&str] = &[
    "config.toml",
    "prices.json",
    "tombstones.jsonl",
    "exposures.jsonl",
    "memories/events.jsonl",
    "queue",
    "queue/job.json",
    "index/copies",
    "index/making",
    "index/retro.sqlite-journal",
    "index/retro.sqlite-shm",
    "index/retro.sqlite-wal",
    "index/retro.sqlite.old",
    "index/text/current.new",
    "index/text/1/seal.new",
    "index/text/2",
    "index/vectors/current.new",
    "index/vectors/00000002.vectors",
    "raw/claude/11111111-2222-4333-8444-555555555555~m.zst.part",
    "sessions/claude/11111111-2222-4333-8444-555555555555.zst.part",
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
    places.extend(UNUSED.iter().map(PathBuf::from));
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
            fs::create_dir_all(root.join(place).parent().unwrap()).unwrap();
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
fn links_in_a_store_to_a_folder_are_not_followed() {
    everywhere(|place, outside| symlink(outside, place).unwrap());
}

#[test]
fn pipes_in_a_store_are_not_waited_for() {
    everywhere(|place, _| make_pipe(place));
}

#[test]
fn sockets_in_a_store_stop_no_command() {
    everywhere(|place, outside| {
        // Names of sockets are short: it is made elsewhere.
        let made = outside.with_file_name("s");
        drop(std::os::unix::net::UnixListener::bind(&made).unwrap());
        fs::rename(&made, place).unwrap();
    });
}

#[test]
fn pipes_in_a_home_are_not_waited_for() {
    let machine = machine();
    let places = [
        ".config/retro/config.toml",
        ".config/retro/prices.json",
        ".claude/history.jsonl",
        ".claude/settings.json",
        ".claude/projects/-p/22222222-2222-4333-8444-555555555555.jsonl",
        ".claude/projects/-p/11111111-2222-4333-8444-555555555555/tool-results/a.txt",
        ".claude/todos/11111111-2222-4333-8444-555555555555-agent-a.json",
        ".codex/session_index.jsonl",
        ".codex/history.jsonl",
        ".codex/state_5.sqlite",
        ".codex/config.toml",
        ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-019a0000-0000-7000-8000-000000000001.jsonl",
        ".codex/sessions/2026/01/01/rollout-2026-01-01T00-00-00-019a0000-0000-7000-8000-000000000002.jsonl.zst",
        ".grok/sessions/-p/01a10000-0000-7000-8000-000000000001/events.jsonl",
        ".grok/sessions/-p/01a10000-0000-7000-8000-000000000001/summary.json",
    ];
    for place in places {
        let path = machine.home().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        make_pipe(&path);
        for command in
            [&["list"][..], &["sync"], &["usage"], &["doctor"], &["statusline"], &["pricing", "list"]]
        {
            let (status, said) = run(&machine, command);
            assert!(
                status.code().is_some_and(|code| code <= 2),
                "{place} with {command:?}: {status}\n{said}"
            );
        }
        fs::remove_file(path).unwrap();
    }
    make_pipe(&machine.home().join(".config/retro/prices.json"));
    let (_, said) = run(&machine, &["usage"]);
    assert!(said.contains("prices.json") && said.contains("not a regular file"), "{said}");
}

fn make_pipe(place: &Path) {
    let made = Command::new("/usr/bin/env").arg("mkfifo").arg(place).status().unwrap();
    assert!(made.success());
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

#[test]
fn everything_that_a_command_makes_belongs_to_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let machine = machine();
    remove(machine.root());
    for args in [&["sync"][..], &["render", SESSION], &["search", "please"], &["rebuild"]] {
        let ours = machine.command(args);
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "umask 0; exec \"$0\" \"$@\""]).arg(ours.get_program()).args(ours.get_args());
        command.env_clear().envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let answer = machine.answer(command.current_dir(machine.home()).output().unwrap());
        assert!(answer.code <= 1, "{args:?}: {}", answer.all());
    }
    let all = below(machine.root(), machine.root());
    assert!(all.len() > 20, "{all:?}");
    for place in all {
        let path = machine.root().join(&place);
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        let mode = fs::symlink_metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, expected, "{}: {mode:o}", place.display());
    }
}

/// Needs `script`, which gives a program a terminal.
#[test]
fn json_on_a_terminal_has_no_character_that_the_terminal_obeys_or_hides() {
    let script = Path::new("/usr/bin/script");
    if !script.exists() || cfg!(target_os = "macos") {
        eprintln!("skipped: there is no `script` that takes a command");
        return;
    }
    let machine = Machine::empty();
    let odd = log(SESSION).replace("please look", "please \u{9b}31m \u{202e} look");
    machine.write(&format!(".claude/projects/-p/{SESSION}.jsonl"), odd);
    assert_eq!(machine.run(&["sync"]).code, 0);
    for args in
        [&["events", SESSION][..], &["list", "--json"], &["show", SESSION, "--json"], &["show", SESSION]]
    {
        let ours = machine.command(args);
        let words: Vec<String> = std::iter::once(ours.get_program())
            .chain(ours.get_args())
            .map(|word| format!("'{}'", word.to_str().unwrap()))
            .collect();
        let mut command = Command::new(script);
        command.args(["-qec", &words.join(" "), "/dev/null"]).env_clear().env("PATH", "/usr/bin:/bin");
        command.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let shown = machine.answer(command.env("PAGER", "cat").stdin(Stdio::null()).output().unwrap()).stdout;
        assert!(shown.contains("look"), "{args:?}: {shown}");
        assert!(!shown.contains(['\u{9b}', '\u{202e}']), "{args:?}");
    }
    // Programs get the text as it is.
    assert!(machine.run(&["events", SESSION]).stdout.contains('\u{9b}'));
}
