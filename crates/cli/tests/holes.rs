//! Ways in which a machine, a store or a log can be unkind, and what the program does
//! about each: one test a way, made from nothing and told by the program itself.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(unix)]

mod machine;

use machine::{Answer, Machine};
use serde_json::Value;
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const ONE: &str = "11111111-2222-4333-8444-555555555555";
const TWO: &str = "22222222-2222-4333-8444-555555555555";

/// A log of Claude Code as this machine would have it.
fn log(session: &str) -> String {
    format!(".claude/projects/-home-dev-p/{session}.jsonl")
}

/// What a person asked, in a folder, and what it cost in tokens.
fn said(session: &str, cwd: &str, text: &str, number: u32, time: &str, tokens: &str) -> String {
    format!(
        r#"{{"type":"user","uuid":"u-{number}","parentUuid":null,"sessionId":"{session}","cwd":"{cwd}","version":"2.1.0","timestamp":"{time}","message":{{"role":"user","content":"{text}"}}}}
{{"type":"assistant","uuid":"a-{number}","sessionId":"{session}","cwd":"{cwd}","version":"2.1.0","timestamp":"{time}","requestId":"req_{session}{number}","message":{{"id":"msg_{session}{number}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"text","text":"ok"}}],"stop_reason":"end_turn","usage":{{"input_tokens":{tokens},"output_tokens":20}}}}}}
"#
    )
}

fn line(session: &str, text: &str, number: u32) -> String {
    said(session, "/home/dev/p", text, number, "2026-11-15T02:00:01.000Z", "10")
}

fn add(machine: &Machine, path: &str, text: &str) {
    let path = machine.home().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

fn with_input(machine: &Machine, args: &[&str], input: &str) -> Answer {
    let mut child = machine
        .command(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    machine.answer(child.wait_with_output().unwrap())
}

fn raw(machine: &Machine, session: &str, file: &str) -> Option<Vec<u8>> {
    let raw = machine.root().join("raw/claude");
    let path = match file {
        "m.zst" => raw.join(format!("{session}~m.zst")),
        _ => raw.join(session).join(file),
    };
    Some(zstd_decoded(&std::fs::read(path).ok()?))
}

fn zstd_decoded(bytes: &[u8]) -> Vec<u8> {
    zstd::decode_all(bytes).unwrap()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &to)
        } else {
            std::fs::copy(entry.path(), to).map(|_| ()).unwrap()
        }
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    if folder.is_dir() {
        for entry in std::fs::read_dir(folder).unwrap() {
            found.extend(below(&entry.unwrap().path()));
        }
    }
    found
}

/// 2. A backup that is older than the index is completed from the logs.
#[test]
fn raw_files_that_are_older_than_the_index_are_captured_again() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    machine.run(&["sync"]);
    let backup = machine.home().join("backup");
    copy(machine.root(), &backup);
    add(&machine, &log(ONE), &line(ONE, "two", 2));
    add(&machine, &log(TWO), &line(TWO, "new", 3));
    machine.run(&["sync"]);
    for folder in ["raw", "sessions"] {
        let (from, to) = (backup.join(folder), machine.root().join(folder));
        let _ = std::fs::remove_dir_all(&to);
        if from.is_dir() {
            copy(&from, &to);
        }
    }
    assert_eq!(machine.run(&["sync"]).code, 0);
    for session in [ONE, TWO] {
        let live = std::fs::read(machine.home().join(log(session))).unwrap();
        assert_eq!(raw(&machine, session, "m.zst"), Some(live));
    }
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}

/// 3. A damaged raw file stays as it is, and the good log is kept beside it.
#[test]
fn a_flipped_byte_in_raw_makes_the_log_the_next_revision() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    machine.run(&["sync"]);
    let path = machine.root().join("raw/claude").join(format!("{ONE}~m.zst"));
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40] ^= 0xff;
    std::fs::write(&path, bytes).unwrap();
    std::fs::remove_dir_all(machine.root().join("index")).unwrap();
    add(&machine, &log(ONE), &line(ONE, "two", 2));
    machine.run(&["sync"]);
    let live = std::fs::read(machine.home().join(log(ONE))).unwrap();
    assert_eq!(raw(&machine, ONE, "m~2.zst"), Some(live));
    assert!(machine.run(&["show", ONE]).stdout.contains("two"));
}

/// 4. A secret is known by the name beside it, also when that is a JSON key.
#[test]
fn secrets_beside_json_keys_are_redacted() {
    let machine = Machine::empty();
    let (password, key) = (["Tr0ub4", "dor&3xyzQ"].concat(), ["a8Kd02mZqP4x", "V7nB1sLr5TgY"].concat());
    let call = format!(
        r#"{{"type":"assistant","uuid":"a","sessionId":"{ONE}","timestamp":"2026-11-15T02:00:03.000Z","message":{{"id":"m","role":"assistant","model":"x","content":[{{"type":"tool_use","id":"t","name":"mcp__db__connect","input":{{"user":"admin","password":"{password}","api_key":"{key}"}}}}]}}}}"#
    );
    add(&machine, &log(ONE), &(line(ONE, "go", 1) + &call + "\n"));
    machine.run(&["sync"]);
    let events = machine.run(&["events", "claude", ONE]);
    assert!(events.stdout.contains("mcp__db__connect"), "{}", events.all());
    for secret in [&password, &key] {
        assert!(!events.stdout.contains(secret.as_str()), "{}", events.stdout);
    }
}

/// 5. What is excluded stays out, however late a log says where it belongs, and with it
///    the history that all projects share.
#[test]
fn an_excluded_project_is_not_captured() {
    let machine = Machine::empty();
    machine.write(".config/retro/config.toml", "[capture]\nexclude_projects = [\"diary\"]\n");
    let long = "word ".repeat(14_000);
    add(&machine, &log(ONE), &said(ONE, "/home/dev/diary", &long, 1, "2026-11-15T02:00:01.000Z", "10"));
    add(&machine, ".claude/history.jsonl", "{\"display\":\"a prompt\",\"project\":\"/home/dev/diary\"}\n");
    let answer = machine.run(&["sync"]);
    assert!(answer.stderr.contains("1 excluded"), "{}", answer.all());
    let imported = machine.run(&["import", "claude", "--session-id", ONE]);
    assert_eq!(imported.code, 1, "{}", imported.all());
    assert!(
        !machine.root().join("raw").exists()
            || below(&machine.root().join("raw")).iter().all(|path| path.is_dir())
    );
}

/// 6. `--from` takes every layout below the folder.
#[test]
fn every_home_below_a_backup_is_captured() {
    let machine = Machine::empty();
    add(&machine, &format!("backup/{}", log(ONE)), &line(ONE, "one", 1));
    add(&machine, &format!("backup/old-laptop/{}", log(TWO)), &line(TWO, "two", 2));
    let backup = machine.home().join("backup").display().to_string();
    let answer = machine.run(&["sync", "--from", &backup]);
    assert!(answer.stderr.contains("2 sessions, 2 new"), "{}", answer.all());
}

/// 7. A sub-agent's session whose parent is gone is listed like any other.
#[test]
fn a_child_without_its_parent_is_in_the_list() {
    let machine = Machine::empty();
    let id = "01a1dd26-d987-7472-bb66-ca59f5a69a47";
    let parent = "01a1dd26-5ea8-7e20-bb66-ca59f5a69a47";
    let meta = format!(
        r#"{{"timestamp":"2026-11-15T03:01:13.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-15T03:01:13.000Z","cwd":"/home/dev/p","originator":"codex_cli_rs","cli_version":"0.60.0","source":{{"subagent":{{"thread_spawn":{{"parent_thread_id":"{parent}","depth":1}}}}}}}}}}
{{"timestamp":"2026-11-15T03:01:14.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"look for callers"}}]}}}}
{{"timestamp":"2026-11-15T03:01:14.000Z","type":"turn_context","payload":{{"cwd":"/home/dev/p","model":"gpt-5.5"}}}}
{{"timestamp":"2026-11-15T03:01:15.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":1000000,"cached_input_tokens":0,"output_tokens":10,"reasoning_output_tokens":0,"total_tokens":1000010}},"last_token_usage":{{"input_tokens":1000000,"cached_input_tokens":0,"output_tokens":10,"reasoning_output_tokens":0,"total_tokens":1000010}}}}}}}}
"#
    );
    add(&machine, &format!(".codex/sessions/2026/11/15/rollout-2026-11-15T03-01-13-{id}.jsonl"), &meta);
    machine.run(&["sync"]);
    let listed = machine.json(&["list"]);
    assert_eq!(listed["sessions"][0]["session_id"], id, "{listed}");
    assert!(listed["sessions"][0]["cost_usd"].as_f64().is_some_and(|usd| usd > 1.0), "{listed}");
    assert!(!machine.run(&["list"]).stdout.contains('└'), "it stands for itself");
    assert_eq!(machine.run(&["show", "latest"]).code, 0);
    let used = machine.json(&["--no-sync", "usage", "session"]);
    assert_eq!(used["rows"][0]["session"]["session_id"], id, "{used}");
}

