//! No secret of a session stands anywhere in a store but in its raw files: not in
//! a name, not in a file, packed or not, not in a cell of the index.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod planted_secrets;
mod support;

use planted_secrets::{Planted, Plot, recorded, seen};
use retro_engine::rebuild::rebuild;
use rusqlite::types::ValueRef;
use std::path::Path;
use support::Machine;

/// What stands in a store outside raw: each leak with its place.
fn leaks(root: &Path, planted: &[Planted]) -> Vec<String> {
    let mut leaks = Vec::new();
    let mut look = |place: &str, bytes: &[u8]| {
        leaks.extend(seen(planted, bytes).into_iter().map(|what| format!("{what}: {place}")));
    };
    let mut files = 0;
    for entry in walkdir::WalkDir::new(root).min_depth(1) {
        let entry = entry.unwrap();
        let place = entry.path().strip_prefix(root).unwrap();
        look(&format!("the name {}", place.display()), place.to_string_lossy().as_bytes());
        if !entry.file_type().is_file() || place.starts_with("raw") {
            continue;
        }
        files += 1;
        let bytes = std::fs::read(entry.path()).unwrap();
        look(&place.display().to_string(), &bytes);
        if place.extension().is_some_and(|extension| extension == "zst") {
            look(&format!("{} unpacked", place.display()), &zstd::decode_all(&bytes[..]).unwrap());
        }
    }
    let index = root.join("index/retro.sqlite");
    let cells = cells(&index, &mut look);
    assert!(files >= 4 && cells >= 40, "only {files} files and {cells} cells were searched");
    leaks.sort();
    leaks.dedup();
    leaks
}

/// Shows every cell of every table of a database; says how many there were.
fn cells(path: &Path, look: &mut dyn FnMut(&str, &[u8])) -> usize {
    let database = rusqlite::Connection::open(path).unwrap();
    let mut names = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").unwrap();
    let tables: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut count = 0;
    for table in tables {
        let mut all = database.prepare(&format!("SELECT * FROM \"{table}\"")).unwrap();
        let columns: Vec<String> = all.column_names().map(str::to_owned).collect();
        let mut rows = all.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            for (at, column) in columns.iter().enumerate() {
                if let ValueRef::Text(bytes) | ValueRef::Blob(bytes) = row.get_ref(at).unwrap() {
                    look(&format!("{column} in {table}"), bytes);
                }
                count += 1;
            }
        }
    }
    count
}

/// Every state of a store: captured, packed, made again.
fn check(machine: &Machine, name: &str, planted: &[Planted]) {
    let root = machine.config.root.value.clone();
    let report = machine.sync();
    assert_eq!(report.failed, 0, "{name}: {:?}", report.failures);
    assert!(report.ingested >= 1, "{name} has no session");
    let raw: Vec<u8> =
        machine.store().session_keys().unwrap().iter().flat_map(|key| raw_bytes(machine, key)).collect();
    assert!(!seen(planted, &raw).is_empty(), "{name}: no secret was captured at all");
    assert_eq!(leaks(&root, planted), [""; 0], "{name} after sync");
    machine.sync();
    assert_eq!(leaks(&root, planted), [""; 0], "{name} after a second sync");
    rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_eq!(leaks(&root, planted), [""; 0], "{name} after rebuild");
}

fn raw_bytes(machine: &Machine, key: &retro_model::SessionKey) -> Vec<u8> {
    let store = machine.store();
    store.raw_slots(key).unwrap().iter().flat_map(|slot| support::raw(&store, slot)).collect()
}

#[test]
fn what_we_planted_stays_in_raw() {
    for agent in support::agents() {
        let plot = Plot::for_agent(agent.name());
        let mut wrong = Vec::new();
        for machine in [Machine::new(), Machine::new().busy()] {
            for path in machine.tell(agent.name(), &plot.script) {
                if path.extension().is_some_and(|extension| extension == "jsonl") {
                    let mut bytes = std::fs::read(&path).unwrap();
                    for record in &plot.records {
                        bytes.extend_from_slice(format!("{record}\n").as_bytes());
                    }
                    std::fs::write(&path, bytes).unwrap();
                }
            }
            check(&machine, agent.name(), &plot.planted);
            let raw: Vec<u8> = machine
                .store()
                .session_keys()
                .unwrap()
                .iter()
                .flat_map(|key| raw_bytes(&machine, key))
                .collect();
            let captured = seen(&plot.planted, &raw);
            wrong.extend(
                plot.planted.iter().map(|one| one.place.clone()).filter(|place| !captured.contains(place)),
            );
        }
        println!("{}: {} secrets, not in any log: {wrong:?}", agent.name(), plot.planted.len());
        assert!(wrong.len() <= 4, "{}: {wrong:?} reach no log", agent.name());
    }
}

#[test]
fn what_others_planted_stays_in_raw() {
    for (name, home, planted) in recorded() {
        let agent = name.split('/').next().unwrap_or_default();
        if retro_agents::by_name(agent).is_none() {
            println!("{name}: retro does not read it yet");
            continue;
        }
        let mut machine = Machine::new();
        machine.world.home = home;
        check(&machine, &name, &planted);
        println!("{name}: {} secrets", planted.len());
    }
}
