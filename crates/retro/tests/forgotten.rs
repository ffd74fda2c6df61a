//! Forgetting a session: afterwards none of its words and names are in any file, whatever else
//! was done with the store, and it does not come back.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::forget::{self, Forgotten};
use retro::engine::news::Patience;
use retro::engine::rebuild::rebuild;
use retro::engine::{SyncOptions, World, sync};
use retro::model::SessionKey;
use retro::store::Disk;
use retro::views;
use retro_store::testing::{FailingDisk, Fails};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use support::{Machine, Snapshot, problems, scene};

/// A session of its own, with words that no other has.
const DIARY: &str = "\
@ session 55555555-5555-4555-8555-555555555555
@ cwd /home/dev/zanzibar-diary
@ branch main
@ model claude-opus-5
> Always write quokka headlines in the travel diary, never use plain ones
< The quokka headlines are in the travel diary now.
$ make quokka-pages
| error: quokka page seventeen is missing its marsupial
! 2
~ diary/quokka.md
- old marsupial line
+ new marsupial line
< Done with the marsupial pages.
";

/// What none of the files may hold: words, the id, the folder.
const WORDS: [&str; 4] = ["quokka", "marsupial", "55555555-5555", "zanzibar"];

fn key() -> SessionKey {
    SessionKey::new("claude", "55555555-5555-4555-8555-555555555555")
}

/// A machine on which everything was done with the session: digests, mining, rendering,
/// search, and a history that serves many sessions.
fn machine() -> Machine {
    let machine = scene::empty();
    machine.tell("claude", DIARY);
    let line = |id: &str, words: &str| format!("{{\"display\":\"{words}\",\"sessionId\":\"{id}\"}}\n");
    let history = line(&key().id, "write quokka headlines") + &line("22222222", "add a search box");
    let path = Path::new(".claude/history.jsonl");
    let known = std::fs::read(machine.home().join(path)).unwrap_or_default();
    machine.write(path, &[known, history.into_bytes()].concat());
    machine.sync();
    let store = machine.store();
    for key in store.session_keys().unwrap() {
        let shown = views::show(&machine.config, &store, &key).unwrap();
        store.put_rendered(&key, &views::markdown(&shown.view, &shown.transcript())).unwrap();
    }
    machine
}

/// The files below the root that hold one of the words, decompressed where they are packed, or
/// have it in their name.
fn with_words(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for (path, bytes) in Snapshot::of(root).files() {
        let mut unpacked = Vec::new();
        if path.extension().is_some_and(|ending| ending == "zst") {
            let _ = zstd::stream::read::Decoder::new(&bytes[..]).unwrap().read_to_end(&mut unpacked);
        }
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        let has = |word: &str| {
            let is_in = |bytes: &[u8]| {
                bytes.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word.as_bytes()))
            };
            is_in(bytes) || is_in(&unpacked) || name.contains(word)
        };
        found.extend(WORDS.iter().filter(|word| has(word)).map(|word| format!("{name}: {word}")));
    }
    found
}

/// The same in the rows of the index, whose words are packed.
fn rows_with_words(machine: &Machine) -> Vec<String> {
    let index = machine.store().index().unwrap();
    let mut found = Vec::new();
    let holds = |text: &str| WORDS.iter().any(|word| text.to_lowercase().contains(word));
    index
        .each_passage(|row| {
            found.extend(
                row.passage.pieces.iter().filter(|piece| holds(&piece.text)).map(|piece| piece.text.clone()),
            );
        })
        .unwrap();
    for name in ["mined", "findings", "past"] {
        let bodies = index.bodies(name).unwrap();
        found.extend(bodies.into_iter().filter(|body| holds(&body.text)).map(|body| body.text));
    }
    found
}

fn forget_it(machine: &Machine, world: &World, keep_costs: bool) -> Result<Forgotten, retro::Error> {
    Ok(forget::forget(world, &machine.config, &[key()], keep_costs, &|_| {})?)
}

fn root(machine: &Machine) -> &Path {
    &machine.config.root.value
}

fn assert_gone(machine: &Machine, when: &str) {
    assert_eq!(with_words(root(machine)), Vec::<String>::new(), "{when}");
    assert_eq!(rows_with_words(machine), Vec::<String>::new(), "{when}");
}