/// 8. Hooks alone capture a session with all its parts, and do what earlier hooks left.
#[test]
fn hooks_are_enough() {
    let machine = Machine::empty();
    let folder = format!(".claude/projects/-home-dev-p/{ONE}");
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    let agent =
        line(ONE, "look", 2).replace("\"uuid\"", "\"isSidechain\":true,\"agentId\":\"a1b2\",\"uuid\"");
    add(&machine, &format!("{folder}/subagents/agent-a1b2.jsonl"), &agent);
    add(&machine, &format!("{folder}/tool-results/b1.txt"), "what a tool printed");
    add(
        &machine,
        &format!(".claude/todos/{ONE}-agent-{ONE}.json"),
        "[{\"content\":\"x\",\"status\":\"pending\"}]",
    );
    let flat = agent.replace("a1b2", "c3d4");
    add(&machine, ".claude/projects/-home-dev-p/agent-c3d4.jsonl", &flat);
    add(&machine, &log(TWO), &line(TWO, "two", 3));
    let call = |session: &str| {
        let path = machine.home().join(log(session)).display().to_string();
        format!("{{\"session_id\":\"{session}\",\"transcript_path\":\"{path}\"}}")
    };
    with_input(&machine, &["sync", "--enqueue"], &call(TWO));
    let queued = || std::fs::read_dir(machine.root().join("queue")).unwrap().count();
    // A hook gives up after a moment, which on a busy machine is not enough for all of it.
    for _ in 0..100 {
        let answer = with_input(&machine, &["sync", "--hook"], &call(ONE));
        assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""));
        if queued() == 0 {
            break;
        }
    }
    let mut kept: Vec<String> = std::fs::read_dir(machine.root().join("raw/claude").join(ONE))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    kept.sort();
    let after_sync = {
        let answer = machine.run(&["sync"]);
        assert!(answer.stderr.contains("0 new, 0 grown"), "the hook left something: {}", answer.all());
        std::fs::read_dir(machine.root().join("raw/claude").join(ONE)).unwrap().count()
    };
    assert_eq!(kept.len(), after_sync, "{kept:?}");
    assert!(kept.len() >= 4 && raw(&machine, ONE, "m.zst").is_some(), "{kept:?}");
    assert!(raw(&machine, TWO, "m.zst").is_some(), "the queued job was not done");
    assert_eq!(queued(), 0);
}

