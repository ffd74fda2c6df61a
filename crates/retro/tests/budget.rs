//! A store with a budget: what goes, what is said of it, and that no raw byte goes before the
//! digest of its session exists.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::news::Patience;
use retro::engine::retain::{Retained, Sweep, pin, retain};
use retro::engine::{SyncOptions, sync};
use retro::model::{SessionKey, Timestamp};
use retro::store::DIGESTS;
use retro::views;
use retro::views::SearchQuestion;
use support::machine::{OTHER, STORY};
use support::{Machine, problems, scene};

fn sweep(machine: &Machine, how: Sweep) -> Retained {
    retain(&machine.world, &machine.config, how, &|_| {}).unwrap()
}

/// Lets the caps be a share of what `raw/` takes now.
fn cap(machine: &mut Machine, soft_percent: u64, hard_percent: u64) -> u64 {
    let before = sweep(machine, Sweep::DryRun).usage_before;
    let limits = &mut machine.config.retention.value;
    limits.raw_soft_cap_bytes = before * soft_percent / 100;
    limits.raw_hard_cap_bytes = before * hard_percent / 100;
    before
}

fn evicted(machine: &Machine) -> Vec<SessionKey> {
    let store = machine.store();
    let is_evicted = |key: &SessionKey| store.session(key).unwrap().unwrap().evicted_at.is_some();
    store.session_keys().unwrap().into_iter().filter(is_evicted).collect()
}

#[test]
fn a_dry_run_says_exactly_what_a_run_does() {
    let mut machine = scene::whole();
    cap(&mut machine, 50, 80);
    let planned = sweep(&machine, Sweep::DryRun);
    assert!(!planned.evicted.is_empty() && planned.dry_run && evicted(&machine).is_empty());
    let done = sweep(&machine, Sweep::ByPerson);
    assert_eq!(done.evicted, planned.evicted);
    assert_eq!((done.usage_before, done.final_usage), (planned.usage_before, planned.final_usage));
    assert_eq!((done.passes, done.freed), (planned.passes, planned.freed));
    assert!(done.final_usage <= machine.config.retention.value.raw_soft_cap_bytes, "{done:?}");
    let mut named: Vec<SessionKey> =
        done.evicted.iter().map(|one| SessionKey::new(&one.agent, &one.session_id)).collect();
    named.sort();
    assert_eq!(named, evicted(&machine));
    assert_eq!(problems(&machine), Vec::<String>::new());
    assert_eq!(sweep(&machine, Sweep::ByPerson).evicted, [], "once is enough");
}

#[test]
fn a_sync_only_reports_until_a_person_has_said_yes() {
    let mut machine = scene::whole();
    cap(&mut machine, 50, 80);
    machine.tell("claude", &STORY.replace("11111111", "77777777"));
    let report = machine.sync();
    let said = report.retention.unwrap();
    assert!(said.dry_run && !said.enabled && !said.evicted.is_empty());
    assert_eq!(evicted(&machine), []);
    sweep(&machine, Sweep::ByPerson);
    let gone = evicted(&machine);
    machine.tell("claude", &STORY.replace("11111111", "88888888"));
    machine.tell("claude", &STORY.replace("11111111", "99999999"));
    let report = machine.sync();
    let said = report.retention.unwrap();
    assert!(!said.dry_run && said.enabled && !said.evicted.is_empty(), "{said:?}");
    assert!(evicted(&machine).len() > gone.len());
    assert_eq!(machine.sync().retention, None, "nothing is new");
}

#[test]
fn what_grew_is_captured_again_and_reported_so_and_what_did_not_is_not() {
    let mut machine = scene::empty();
    machine.sync();
    cap(&mut machine, 0, 100);
    sweep(&machine, Sweep::ByPerson);
    machine.config.retention.value = Default::default();
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended, report.recaptured), (0, 0, 0));
    let log = machine.logs().into_iter().find(|path| path.to_string_lossy().contains("2222")).unwrap();
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"summary\",\"summary\":\"more\",\"leafUuid\":\"x\"}\n");
    std::fs::write(&log, bytes).unwrap();
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended, report.recaptured), (0, 0, 1));
}

