//! Small things that a new user met and that cost trust: one test each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::Value;

fn claude(machine: &Machine, id: &str, day: u32, text: &str) {
    let log = serde_json::json!({ "type": "user", "uuid": format!("u-{id}"), "sessionId": id, "cwd": "/w/shop",
        "timestamp": format!("2026-03-{day:02}T10:00:00.000Z"), "message": { "role": "user", "content": text } });
    machine.write(&format!(".claude/projects/-w-shop/{id}.jsonl"), format!("{log}\n"));
}

const FIRST: &str = "aaaaaaaa-0000-4000-8000-000000000001";
const SECOND: &str = "bbbbbbbb-0000-4000-8000-000000000002";

#[test]
fn the_latest_session_is_the_same_one_for_import_show_and_list() {
    let machine = Machine::empty();
    claude(&machine, SECOND, 9, "the later one");
    claude(&machine, FIRST, 2, "the earlier one, whose file was touched last");
    let imported = machine.run(&["import", "claude", "--latest"]);
    assert!(imported.all().contains(SECOND), "{}", imported.all());
    machine.run(&["sync", "--quiet"]);
    assert_eq!(machine.json(&["show", "latest"])["session"]["session_id"], SECOND);
    assert_eq!(machine.json(&["list"])["sessions"][0]["session_id"], SECOND);
}

#[test]
fn options_after_the_words_of_a_search_are_options() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "why is the cart slow");
    claude(&machine, SECOND, 3, "the cart is slow again");
    let found = machine.json(&["search", "cart", "slow", "--limit", "1", "--mode", "words"]);
    assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found["truncated"], true);
    let without = machine.json(&["search", "cart -again", "--mode", "words"]);
    assert_eq!(without["hits"][0]["session_id"], FIRST);
    assert_eq!(machine.run(&["fix", "some error", "--limit", "1"]).code, 1);
}

#[test]
fn a_pasted_line_is_a_question_whatever_signs_it_has() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "why does cargo test --no-run print nothing with -n");
    claude(&machine, SECOND, 3, "the cart is slow");
    let first = |args: &[&str]| {
        let answer = machine.run(&[&["search", "--json", "--mode", "words"], args].concat());
        let found: Value =
            serde_json::from_str(&answer.stdout).unwrap_or_else(|_| panic!("{}", answer.all()));
        assert_eq!(found["operators"], serde_json::json!([]), "{args:?}");
        found["hits"][0]["session_id"].as_str().map(str::to_owned)
    };
    for args in [
        &["--no-run prints nothing"][..],
        &["-n prints \"nothing\" at all here"],
        &["--limit of cargo is file://nothing"],
        &["--limit", "1", "--target=x of cargo"],
        &["--", "cargo", "--no-run"],
        &["cargo", "--", "--no-run", "-cart"],
        &["--literal", "cargo -cargo"],
        &["--exact", "--no-run print"],
    ] {
        assert_eq!(first(args).as_deref(), Some(FIRST), "{args:?}");
    }
    assert_eq!(machine.run(&["search", "cart", "--no-runs"]).code, 2, "one word may be a mistyped option");
    assert_eq!(machine.run(&["search", "cart", "--limit=two of them"]).code, 2);
    assert_eq!(machine.run(&["fix", "-bash: cart: command not found"]).code, 1);
}

#[test]
fn an_answer_names_its_operators_and_those_that_left_nothing() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "why is the cart slow");
    let told = |text: &str| machine.run(&["search", "--mode", "words", text]);
    let used = told("\"the cart\" slow");
    assert!(used.stderr.contains("Operators: \"the cart\" (--literal"), "{}", used.all());
    let dropped = told("cart is:failed");
    assert_eq!(dropped.code, 0, "{}", dropped.all());
    assert!(
        dropped.stderr.contains("Nothing fits is:failed, so this was taken for text."),
        "{}",
        dropped.all()
    );
    assert!(!dropped.stderr.contains("Operators"), "{}", dropped.all());
    assert_eq!(told("zebra is:failed").code, 1);
}

#[test]
fn counts_and_sizes_are_written_the_same_way_everywhere() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "hello");
    let bare = machine.run(&[]);
    assert!(bare.stdout.contains("1 session has something new"), "{}", bare.all());
    assert!(bare.stdout.contains("1 session (claude 1)"), "{}", bare.all());
    machine.run(&["sync", "--quiet"]);
    let verified = machine.run(&["verify"]);
    assert!(!verified.all().contains("1 files"), "{}", verified.all());
    assert!(!machine.run(&["doctor"]).all().contains(" MB free"));
    let secrets = machine.run(&["secrets"]);
    assert!(secrets.stderr.contains("of 1 session looked through"), "{}", secrets.all());
}