/// 9. A figure that cannot be read is a gap and a lower bound, never zero.
#[test]
fn figures_that_cannot_be_read_are_marked() {
    for tokens in ["\"123456\"", "-1", "1.5", "null", "true", "[]", "18446744073709551616"] {
        let machine = Machine::empty();
        add(&machine, &log(ONE), &said(ONE, "/p", "one", 1, "2026-11-15T02:00:01.000Z", tokens));
        let usage = machine.json(&["usage"]);
        assert_eq!(usage["totals"]["cost_complete"], false, "{tokens}: {usage}");
    }
}

/// 10. Links, pipes and devices in the place of a store's own files are refused at once.
#[test]
fn what_is_no_regular_file_in_a_store_is_refused() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    machine.run(&["sync"]);
    let (outside, file) = (machine.home().join("outside.json"), machine.root().join("store.json"));
    std::fs::rename(&file, &outside).unwrap();
    for target in [&outside, Path::new("/dev/zero")] {
        symlink(target, &file).unwrap();
        for command in ["list", "verify", "sync"] {
            assert_eq!(machine.run(&[command]).code, 2, "{command} with {}", target.display());
        }
        std::fs::remove_file(&file).unwrap();
    }
    std::fs::rename(&outside, &file).unwrap();
    assert_eq!(machine.run(&["verify"]).code, 0);
}