#[test]
fn search_still_finds_a_session_by_the_words_of_its_digest() {
    let mut machine = scene::empty();
    machine.sync();
    cap(&mut machine, 0, 0);
    sweep(&machine, Sweep::ByPerson);
    let ask = |words: &str| {
        let (world, config) = (&machine.world, &machine.config);
        let patience = Patience::None;
        let searching = views::open_search(world, config, patience, &|_| {}).unwrap();
        let found = searching.search(world, config, &SearchQuestion::new(words)).unwrap();
        found.hits.into_iter().map(|hit| (hit.session_id, hit.evicted)).collect::<Vec<_>>()
    };
    let found = ask("search box");
    assert!(found.iter().any(|(id, evicted)| id.starts_with("2222") && *evicted), "{found:?}");
    retro::engine::rebuild::rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_eq!(ask("search box"), found, "after a rebuild");
    std::fs::remove_dir_all(machine.store().root().join("index")).unwrap();
    machine.sync();
    assert_eq!(ask("search box"), found, "with a new index");
}

#[test]
fn a_page_shows_what_is_kept_of_an_evicted_session() {
    let mut machine = scene::empty();
    machine.sync();
    let key = SessionKey::new("claude", "22222222-2222-4222-8222-222222222222");
    let read = |machine: &Machine| {
        let family = views::session::family::Family::read(&machine.store(), &key, &[], true).unwrap();
        let texts = |event: &retro::model::Event| event.text.as_ref().map(|text| text.to_string());
        family.members[0].events.iter().filter_map(texts).collect::<Vec<_>>()
    };
    let before = read(&machine);
    cap(&mut machine, 0, 0);
    sweep(&machine, Sweep::ByPerson);
    let after = read(&machine);
    assert_eq!(after[0], before[0], "the first prompt");
    assert!(after[1].starts_with("Evicted on 20") && after[1].contains("digest"), "{after:?}");
    assert!(after.len() > 2 && before.contains(after.last().unwrap()), "the last answer: {after:?}");
}

#[test]
fn a_pinned_session_goes_last() {
    let mut machine = scene::whole();
    let key = SessionKey::new("claude", "22222222-2222-4222-8222-222222222222");
    assert_ne!(sweep_all(&mut machine).last(), Some(&key));
    assert!(pin(&machine.world, &machine.config, &key, Some("I need it"), true).unwrap());
    assert!(!pin(&machine.world, &machine.config, &key, Some("I need it"), true).unwrap());
    assert_eq!(sweep_all(&mut machine).last(), Some(&key));
    cap(&mut machine, 0, 100);
    let done = sweep(&machine, Sweep::ByPerson);
    assert!(!evicted(&machine).contains(&key) && done.needs[0].contains("unpin"), "{done:?}");
    assert_eq!(machine.sync().ingested, 0, "the index knows of the pin");
    assert!(pin(&machine.world, &machine.config, &key, None, false).unwrap());
}

/// The order in which everything would go.
fn sweep_all(machine: &mut Machine) -> Vec<SessionKey> {
    cap(machine, 0, 0);
    let planned = sweep(machine, Sweep::DryRun);
    machine.config.retention.value = Default::default();
    planned.evicted.iter().map(|one| SessionKey::new(&one.agent, &one.session_id)).collect()
}

#[test]
fn a_session_that_cannot_be_analyzed_is_a_loss_of_data_and_the_last_to_go() {
    let mut machine = Machine::new().busy();
    machine.tell("claude", STORY);
    machine.tell("claude", OTHER);
    machine.sync();
    let store = machine.store();
    let key = SessionKey::new("claude", "22222222-2222-4222-8222-222222222222");
    assert!(store.object::<serde_json::Value>(&DIGESTS, &key).unwrap().is_none(), "it is not quiet yet");
    damage(&machine, &key);
    cap(&mut machine, 0, 0);
    let done = sweep(&machine, Sweep::ByPerson);
    let lost: Vec<&str> = done.data_loss.iter().map(|one| one.session_id.as_str()).collect();
    assert_eq!(lost, [key.id.as_str()], "{done:?}");
    assert_eq!(done.evicted.last().unwrap().session_id, key.id);
    for one in done.evicted.iter().filter(|one| one.session_id != key.id) {
        let key = SessionKey::new(&one.agent, &one.session_id);
        assert!(store.object::<serde_json::Value>(&DIGESTS, &key).unwrap().is_some(), "{key}");
    }
    assert_eq!(done.final_usage, 0);
}

