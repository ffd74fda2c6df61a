//! What a new user meets: short ways to name things, whole stories, honest amounts,
//! schedulers. One test a behaviour.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::{Value, json};

#[test]
fn a_session_is_named_by_its_id_alone_by_its_agent_or_as_latest() {
    let machine = Machine::with_demo();
    let list = machine.json(&["list", "--agent", "codex"]);
    let newest = &list["sessions"][0];
    let (id, short) = (newest["session_id"].as_str().unwrap(), newest["short_id"].as_str().unwrap());
    for words in [&[short][..], &["codex", short], &["codex"], &["codex", "latest"], &["latest"]] {
        let shown = machine.json(&[&["show"], words].concat());
        assert_eq!(shown["session"]["session_id"], id, "{words:?}");
        let explained = machine.json(&[&["--no-sync", "usage", "explain"], words].concat());
        assert_eq!(explained["session"], format!("codex/{id}"), "{words:?}");
    }
    assert!(machine.run(&["help", "show"]).stdout.contains("Usage: retro show"));
}

#[test]
fn words_days_and_orders_choose_what_is_listed() {
    let machine = Machine::with_demo();
    let ids = |args: &[&str]| -> Vec<String> {
        let list = machine.json(&[&["list"], args].concat());
        list["sessions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| s["session_id"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(ids(&[]).len(), 60);
    assert_eq!(ids(&["VAT", "half"]), ["6a1f0c52-3b7d-4c1e-9a55-0d2b8e7f1a01"]);
    let january = ids(&["--since", "2026-01", "--until", "2026-01"]);
    assert!(january.len() > 10 && january.len() < 40, "{}", january.len());
    assert_eq!(ids(&["--until", "2026-01"]), january);
    let by_cost = machine.json(&["list", "--sort", "cost"]);
    let costs: Vec<f64> =
        by_cost["sessions"].as_array().unwrap().iter().filter_map(|s| s["cost_usd"].as_f64()).collect();
    assert!(costs.len() > 50 && costs.is_sorted_by(|a, b| a >= b), "{costs:?}");
    assert!(by_cost["sessions"][0]["turns"].as_u64().unwrap() > 0);
    assert_eq!(ids(&["--project", "ledger"]), ids(&["--project", "ledger-api"]));
    let none = machine.run(&["list", "--project", "shopp"]);
    assert_eq!(none.code, 1);
    assert!(none.stderr.contains("Did you mean the project \"shop\"?"), "{}", none.stderr);
    let wrong = machine.run(&["list", "--since", "2026-03-01", "--until", "2026-02-01"]);
    assert_eq!(wrong.code, 2, "{}", wrong.all());
}

#[test]
fn a_session_whose_log_is_gone_is_marked_and_offers_no_resume() {
    let machine = Machine::with_demo();
    let place = machine.json(&["show", "6a1f0c52"])["artifacts"]["places"][0].as_str().unwrap().to_owned();
    assert!(machine.json(&["show", "6a1f0c52"])["session"]["resume"].is_string());
    std::fs::remove_file(place.replace('~', &machine.home().display().to_string())).unwrap();
    let row = &machine.json(&["list", "half", "up"])["sessions"][0];
    assert_eq!((&row["on_disk"], &row["resume"]), (&false.into(), &Value::Null));
    assert!(machine.run(&["list", "half", "up"]).stdout.contains("■"));
    assert_eq!(machine.json(&["show", "6a1f0c52"])["session"]["resume"], Value::Null);
}

/// A Claude Code log with everything that is not a plain prompt.
fn whole_story() -> String {
    let mut lines = Vec::new();
    let mut parent: Option<String> = None;
    let mut add = |kind: &str, message: Value, more: Value| {
        let uuid = format!("00000000-0000-4000-8000-{:012}", lines.len() + 1);
        let mut line = json!({
            "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "77777777-0000-4000-8000-000000000001",
            "timestamp": format!("2026-03-01T10:{:02}:00.000Z", lines.len()), "cwd": "/w", "version": "2.1.200",
            "isSidechain": false, "userType": "external", "message": message,
        });
        line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parent = Some(uuid);
        lines.push(format!("{line}\n"));
    };
    let user = |text: &str| json!({"role": "user", "content": text});
    let calls = |id: &str, name: &str, input: Value| {
        json!({"role": "assistant", "id": format!("msg_{id}"), "model": "claude-sonnet-4-6", "type": "message",
            "content": [{"type": "tool_use", "id": id, "name": name, "input": input}],
            "usage": {"input_tokens": 100, "output_tokens": 20}})
    };
    let result = |id: &str, text: &str, is_error: bool| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error}]});
    let none = || json!({});
    add("user", user("<command-message>init</command-message>\n<command-name>/init</command-name>"), none());
    add(
        "user",
        user(
            "<command-name>/model</command-name>\n<command-message>model</command-message>\n<command-args>opus please</command-args>",
        ),
        none(),
    );
    add("user", user("<local-command-stdout>Set model to opus</local-command-stdout>"), none());
    add("user", user("<bash-input>ls web | head</bash-input>"), none());
    add("user", user("<bash-stdout>index.html</bash-stdout><bash-stderr></bash-stderr>"), none());
    let picture = json!([{"type": "text", "text": "Does this match the logo?"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}]);
    add("user", json!({"role": "user", "content": picture}), none());
    add(
        "assistant",
        calls(
            "toolu_1",
            "AskUserQuestion",
            json!({"questions": [{"question": "Which colour?",
        "options": [{"label": "Red"}, {"label": "Blue"}]}]}),
        ),
        none(),
    );
    add(
        "user",
        result("toolu_1", "Your questions have been answered: \"Which colour?\"=\"a mild green\"", false),
        json!({"toolUseResult": {"answers": {"Which colour?": "a mild green"}}}),
    );
    add("assistant", calls("toolu_2", "Skill", json!({"skill": "brand-review"})), none());
    add("user", result("toolu_2", "Launched", false), none());
    let listing: String = (0..30).map(|n| format!("file{n}\n")).collect();
    add("assistant", calls("toolu_3", "Bash", json!({"command": "make check"})), none());
    add(
        "user",
        result("toolu_3", &format!("Exit code 2\n{listing}make: *** logo.svg: unexpected colour\n"), true),
        none(),
    );
    add(
        "assistant",
        calls(
            "toolu_4",
            "Task",
            json!({"description": "Look around", "prompt": "Look", "subagent_type": "x"}),
        ),
        none(),
    );
    add("user", result("toolu_4", "The sub-agent saw two logos.", false), none());
    add(
        "user",
        user("Implement the following plan:\n\n# Plan: repaint\n1. Take the brush"),
        json!({"planContent": "x"}),
    );
    lines.concat()
}

