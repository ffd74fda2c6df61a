//! Every command on the demo store, for people at several widths and for programs, as
//! snapshots.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;

/// Every table, by the name of its snapshot.
const TABLES: &[(&str, &[&str])] = &[
    ("list", &["list", "--limit", "8"]),
    ("list_by_cost", &["list", "--sort", "cost", "--limit", "4"]),
    ("list_children", &["list", "--children", "--limit", "8"]),
    ("list_none", &["list", "nothing", "like", "it"]),
    ("list_one", &["list", "half", "up"]),
    ("pricing_show", &["pricing", "show", "gpt-5.5"]),
    ("schedule_status", &["schedule", "status"]),
    ("stages", &["stages"]),
    ("usage_agent", &["--no-sync", "usage", "agent"]),
    ("usage_blocks", &["--no-sync", "usage", "blocks", "--since", "2026-02-26"]),
    ("usage_breakdown", &["--no-sync", "usage", "monthly", "--breakdown"]),
    ("usage_daily", &["--no-sync", "usage", "--since", "2026-02-20"]),
    ("usage_explain", &["--no-sync", "usage", "explain", "6a1f0c52"]),
    ("usage_model", &["--no-sync", "usage", "model"]),
    ("usage_project", &["--no-sync", "usage", "project"]),
    ("usage_session", &["--no-sync", "usage", "session", "--since", "2026-02-26"]),
    ("usage_weekly", &["--no-sync", "usage", "weekly"]),
];

/// Tables with paths, which are as long as the folder of the test: their layout differs.
const TABLES_OF_PATHS: &[(&str, &[&str])] =
    &[("agents", &["agents"]), ("config", &["config", "show"]), ("raw_list", &["raw", "b2c94e10", "--list"])];

const WIDTHS: &[usize] = &[60, 80, 100, 120, 160];

fn width(line: &str) -> usize {
    retro::text::terminal::width(line)
}

#[test]
fn every_table_fits_every_width_and_is_whole_in_a_pipe() {
    let machine = Machine::with_demo();
    for (name, args) in TABLES {
        let mut seen = String::new();
        for columns in WIDTHS {
            let answer = machine.run_at(*columns, args);
            // A path is one word, and is not broken.
            let fits = |line: &str| width(line) <= *columns || line.contains('/');
            for line in answer.stdout.lines() {
                assert!(fits(line), "{name} at {columns}: {line}");
            }
            seen.push_str(&format!("--- {columns}\n{}", answer.stdout));
        }
        let piped = machine.run(args);
        assert!(!piped.stdout.contains('…'), "{name}: {}", piped.stdout);
        seen.push_str(&format!("--- piped\n{}--- stderr\n{}", piped.stdout, piped.stderr));
        insta::assert_snapshot!(*name, seen);
    }
}

#[test]
fn every_table_of_paths_fits_and_is_whole_in_a_pipe() {
    let machine = Machine::with_demo();
    for (name, args) in TABLES_OF_PATHS {
        for columns in WIDTHS {
            let answer = machine.command(args).env("COLUMNS", columns.to_string()).output().unwrap();
            for line in String::from_utf8(answer.stdout).unwrap().lines() {
                assert!(width(line) <= *columns, "{name} at {columns}: {line}");
            }
        }
        let piped = machine.run(args).stdout;
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        insta::assert_snapshot!(*name, piped.lines().map(words).collect::<Vec<_>>().join("\n"));
    }
}

#[test]
fn colour_is_only_where_it_is_asked_for() {
    let machine = Machine::with_demo();
    for (_, args) in TABLES {
        assert!(!machine.run(args).stdout.contains('\u{1b}'), "{args:?}");
    }
    for args in [
        &["list", "--limit", "3"][..],
        &["--no-sync", "usage", "monthly", "--breakdown"],
        &["show", "b2c94e10"],
    ] {
        let coloured = machine.run_at(100, &[&["--color", "always"], args].concat()).stdout;
        assert!(coloured.contains('\u{1b}'), "{args:?}");
        let plain = machine.run_at(100, args).stdout;
        assert_eq!(anstream::adapter::strip_str(&coloured).to_string(), plain, "{args:?}");
        insta::assert_snapshot!(
            format!("colour_{}", args.iter().find(|word| !word.starts_with('-')).unwrap()),
            coloured.replace('\u{1b}', "␛")
        );
    }
}

