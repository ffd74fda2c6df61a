//! What is derived, deleted, cut, of an older schema, of a newer one: a cache costs a
//! re-read, and what a later retro made is refused with advice and left as it is.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::SyncOptions;
use retro::engine::rebuild::{mend, rebuild};
use retro::store::SESSIONS;
use retro::views;
use std::path::{Path, PathBuf};
use support::{Machine, Snapshot, answers, difference, problems, scene};

/// Where SQLite keeps the number that its user gave the tables.
const USER_VERSION_AT: usize = 60;

fn index_of(machine: &Machine) -> PathBuf {
    machine.config.root.value.join("index/retro.sqlite")
}

fn set_schema(machine: &Machine, number: u32) -> Vec<u8> {
    let path = index_of(machine);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[USER_VERSION_AT..USER_VERSION_AT + 4].copy_from_slice(&number.to_be_bytes());
    std::fs::write(&path, &bytes).unwrap();
    bytes
}

#[test]
fn derived_folders_that_are_gone_cost_a_re_read() {
    let machine = scene::whole();
    let expected = answers(&machine);
    let whole = Snapshot::of(&machine.config.root.value);
    for gone in
        [&["index"][..], &["normalized"], &["rendered"], &["index", "normalized", "rendered", "signals"]]
    {
        whole.restore();
        for folder in gone {
            drop(std::fs::remove_dir_all(machine.config.root.value.join(folder)));
        }
        machine.sync();
        assert_eq!(difference(&machine, &expected), None, "{gone:?} deleted");
        assert_eq!(problems(&machine), Vec::<String>::new(), "{gone:?} deleted");
    }
}

#[test]
fn derived_files_that_are_cut_cost_a_re_read() {
    let machine = scene::whole();
    let expected = answers(&machine);
    let whole = Snapshot::of(&machine.config.root.value);
    let is_derived = |path: &Path| {
        let below = path.strip_prefix(&machine.config.root.value).unwrap();
        below.starts_with("index") || below.starts_with("normalized")
    };
    let mut cuts = 0;
    for (path, bytes) in whole.files().filter(|(path, _)| is_derived(path)) {
        for kept in [0, 1, 50, bytes.len() / 2, bytes.len().saturating_sub(1)] {
            whole.restore();
            std::fs::write(path, &bytes[..kept.min(bytes.len())]).unwrap();
            machine.sync();
            assert_eq!(difference(&machine, &expected), None, "{} cut to {kept}", path.display());
            assert_eq!(problems(&machine), Vec::<String>::new(), "{} cut to {kept}", path.display());
            cuts += 1;
        }
    }
    println!("{cuts} cuts");
}

#[test]
fn an_index_of_an_older_schema_is_made_anew() {
    let machine = scene::whole();
    let expected = answers(&machine);
    for older in [0, 1] {
        set_schema(&machine, older);
        machine.sync();
        assert_eq!(difference(&machine, &expected), None, "schema {older}");
    }
}

#[test]
fn an_index_of_a_newer_schema_is_refused_and_kept() {
    let machine = scene::whole();
    let newer = set_schema(&machine, 99);
    let (world, config) = (&machine.world, &machine.config);
    let said = [
        (
            "sync",
            retro::engine::sync(world, config, &SyncOptions::default(), &|_| {})
                .map(drop)
                .map_err(|e| e.to_string()),
        ),
        ("rebuild", rebuild(world, config, None, &|_| {}).map(drop).map_err(|e| e.to_string())),
        ("doctor --fix", mend(world, config, &|_| {}).map(drop).map_err(|e| e.to_string())),
        ("list", views::list(world, config, &Default::default()).map(drop).map_err(|e| e.to_string())),
        ("usage", asked(world, config).map_err(|error| error.to_string())),
    ];
    for (command, said) in said {
        let error = said.unwrap_err();
        assert!(error.contains("update retro") && error.contains("retro.sqlite"), "{command}: {error}");
        assert_eq!(std::fs::read(index_of(&machine)).unwrap(), newer, "{command} changed it");
    }
}

#[test]
fn a_session_file_of_a_newer_schema_is_refused_and_kept() {
    let machine = scene::whole();
    let store = machine.store();
    let key = store.session_keys().unwrap().remove(0);
    let path = store.session_path(&key);
    let kept = || String::from_utf8(machine.store().text_of(&SESSIONS, &key).unwrap().unwrap()).unwrap();
    let newer = kept().replace("\"retro.session/1\"", "\"retro.session/2\"");
    let mark = store.root().join("sessions/mark");
    let before = std::fs::read(&mark).unwrap();
    store.put_text(&SESSIONS, &key, newer.as_bytes()).unwrap();
    store.sync_all().unwrap();
    std::fs::write(&mark, before).unwrap();
    let (world, config) = (&machine.world, &machine.config);
    let forced = SyncOptions { force: true, ..SyncOptions::default() };
    let report = retro::engine::sync(world, config, &forced, &|_| {}).unwrap();
    assert_eq!(report.failed, 1, "it stops no other session");
    let error = &report.failures[0].reason;
    assert!(error.contains("update retro") && error.contains(&path.display().to_string()), "{error}");
    let _ = mend(world, config, &|_| {});
    let _ = rebuild(world, config, None, &|_| {});
    assert_eq!(kept(), newer);
    assert!(
        problems(&machine).iter().any(|problem| problem.contains("update retro")),
        "{:?}",
        problems(&machine)
    );
}

/// A question about costs, and keeping what was read for it.
fn asked(world: &retro::engine::World, config: &retro::engine::Config) -> Result<(), retro::engine::Error> {
    let patience = retro::engine::ask::Patience::All;
    retro::engine::ask::read(world, config, patience, &|_| {})?.keep(world, config, &|_| {})
}