#[test]
fn show_has_all_that_the_user_said_and_what_came_of_it() {
    let machine = Machine::empty();
    machine.write(".claude/projects/-w/77777777-0000-4000-8000-000000000001.jsonl", whole_story());
    machine.run(&["sync"]);
    let shown = machine.run(&["show", "7777"]);
    assert_eq!(shown.code, 0, "{}", shown.all());
    for text in [
        "/init",
        "/model opus please",
        "Set model to opus",
        "! ls web | head",
        "index.html",
        "Does this match the logo?",
        "attached image/png",
        "Which colour?",
        "○ Blue",
        "a mild green",
        "Skill brand-review",
        "make check",
        "unexpected colour",
        "The sub-agent saw two logos.",
        "accepted plan",
        "Take the brush",
        "claude-sonnet-4-6",
        "$0.00",
    ] {
        assert!(shown.stdout.contains(text), "{text}\n{}", shown.stdout);
    }
    assert!(!shown.stdout.contains("file3\n"), "the lines that say why, not the first ones");
    let only = machine.run(&["show", "7777", "--prompts"]).stdout;
    assert!(only.contains("/init") && !only.contains("make check"), "{only}");
    let tools = machine.run(&["show", "7777", "--tools"]).stdout;
    assert!(tools.contains("make check") && !tools.contains("/init"), "{tools}");
    assert!(machine.run(&["show", "7777", "--full"]).stdout.contains("file3\n"));
    let entries = machine.json(&["show", "7777"])["entries"].clone();
    assert_eq!(entries[0]["said"]["command"], "/init", "{entries}");
    assert_eq!(machine.run(&["show", "7777", "--turn", "99"]).code, 1);
    let one = machine.run(&["show", "b2c9", "--turn", "1"]);
    assert_eq!(one.code, 1, "no such session here");
}