/// Commands whose JSON is the same on every run, once what the machine adds is taken out.
const ANSWERS: &[(&str, &[&str])] = &[
    ("agents", &["agents"]),
    ("config_path", &["config", "path"]),
    ("config_show", &["config", "show"]),
    ("doctor", &["doctor"]),
    ("explain", &["--no-sync", "usage", "explain", "6a1f0c52"]),
    ("limits", &["--no-sync", "usage", "limits"]),
    ("list", &["list", "half", "up"]),
    ("price", &["pricing", "show", "claude-opus-5"]),
    ("raw", &["raw", "b2c94e10", "--list"]),
    ("rebuild", &["rebuild", "normalized"]),
    ("render", &["render", "6a1f0c52"]),
    ("schedule", &["schedule", "status"]),
    ("secrets", &["secrets"]),
    ("show", &["show", "b2c94e10"]),
    ("stages", &["stages"]),
    ("status", &[]),
    ("sync", &["sync", "--dry-run"]),
    ("usage", &["--no-sync", "usage", "monthly", "--breakdown"]),
    ("verify", &["verify"]),
];

/// Numbers that differ from machine to machine or from run to run.
const VARYING: &[&str] =
    &["elapsed_ms", "free_bytes", "store_bytes", "growth_week_bytes", "raw_bytes", "at", "mapping"];

fn settle(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                if VARYING.contains(&name.as_str()) {
                    *field = "…".into();
                } else {
                    settle(field);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(settle),
        serde_json::Value::String(text) if text.ends_with(" free") => *text = "… free".to_owned(),
        _ => {}
    }
}

#[test]
fn every_command_answers_programs_in_one_object_with_a_schema() {
    let machine = Machine::with_demo();
    for (name, args) in ANSWERS {
        let mut answer = machine.json(args);
        let schema = answer["schema"].as_str().unwrap_or_default().to_owned();
        assert!(schema.starts_with("retro.") && schema.contains('/'), "{name}: {schema}");
        assert!(!schema.contains('_'), "{schema}: the words of a command have dots between them");
        settle(&mut answer);
        insta::assert_snapshot!(format!("json_{name}"), serde_json::to_string_pretty(&answer).unwrap());
    }
    let events = machine.run(&["events", "6a1f0c52"]).stdout;
    insta::assert_snapshot!("events", events);
}

/// Commands that are no tables, for people.
const TEXTS: &[(&str, &[&str])] = &[
    ("help", &["--help"]),
    ("limits", &["--no-sync", "usage", "limits"]),
    ("rebuild", &["rebuild", "normalized"]),
    ("schedule_cron", &["schedule", "print", "cron"]),
    ("schedule_hook", &["schedule", "print", "claude-hook"]),
    ("schedule_launchd", &["schedule", "print", "launchd"]),
    ("schedule_systemd", &["schedule", "print", "systemd"]),
    ("secrets", &["secrets"]),
    ("show", &["show", "b2c94e10"]),
    ("show_full", &["show", "6a1f0c52", "--full"]),
    ("show_prompts", &["show", "6a1f0c52", "--prompts"]),
    ("show_tools", &["show", "6a1f0c52", "--tools"]),
    ("verify", &["verify", "--deep"]),
];

#[test]
fn every_command_answers_people() {
    let machine = Machine::with_demo();
    for (name, args) in TEXTS {
        insta::assert_snapshot!(format!("text_{name}"), machine.run_at(80, args).all());
    }
}