#[test]
fn an_empty_home_says_where_it_looked() {
    let machine = Machine::empty();
    let doctor = machine.run(&["doctor"]).stdout;
    for folder in ["~/.claude", "~/.codex", "~/.grok"] {
        assert!(doctor.contains(folder), "{doctor}");
    }
    let shown = machine.run(&["show", "claude", "latest"]);
    assert!(shown.stderr.contains("there is no store"), "{}", shown.all());
    assert!(shown.stderr.contains("hint: `retro sync` makes one"), "{}", shown.all());
}

#[test]
fn nothing_found_names_what_is_near_instead_of_the_demo() {
    let machine = Machine::with_demo();
    for args in [&["list", "--project", "shopp"][..], &["--no-sync", "usage", "--project", "shopp"]] {
        let answer = machine.run(args);
        assert!(answer.stderr.contains("Did you mean the project \"shop\"?"), "{}", answer.all());
        assert!(!answer.all().contains("retro demo"), "{}", answer.all());
    }
}

#[test]
fn days_can_be_said_in_words() {
    let machine = Machine::with_demo();
    for since in ["today", "yesterday", "7d", "2026-02", "last week", "20260201"] {
        for command in [&["list"][..], &["--no-sync", "usage"]] {
            let answer = machine.run(&[command, &["--since", since]].concat());
            assert!(answer.code < 2, "{since}: {}", answer.all());
        }
    }
}

