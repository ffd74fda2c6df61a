//! Every command that decides about memories, stopped after any of its writes, with the index
//! as it is, as it was before, or of another store: what was decided holds, or nothing of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use retro_agents::AGENTS;
use retro_agents::script::Script;
use retro_engine::{Config, SyncOptions, World, memory as engine, sync};
use retro_memory::{Decision, Kind, Memory, Scope, Status};
use retro_model::Timestamp;
use retro_store::testing::{FailingDisk, Fails};
use retro_store::{Disk, RealDisk, Store};
use retro_views::memory;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Work in which a person says what always holds, and an error goes away.
fn told(id: u32, word: &str) -> String {
    let looked: String = (0..9).map(|at| format!(": src/f{at}.rs\n| x{at}\n")).collect();
    format!(
        "@ session 019ca8d7-2d00-7000-8000-{id:012}\n@ cwd /home/dev/shop\n@ branch main\n\
         @ time 2026-03-0{id}T10:00:00Z\n@ model m-large\n\
         > Make the payment client retry\n~ src/pay.rs\n- a\n+ sleep(1)\n< I retry with sleep.\n\
         > No, don't use {word} loops, use backoff instead. We always use backoff in this repo.\n\
         ~ src/pay.rs\n- sleep(1)\n+ backoff()\n< Changed.\n{looked}< Done.\n"
    )
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

fn put_back(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    copy(from, to);
}

struct Machine {
    _dir: tempfile::TempDir,
    world: World,
    root: PathBuf,
}

impl Machine {
    /// A store in which something was mined, and something else was decided.
    fn new(word: &str) -> Machine {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let now = Timestamp::parse("2027-06-01T00:00:00Z").unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let machine = Machine { root: dir.path().join("store"), world, _dir: dir };
        for (path, bytes) in AGENTS[0].write(&Script::parse(&told(1, word)).unwrap()) {
            let path = machine.world.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
        machine.sync();
        machine.sync();
        machine
    }

    fn config(&self) -> Config {
        Config::for_root(&self.root)
    }

    fn sync(&self) {
        sync(&self.world, &self.config(), &SyncOptions::default(), &|_| {}).unwrap();
    }

    fn all(&self) -> Vec<Memory> {
        let store = Store::open(&self.root, Arc::new(RealDisk)).unwrap();
        memory::all(&self.world, &self.config(), &store).unwrap()
    }

    /// What holds of every memory, by its words.
    fn decided(&self) -> BTreeMap<String, (Status, bool)> {
        let holds = |memory: Memory| (memory.text, (memory.status, memory.superseded_by.is_some()));
        self.all().into_iter().map(holds).collect()
    }
}

fn decision(id: &str, event: &str) -> Decision {
    Decision { memory_id: id.to_owned(), event: event.to_owned(), ..Decision::default() }
}

/// A command over an open store, with the memory that it is about.
type Command = fn(&World, &Config, &Store, &Memory) -> Result<(), retro_engine::Error>;

const COMMANDS: &[(&str, Command)] = &[
    ("accept", |world, config, store, memory| {
        engine::decide(world, config, store, &[decision(&memory.id, "memory_accepted")])
    }),
    ("reject", |world, config, store, memory| {
        engine::decide(world, config, store, &[decision(&memory.id, "memory_rejected")])
    }),
    ("retire", |world, config, store, memory| {
        engine::decide(world, config, store, &[decision(&memory.id, "memory_retired")])
    }),
    ("add", |world, config, store, memory| {
        let added = Memory {
            id: "own".to_owned(),
            source: retro_memory::Source::Added,
            text: "Port 8080 is for staging.".to_owned(),
            when_to_use: "ports come up".to_owned(),
            kind: Kind::UserPreference,
            scope: Scope::Global,
            status: Status::Accepted,
            created_at: Some(world.now()),
            ..memory.clone()
        };
        engine::add(world, config, store, &[added])
    }),
    ("forget", |world, config, store, memory| engine::forget(world, config, store, memory)),
];

#[test]
fn a_memory_command_stopped_after_any_write_is_done_or_not_whatever_the_index() {
    let (machine, other) = (Machine::new("sleep"), Machine::new("polling"));
    let base = machine.root.with_file_name("base");
    copy(&machine.root, &base);
    let memory = machine.all().into_iter().next().expect("something was mined");
    let before = machine.decided();
    let mut stops = 0;
    for (name, command) in COMMANDS {
        put_back(&base, &machine.root);
        let store = Store::open(&machine.root, Arc::new(RealDisk)).unwrap();
        command(&machine.world, &machine.config(), &store, &memory).unwrap();
        let after = machine.decided();
        assert_ne!(after, before, "{name} decides something");
        for works in 0.. {
            put_back(&base, &machine.root);
            let disk = Arc::new(FailingDisk::after(works, Fails::ForEver));
            let world = machine.world.clone().with_disk(Arc::clone(&disk) as Arc<dyn Disk>);
            let done = Store::open(&machine.root, Arc::clone(&disk) as Arc<dyn Disk>)
                .map_err(retro_engine::Error::from)
                .and_then(|store| command(&world, &machine.config(), &store, &memory));
            // The next process finds the index as it is, as it was before, or one of another store.
            match works % 3 {
                0 => {}
                1 => put_back(&base.join("index"), &machine.root.join("index")),
                _ => put_back(&other.root.join("index"), &machine.root.join("index")),
            }
            let asked = machine.decided();
            machine.sync();
            let synced = machine.decided();
            for (when, found) in [("asked", &asked), ("synced", &synced)] {
                let is_one = *found == after || (*found == before && done.is_err());
                assert!(
                    is_one,
                    "{name}, {works} writes, {when}: {found:?}\nbefore {before:?}\nafter {after:?}"
                );
            }
            stops += 1;
            if !disk.has_failed() {
                break;
            }
        }
    }
    assert!(stops > COMMANDS.len() * 2, "{stops}");
}