/// The raw file of a session, made unreadable.
fn damage(machine: &Machine, key: &SessionKey) {
    let store = machine.store();
    for slot in store.raw_slots(key).unwrap() {
        let path = store.slot_path(&slot);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle..middle + 8].copy_from_slice(b"\xff\0\xff\0\xff\0\xff\0");
        std::fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn a_session_that_nothing_can_read_stays_and_keeps_no_other_from_going() {
    let mut machine = scene::whole();
    let store = machine.store();
    let key = SessionKey::new("claude", "22222222-2222-4222-8222-222222222222");
    damage(&machine, &key);
    for log in machine.logs().into_iter().filter(|path| path.to_string_lossy().contains("22222222")) {
        std::fs::remove_file(log).unwrap();
    }
    std::fs::remove_dir_all(store.root().join("index")).unwrap();
    let limits = &mut machine.config.retention.value;
    (limits.raw_soft_cap_bytes, limits.raw_hard_cap_bytes) = (0, 0);
    let report = machine.sync();
    assert!(report.failed > 0 && !report.retention.unwrap().evicted.is_empty());
    let others = store.raw_keys().unwrap().len() - 1;
    let planned = sweep(&machine, Sweep::DryRun);
    assert_eq!(planned.evicted.len(), others, "{planned:?}");
    let done = sweep(&machine, Sweep::ByPerson);
    assert_eq!(done.evicted, planned.evicted);
    assert!(done.data_loss.is_empty() && !evicted(&machine).contains(&key), "{done:?}");
    assert!(done.needs.iter().any(|need| need.contains(&key.to_string())), "{:?}", done.needs);
    assert_eq!(store.raw_keys().unwrap(), [key]);
}

#[test]
fn a_lost_index_gives_nothing_up_until_a_sync_has_made_it_again() {
    let mut machine = scene::whole();
    cap(&mut machine, 0, 100);
    let planned = sweep(&machine, Sweep::DryRun);
    std::fs::remove_dir_all(machine.store().root().join("index")).unwrap();
    for how in [Sweep::DryRun, Sweep::ByPerson] {
        let done = sweep(&machine, how);
        assert!(done.evicted.is_empty() && done.needs[0].contains("retro sync"), "{done:?}");
    }
    let report = machine.sync();
    assert_eq!(report.retention.unwrap().evicted, planned.evicted);
}

#[test]
fn a_clock_behind_the_last_sweep_gives_nothing_up() {
    let mut machine = scene::whole();
    cap(&mut machine, 50, 80);
    sweep(&machine, Sweep::ByPerson);
    let before = Timestamp::from_millis(machine.world.now().as_millis() - 60_000).unwrap();
    let world = machine.world.clone().with_clock(before);
    let refused = retain(&world, &machine.config, Sweep::ByPerson, &|_| {}).unwrap_err().to_string();
    assert!(refused.contains("hint:") && refused.contains("retention.jsonl"), "{refused}");
    cap(&mut machine, 0, 0);
    let report = sync(&world, &machine.config, &SyncOptions::default(), &|_| {}).unwrap();
    assert!(report.notes.iter().any(|note| note.contains("nothing is given up")), "{:?}", report.notes);
}

#[test]
fn nothing_is_captured_on_a_disk_that_is_nearly_full() {
    let mut machine = scene::empty();
    machine.config.retention.value.min_free_bytes = Some(u64::MAX);
    let report = machine.sync();
    assert_eq!((report.ingested, report.failed), (0, 0));
    assert!(
        report.unread > 0 && report.notes.iter().any(|note| note.contains("min_free_bytes")),
        "{report:?}"
    );
    machine.config.retention.value.min_free_bytes = Some(0);
    assert!(machine.sync().ingested > 0);
}
