//! The program as a user meets it: real processes, real output, as snapshots.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use retro::agents::{by_name, script::Script};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A user's machine with a home of its own.
struct User {
    dir: tempfile::TempDir,
}

/// What a command answered.
struct Answer {
    code: i32,
    stdout: String,
    stderr: String,
}

impl User {
    fn new() -> User {
        User { dir: tempfile::tempdir().unwrap() }
    }

    /// A machine with the sessions of the demo on it.
    fn with_sessions() -> User {
        let user = User::new();
        for story in ["tax", "cart", "search"] {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/demo/{story}.txt"));
            let script = Script::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
            for (path, bytes) in by_name("claude").unwrap().write(&script) {
                user.write(&path, &bytes);
            }
        }
        user
    }

    fn home(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        let path = self.home().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retro"));
        command.args(args).env_clear().env("HOME", self.home()).env("TZ", "UTC").current_dir(self.home());
        command
    }

    fn run(&self, args: &[&str]) -> Answer {
        self.answer(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    fn run_with_input(&self, args: &[&str], input: &str) -> Answer {
        use std::io::Write;
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        self.answer(child.wait_with_output().unwrap())
    }

    /// Output without what differs from run to run: the home, times taken, free space.
    fn answer(&self, output: std::process::Output) -> Answer {
        let clean = |bytes: &[u8]| {
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            let text = text.replace(&self.home().display().to_string(), "~");
            mask(&mask(&text, " ms", "N"), " free", "N")
        };
        Answer {
            code: output.status.code().unwrap(),
            stdout: clean(&output.stdout),
            stderr: clean(&output.stderr),
        }
    }

    fn json(&self, args: &[&str]) -> serde_json::Value {
        let answer = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {}", answer.stdout))
    }
}

/// Replaces the number (with its unit) that stands before `mark`.
fn mask(text: &str, mark: &str, with: &str) -> String {
    let number = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(mark) {
        let before = &rest[..at];
        let words = before.trim_end_matches(|c: char| c.is_ascii_alphabetic()).trim_end_matches(' ');
        let kept = words.trim_end_matches(number);
        match kept.len() < words.len() {
            true => out.push_str(&format!("{kept}{with}")),
            false => out.push_str(before),
        }
        out.push_str(mark);
        rest = &rest[at + mark.len()..];
    }
    out + rest
}

fn told(answer: &Answer) -> String {
    format!("exit {}\n--- stdout\n{}--- stderr\n{}", answer.code, answer.stdout, answer.stderr)
}

#[test]
fn a_new_user_is_told_what_to_do() {
    insta::assert_snapshot!("nothing_here", told(&User::new().run(&[])));
    let user = User::with_sessions();
    insta::assert_snapshot!("sessions_here", told(&user.run(&[])));
    assert!(!user.home().join(".local/share/retro").exists(), "a question made a store");
}

#[test]
fn list_shows_what_is_here_and_what_is_in_the_store() {
    let user = User::with_sessions();
    insta::assert_snapshot!("list_before_sync", told(&user.run(&["list"])));
    user.run(&["sync"]);
    let rows = user.json(&["list", "--project", "shop"]);
    assert_eq!(rows["schema"], "retro.list/1");
    assert_eq!(rows["sessions"].as_array().unwrap().len(), 2);
    for field in [
        "agent",
        "session_id",
        "title",
        "project",
        "cwd",
        "started_at",
        "ended_at",
        "bytes",
        "captured",
        "parent_session_id",
        "resume",
    ] {
        assert!(rows["sessions"][0].get(field).is_some(), "{field}");
    }
    assert_eq!(rows["sessions"][0]["captured"], true);
}

#[test]
fn a_transcript_near_its_deletion_is_warned_of() {
    let user = User::with_sessions();
    assert!(!user.run(&["list"]).stderr.contains("cleanupPeriodDays"));
    let path =
        user.home().join(".claude/projects/-home-dev-notes/e77d1f38-0c4b-4b2a-a3f9-1e8c7d6b5a03.jsonl");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(27 * 86_400);
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_modified(old).unwrap();
    let before = user.run(&["list"]).stderr;
    assert!(
        before.contains("cleanupPeriodDays")
            && before.contains("1 session of that age is not, or not wholly, in the store"),
        "{before}"
    );
    assert!(before.contains("27 days old"), "{before}");
    user.run(&["sync"]);
    let after = user.run(&["list"]).stderr;
    assert!(!after.contains("cleanupPeriodDays"), "what is captured needs no warning: {after}");
}

#[test]
fn sync_says_what_it_did() {
    let user = User::with_sessions();
    let first = user.json(&["sync"]);
    for (field, value) in [("discovered", 3), ("ingested", 3), ("appended", 0), ("failed", 0), ("gaps", 0)] {
        assert_eq!(first[field], value, "{field}");
    }
    for field in ["skipped_unchanged", "analyzed", "source_bytes", "store_bytes", "elapsed_ms"] {
        assert!(first[field].is_u64(), "{field}");
    }
    let second = user.run(&["sync"]);
    assert_eq!(second.code, 0);
    assert!(second.stderr.starts_with("3 sessions, 0 new, 0 grown, 3 unchanged."), "{}", second.stderr);
}

#[test]
fn show_and_render_are_pleasant_to_read() {
    let user = User::with_sessions();
    user.run(&["sync"]);
    insta::assert_snapshot!("show", told(&user.run(&["show", "cc", "b2c9"])));
    let path = user.run(&["render", "claude", "b2c9"]).stdout;
    let path = user.home().join(path.trim().trim_start_matches("~/"));
    insta::assert_snapshot!("render", std::fs::read_to_string(path).unwrap());
}

#[test]
fn sub_agents_are_shown_the_same_way_for_every_agent() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo/cart.txt");
    let script = Script::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    for agent in retro::agents::AGENTS {
        let user = User::new();
        for (path, bytes) in agent.write(&script) {
            user.write(&path, &bytes);
        }
        user.run(&["sync"]);
        let shown = user.run(&["show", agent.name(), "b2c9"]).stdout;
        let inside = shown.split("┌ sub-agent").nth(1).and_then(|rest| rest.split('└').next());
        assert!(
            inside.is_some_and(|inside| inside.contains("rg -n cart_total src")),
            "{}: {shown}",
            agent.name()
        );
        let roots = user.json(&["list"]);
        assert_eq!(roots["sessions"].as_array().unwrap().len(), 1, "{}", agent.name());
    }
}

/// A Codex fork that copies nothing: its history lies in its parent's file.
#[test]
fn a_fork_is_shown_with_its_parents_history_or_with_a_gap_that_names_it() {
    let (parent, fork) = ("019ca000-0000-7000-8000-000000000001", "019ca000-0000-7000-8000-000000000002");
    let line = |ordinal: u64, kind: &str, payload: serde_json::Value| {
        let line = serde_json::json!({
            "timestamp": "2026-03-01T10:00:00.000Z", "ordinal": ordinal, "type": kind, "payload": payload,
        });
        format!("{line}\n")
    };
    let says = |ordinal: u64, role: &str, kind: &str, text: &str| {
        let content = serde_json::json!([{"type": kind, "text": text}]);
        line(
            ordinal,
            "response_item",
            serde_json::json!({"type": "message", "role": role, "content": content}),
        )
    };
    let meta = |id: &str, base: serde_json::Value| {
        let mut payload = serde_json::json!({
            "id": id, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/w", "history_mode": "paginated",
        });
        payload.as_object_mut().unwrap().extend(base.as_object().unwrap().clone());
        payload
    };
    let first = [
        line(0, "session_meta", meta(parent, serde_json::json!({}))),
        says(1, "assistant", "output_text", "Before the fork."),
    ]
    .concat();
    let end = first.len();
    let later = says(2, "assistant", "output_text", "After the fork, in the parent.");
    let base = serde_json::json!({
        "forked_from_id": parent,
        "history_base": {"thread_id": parent, "end_ordinal_exclusive": 2, "end_byte_offset": end},
    });
    let forked =
        [line(2, "session_meta", meta(fork, base)), says(3, "assistant", "output_text", "Only in the fork.")]
            .concat();
    let file = |id: &str| format!(".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{id}.jsonl");
    let user = User::new();
    user.write(Path::new(&file(fork)), forked.as_bytes());
    user.run(&["sync"]);
    let alone = user.json(&["show", "codex", fork]);
    assert_eq!(alone["gaps"][0]["reason"], "missing", "{alone}");
    assert!(alone["gaps"][0]["detail"].as_str().unwrap().contains(parent), "{alone}");
    user.write(Path::new(&file(parent)), [first, later].concat().as_bytes());
    user.run(&["sync"]);
    let together = user.run(&["show", "codex", fork]).stdout;
    let place = |text: &str| together.find(text);
    assert!(place("Before the fork.") < place("Only in the fork."), "{together}");
    assert!(place("Before the fork.").is_some() && place("After the fork, in the parent.").is_none());
    assert_eq!(user.json(&["show", "codex", fork])["gaps"].as_array().unwrap().len(), 0);
}

#[test]
fn show_as_json_counts_every_record() {
    let user = User::with_sessions();
    user.run(&["sync"]);
    let view = user.json(&["show", "claude", "6a1f"]);
    let coverage = &view["coverage"];
    let count = |name: &str| coverage[name].as_u64().unwrap();
    let sum: u64 = ["mapped", "folded", "noted", "unknown", "malformed"].iter().map(|n| count(n)).sum();
    assert_eq!(count("records"), sum);
    assert_eq!(count("unknown") + count("malformed"), 0);
    assert_eq!(view["event_counts"]["user"], 2);
    assert!(view["session"].is_object() && view["artifacts"]["raw"][0].is_string());
    assert_eq!(view["gaps"].as_array().unwrap().len(), 0);
}

#[test]
fn raw_gives_the_source_byte_for_byte() {
    let user = User::with_sessions();
    user.run(&["sync"]);
    let listed = user.json(&["raw", "claude", "b2c9", "--list"]);
    for source in listed["sources"].as_array().unwrap() {
        let name = source["source"].as_str().unwrap();
        let live = source["places"][0].as_str().unwrap().replace('~', &user.home().display().to_string());
        let output = user.command(&["raw", "claude", "b2c9", "--file", name]).output().unwrap();
        assert_eq!(output.stdout, std::fs::read(live).unwrap(), "{name}");
        assert!(output.stderr.is_empty());
    }
    let line = user.run(&["raw", "claude", "b2c9", "--line", "2"]);
    assert_eq!(line.stdout.lines().count(), 1);
    assert_eq!(user.run(&["raw", "claude", "b2c9", "--line", "9999"]).code, 1);
}

#[test]
fn events_are_one_json_object_a_line_in_order() {
    let user = User::with_sessions();
    user.run(&["sync"]);
    let out = user.run(&["events", "claude", "latest"]).stdout;
    let events: Vec<serde_json::Value> =
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn import_refuses_what_is_captured_and_unchanged() {
    let user = User::with_sessions();
    let first = user.run(&["import", "claude", "--session-id", "6a1f"]);
    assert_eq!(first.code, 0, "{}", told(&first));
    assert!(first.stdout.ends_with(".md\n"));
    let again = user.run(&["import", "claude", "--session-id", "6a1f"]);
    assert_eq!(again.code, 2, "{}", told(&again));
    assert!(again.stderr.contains("--force"));
    assert_eq!(user.run(&["import", "claude", "--session-id", "6a1f", "--force"]).code, 0);
    assert_eq!(user.run(&["import", "claude", "--all", "--no-render"]).code, 0);
    assert_eq!(user.run(&["import", "claude", "--all"]).code, 0);
    assert_eq!(user.run(&["import", "all", "--limit-per-agent", "1"]).code, 0);
    assert_eq!(user.run(&["import", "claude"]).code, 2);
    assert_eq!(user.run(&["import", "claude", "--session-id", "nope"]).code, 1);
    let revisions = user.json(&["raw", "claude", "6a1f", "--list"]);
    assert!(revisions["sources"].as_array().unwrap().iter().all(|source| source["revision"] == 1));
}

#[test]
fn verify_finds_a_flipped_byte() {
    let user = User::with_sessions();
    user.run(&["sync"]);
    let good = user.json(&["verify", "--deep"]);
    assert_eq!((&good["ok"], &good["problems"]), (&true.into(), &serde_json::json!([])));
    let listed = user.json(&["raw", "claude", "6a1f", "--list"]);
    let raw = listed["sources"][0]["path"].as_str().unwrap();
    let raw = raw.replacen('~', &user.home().display().to_string(), 1);
    let mut bytes = std::fs::read(&raw).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&raw, bytes).unwrap();
    let answer = user.run(&["verify", "--deep"]);
    assert_eq!(answer.code, 1, "{}", told(&answer));
}

#[test]
fn a_hook_captures_and_says_nothing_whatever_comes() {
    let user = User::with_sessions();
    let transcript = user.json(&["list"])["sessions"][0].clone();
    let id = transcript["session_id"].as_str().unwrap().to_owned();
    let path = user.home().join(format!(".claude/projects/-home-dev-notes/{id}.jsonl"));
    assert!(path.exists());
    let input = serde_json::json!({"session_id": id, "transcript_path": path, "hook_event_name": "Stop"});
    for input in ["", "not json", "{}", "{\"transcript_path\":\"/etc/passwd\"}", &input.to_string()] {
        let answer = user.run_with_input(&["sync", "--hook"], input);
        assert_eq!((answer.code, answer.stdout.as_str(), answer.stderr.as_str()), (0, "", ""), "{input}");
    }
    // A hook gives up after a moment; on a busy machine it may take more than one call.
    let captured = || -> Vec<String> {
        let rows = user.json(&["list"]);
        let rows = rows["sessions"].as_array().unwrap().iter().filter(|s| s["captured"] == true);
        rows.map(|row| row["session_id"].as_str().unwrap().to_owned()).collect()
    };
    for _ in 0..50 {
        if !captured().is_empty() {
            break;
        }
        user.run_with_input(&["sync", "--hook"], &input.to_string());
    }
    assert_eq!(captured(), [id]);
    let answer = user.run_with_input(&["sync", "--enqueue"], &input.to_string());
    assert_eq!((answer.code, answer.stdout.as_str()), (0, ""));
    let queue = user.home().join(".local/share/retro/store/queue");
    assert_eq!(std::fs::read_dir(&queue).unwrap().count(), 1);
    user.run(&["sync"]);
    assert_eq!(std::fs::read_dir(&queue).unwrap().count(), 0);
}

#[test]
fn errors_name_the_thing_and_what_helps() {
    let user = User::with_sessions();
    let mut told_all = String::new();
    for args in [
        &["show", "claude", "latest"][..],
        &["list", "--agent", "clade"],
        &["sync", "--until", "normalised"],
        &["sync", "--from", "/nowhere"],
        &["--config", "/nowhere.toml", "list"],
    ] {
        let answer = user.run(args);
        told_all.push_str(&format!("$ retro {}\n{}\n", args.join(" "), told(&answer)));
    }
    user.run(&["sync"]);
    for args in
        [&["show", "claude", "zzz"][..], &["raw", "claude", "6a1f", "--file", "x"], &["import", "claude"]]
    {
        let answer = user.run(args);
        told_all.push_str(&format!("$ retro {}\n{}\n", args.join(" "), told(&answer)));
    }
    insta::assert_snapshot!("errors", told_all);
}

#[test]
fn a_foreign_folder_is_refused() {
    let user = User::with_sessions();
    user.write(Path::new("photos/cat.jpg"), b"cat");
    let answer = user.run(&["--root", "photos", "sync"]);
    assert_eq!(answer.code, 2);
    assert!(answer.stderr.contains("photos"), "{}", answer.stderr);
    assert_eq!(std::fs::read_dir(user.home().join("photos")).unwrap().count(), 1);
}

#[test]
fn a_store_of_the_python_seed_is_taken_over() {
    let user = User::with_sessions();
    let script =
        Script::parse("@ session 77777777-7777-4777-8777-777777777777\n> Old one\n< Yes.\n> More\n< Ok.\n")
            .unwrap();
    let (_, whole) = by_name("claude").unwrap().write(&script).remove(0);
    let part = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let id = "77777777-7777-4777-8777-777777777777";
    let store = Path::new("old-store");
    user.write(&store.join(format!("raw/claude-code/{id}/transcript.jsonl")), &whole);
    user.write(&store.join(format!("raw-revisions/claude-code/{id}/abc/transcript.jsonl")), &whole[..part]);
    user.write(&store.join("memories/items.jsonl"), b"{\"id\":\"a\"}\n{\"id\":\"b\"}\n");
    user.write(&store.join("normalized/x"), b"");
    assert_eq!(user.run(&["--root", "old-store", "sync"]).code, 2);
    let answer = user.run(&["sync", "--from", "old-store"]);
    assert_eq!(answer.code, 0, "{}", told(&answer));
    assert!(answer.stderr.contains("2 memories"), "{}", answer.stderr);
    let output = user.command(&["raw", "claude", "7777"]).output().unwrap();
    assert_eq!(output.stdout, whole);
    let sources = user.json(&["raw", "claude", "7777", "--list"]);
    assert_eq!(sources["sources"].as_array().unwrap().len(), 1, "a prefix became a revision");
}

#[test]
fn config_says_where_each_value_comes_from() {
    let user = User::new();
    let shown = user.run(&["--root", "elsewhere", "config", "show"]).stdout;
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = shown.lines().map(words).collect();
    assert!(lines.contains(&"root elsewhere flag".to_owned()), "{shown}");
    assert!(lines.contains(&"cadence 15m default".to_owned()), "{shown}");
    assert_eq!(user.run(&["config", "init"]).code, 0);
    assert_eq!(user.run(&["config", "init"]).code, 2);
    let path = user.run(&["config", "path"]).stdout;
    assert_eq!(path, "~/.config/retro/config.toml\n");
}

#[test]
fn usage_counts_each_answer_once_and_opens_every_figure() {
    let user = User::with_sessions();
    let first = user.json(&["usage", "daily", "--tz", "UTC"]);
    assert_eq!(first["schema"], "retro.usage/1");
    let totals = &first["totals"];
    let count = |name: &str| totals[name].as_u64().unwrap();
    assert_eq!(
        count("total_tokens"),
        count("input_tokens")
            + count("cache_creation_tokens")
            + count("cache_read_tokens")
            + count("output_tokens")
    );
    assert!(count("responses") > 5 && totals["cost_usd"].as_f64().unwrap() > 0.0);
    assert_eq!((&totals["cost_complete"], &first["unread_sessions"]), (&true.into(), &0.into()));
    assert_eq!(first["rows"].as_array().unwrap().len(), 3, "one row a day");
    for by in ["weekly", "monthly", "session", "project", "model", "agent", "blocks"] {
        let other = user.json(&["usage", by, "--tz", "UTC"]);
        assert_eq!(other["totals"]["total_tokens"], totals["total_tokens"], "{by}");
    }
    let explained = user.json(&["usage", "explain", "claude", "6a1f"]);
    let responses = explained["responses"].as_array().unwrap();
    assert!(responses.iter().all(|response| response["event"].as_str().unwrap().ends_with(".usage")));
    let sum: f64 = responses.iter().map(|response| response["cost_usd"].as_f64().unwrap()).sum();
    let session = user.json(&["usage", "session", "--tz", "UTC"]);
    let row = session["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["session"]["session_id"].as_str().unwrap().starts_with("6a1f"));
    assert!((row.unwrap()["cost_usd"].as_f64().unwrap() - sum).abs() < 1e-9);
    let table = user.run(&["--no-sync", "usage", "model", "--compact"]);
    assert!(table.stdout.contains("list price") && table.stdout.contains("total"), "{}", told(&table));
    let csv = user.run(&["usage", "daily", "--csv", "--tz", "UTC"]).stdout;
    assert_eq!(csv.lines().count(), 4);
    assert_eq!(user.run(&["usage", "--tz", "Mars/Base"]).code, 2);
    assert_eq!(user.run(&["usage", "--project", "nothing"]).code, 1);
}

#[test]
fn a_first_question_opens_any_session_up() {
    for id in ["latest", "6a1f"] {
        let user = User::with_sessions();
        let first = user.json(&["usage", "explain", "claude", id]);
        assert!(!first["responses"].as_array().unwrap().is_empty(), "{id}");
        assert_eq!(user.json(&["--no-sync", "usage", "explain", "claude", id]), first);
    }
}

#[test]
fn prices_are_found_by_rule_and_never_by_likeness() {
    let user = User::new();
    assert_eq!(user.json(&["pricing", "list"])["schema"], "retro.pricing/1");
    let row = user.json(&["pricing", "show", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"]);
    assert_eq!(row["row"]["model"], "claude-sonnet-4-5");
    assert_eq!(user.run(&["pricing", "show", "gpt-5-something-else"]).code, 1);
}

#[test]
fn secrets_are_told_by_place_and_rule_and_never_by_value() {
    let user = User::new();
    let secret = format!("ghp_{}", "Zx8Kq2Lm9Vb4Nc7Rt1Wy6Pd3Hs5Jf0GaUeI2");
    let script = format!("@ session 88888888-8888-4888-8888-888888888888\n> Use {secret} to push\n< Done.\n");
    for (path, bytes) in by_name("claude").unwrap().write(&Script::parse(&script).unwrap()) {
        user.write(&path, &bytes);
    }
    user.run(&["sync"]);
    let answer = user.run(&["secrets", "--session", "8888"]);
    assert_eq!(answer.code, 1, "{}", told(&answer));
    assert!(answer.stdout.contains("github"), "{}", answer.stdout);
    for args in
        [&["secrets", "--json"][..], &["show", "claude", "8888"], &["events", "claude", "8888"], &["list"]]
    {
        let answer = user.run(args);
        assert!(!told(&answer).contains(&secret), "{args:?}");
    }
    let raw = user.run(&["raw", "claude", "8888"]).stdout;
    assert!(raw.contains(&secret));
}

#[test]
fn the_demo_runs_everything_and_leaves_nothing() {
    let user = User::new();
    let answer = user.run(&["demo"]);
    assert_eq!(answer.code, 0, "{}", told(&answer));
    for part in
        ["retro sync", "retro list", "retro show", "retro events", "retro usage model", "retro verify --deep"]
    {
        assert!(answer.stdout.contains(part), "{part}");
    }
    assert!(!user.home().join(".local").exists());
}

#[test]
fn every_command_has_help_with_examples() {
    let user = User::new();
    let help = user.run(&["--help"]).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|command| *command != "help")
        .collect();
    assert!(commands.len() >= 17, "{commands:?}");
    assert!(commands.is_sorted(), "{commands:?}");
    for command in commands {
        let help = user.run(&[command, "--help"]);
        assert_eq!(help.code, 0);
        assert!(help.stdout.contains("Examples:"), "{command}");
    }
}

#[test]
fn completions_and_manual_pages_are_made() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(user.run(&["completions", shell]).stdout.contains("retro"), "{shell}");
    }
    assert!(user.run(&["completions", "bash"]).stdout.contains("\"claude codex grok\""));
    assert_eq!(user.run(&["man", "man1"]).code, 0);
    assert!(user.home().join("man1/retro-sync.1").exists());
}

#[test]
fn schedules_are_printed_and_nothing_is_installed() {
    let user = User::new();
    for target in ["cron", "systemd", "launchd", "claude-hook"] {
        let answer = user.run(&["schedule", "print", target]);
        assert_eq!(answer.code, 0);
        assert!(answer.stdout.contains("sync"), "{target}");
    }
    assert_eq!(std::fs::read_dir(user.home()).unwrap().count(), 0);
}

#[test]
fn doctor_and_stages_answer_on_any_machine() {
    for user in [User::new(), User::with_sessions()] {
        assert_eq!(user.run(&["doctor"]).code, 0);
        assert_eq!(user.json(&["stages"])["schema"], "retro.stages/1");
    }
}
