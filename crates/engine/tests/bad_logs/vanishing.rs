//! Sources that go away or change while they are looked at: what was read is kept,
//! the rest comes the next time, and nobody else is harmed.

use retro_engine::capture::{self, Before};
use retro_engine::discover::discover;
use retro_model::{SessionKey, SourceKey};
use retro_store::{Lock, Slot, Stamps, Store};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::{Machine, raw};
use crate::{ID, holds, loggers, nth, retold, story, write};

fn lock(store: &Store) -> Lock {
    store.lock(&|| false).unwrap().unwrap()
}

/// Deleted, or made into something else, after it was found and before it was read.
#[test]
fn a_source_that_is_gone_when_it_is_to_be_read_fails_alone() {
    type Harm = fn(&Path);
    let harms: [(&str, Harm); 3] = [
        ("deleted", |path| std::fs::remove_file(path).unwrap()),
        ("a folder", |path| {
            std::fs::remove_file(path).unwrap();
            std::fs::create_dir(path).unwrap();
        }),
        ("cut", |path| {
            let bytes = std::fs::read(path).unwrap();
            std::fs::write(path, &bytes[..bytes.len() / 3]).unwrap();
        }),
    ];
    for agent in &loggers() {
        for (what, harm) in harms {
            let what = format!("{}: {what}", agent.name());
            let machine = Machine::new();
            let files = story(*agent);
            write(&machine, &files);
            machine.sync();
            let other = retold(&files, &nth(1));
            write(&machine, &other);
            let found = discover(&machine.world, &machine.config, None, &Default::default());
            let key = SessionKey::new(agent.name(), nth(1));
            let session = found.sessions.iter().find(|session| session.key == key).unwrap();
            let main = machine.home().join(&other.iter().find(|file| file.source.is_main()).unwrap().path);
            harm(&main);
            let store = machine.store();
            let held = lock(&store);
            let before =
                Before { sources: Vec::new(), stamps: &Stamps::default(), is_bare: false, is_old: false };
            let captured = capture::session(&store, session, before, &|| false).unwrap();
            drop(held);
            if main.is_file() {
                assert!(captured.failed.is_empty(), "{what}: {:?}", captured.failed);
                let slot = Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 1 };
                assert_eq!(raw(&store, &slot), std::fs::read(&main).unwrap(), "{what}");
            } else {
                assert_eq!(captured.failed.len(), 1, "{what}: {:?}", captured.failed);
                let (path, reason) = &captured.failed[0];
                assert!(*path == main && !reason.is_empty(), "{what}: {reason}");
                std::fs::remove_dir_all(&main).unwrap_or_default();
            }
            // It comes back, and all is well.
            write(&machine, &other);
            assert_eq!(machine.sync().failed, 0, "{what}");
            let slot = Slot::Session { key: key.clone(), source: SourceKey::main(), revision: 1 };
            let whole = &other.iter().find(|file| file.source.is_main()).unwrap().bytes;
            assert_eq!(&raw(&machine.store(), &slot), whole, "{what}");
            machine.verify();
        }
    }
}

/// Bytes of the first version of a log that is rewritten all the time.
const VERSION_BYTES: usize = 2 << 20;

/// A whole log in which every line names its version; each is longer than the one
/// before, so that no two look alike to who only looks at times and sizes.
fn version(number: usize) -> Vec<u8> {
    let line = format!("{{\"version\":\"{number:06}\",\"x\":\"{}\"}}\n", "x".repeat(4000));
    line.repeat(VERSION_BYTES / line.len() + number).into_bytes()
}

/// The program truncates its log and writes it anew, over and over, while it is
/// captured: every revision is the beginning of one version.
#[test]
fn a_log_that_is_rewritten_while_it_is_read_is_never_mixed() {
    for agent in &loggers() {
        let files = story(*agent);
        let machine = Machine::new().busy();
        write(&machine, &files);
        let path = machine.home().join(&files.iter().find(|file| file.source.is_main()).unwrap().path);
        std::fs::write(&path, version(0)).unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut number = 1;
                while !done.load(Ordering::Relaxed) {
                    std::fs::write(&path, version(number)).unwrap();
                    number += 1;
                }
            });
            for _ in 0..6 {
                // What changed under our eyes is left for the next time, with a reason.
                for failure in machine.sync().failures {
                    assert!(failure.reason.contains("while it was read"), "{}: {failure:?}", agent.name());
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        // Once the program is done, so are we.
        assert_eq!(machine.sync().failed, 0, "{}", agent.name());
        let store = machine.store();
        let key = SessionKey::new(agent.name(), ID);
        let revisions = store.session(&key).unwrap().unwrap().sources[&SourceKey::main()].revisions;
        for revision in 1..=revisions {
            let kept = raw(&store, &Slot::Session { key: key.clone(), source: SourceKey::main(), revision });
            let text = String::from_utf8(kept).unwrap();
            let number = text.get(12..18).and_then(|number| number.parse().ok()).unwrap_or(0);
            assert!(
                version(number).starts_with(text.as_bytes()),
                "{}: revision {revision} is mixed",
                agent.name()
            );
        }
        let last = raw(&store, &Slot::Session { key, source: SourceKey::main(), revision: revisions });
        assert!(last == std::fs::read(&path).unwrap(), "{}: not all of the last version", agent.name());
        println!("{}: {revisions} revisions", agent.name());
        machine.verify();
    }
}

/// The program appends, a piece of a line at a time, while it is captured: one
/// revision, and in the end all of it.
#[test]
fn a_log_that_grows_while_it_is_read_is_one_revision() {
    for agent in &loggers() {
        let files = story(*agent);
        let machine = Machine::new();
        let main = files.iter().find(|file| file.source.is_main()).unwrap();
        write(&machine, &files);
        let path = machine.home().join(&main.path);
        std::fs::write(&path, b"").unwrap();
        std::thread::scope(|scope| {
            let program = scope.spawn(|| {
                let mut log = std::fs::File::options().append(true).open(&path).unwrap();
                main.bytes.chunks(97).for_each(|piece| log.write_all(piece).unwrap());
            });
            while !program.is_finished() {
                assert_eq!(machine.sync().failed, 0, "{}", agent.name());
            }
        });
        assert_eq!(machine.sync().failed, 0, "{}", agent.name());
        holds(&machine, &SessionKey::new(agent.name(), ID), &files, agent.name());
        let session = machine.store().session(&SessionKey::new(agent.name(), ID)).unwrap().unwrap();
        assert_eq!(session.sources[&SourceKey::main()].revisions, 1, "{}", agent.name());
        machine.verify();
    }
}
