//! Others at the same store, and clocks that lie: several programs at once, a lock
//! that a dead one left, a clock that was set back.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use retro::engine::{SyncOptions, sync};
use retro::model::Timestamp;
use std::time::{Duration, SystemTime};
use support::{COMMANDS, Machine, answers, difference, problems, scene};

#[test]
fn several_programs_at_once_give_what_one_gives() {
    let alone = scene::grown();
    alone.sync();
    let sessions = alone.store().session_keys().unwrap().len();
    for writers in [2, 8] {
        let machine = scene::grown();
        std::thread::scope(|scope| {
            for number in 0..writers {
                // Syncs, with a question, a hook and a repack among them.
                let name = ["sync of grown logs", "usage", "sync --hook", "sync of growing logs"][number % 4];
                let command = COMMANDS.iter().find(|command| command.name == name).unwrap();
                let machine = &machine;
                scope.spawn(move || (command.run)(machine, &machine.world).unwrap());
            }
        });
        machine.sync();
        let expected = answers(&machine);
        assert_eq!(machine.store().session_keys().unwrap().len(), sessions);
        assert_eq!(problems(&machine), Vec::<String>::new(), "{writers} writers");
        retro::engine::rebuild::rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
        machine.sync();
        assert_eq!(difference(&machine, &expected), None, "{writers} writers");
    }
}

#[test]
fn a_lock_that_a_dead_program_left_holds_nobody_up() {
    let machine = scene::grown();
    std::fs::write(machine.config.root.value.join("lock"), "99999\n").unwrap();
    machine.sync();
    assert_eq!(problems(&machine), Vec::<String>::new());
}

#[test]
fn a_clock_set_back_makes_nothing_twice() {
    let machine = scene::grown();
    machine.sync();
    let expected = answers(&machine);
    let yesterday = Timestamp::from_millis(machine.world.now().as_millis() - 4 * 86_400_000).unwrap();
    let world = machine.world.clone().with_clock(yesterday);
    let report = sync(&world, &machine.config, &SyncOptions::default(), &|_| {}).unwrap();
    assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0));
    assert_eq!(difference(&machine, &expected), None);

    // A log that grew while the clock stood a day back has an older time than before.
    let log =
        machine.logs().into_iter().find(|path| path.starts_with(machine.home().join(".codex"))).unwrap();
    let bytes = std::fs::read(&log).unwrap();
    let last = bytes.split_inclusive(|byte| *byte == b'\n').next_back().unwrap();
    std::fs::write(&log, [&bytes, last].concat()).unwrap();
    let file = std::fs::File::options().write(true).open(&log).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(86_400)).unwrap();
    let report = sync(&world, &machine.config, &SyncOptions::default(), &|_| {}).unwrap();
    assert_eq!((report.ingested, report.appended), (0, 1));
    machine.sync();
    assert_eq!(problems(&machine), Vec::<String>::new());
    revisions_are_one(&machine, &log);
}

fn revisions_are_one(machine: &Machine, log: &std::path::Path) {
    let store = machine.store();
    let place = log.display().to_string();
    for key in store.session_keys().unwrap() {
        for (source, entry) in store.session(&key).unwrap().unwrap().sources {
            assert!(!entry.places.contains(&place) || entry.revisions == 1, "{key}#{source}");
        }
    }
}
