//! Sessions of a Codex whose model writes scripts instead of calls. The log has the script
//! and what it printed, and nothing else says what ran (0.144). The test knows what ran,
//! since it writes the scripts; for Claude the same work is plain calls.
#![allow(clippy::unwrap_used)]

mod support;

use retro_insight::Digest;
use retro_store::DIGESTS;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use support::Machine;

/// A command, its exit code and what it printed.
type Ran = (&'static str, i64, &'static str);

const RAN: &[Ran] = &[
    ("cargo test -p shop", 101, "test result: FAILED. 1 passed; 1 failed\n"),
    ("cat > notes.md <<'EOF'\none\n\ntwo\nEOF", 0, ""),
    ("cargo test -p shop", 0, "test result: ok. 2 passed; 0 failed\n"),
    ("git commit -am 'Round up'", 0, "[main 1a2b3c4] Round up\n 1 file changed\n"),
];

const PATCH: &str = "*** Begin Patch\n*** Update File: src/tax.rs\n@@\n-a\n+b\n+c\n*** End Patch\n";

/// Scripts with the texts that each prints.
type Scripts = Vec<(String, Vec<String>)>;

fn quoted(text: &str) -> String {
    json!(text).to_string()
}

fn whole(ran: &Ran) -> String {
    json!({ "chunk_id": "1a", "wall_time_seconds": 0.1, "exit_code": ran.1, "output": ran.2 }).to_string()
}

/// One script for each command; the answer is printed as it is.
fn one_by_one() -> Scripts {
    let script = |ran: &Ran| {
        let text = format!("const r = await tools.exec_command({{\"cmd\":{}}});\ntext(r);", quoted(ran.0));
        (text, vec![whole(ran)])
    };
    RAN.iter().map(script).collect()
}

/// All commands at once, printed under headings with their codes.
fn under_headings() -> Scripts {
    let calls: Vec<String> = RAN
        .iter()
        .map(|ran| format!("tools.exec_command({{cmd: {}, workdir: '/w'}})", quoted(ran.0)))
        .collect();
    let script = format!(
        "const results = await Promise.all([\n  {},\n]);\nfor (const [i, r] of results.entries()) text(`--- ${{i + 1}} ---\\n${{r.output}}\\nexit=${{r.exit_code}}`);",
        calls.join(",\n  ")
    );
    let texts =
        RAN.iter().enumerate().map(|(at, ran)| format!("--- {} ---\n{}\nexit={}", at + 1, ran.2, ran.1));
    vec![(script, texts.collect())]
}

/// A list that a function goes through, printed as one JSON text.
fn mapped() -> Scripts {
    let list: Vec<String> = RAN.iter().map(|ran| quoted(ran.0)).collect();
    let script = format!(
        "const run = async (cmd) => await tools.exec_command({{cmd, workdir: '/w'}});\nconst all = [];\nfor (const cmd of [{}]) all.push(await run(cmd));\ntext(JSON.stringify(all, null, 2));",
        list.join(", ")
    );
    let answers: Vec<Value> = RAN.iter().map(|ran| serde_json::from_str(&whole(ran)).unwrap()).collect();
    vec![(script, vec![serde_json::to_string_pretty(&answers).unwrap()])]
}

/// Templates, a comment, and only outputs: codes are not printed.
fn outputs_only() -> Scripts {
    let mut script = String::from("const w = '/w'; // tools.exec_command({cmd: 'no'})\n");
    for (at, ran) in RAN.iter().enumerate() {
        let template = ran.0.replace('`', "\\`");
        writeln!(script, "const r{at} = await tools.exec_command({{cmd: `{template}`, workdir: w}});")
            .unwrap();
        writeln!(script, "text(r{at}.output);").unwrap();
    }
    vec![(script, RAN.iter().map(|ran| ran.2.to_owned()).collect())]
}

/// The log of a session in which these scripts ran, with a patch in front.
fn log(mut scripts: Scripts) -> String {
    let patch = format!("const patch = {};\ntext(await tools.apply_patch(patch));", quoted(PATCH));
    scripts.insert(0, (patch, vec!["{}".to_owned()]));
    let mut lines = vec![
        json!({ "type": "session_meta", "payload": { "id": ID, "timestamp": "2026-07-01T10:00:00.000Z",
            "cwd": "/w", "originator": "codex-tui", "cli_version": "0.144.0", "source": "cli" } }),
        json!({ "type": "turn_context", "payload": { "cwd": "/w", "model": "gpt-5.6" } }),
        json!({ "type": "response_item", "payload": { "type": "message", "role": "user",
            "content": [{ "type": "input_text", "text": "Round the tax up and commit" }] } }),
        json!({ "type": "event_msg", "payload": { "type": "user_message", "message": "Round the tax up and commit" } }),
    ];
    for (at, (script, texts)) in scripts.into_iter().enumerate() {
        let call = format!("call_{at}");
        lines.push(json!({ "type": "response_item", "payload": { "type": "custom_tool_call", "name": "exec",
            "call_id": call, "status": "completed", "input": script } }));
        let mut parts = vec!["Script completed\nWall time 0.8 seconds\nOutput:\n".to_owned()];
        parts.extend(texts);
        let parts: Vec<Value> =
            parts.into_iter().map(|text| json!({ "type": "input_text", "text": text })).collect();
        lines.push(json!({ "type": "response_item",
            "payload": { "type": "custom_tool_call_output", "call_id": call, "output": parts } }));
    }
    lines.push(json!({ "type": "event_msg", "payload": { "type": "agent_message", "message": "Done." } }));
    let mut text = String::new();
    for (at, mut line) in lines.into_iter().enumerate() {
        line["timestamp"] = json!(format!("2026-07-01T10:00:{at:02}.000Z"));
        writeln!(text, "{line}").unwrap();
    }
    text
}

