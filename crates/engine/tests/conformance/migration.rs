//! Logs that the program itself brought into a newer form, in place: the old bytes
//! stay, and nothing is told twice.

use retro_agents::Migrated;
use retro_agents::script::Script;
use retro_model::{Event, Kind, Origin};
use std::path::{Path, PathBuf};

use crate::support::{self, Machine, STORY};
use crate::{counted, forget_index, keys};

/// What must not change: prompts, calls, commands and tokens.
fn gist(machine: &Machine) -> Vec<String> {
    let mut gist = Vec::new();
    for key in keys(machine) {
        let told = |event: &&Event| match event.kind {
            Kind::User => event.origin == Origin::User,
            kind => matches!(kind, Kind::Assistant | Kind::Reasoning | Kind::ToolCall | Kind::ToolResult),
        };
        for event in machine.events(&key).iter().filter(told) {
            let text = event.text.as_ref().map(|text| text.to_string());
            let tool = event.tool.as_ref().map(|tool| (tool.call_id.clone(), tool.name.clone()));
            let result = event.result.as_ref().map(|result| (result.call_id.clone(), result.outcome));
            gist.push(format!("{key} {:?} {text:?} {tool:?} {result:?}", event.kind));
        }
    }
    gist.extend(counted(machine).rows.iter().map(|row| {
        let row = &row.row;
        format!("{} {} {} {}", row.key, row.tokens.input, row.tokens.cache_read, row.tokens.output)
    }));
    gist
}

fn captured(files: &[(PathBuf, Vec<u8>)]) -> Machine {
    let machine = Machine::new();
    files.iter().for_each(|(path, bytes)| machine.write(path, bytes));
    let report = machine.sync();
    assert_eq!((report.failed, report.gaps), (0, 0), "{:?}", report.failures);
    machine
}

fn migrate(what: &str, logs: &Migrated) {
    let before = captured(&logs.before);
    let (expected, ids) = (gist(&before), event_ids(&before));
    assert!(expected.len() > 5, "{what}: {expected:#?}");
    assert_eq!(gist(&captured(&logs.after)), expected, "{what}: the newer form alone");
    for forgets in [false, true] {
        let machine = captured(&logs.before);
        if forgets {
            forget_index(&machine);
        }
        logs.after.iter().for_each(|(path, bytes)| machine.write(path, bytes));
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed), (0, 0), "{what}: {:?}", report.failures);
        assert_eq!(gist(&machine), expected, "{what}: both forms");
        assert_eq!(event_ids(&machine), ids, "{what}: an event is new or gone");
        machine.verify();
    }
}

fn event_ids(machine: &Machine) -> Vec<String> {
    let of = |key| machine.events(&key).into_iter().map(move |event| format!("{key}#{}", event.id));
    keys(machine).into_iter().flat_map(of).collect()
}

#[test]
fn migrated_logs_tell_nothing_twice() {
    let script = Script::parse(STORY).unwrap();
    let mut took_part = Vec::new();
    for agent in support::agents() {
        if let Some(logs) = agent.write_migrated(&script) {
            assert_ne!(logs.before, logs.after);
            migrate(agent.name(), &logs);
            took_part.push(agent.name());
        }
    }
    println!("with a migration: {took_part:?}");
    assert!(!took_part.is_empty());
}

/// A recorded migration. Skipped without `RETRO_CORPUS`.
#[test]
fn a_recorded_migration_tells_nothing_twice() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let folder = corpus.join("genuine/codex/23-migrate");
    let logs = Migrated {
        before: below(&folder.join("before-migration"), &Path::new(".codex").join("")),
        after: below(&folder.join("home"), Path::new("")),
    };
    assert_eq!(logs.before.len(), 1);
    migrate("recorded", &logs);
}

fn below(folder: &Path, prefix: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().flatten();
    files
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "jsonl"))
        .map(|entry| {
            (prefix.join(entry.path().strip_prefix(folder).unwrap()), std::fs::read(entry.path()).unwrap())
        })
        .collect()
}
