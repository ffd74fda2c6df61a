//! Files that have not changed: only their stamps are kept, and nothing is lost by that.
#![allow(clippy::unwrap_used)]

mod support;

use retro_engine::discover::{Discovery, discover};
use retro_model::SessionKey;
use retro_store::{PlaceRow, Stamps};
use support::{Machine, OTHER, STORY};

/// A machine whose sessions of all agents are in the store.
fn synced() -> Machine {
    let machine = Machine::new();
    for agent in support::agents() {
        machine.tell(agent.name(), STORY);
        machine.tell(agent.name(), OTHER);
    }
    machine.sync();
    machine
}

fn stamps(machine: &Machine) -> Stamps {
    machine.store().index().unwrap().stamps().unwrap()
}

fn found(machine: &Machine, known: &Stamps) -> Discovery {
    discover(&machine.world, &machine.config, None, known)
}

/// Sessions in their order, with all that is told of their files.
fn told(found: &Discovery) -> Vec<String> {
    let told = found.sessions.iter().map(|session| format!("{} {:#?}", session.key, session.files));
    told.collect()
}

fn news(found: &Discovery) -> Vec<&SessionKey> {
    found.sessions.iter().filter(|session| session.news).map(|session| &session.key).collect()
}

#[test]
fn a_file_made_of_its_stamp_is_the_one_that_was_found() {
    let machine = synced();
    let known = stamps(&machine);
    let (with, without) = (found(&machine, &known), found(&machine, &Stamps::default()));
    assert!(news(&with).is_empty());
    assert_eq!(news(&without).len(), without.sessions.len());
    assert_eq!(told(&with), told(&without));
}

#[test]
fn the_quiet_files_of_a_session_with_news_come_along() {
    let machine = synced();
    let log = machine.logs().into_iter().find(|log| log.to_string_lossy().contains("subagents")).unwrap();
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"\n");
    std::fs::write(&log, bytes).unwrap();
    let known = stamps(&machine);
    let (with, without) = (found(&machine, &known), found(&machine, &Stamps::default()));
    assert_eq!(news(&with).len(), 1);
    assert!(with.sessions.iter().any(|session| session.news && session.files.len() > 1));
    assert_eq!(told(&with), told(&without));
    let report = machine.sync();
    assert_eq!((report.appended, report.skipped_unchanged), (1, report.discovered - 1));
    machine.verify();
}

#[test]
fn a_file_that_was_captured_for_another_session_is_news() {
    let machine = synced();
    let row = stamps(&machine).iter().find(|row| row.path.to_string_lossy().contains("subagents")).unwrap();
    let owner = SessionKey::new(&row.agent, row.session.clone().unwrap());
    let moved = PlaceRow { session: Some("another".to_owned()), ..row };
    machine.store().index().unwrap().write(|writer| writer.put_place(&moved)).unwrap();
    assert_eq!(news(&found(&machine, &stamps(&machine))), [&owner]);
    machine.sync();
    assert!(news(&found(&machine, &stamps(&machine))).is_empty());
    machine.verify();
}

#[test]
fn garbled_stamps_cost_one_more_look_and_lose_nothing() {
    let machine = synced();
    let (before, known) = (machine.answers(), stamps(&machine).len());
    let index = machine.store().index_path();
    let raw = rusqlite::Connection::open(&index).unwrap();
    assert!(raw.execute("UPDATE places SET stamp = x'00' WHERE path LIKE '%jsonl'", []).unwrap() > 0);
    drop(raw);
    assert_eq!(machine.sync().failed, 0);
    assert!(index.with_extension("sqlite.old").is_file());
    assert_eq!((machine.answers(), stamps(&machine).len()), (before, known));
    assert!(news(&found(&machine, &stamps(&machine))).is_empty());
    machine.verify();
}