#[test]
fn long_texts_fold_and_full_unfolds_them() {
    let machine = Machine::empty();
    let long: String = (0..90).map(|n| format!("line number {n}\\n")).collect();
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u1\",\"sessionId\":\"88888888-0000-4000-8000-000000000001\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"{long}\"}}}}\n"
    );
    machine.write(".claude/projects/-w/88888888-0000-4000-8000-000000000001.jsonl", line);
    machine.run(&["sync"]);
    let folded = machine.run(&["show", "8888"]).stdout;
    assert!(
        folded.contains("… 50 more lines (--full shows them)") && !folded.contains("line number 89"),
        "{folded}"
    );
    assert!(machine.run(&["show", "8888", "--full"]).stdout.contains("line number 89"));
}

#[test]
fn an_amount_that_is_a_lower_bound_says_so_everywhere() {
    let machine = Machine::empty();
    let answer = |model: &str| {
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u-{model}\",\"sessionId\":\"99999999-0000-4000-8000-000000000001\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w/shop\",\"message\":{{\"id\":\"msg_{model}\",\"role\":\"assistant\",\"type\":\"message\",\"model\":\"{model}\",\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}],\"stop_reason\":\"end_turn\",\"usage\":{{\"input_tokens\":100000,\"output_tokens\":20}}}}}}\n"
        )
    };
    let log = [answer("claude-sonnet-4-6"), answer("nobody-knows-this")].concat();
    machine.write(".claude/projects/-w/99999999-0000-4000-8000-000000000001.jsonl", log);
    let report = machine.json(&["usage", "daily"]);
    assert_eq!(
        (&report["totals"]["cost_complete"], &report["rows"][0]["cost_complete"]),
        (&false.into(), &false.into())
    );
    let table = machine.run(&["usage"]);
    assert_eq!(table.stdout.matches("≥ $0.30").count(), 2, "{}", table.all());
    assert!(
        table.stderr.starts_with("≥ marks a lower bound: no price is known for nobody-knows-this"),
        "{}",
        table.stderr
    );
    let csv = machine.run(&["usage", "--csv"]).stdout;
    assert!(csv.lines().nth(1).unwrap().ends_with(",false"), "{csv}");
    let explained = machine.json(&["usage", "explain", "9999"]);
    assert_eq!(
        (&explained["totals"]["cost_complete"], &explained["totals"]["responses"]),
        (&false.into(), &2.into())
    );
    let priced = &explained["responses"][0];
    assert_eq!(priced["rates"]["input_usd_per_million"], 3.0, "{priced}");
    assert_eq!((&priced["line"], &priced["parts_usd"]["input"]), (&1.into(), &0.3.into()));
    assert!(priced["file"].as_str().unwrap().ends_with(".jsonl"), "{priced}");
    let shown = machine.run(&["usage", "explain", "9999"]).stdout;
    assert!(shown.contains("m:1") && shown.contains("input 3.00") && shown.contains("total"), "{shown}");
}

