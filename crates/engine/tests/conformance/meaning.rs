//! The same story means the same, whoever logged it, and harm stays where it was done.

use retro_model::{SessionKey, SourceKey};
use retro_store::Slot;
use std::path::Path;

use crate::support::{self, Machine, raw};
use crate::{keys, machine};

#[test]
fn every_session_is_captured_once_and_comes_back() {
    for agent in support::agents() {
        let (machine, files) = machine(*agent);
        let first = machine.sync();
        assert_eq!((first.failed, first.gaps), (0, 0), "{}: {:?}", agent.name(), first.failures);
        assert!(first.ingested >= 2, "{}", agent.name());
        let second = machine.sync();
        assert_eq!((second.ingested, second.appended), (0, 0), "{}", agent.name());
        let store = machine.store();
        let mut places = 0;
        for key in keys(&machine) {
            for (source, entry) in store.session(&key).unwrap().unwrap().sources {
                let slot = Slot::Session { key: key.clone(), source, revision: 1 };
                assert_eq!(entry.revisions, 1, "{slot}");
                for place in entry.places.iter().filter(|place| Path::new(place).is_file()) {
                    assert_eq!(raw(&store, &slot), std::fs::read(place).unwrap(), "{slot}");
                    places += 1;
                }
            }
        }
        assert!(places <= files.len() && places >= 2, "{}: {places} of {}", agent.name(), files.len());
        machine.verify();
    }
}

#[test]
fn the_story_means_the_same_for_every_agent() {
    use retro_model::{Kind, Origin, Outcome};
    for agent in support::agents() {
        let (machine, _) = machine(*agent);
        machine.sync();
        let key = SessionKey::new(agent.name(), "11111111-1111-4111-8111-111111111111");
        let events = machine.events(&key);
        let said = |kind: Kind, origin: Origin| -> Vec<String> {
            let fits = |event: &&retro_model::Event| {
                event.kind == kind && event.origin == origin && event.thread.is_main()
            };
            events
                .iter()
                .filter(fits)
                .filter_map(|event| Some(event.text.as_ref()?.trim().to_owned()))
                .collect()
        };
        assert_eq!(
            said(Kind::User, Origin::User),
            ["Fix the tax test", "Thanks, now add docs"],
            "{}",
            agent.name()
        );
        let answers = said(Kind::Assistant, Origin::Model);
        assert!(
            answers.ends_with(&["Done.".to_owned(), "Added.".to_owned()]),
            "{}: {answers:?}",
            agent.name()
        );
        let commands: Vec<_> = events
            .iter()
            .filter_map(|event| event.tool.as_ref()?.command.as_ref())
            .map(|c| c.to_string())
            .collect();
        assert!(commands.iter().any(|c| c.contains("cargo test")), "{}: {commands:?}", agent.name());
        let failed = |event: &&retro_model::Event| {
            event.result.as_ref().is_some_and(|result| result.outcome == Outcome::Failed)
        };
        let failures: Vec<_> = events.iter().filter(failed).collect();
        assert_eq!(failures.len(), 1, "{}", agent.name());
        assert_eq!(failures[0].result.as_ref().unwrap().exit_code, Some(101), "{}", agent.name());
        let edited: Vec<_> = events
            .iter()
            .flat_map(|event| {
                event.result.iter().flat_map(|r| &r.edits).chain(event.tool.iter().flat_map(|t| &t.edits))
            })
            .map(|edit| edit.path.to_string())
            .collect();
        assert!(edited.iter().any(|path| path.ends_with("src/tax.rs")), "{}: {edited:?}", agent.name());
        assert!(events.iter().any(|event| event.kind == Kind::Usage), "{}", agent.name());
    }
}

#[test]
fn a_rewritten_main_log_keeps_every_old_event() {
    for agent in support::agents() {
        let (machine, files) = machine(*agent);
        machine.sync();
        let key = SessionKey::new(agent.name(), "11111111-1111-4111-8111-111111111111");
        let entry = machine.store().session(&key).unwrap().unwrap().sources[&SourceKey::main()].clone();
        let main = files.iter().find(|path| entry.places.contains(&path.display().to_string())).unwrap();
        let before: Vec<_> = machine.events(&key).iter().map(|event| event.id.to_string()).collect();
        let bytes = std::fs::read(main).unwrap();
        let shorter: Vec<u8> = bytes.split_inclusive(|b| *b == b'\n').skip(2).flatten().copied().collect();
        std::fs::write(main, &shorter).unwrap();
        machine.sync();
        let slot = |revision| Slot::Session { key: key.clone(), source: SourceKey::main(), revision };
        assert_eq!(raw(&machine.store(), &slot(1)), bytes, "{}", agent.name());
        assert_eq!(raw(&machine.store(), &slot(2)), shorter, "{}", agent.name());
        let after: Vec<_> = machine.events(&key).iter().map(|event| event.id.to_string()).collect();
        let lost: Vec<_> = before.iter().filter(|id| !after.contains(id)).collect();
        assert!(lost.is_empty(), "{}: {lost:?}", agent.name());
        machine.verify();
    }
}

#[test]
fn flipped_and_cut_bytes_harm_only_their_session() {
    for agent in support::agents() {
        let (clean, files) = machine(*agent);
        clean.sync();
        let other = SessionKey::new(agent.name(), "22222222-2222-4222-8222-222222222222");
        let expected = clean.events(&other);
        let broken = Machine::new();
        for (at, path) in files.iter().enumerate() {
            let mut bytes = std::fs::read(path).unwrap();
            let below = path.strip_prefix(clean.home()).unwrap();
            if path.display().to_string().contains("11111111-1111") && !bytes.is_empty() {
                let flip = bytes.len() * (at + 1) / (files.len() + 1);
                bytes[flip] ^= 0x11;
                bytes.truncate(bytes.len() - bytes.len() / 7);
            }
            broken.write(below, &bytes);
        }
        assert_eq!(broken.sync().failed, 0, "{}", agent.name());
        assert_eq!(broken.events(&other), expected, "{}", agent.name());
        broken.verify();
    }
}