const ID: &str = "019fb4c0-0000-7000-8000-000000000001";

fn digest_of(log: &str) -> Digest {
    let machine = Machine::new();
    let path = format!(".codex/sessions/2026/07/01/rollout-2026-07-01T10-00-00-{ID}.jsonl");
    machine.write(Path::new(&path), log.as_bytes());
    only_digest(&machine)
}

fn only_digest(machine: &Machine) -> Digest {
    machine.sync();
    let store = machine.store();
    let key = store.session_keys().unwrap().into_iter().next().unwrap();
    store.object(&DIGESTS, &key).unwrap().unwrap()
}

/// What a digest says that was run: commands, files, checks, failed ones, commits.
fn told(digest: &Digest) -> Value {
    let value = |name: &str| digest.readings[name].value.clone();
    let files: Vec<_> = digest.files.iter().map(|file| (&file.path, file.added, file.removed)).collect();
    let commits: Vec<_> = digest.commits.iter().map(|commit| (&commit.hash, &commit.subject)).collect();
    json!({ "commands": value("command_count"), "files": files, "tests": value("tests_run"),
        "passed": value("tests_passed_last"), "commits": commits })
}

fn truth() -> Value {
    let tests = RAN.iter().filter(|ran| ran.0.starts_with("cargo test")).count();
    json!({ "commands": RAN.len(), "files": [["notes.md", 3, 0], ["src/tax.rs", 2, 1]], "tests": tests,
        "passed": true, "commits": [["1a2b3c4", "Round up"]] })
}

#[test]
fn every_shape_of_script_tells_what_was_run() {
    for (name, scripts) in [
        ("one by one", one_by_one()),
        ("under headings", under_headings()),
        ("mapped", mapped()),
        ("outputs only", outputs_only()),
    ] {
        let digest = digest_of(&log(scripts));
        assert_eq!(told(&digest), truth(), "{name}");
        let code_known = name != "outputs only";
        assert_eq!(digest.readings["failed_command_count"].value, json!(1), "{name}");
        assert!(digest.readings["tests_run"].confidence == 1.0, "{name}");
        let notes = digest.commands.iter().find(|command| command.command.contains("git commit")).unwrap();
        assert_eq!(format!("{:?}", notes.last) == "Passed", code_known, "{name}");
    }
}

#[test]
fn the_same_work_in_plain_calls_reads_the_same() {
    let mut story = String::from("> Round the tax up and commit\n~ src/tax.rs\n- a\n+ b\n+ c\n");
    for (command, code, output) in RAN {
        // The notation has one line for a command; its here-document loses its empty line.
        writeln!(story, "$ {}", command.replace("\n\n", "\n").replace('\n', "; ")).unwrap();
        output.lines().for_each(|line| writeln!(story, "| {line}").unwrap());
        if *code != 0 {
            writeln!(story, "! {code}").unwrap();
        }
    }
    story.push_str("< Done.");
    let mut expected = truth();
    for file in expected["files"].as_array_mut().unwrap() {
        *file = file[0].take();
    }
    for agent in ["claude", "codex"] {
        let machine = Machine::new();
        machine.tell(agent, &story);
        let mut found = told(&only_digest(&machine));
        for file in found["files"].as_array_mut().unwrap() {
            let path = file[0].as_str().unwrap();
            *file = json!(path.strip_prefix("/home/dev/shop/").unwrap_or(path));
        }
        found["files"].as_array_mut().unwrap().sort_by_key(|path| path.to_string());
        assert_eq!(found, expected, "{agent}");
    }
}

#[test]
fn a_script_that_cannot_be_read_gives_no_number() {
    let unread = "switch (1) { case 1: await tools.exec_command({cmd: 'cargo test'}) }";
    let digest = digest_of(&log(vec![(unread.to_owned(), vec!["ok".to_owned()])]));
    for signal in
        ["tests_run", "git_commits_made_during", "tests_passed_last", "trajectory_max_repetition_run"]
    {
        let reading = &digest.readings[signal];
        assert!(reading.value.is_null(), "{signal}");
        assert_eq!(reading.reason.as_deref(), Some("commands_unread"), "{signal}");
    }
    // What was found stays, and may not be all.
    let files = &digest.readings["unique_files_edited"];
    assert_eq!((files.value.clone(), files.confidence), (json!(1), 0.5));
}

#[test]
fn a_command_that_may_not_have_run_is_no_command() {
    let script = "const r = await tools.exec_command({cmd: 'ls'});\ntext(r.output);\nif (r.exit_code) text(await tools.exec_command({cmd: 'cargo test'}));";
    let digest = digest_of(&log(vec![(script.to_owned(), vec!["a\n".to_owned()])]));
    assert_eq!(digest.readings["tests_run"].reason.as_deref(), Some("commands_unread"));
    assert!(digest.commands.iter().all(|command| !command.command.contains("cargo test")));
}