#[test]
fn none_of_it_is_left_and_it_does_not_come_back() {
    let machine = machine();
    assert!(!with_words(root(&machine)).is_empty() && !rows_with_words(&machine).is_empty());
    let preview = forget::preview(&machine.world, &machine.config, &[key()], false).unwrap();
    let done = forget_it(&machine, &machine.world, false).unwrap();
    assert_eq!((&preview.forgotten, preview.masked), (&done.forgotten, 1));
    assert_eq!((done.forgotten.len(), done.places.after), (1, 0), "{:?}", done.places.left);
    assert!(done.places.before.unwrap() > 3 && done.masked >= 1, "{done:?}");
    assert!(done.unreachable.iter().any(|path| path.contains("55555555")), "{:?}", done.unreachable);
    assert_gone(&machine, "at once");
    let report = machine.sync();
    assert_eq!((report.ingested, report.appended, report.forgotten), (0, 0, 1));
    assert_gone(&machine, "after a sync");
    rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    assert_gone(&machine, "after a rebuild");
    std::fs::remove_dir_all(root(&machine).join("index")).unwrap();
    let options = SyncOptions { from: Some(machine.home()), ..SyncOptions::default() };
    sync(&machine.world, &machine.config, &options, &|_| {}).unwrap();
    machine.sync();
    assert_gone(&machine, "with a new index, from another folder");
    assert_eq!(problems(&machine), Vec::<String>::new());
    assert!(!machine.store().session_keys().unwrap().contains(&key()));
}

#[test]
fn the_list_says_so_and_a_question_reads_nothing_of_it() {
    let machine = machine();
    forget_it(&machine, &machine.world, false).unwrap();
    let list = views::list(&machine.world, &machine.config, &Default::default()).unwrap();
    let listed = list.sessions.iter().find(|session| session.session_id == key().id).unwrap();
    assert!(listed.forgotten && !listed.captured);
    let searching = views::open_search(&machine.world, &machine.config, Patience::All, &|_| {}).unwrap();
    let question = views::SearchQuestion::new("quokka headlines");
    let found = searching.search(&machine.world, &machine.config, &question).unwrap();
    assert!(found.hits.iter().all(|hit| hit.session_id != key().id), "{:?}", found.hits);
}

#[test]
fn others_are_as_before() {
    let machine = machine();
    let mut before = support::answers(&machine);
    let mut without = Machine::new();
    without.world = machine.world.clone();
    forget_it(&machine, &machine.world, false).unwrap();
    machine.sync();
    let after = support::answers(&machine);
    let is_of_others = |name: &String| !name.contains("55555555") && name.contains("2222");
    before.retain(|name, _| is_of_others(name));
    assert!(!before.is_empty());
    for (name, answer) in &before {
        assert_eq!(after.get(name), Some(answer), "{name}");
    }
}

#[test]
fn costs_can_stay_and_nothing_else_does() {
    let machine = machine();
    let rows = machine.store().index().unwrap().responses_of(&key()).unwrap();
    assert!(!rows.is_empty());
    let done = forget_it(&machine, &machine.world, true).unwrap();
    assert!(done.keep_costs);
    for when in ["at once", "after a rebuild"] {
        let left = machine.store().index().unwrap().responses_of(&key()).unwrap();
        assert_eq!(left.len(), rows.len(), "{when}");
        let words = with_words(root(&machine)).into_iter().filter(|place| place.ends_with("quokka"));
        assert_eq!(words.collect::<Vec<_>>(), Vec::<String>::new(), "{when}");
        rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
    }
    assert_eq!(problems(&machine), Vec::<String>::new());
}

#[test]
fn undone_it_is_captured_again() {
    let machine = machine();
    let done = forget_it(&machine, &machine.world, false).unwrap();
    let undone = forget::undo(&machine.world, &machine.config, &done.forgotten[0].tombstone).unwrap();
    assert_eq!(undone.len(), 1);
    assert_eq!(machine.sync().ingested, 1);
    assert!(machine.store().session_keys().unwrap().contains(&key()));
}

#[test]
fn stopped_anywhere_the_next_command_finishes_it() {
    let machine = machine();
    let before = Snapshot::of(root(&machine));
    let counting = Arc::new(FailingDisk::counting());
    let world = machine.world.clone().with_disk(counting.clone() as Arc<dyn Disk>);
    forget_it(&machine, &world, false).unwrap();
    let operations = counting.operations();
    let step = if support::is_trial() { 1 } else { (operations / 12).max(1) };
    for after in (0..operations).step_by(step as usize) {
        before.restore();
        let disk = Arc::new(FailingDisk::after(after, Fails::ForEver));
        let world = machine.world.clone().with_disk(disk as Arc<dyn Disk>);
        let _ = forget_it(&machine, &world, false);
        let is_begun = !forget::standing(&machine.config).is_empty();
        forget::finish(&machine.world, &machine.config).unwrap();
        machine.sync();
        if is_begun {
            assert_gone(&machine, &format!("stopped after {after} of {operations} operations"));
        }
        assert_eq!(problems(&machine), Vec::<String>::new(), "after {after}");
    }
}