#[test]
fn every_command_answers_programs_in_json_and_errors_too() {
    let machine = Machine::with_demo();
    for args in [&["config", "path"][..], &["config", "init"], &["agents"], &["stages"]] {
        assert!(machine.json(args)["schema"].as_str().unwrap().starts_with("retro."), "{args:?}");
    }
    let wrong = machine.run(&["--json", "usage", "--nope"]);
    let error: Value = serde_json::from_str(wrong.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(error["schema"], "retro.error/1");
}

#[test]
fn a_session_without_a_main_log_names_the_parts_it_has() {
    let machine = Machine::empty();
    let line = format!(
        "{{\"type\":\"user\",\"uuid\":\"u\",\"isSidechain\":true,\"agentId\":\"a1\",\"sessionId\":\"{FIRST}\",\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"Look\"}}}}\n"
    );
    machine.write(&format!(".claude/projects/-w/{FIRST}/subagents/agent-a1.jsonl"), line);
    machine.run(&["sync", "--quiet"]);
    let raw = machine.run(&["raw", "aaaaaaaa"]);
    assert!(raw.stderr.contains("hint: it has agent-a1, and --file chooses one"), "{}", raw.all());
    let shown = machine.run(&["show", "aaaaaaaa"]);
    assert!(shown.stdout.contains("cannot be resumed"), "{}", shown.all());
}

#[test]
fn a_root_that_is_a_file_says_so() {
    let machine = Machine::empty();
    machine.write("notes.txt", "hello");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_retro"));
    command.args(["--root", "notes.txt", "list"]).env_clear().env("HOME", machine.home());
    let answer = machine.answer(command.current_dir(machine.home()).output().unwrap());
    assert_eq!(answer.code, 2, "{}", answer.all());
    assert!(answer.stderr.contains("a file is where a folder should be"), "{}", answer.all());
}

#[test]
fn after_a_rebuild_and_after_a_lost_index_every_answer_is_the_same_at_once() {
    let machine = Machine::with_demo();
    let asked = |machine: &Machine| {
        let list = machine.run(&["list", "--limit", "0"]);
        let usage = machine.run(&["--no-sync", "usage", "session"]).stdout;
        (list.stdout, list.stderr, usage)
    };
    let before = asked(&machine);
    assert_eq!(machine.run(&["rebuild", "--quiet"]).code, 0);
    assert_eq!(asked(&machine), before);
    std::fs::remove_dir_all(machine.root().join("index")).unwrap();
    let listed = machine.run(&["list", "--limit", "0"]);
    assert!(!listed.stdout.contains('○'), "{}", listed.stdout);
    machine.run(&["sync", "--quiet"]);
    assert_eq!(asked(&machine), before);
}

#[test]
fn paragraphs_below_an_answer_wrap_at_eighty_columns_in_a_pipe() {
    let machine = Machine::with_demo();
    let notes = machine.run(&["--no-sync", "usage", "monthly"]).stderr;
    assert!(notes.contains("List prices of"), "{notes}");
    assert!(notes.lines().all(|line| retro::text::terminal::width(line) <= 80), "{notes}");
}

/// A prompt and an answer of Claude Code with both kinds of cache writes, in one tier.
fn answered(machine: &Machine, id: &str, time: &str, text: &str, speed: &str) {
    let user = serde_json::json!({ "type": "user", "uuid": format!("u-{id}"), "sessionId": id, "cwd": "/w/shop",
        "timestamp": time, "message": { "role": "user", "content": text } });
    let answer = serde_json::json!({ "type": "assistant", "uuid": format!("a-{id}"), "sessionId": id, "cwd": "/w/shop",
        "timestamp": time, "requestId": format!("req-{id}"), "message": { "id": format!("msg-{id}"), "role": "assistant",
            "type": "message", "model": "claude-opus-4-8", "stop_reason": "end_turn",
            "content": [{ "type": "text", "text": "Done." }],
            "usage": { "input_tokens": 10, "output_tokens": 20, "cache_creation_input_tokens": 24_246, "speed": speed,
                "cache_creation": { "ephemeral_5m_input_tokens": 246, "ephemeral_1h_input_tokens": 24_000 } } } });
    machine.write(&format!(".claude/projects/-w-shop/{id}.jsonl"), format!("{user}\n{answer}\n"));
}

#[test]
fn blocks_are_in_the_zone_of_the_asker_with_their_ends_and_the_pauses_between() {
    let machine = Machine::empty();
    answered(&machine, FIRST, "2026-03-02T10:10:00.000Z", "one", "standard");
    answered(&machine, SECOND, "2026-03-02T23:30:00.000Z", "two", "standard");
    let mut command = machine.command(&["usage", "blocks"]);
    let blocks = machine.answer(command.env("TZ", "Asia/Tokyo").output().unwrap()).stdout;
    for text in ["2026-03-02 19:00", "00:00", "2026-03-03 08:00", "13:00", "· 12h 50m without use"] {
        assert!(blocks.contains(text), "{text}\n{blocks}");
    }
}

#[test]
fn writes_of_five_minutes_and_of_one_hour_and_the_fast_tier_are_told_apart() {
    let machine = Machine::empty();
    answered(&machine, FIRST, "2026-03-02T10:10:00.000Z", "one", "standard");
    answered(&machine, SECOND, "2026-03-02T23:30:00.000Z", "two", "fast");
    let models = machine.json(&["usage", "model"]);
    let names: Vec<&str> =
        models["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(names, ["claude-opus-4-8", "claude-opus-4-8-fast"]);
    let explained = machine.json(&["usage", "explain", FIRST]);
    let one = &explained["responses"][0];
    assert_eq!(
        (&one["cache_creation_5m_tokens"], &one["cache_creation_1h_tokens"]),
        (&246.into(), &24_000.into())
    );
    let parts = one["parts_usd"].as_object().unwrap().values().map(|part| part.as_f64().unwrap());
    assert!((parts.sum::<f64>() - one["cost_usd"].as_f64().unwrap()).abs() < 1e-9, "{one}");
    assert!(machine.run(&["show", SECOND]).stdout.contains("agent claude-opus-4-8 fast 23:30"));
    let shown = machine.run(&["usage", "explain", FIRST]).all();
    assert!(shown.contains("write 1h 10.00") && shown.contains("24,000"), "{shown}");
}

#[test]
fn a_title_is_on_one_line_in_every_form() {
    let machine = Machine::empty();
    answered(&machine, FIRST, "2026-03-02T10:10:00.000Z", "brainstorm:\n- the\tcart", "standard");
    machine.run(&["sync", "--quiet"]);
    assert_eq!(machine.json(&["list"])["sessions"][0]["title"], "brainstorm: - the cart");
    assert_eq!(machine.json(&["show", FIRST])["session"]["title"], "brainstorm: - the cart");
    machine.run(&["render", FIRST]);
    let page = machine.root().join(format!("rendered/claude/{FIRST}.md"));
    assert!(std::fs::read_to_string(page).unwrap().starts_with("# brainstorm: - the cart\n"));
}

#[test]
fn secrets_counts_the_sessions_that_have_one() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "hello");
    claude(&machine, SECOND, 3, &format!("push with ghp_{}", "Zx8Kq2Lm9Vb4Nc7Rt1Wy6Pd3Hs5Jf0GaUeI2"));
    machine.run(&["sync", "--quiet"]);
    let secrets = machine.run(&["secrets"]);
    assert!(
        secrets.stderr.contains("1 secret in 1 session, of 2 sessions looked through"),
        "{}",
        secrets.all()
    );
    assert!(secrets.stdout.contains("bbbbbbbb"), "{}", secrets.all());
}