/// 11. Without an index every answer comes from the files.
#[test]
fn a_store_without_an_index_still_knows_its_sessions() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    machine.run(&["sync"]);
    std::fs::remove_dir_all(machine.root().join("index")).unwrap();
    std::fs::remove_dir_all(machine.home().join(".claude")).unwrap();
    assert_eq!(machine.json(&["list", "--no-sync"])["total"], 1);
    assert_eq!(machine.json(&["--no-sync"])["captured"]["claude"], 1);
    assert!(!machine.root().join("index").exists());
    assert_eq!(machine.json(&["usage"])["totals"]["responses"], 1);
}

/// 11. A question that needs the index makes it again, so that every answer is the same at
///     once, also where the agent's own logs are gone.
#[test]
fn a_lost_index_changes_no_answer() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "please mend the parser", 1));
    add(&machine, &log(TWO), &line(TWO, "the parser again", 1));
    for id in [ONE, TWO] {
        let log = std::fs::File::options().append(true).open(machine.home().join(log(id))).unwrap();
        log.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_700_000_000)).unwrap();
    }
    machine.run(&["sync"]);
    for logs_are_there in [true, false] {
        if !logs_are_there {
            std::fs::remove_dir_all(machine.home().join(".claude")).unwrap();
        }
        for question in [
            &["list", "--json"][..],
            &["list"],
            &["show", "latest"],
            &["digest", "latest"],
            &["events", "latest"],
            &["outcome", "--json"],
            &["report"],
            &["search", "parser"],
            &["similar", ONE],
            &["files", "src/parser.rs"],
            &["fix", "nothing of the kind"],
            &["memory", "list", "--json"],
            &["usage", "session", "--json"],
        ] {
            let known = machine.run(question);
            let index = machine.root().join("index");
            match question.len() % 2 {
                0 => std::fs::remove_dir_all(&index).unwrap(),
                _ => std::fs::write(index.join("retro.sqlite"), "not a database").unwrap(),
            }
            let again = machine.run(question);
            assert_eq!((again.code, &again.stdout), (known.code, &known.stdout), "{question:?}");
        }
    }
}

/// 12. `rebuild` changes no answer.
#[test]
fn a_list_is_the_same_after_a_rebuild() {
    let machine = Machine::empty();
    add(&machine, &log(ONE), &line(ONE, "one", 1));
    machine.run(&["sync"]);
    let before = machine.run(&["list"]).all();
    machine.run(&["rebuild"]);
    assert_eq!(machine.run(&["list"]).all(), before);
}

/// 13. A log whose clock was ahead is not the latest for years.
#[test]
fn a_session_of_the_future_is_not_the_latest() {
    let machine = Machine::empty();
    let ahead = "2999-01-01T00:00:00.000Z";
    add(&machine, &log(ONE), &line(ONE, "normal", 1));
    add(&machine, &log(TWO), &said(TWO, "/p", "future", 2, ahead, "10"));
    machine.run(&["sync"]);
    let shown = machine.run(&["show", "latest"]);
    assert!(shown.stdout.contains("normal") && !shown.stdout.contains("future"), "{}", shown.all());
}

/// 14. Printed schedules fill the store that was named.
#[test]
fn a_schedule_keeps_the_store_and_the_home() {
    let machine = Machine::empty();
    machine.write("another home/x", "");
    let home = machine.home().join("another home").display().to_string();
    let answer = machine.run(&["--home", &home, "schedule", "print", "cron"]);
    assert!(answer.stdout.contains("STORE") && answer.stdout.contains("another home"), "{}", answer.all());
}