#[test]
fn the_running_block_is_told_in_words() {
    let machine = Machine::empty();
    let none = machine.run(&["usage", "blocks", "--active"]);
    assert!(none.stderr.contains("No block is running"), "{}", none.all());
    let now = jiff::Timestamp::now();
    let answer = |n: i64| {
        let at = now - jiff::SignedDuration::from_mins(60 - 20 * n);
        format!(
            "{{\"type\":\"assistant\",\"uuid\":\"u{n}\",\"sessionId\":\"99999999-0000-4000-8000-000000000002\",\"timestamp\":\"{at:.3}\",\"cwd\":\"/w\",\"message\":{{\"id\":\"msg_{n}\",\"role\":\"assistant\",\"type\":\"message\",\"model\":\"claude-sonnet-4-6\",\"content\":[{{\"type\":\"text\",\"text\":\"x\"}}],\"stop_reason\":\"end_turn\",\"usage\":{{\"input_tokens\":100000,\"output_tokens\":20}}}}}}\n"
        )
    };
    machine.write(
        ".claude/projects/-w/99999999-0000-4000-8000-000000000002.jsonl",
        (0..3).map(answer).collect::<String>(),
    );
    let blocks = machine.run(&["usage", "blocks", "--active", "--token-limit", "1000000"]);
    assert_eq!(blocks.code, 0, "{}", blocks.all());
    for text in [
        "running",
        "Running since",
        "left until",
        "Burn rate:",
        "At this rate",
        "of the limit of 1.0M tokens",
    ] {
        assert!(blocks.stdout.contains(text), "{text}\n{}", blocks.all());
    }
}

#[test]
fn what_is_wrong_comes_with_a_hint_on_its_own_line() {
    let machine = Machine::with_demo();
    for (args, hint) in [
        (&["show", "nosuch"][..], "hint: `retro list` shows what there is"),
        (&["list", "--agent", "clade"], "hint: `retro agents` lists them"),
        (&["usage", "--since", "soon"], "hint: a day looks like"),
        (&["--home", "/nope", "list"], "hint: --home takes a home directory"),
        (&["usage", "--tz", "Mars/Base"], "hint: one looks like Europe/Berlin"),
        (&["schedule", "install", "cron"], "hint: --yes"),
        (&["schedule", "install", "claude-hook"], "hint: `retro schedule print claude-hook`"),
    ] {
        machine.stand_in("crontab", "exit 1");
        let answer = machine.run(args);
        assert!(answer.stderr.lines().any(|line| line.starts_with("error: ")), "{}", answer.all());
        assert!(answer.stderr.lines().any(|line| line.starts_with(hint)), "{args:?}: {}", answer.all());
        let as_json = machine.run(&[args, &["--json"]].concat()).stderr;
        let error: Value = serde_json::from_str(as_json.lines().last().unwrap()).unwrap();
        assert!(error["hint"].is_string(), "{args:?}: {as_json}");
    }
}

#[cfg(unix)]
mod schedules {
    use super::*;

    /// A crontab that keeps its lines in a file.
    const CRONTAB: &str = "file=\"$HOME/crontab.txt\"\nif [ \"$1\" = -l ]; then cat \"$file\" 2>/dev/null; exit $?; fi\ncat > \"$file\"";

    #[test]
    fn a_crontab_is_changed_and_changed_back() {
        let machine = Machine::empty();
        machine.stand_in("crontab", CRONTAB);
        machine.write("crontab.txt", "0 1 * * * backup\n");
        let before = machine.run(&["schedule", "status"]);
        assert_eq!(before.code, 1, "{}", before.all());
        for _ in 0..2 {
            let done = machine.run(&["schedule", "install", "cron", "--yes"]);
            assert_eq!(done.code, 0, "{}", done.all());
            let lines = std::fs::read_to_string(machine.home().join("crontab.txt")).unwrap();
            assert_eq!(lines.matches("sync --quiet").count(), 1, "installed once: {lines}");
            assert!(lines.starts_with("0 1 * * * backup\n"), "{lines}");
            let root = format!("--root {}", machine.root().display());
            assert!(lines.contains(&root), "the same store: {lines}");
        }
        assert!(machine.run(&["schedule", "status"]).stdout.contains("installed and running"));
        assert_eq!(machine.run(&["schedule", "uninstall", "cron", "--yes"]).code, 0);
        let lines = std::fs::read_to_string(machine.home().join("crontab.txt")).unwrap();
        assert_eq!(lines, "0 1 * * * backup\n");
        assert_eq!(machine.run(&["schedule", "uninstall", "cron", "--yes"]).code, 1);
    }