#[test]
fn outcomes_stop_at_twenty_as_a_list_does_and_say_so() {
    let machine = Machine::with_demo();
    let all = machine.json(&["outcome"])["sessions"].as_array().unwrap().len();
    assert!(all > 20);
    let short = machine.run(&["outcome"]);
    assert!(
        short.stderr.contains(&format!("20 of {all} sessions (--limit 0 shows all).")),
        "{}",
        short.stderr
    );
    let whole = machine.run(&["outcome", "--limit", "0"]);
    assert!(whole.stdout.lines().count() > short.stdout.lines().count());
    assert!(!whole.stderr.contains("--limit"), "{}", whole.stderr);
    assert_eq!(machine.json(&["outcome", "--limit", "3"])["sessions"].as_array().unwrap().len(), 3);
}

#[test]
fn the_end_of_a_list_counts_all_sessions_and_not_only_those_shown() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 2, "hello");
    claude(&machine, SECOND, 3, "hello again");
    machine.run(&["sync", "--quiet"]);
    let path = machine.home().join(format!(".claude/projects/-w-shop/{FIRST}.jsonl"));
    let mut log = std::fs::read_to_string(&path).unwrap();
    log.push_str(&log.clone().replace("u-aaaa", "v-aaaa"));
    std::fs::write(&path, log).unwrap();
    let listed = machine.run(&["list", "--limit", "1"]);
    assert!(listed.stdout.contains("●") && !listed.stdout.contains("◐"), "{}", listed.all());
    assert!(listed.stderr.contains("1 has grown since"), "{}", listed.all());
    machine.run(&["sync", "--quiet"]);
    std::fs::remove_file(&path).unwrap();
    let listed = machine.run(&["list", "--limit", "1"]);
    assert!(listed.stderr.contains("1 only in the store (■)"), "{}", listed.all());
}

#[test]
fn what_doctor_recommends_can_be_run_as_it_is() {
    let machine = Machine::with_demo();
    assert_eq!(machine.run(&["schedule", "print"]).code, 0);
    let wrong = machine.run(&["usage", "--since", "2026-07-10", "--until", "2026-07-01"]);
    assert_eq!(wrong.code, 2, "{}", wrong.all());
}