/// 15. A compressed log that was cut is kept as far as it can be decoded, and said to be
///     incomplete by every answer.
#[test]
fn a_cut_compressed_log_is_kept_as_far_as_it_decodes() {
    let machine = Machine::empty();
    let id = "01a1dd26-d987-7472-bb66-ca59f5a69a47";
    let meta = format!(
        r#"{{"timestamp":"2026-11-15T03:01:13.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-15T03:01:13.000Z","cwd":"/home/dev/p","originator":"codex_cli_rs","cli_version":"0.60.0"}}}}"#
    );
    let mut whole = meta + "\n";
    for number in 0..4_000 {
        whole.push_str(&format!(
            r#"{{"timestamp":"2026-11-15T03:01:14.000Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"question {number} {}"}}]}}}}"#,
            number * 7919 % 10_007
        ));
        whole.push('\n');
    }
    let packed = zstd::encode_all(whole.as_bytes(), 3).unwrap();
    let path = format!(".codex/sessions/2026/11/15/rollout-2026-11-15T03-01-13-{id}.jsonl.zst");
    let other = Machine::empty();
    other.write(&path, &packed[..packed.len() - 200]);
    let first = other.json(&["usage"]);
    assert!(first["unreadable_files"][0]["path"].as_str().unwrap().ends_with(".jsonl.zst"), "{first}");
    machine.write(&path, &packed[..packed.len() - 200]);
    let answer = machine.run(&["sync"]);
    assert_eq!(answer.code, 1, "{}", answer.all());
    assert!(
        answer.stderr.contains("1 new") && answer.stderr.contains("bytes of its contents are kept"),
        "{}",
        answer.all()
    );
    let kept = machine.root().join("raw/codex").join(format!("{id}~m.zst"));
    let bytes = zstd_decoded(&std::fs::read(kept).unwrap());
    assert!(bytes.len() > 100_000 && whole.as_bytes().starts_with(&bytes), "{} bytes", bytes.len());
    assert!(machine.run(&["show", id]).stdout.contains("question 1 "));
    let shown = machine.json(&["show", id]);
    assert!(shown.to_string().contains("gap"), "{shown}");
    // Later answers say it too, and the file is not read again until it changes.
    for args in [&["usage"][..], &["usage", "--no-sync"]] {
        let usage = machine.json(args);
        assert!(usage["unreadable_files"][0]["path"].as_str().unwrap().ends_with(".jsonl.zst"), "{usage}");
    }
    assert!(machine.run(&["sync"]).stderr.contains("1 unchanged"));
    // The whole file continues it.
    machine.write(&path, &packed);
    assert_eq!(machine.run(&["sync"]).code, 0);
    let kept = machine.root().join("raw/codex").join(format!("{id}~m.zst"));
    assert_eq!(zstd_decoded(&std::fs::read(kept).unwrap()), whole.as_bytes());
    assert!(machine.json(&["usage", "--no-sync"])["unreadable_files"].as_array().unwrap().is_empty());
}

/// Nobody, on most systems.
const NOBODY: u32 = 65_534;

/// Runs a command for which rights count.
fn without_rights(machine: &Machine, args: &[&str]) -> Answer {
    let mut command = machine.command(args);
    if std::fs::metadata(machine.home()).unwrap().uid() == NOBODY {
        command.uid(NOBODY).gid(NOBODY);
    }
    machine.answer(command.output().unwrap())
}