    #[test]
    fn a_timer_of_systemd_is_written_started_and_removed() {
        let machine = Machine::empty();
        machine.stand_in("systemctl", "echo \"$@\" >> \"$HOME/calls.txt\"");
        let done = machine.run(&["schedule", "install", "systemd", "--yes"]);
        assert_eq!(done.code, 0, "{}", done.all());
        assert!(done.stderr.contains("write ~/.config/systemd/user/retro.timer"), "{}", done.stderr);
        let service = machine.home().join(".config/systemd/user/retro.service");
        let text = std::fs::read_to_string(&service).unwrap();
        assert!(text.contains(&format!("--root {}", machine.root().display())), "{text}");
        assert!(machine.run(&["schedule", "status"]).stdout.contains("installed and running"));
        assert_eq!(machine.run(&["schedule", "uninstall", "systemd", "--yes"]).code, 0);
        assert!(!service.exists());
        let calls = std::fs::read_to_string(machine.home().join("calls.txt")).unwrap();
        for call in
            ["--user daemon-reload", "--user enable --now retro.timer", "--user disable --now retro.timer"]
        {
            assert!(calls.contains(call), "{call}: {calls}");
        }
    }

    #[test]
    fn a_launch_agent_is_written_loaded_and_removed() {
        let machine = Machine::empty();
        machine.stand_in("launchctl", "echo \"$@\" >> \"$HOME/calls.txt\"");
        assert_eq!(machine.run(&["schedule", "install", "launchd", "--yes"]).code, 0);
        let plist = machine.home().join("Library/LaunchAgents/retro.sync.plist");
        assert!(std::fs::read_to_string(&plist).unwrap().starts_with("<?xml"));
        assert_eq!(machine.run(&["schedule", "uninstall", "launchd", "--yes"]).code, 0);
        let calls = std::fs::read_to_string(machine.home().join("calls.txt")).unwrap();
        assert!(!plist.exists() && calls.contains("load -w") && calls.contains("unload -w"), "{calls}");
    }

    #[test]
    fn a_scheduler_that_fails_is_reported() {
        let machine = Machine::empty();
        machine.stand_in("systemctl", "echo 'no bus' >&2; exit 1");
        let failed = machine.run(&["schedule", "install", "systemd", "--yes"]);
        assert_eq!(failed.code, 2);
        assert!(failed.stderr.contains("failed: no bus"), "{}", failed.stderr);
    }

    #[test]
    fn printed_lines_keep_the_store_the_home_and_the_places_of_logs() {
        let machine = Machine::empty();
        machine.write("c.toml", "");
        let mut command =
            machine.command(&["--home", ".", "--config", "c.toml", "schedule", "print", "cron"]);
        let line = machine.answer(command.output().unwrap()).stdout;
        assert!(line.contains("--root STORE --home ~") && line.contains("--config ~/c.toml sync"), "{line}");
        let mut command = machine.command(&["schedule", "print", "claude-hook"]);
        let hook = machine.answer(command.env("CODEX_HOME", "/elsewhere/codex").output().unwrap());
        assert!(hook.stdout.contains("CODEX_HOME=/elsewhere/codex"), "{}", hook.stdout);
        assert!(hook.stderr.contains("settings.json"), "{}", hook.stderr);
    }
}