#[test]
fn a_memory_is_listed_and_found_by_a_short_name() {
    let machine = Machine::with_demo();
    let memories = machine.json(&["memory", "list"]);
    let ids: Vec<&str> =
        memories["memories"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert!(ids.len() >= 3, "{ids:?}");
    let table = machine.run_at(80, &["memory", "list"]).stdout;
    let shown: Vec<&str> = table
        .lines()
        .skip(1)
        .filter(|line| !line.starts_with(' '))
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(shown.len(), ids.len(), "{table}");
    for (short, id) in shown.iter().zip(&ids) {
        assert!(short.len() < 32, "{short}");
        assert_eq!(machine.json(&["memory", "show", short])["id"], *id, "{short}");
    }
}

#[test]
fn a_report_wraps_at_words() {
    let machine = Machine::with_demo();
    let page = machine.run_at(80, &["report"]).stdout;
    assert!(page.lines().count() > 10, "{page}");
    assert!(page.lines().all(|line| retro::text::terminal::width(line) <= 80), "{page}");
}

#[test]
fn an_empty_period_names_the_newest_session() {
    let machine = Machine::empty();
    claude(&machine, FIRST, 9, "why is the cart slow");
    machine.run(&["sync", "--quiet"]);
    for command in ["list", "usage", "outcome", "report"] {
        let answer = machine.run(&[command, "--since", "2026-05-01", "--until", "2026-05-07"]);
        let said = "No session from 2026-05-01 to 2026-05-07. The newest is of 2026-03-09.";
        assert!(answer.stderr.contains(said), "{command}: {}", answer.all());
        assert_eq!(answer.code, 1, "{command}");
    }
}

#[test]
fn a_digest_is_one_page_that_says_what_was_asked_and_what_came_of_it() {
    let machine = Machine::with_demo();
    let list = machine.json(&["list", "--limit", "0"]);
    for session in list["sessions"].as_array().unwrap() {
        let id = session["session_id"].as_str().unwrap();
        let page = machine.run_at(80, &["digest", id]).stdout;
        assert!(page.lines().count() <= 40, "{page}");
        assert!(page.lines().all(|line| retro::text::terminal::width(line) <= 80), "{page}");
        assert!(page.contains("\noutcome "), "{page}");
        let digest = machine.json(&["digest", id]);
        let answer = digest["last_answer"].as_str().unwrap();
        let first = answer.split(' ').next().unwrap();
        assert!(first.is_empty() || page.contains(&format!("\nanswer     {first}")), "{page}");
        assert_eq!(digest["cost_usd"], session["cost_usd"], "{id}");
        assert_eq!(digest["cost_complete"], session["cost_complete"], "{id}");
        for commit in digest["commits"].as_array().into_iter().flatten().take(1) {
            assert!(page.contains(commit["subject"].as_str().unwrap()), "{page}");
        }
    }
}

#[test]
fn a_report_says_why_its_cost_is_a_bound() {
    let machine = Machine::empty();
    let used = |model: &str, stop: Value| {
        serde_json::json!({ "type": "assistant", "uuid": format!("a-{model}"), "sessionId": FIRST, "cwd": "/w/shop",
            "timestamp": "2026-03-09T10:00:01.000Z", "requestId": format!("req-{model}"), "message": {
            "id": format!("msg-{model}"), "role": "assistant", "model": model, "stop_reason": stop, "content": [
            { "type": "text", "text": "Done." }], "usage": { "input_tokens": 10, "output_tokens": 5 } } })
    };
    claude(&machine, FIRST, 9, "why is the cart slow");
    let path = format!(".claude/projects/-w-shop/{FIRST}.jsonl");
    let log = std::fs::read_to_string(machine.home().join(&path)).unwrap();
    let lines = [used("claude-sonnet-4-5", Value::Null), used("claude-of-nobody", "end_turn".into())];
    machine.write(&path, format!("{log}{}\n{}\n", lines[0], lines[1]));
    machine.run(&["sync", "--quiet", "--now", "2027-04-01T00:00:00Z"]);
    let page = machine.run(&["report"]).stdout.replace("\n    ", " ");
    assert!(page.contains("1 response was logged before the end (about $"), "{page}");
    assert!(page.contains("1 response has no known price"), "{page}");
    let bounds = &machine.json(&["report"])["cost_bounds"];
    assert_eq!(
        (bounds["unfinished_responses"].as_u64(), bounds["unpriced_responses"].as_u64()),
        (Some(1), Some(1))
    );
}

#[test]
fn a_session_shows_its_last_turns_its_last_answer_and_what_edits_changed() {
    let machine = Machine::with_demo();
    let list = machine.json(&["list", "--limit", "0"]);
    let (mut diffs, mut answers) = (0, 0);
    for session in list["sessions"].as_array().unwrap() {
        let id = session["session_id"].as_str().unwrap();
        let entries = machine.json(&["show", id])["entries"].as_array().unwrap().clone();
        let turns: Vec<u64> =
            entries.iter().filter_map(|entry| entry["turn"].as_u64()).filter(|n| *n > 0).collect();
        if let (Some(last), Some(first)) = (turns.last(), turns.first())
            && first != last
        {
            let page = machine.run(&["show", id, "--last", "1"]).stdout;
            assert!(
                page.contains(&format!("you {last}")) || page.contains(&format!("message {last}")),
                "{page}"
            );
            assert!(!page.contains(&format!("you {first} ")), "{page}");
        }
        let said = entries.iter().rev().find(|entry| entry["type"] == "answer");
        let told = machine.run(&["show", id, "--final"]);
        assert_eq!(told.code, i32::from(said.is_none()), "{}", told.all());
        if let Some(said) = said {
            let word = said["text"].as_str().unwrap().lines().last().unwrap();
            assert!(told.stdout.contains(word), "{}", told.all());
            answers += 1;
        }
        let edited = entries.iter().find_map(|entry| entry["diffs"][0]["rows"].as_array());
        if let Some(row) = edited.and_then(|rows| rows.iter().find(|row| row[0] == "+")) {
            let page = machine.run(&["show", id, "--diff", "--full"]).stdout;
            assert!(page.contains(&format!("+ {}", row[1].as_str().unwrap().trim_end())), "{page}");
            diffs += 1;
        }
    }
    assert!(answers > 3 && diffs > 1, "{answers} {diffs}");
}