/// 16. A log, a folder or a database that cannot be read is named by every answer that
///     lacks it.
#[test]
fn what_cannot_be_read_is_named() {
    let machine = Machine::empty();
    add(&machine, &log(TWO), &line(TWO, "two", 1));
    let large = "word ".repeat(20_000);
    let id = "01a1dd26-d987-7472-bb66-ca59f5a69a47";
    for (path, text) in [
        (log(ONE), line(ONE, "one", 2)),
        (log(&ONE.replace('1', "3")), line(ONE, &large, 3)),
        (".claude/projects/-locked/x.jsonl".to_owned(), line("x", "locked", 4)),
        (format!(".codex/sessions/2026/11/15/rollout-2026-11-15T03-01-13-{id}.jsonl"), "{}\n".to_owned()),
    ] {
        add(&machine, &path, &text);
    }
    machine.write(".codex/state_5.sqlite", "this is no database, whatever its name says");
    let parent = machine.home().parent().unwrap().to_owned();
    if std::fs::metadata(machine.home()).unwrap().uid() == 0 {
        below(&parent).iter().for_each(|path| chown(path, Some(NOBODY), Some(NOBODY)).unwrap());
    }
    let locked = [log(ONE), log(&ONE.replace('1', "3")), ".claude/projects/-locked".to_owned()];
    let set = |mode: u32| {
        for path in &locked {
            std::fs::set_permissions(machine.home().join(path), std::fs::Permissions::from_mode(mode))
                .unwrap();
        }
    };
    set(0o000);
    if !without_rights(&machine, &["agents"]).stderr.is_empty() {
        println!("skipped: the program cannot be run as another user from here");
        return set(0o700);
    }
    let named = [ONE, "3333", "-locked", "state_5.sqlite"];
    let sync = without_rights(&machine, &["sync"]);
    let list = without_rights(&machine, &["list", "--json"]);
    let usage = without_rights(&machine, &["usage", "--json"]);
    for (what, text) in [("sync", &sync.stderr), ("list", &list.stdout), ("usage", &usage.stdout)] {
        for name in named {
            assert!(text.contains(name), "{what} does not name {name}: {text}");
        }
    }
    assert_eq!(sync.code, 1, "{}", sync.all());
    assert!(usage.stdout.contains("\"cost_complete\": false"), "{}", usage.stdout);
    for args in [&["list"][..], &["usage"], &["usage", "--no-sync"], &[]] {
        let answer = without_rights(&machine, args);
        assert!(answer.all().contains("cannot be read"), "{args:?}: {}", answer.all());
        assert!(!answer.all().contains("all in the store"), "{args:?}: {}", answer.all());
    }
    // With rights again, nothing is missing and nothing is said.
    set(0o700);
    std::fs::remove_file(machine.home().join(".codex/state_5.sqlite")).unwrap();
    let sync = without_rights(&machine, &["sync"]);
    assert_eq!(sync.code, 0, "{}", sync.all());
    let usage = without_rights(&machine, &["usage", "--no-sync", "--json"]);
    assert!(usage.stdout.contains("\"cost_complete\": true"), "{}", usage.stdout);
}

fn now() -> String {
    let now = jiff::Timestamp::now().to_string();
    format!("{}Z", now.get(..19).unwrap())
}

/// The dollars that a status line shows for today.
fn today(machine: &Machine) -> f64 {
    let input = format!("{{\"session_id\":\"{ONE}\",\"model\":{{\"display_name\":\"Opus\"}}}}");
    let line = with_input(machine, &["statusline", "--json"], &input);
    let line: serde_json::Value =
        serde_json::from_str(&line.stdout).unwrap_or_else(|_| panic!("{}", line.all()));
    line["session"]["usd"].as_f64().unwrap()
}

/// 17 and 18. After a sync or a hook, answers that read nothing have a growing session's
/// newest figures.
#[test]
fn figures_of_a_growing_session_are_those_of_its_captured_bytes() {
    for hook in [false, true] {
        let machine = Machine::empty();
        let path = machine.home().join(log(ONE)).display().to_string();
        let call = format!("{{\"session_id\":\"{ONE}\",\"transcript_path\":\"{path}\"}}");
        for number in 1..=4u32 {
            add(&machine, &log(ONE), &said(ONE, "/p", "more", number, &now(), "1000000"));
            let mut usage = Value::Null;
            // A hook gives up after a fifth of a second, which is short on a busy machine. The
            // next one goes on.
            for _ in 0..20 {
                if hook {
                    with_input(&machine, &["sync", "--hook"], &call);
                } else {
                    machine.run(&["sync"]);
                }
                usage = machine.json(&["usage", "--no-sync"]);
                if usage["totals"]["responses"] == number {
                    break;
                }
            }
            assert_eq!(usage["totals"]["responses"], number, "hook: {hook}: {usage}");
            let expected = usage["totals"]["cost_usd"].as_f64().unwrap();
            assert!((today(&machine) - expected).abs() < 0.01, "hook: {hook}, answer {number}");
        }
    }
}

/// 1. An agent's database is copied only inside the store, for its owner alone.
#[test]
fn a_database_is_copied_only_inside_the_store() {
    let machine = Machine::empty();
    let folder = machine.home().join(".codex");
    std::fs::create_dir_all(&folder).unwrap();
    let database = folder.join("state_5.sqlite");
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
             CREATE TABLE threads (id TEXT PRIMARY KEY, rollout_path TEXT, title TEXT, created_at INTEGER, updated_at INTEGER);
             INSERT INTO threads VALUES ('t1', '/nowhere.jsonl', 'a title', 1, 2);",
        )
        .unwrap();
    let temporary = machine.home().join("tmp");
    std::fs::create_dir(&temporary).unwrap();
    for args in [&["list"][..], &["sync"], &["usage"], &["list"], &[]] {
        // No right to write there: a copy would fail, and the database would be unreadable.
        std::fs::set_permissions(&temporary, std::fs::Permissions::from_mode(0o500)).unwrap();
        let output = machine.command(args).env("TMPDIR", &temporary).output().unwrap();
        let answer = machine.answer(output);
        assert!(!answer.all().contains("cannot be read"), "{args:?}: {}", answer.all());
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{args:?}");
        for path in below(machine.root()) {
            let mode = std::fs::metadata(&path).map_or(0, |meta| meta.permissions().mode() & 0o077);
            assert_eq!(mode, 0, "{}", path.display());
        }
    }
    drop(connection);
}

/// A token in the place of an id is redacted like one in a text, in every file but raw.
#[test]
fn ids_that_look_like_secrets_are_redacted() {
    let machine = Machine::empty();
    let body = |number: u32| format!("k7Tq0ZpX4mWvR2sLk7Tq0ZpX4mWvR2sL{number:04}");
    let token = |number: u32| format!("gh{}_{}", "p", body(number));
    let claude = format!(
        r#"{{"type":"user","uuid":"{}","parentUuid":"{}","sessionId":"{ONE}","promptId":"{}","cwd":"/p","version":"2.1.0","timestamp":"2026-11-15T02:00:01.000Z","message":{{"role":"user","content":"go"}}}}
{{"type":"assistant","uuid":"{}","parentUuid":"{}","sessionId":"{ONE}","requestId":"{}","timestamp":"2026-11-15T02:00:02.000Z","message":{{"id":"{}","role":"assistant","model":"claude-opus-4-5-20251101","content":[{{"type":"tool_use","id":"{}","name":"Bash","input":{{"command":"ls"}}}}],"usage":{{"input_tokens":10,"output_tokens":20}}}}}}
"#,
        token(1),
        token(2),
        token(3),
        token(4),
        token(1),
        token(5),
        token(6),
        token(7),
    );
    let id = "01a1dd26-d987-7472-bb66-ca59f5a69a47";
    let codex = format!(
        r#"{{"timestamp":"2026-11-15T03:01:13.000Z","type":"session_meta","payload":{{"id":"{id}","timestamp":"2026-11-15T03:01:13.000Z","cwd":"/p","originator":"codex_cli_rs","cli_version":"0.60.0"}}}}
{{"timestamp":"2026-11-15T03:01:14.000Z","type":"response_item","payload":{{"type":"function_call","name":"{}","arguments":"{{}}","call_id":"{}"}}}}
{{"timestamp":"2026-11-15T03:01:15.000Z","type":"event_msg","payload":{{"type":"token_count","info":{{"total_token_usage":{{"input_tokens":5,"output_tokens":5,"total_tokens":10}},"last_token_usage":{{"input_tokens":5,"output_tokens":5,"total_tokens":10}}}},"rate_limits":{{"limit_id":"{}","plan_type":"{}","primary":{{"used_percent":1.0,"window_minutes":300,"resets_at":1}}}}}}}}
"#,
        token(8),
        token(9),
        token(10),
        token(11),
    );
    let rollout = format!(".codex/sessions/2026/11/15/rollout-2026-11-15T03-01-13-{id}.jsonl");
    for (path, text) in [(log(ONE), claude), (rollout, codex)] {
        add(&machine, &path, &text);
        let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3_600);
        std::fs::File::options()
            .append(true)
            .open(machine.home().join(path))
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
    }
    machine.run(&["sync"]);
    let raw = machine.root().join("raw");
    let mut looked_at = 0;
    for path in below(machine.root()).into_iter().filter(|path| path.is_file() && !path.starts_with(&raw)) {
        let bytes = std::fs::read(&path).unwrap();
        let is_packed = path.extension().is_some_and(|extension| extension == "zst");
        let bytes = if is_packed { zstd_decoded(&bytes) } else { bytes };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        for number in 1..=11 {
            assert!(!text.contains(&body(number)), "token {number} is in {}", path.display());
        }
        looked_at += 1;
    }
    assert!(looked_at >= 6, "{looked_at} files");
}
