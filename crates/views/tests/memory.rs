//! What is mined, kept, decided and shown, over real stores.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use retro_agents::script::Script;
use retro_agents::{AGENTS, Agent};
use retro_engine::memory::{DECISIONS, EXPOSURES};
use retro_engine::{Config, SyncOptions, World, memory as engine, sync};
use retro_memory::{Decision, Exposure, Kind, Memory, Scope, Status};
use retro_model::Timestamp;
use retro_store::{RealDisk, Store};
use retro_views::memory::{self, MemoryQuestion};
use std::path::PathBuf;
use std::sync::Arc;

/// A session that is long enough to count as work, around what is told.
fn session(id: u32, repo: &str, day: u32, told: &str) -> String {
    let looked: String = (0..9).map(|at| format!(": src/f{at}.rs\n| x{at}\n")).collect();
    format!(
        "@ session 019ca8d7-2d00-7000-8000-{id:012}\n@ cwd /home/dev/{repo}\n@ branch main\n\
         @ time 2026-03-{day:02}T10:00:00Z\n@ model m-large\n{told}{looked}< Done.\n"
    )
}

const FAILS: &str = "> The totals are wrong, have a look
$ cargo build -p shop
| error[E0432]: unresolved import `rust_decimal`
! 101
$ cargo add rust_decimal -p shop
| Adding rust_decimal
$ cargo build -p shop
| Finished
";

const CORRECTED: &str = "> Make the payment client retry
~ src/pay.rs
- a
+ sleep(1)
< I retry with sleep.
> No, don't use sleep loops, use backoff instead. We always use backoff in this repo.
~ src/pay.rs
- sleep(1)
+ backoff()
< Changed.
";

fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

struct Machine {
    _dir: tempfile::TempDir,
    world: World,
    config: Config,
}

impl Machine {
    fn new() -> Machine {
        let dir = folder();
        let now = Timestamp::parse("2027-06-01T00:00:00Z").unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let config = Config::for_root(dir.path().join("store"));
        Machine { _dir: dir, world, config }
    }

    fn tell(&self, agent: &dyn Agent, script: &str) {
        let files: Vec<(PathBuf, Vec<u8>)> = agent.write(&Script::parse(script).unwrap());
        for (path, bytes) in files {
            let path = self.world.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }

    fn sync(&self) -> Store {
        sync(&self.world, &self.config, &SyncOptions::default(), &|_| {}).unwrap();
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }

    fn all(&self, store: &Store) -> Vec<Memory> {
        memory::all(&self.world, &self.config, store).unwrap()
    }

    fn of(&self, store: &Store, method: &str) -> Memory {
        let mut found = self.all(store).into_iter().filter(|memory| memory.method == method);
        let one = found.next().unwrap_or_else(|| panic!("nothing by {method}"));
        assert_eq!(found.next(), None, "{method}");
        one
    }

    fn shown(&self, store: &Store, query: &str, cwd: &str) -> Vec<String> {
        let question = MemoryQuestion {
            query: query.to_owned(),
            cwd: Some(cwd.to_owned()),
            limit: 5,
            unasked: true,
            ..MemoryQuestion::default()
        };
        let (fits, _) = memory::fitting(&self.world, &self.config, store, &question).unwrap();
        fits.into_iter().map(|fit| fit.memory.text).collect()
    }

    fn decide(&self, store: &Store, id: &str, event: &str) {
        let decision = Decision { memory_id: id.to_owned(), event: event.to_owned(), ..Decision::default() };
        engine::decide(&self.world, &self.config, store, &[decision]).unwrap();
    }
}

#[test]
fn what_was_learned_in_one_clone_is_shown_in_another_of_the_same_remote() {
    let machine = Machine::new();
    let clones = folder();
    let clones_path = clones.path().canonicalize().unwrap();
    let clone = |name: &str, remote: &str| {
        let folder = clones_path.join(name);
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        std::fs::create_dir_all(folder.join("src")).unwrap();
        let config = format!("[remote \"origin\"]\n\turl = https://someone@example.com/{remote}.git\n");
        std::fs::write(folder.join(".git/config"), config).unwrap();
        std::fs::write(folder.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let (here, there, other) = (clone("a", "shop"), clone("b", "shop"), clone("c", "notes"));
    let told = session(1, "shop", 1, FAILS).replace("/home/dev/shop", &format!("{here}/src"));
    machine.tell(AGENTS[0], &told);
    let store = machine.sync();
    let memory = machine.of(&store, "error_fix");
    assert_eq!(memory.repository.root.as_ref(), Some(&here));
    assert_eq!(memory.repository.remote.as_deref(), Some("https://example.com/shop"));
    let shown = |cwd: &str| machine.shown(&store, "build fails: unresolved import `rust_decimal`", cwd).len();
    assert_eq!((shown(&here), shown(&there), shown(&other)), (1, 1, 0));
}

#[test]
fn a_failure_and_what_mended_it_are_learned_from_every_agent() {
    for agent in AGENTS {
        let machine = Machine::new();
        machine.tell(*agent, &session(1, "shop", 1, FAILS));
        let store = machine.sync();
        let memory = machine.of(&store, "error_fix");
        assert_eq!(
            (memory.kind, memory.scope, memory.status),
            (Kind::FailureTrigger, Scope::Repo, Status::Candidate)
        );
        for part in [
            "`cargo build -p shop` failed",
            "unresolved import `rust_decimal`",
            "cargo add rust_decimal -p shop",
        ] {
            assert!(memory.text.contains(part), "{}: {}", agent.name(), memory.text);
        }
        let key = &memory.origins[0];
        assert_eq!(key.agent, agent.name());
        assert!(
            memory
                .evidence_refs
                .iter()
                .all(|event| event.starts_with(&format!("{}/{}#", key.agent, key.session_id)))
        );
    }
}

#[test]
fn a_correction_is_learned_in_the_users_own_words_from_every_agent() {
    for agent in AGENTS {
        let machine = Machine::new();
        machine.tell(*agent, &session(1, "shop", 1, CORRECTED));
        let store = machine.sync();
        let memory = machine.of(&store, "user_rules");
        assert_eq!(memory.kind, Kind::RepoConvention, "{}", agent.name());
        assert!(
            memory.text.starts_with("The user said: \"don't use sleep loops, use backoff instead."),
            "{}",
            memory.text
        );
    }
}

#[test]
fn a_memory_is_shown_where_it_fits_and_nowhere_else() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    machine.tell(AGENTS[0], &session(2, "shop", 2, CORRECTED));
    let store = machine.sync();
    let fix = "the build fails: unresolved import `rust_decimal`";
    assert_eq!(machine.shown(&store, fix, "/home/dev/shop").len(), 1, "the same folder");
    assert_eq!(
        machine.shown(&store, fix, "/home/dev/shop/crates/x").len(),
        0,
        "no repository is known there"
    );
    assert_eq!(machine.shown(&store, fix, "/home/dev/shopping").len(), 0, "another repository");
    assert_eq!(machine.shown(&store, "rename the logo file", "/home/dev/shop").len(), 0);
    assert_eq!(machine.shown(&store, "should I use sleep or backoff here?", "/home/dev/shop").len(), 1);
}

#[test]
fn decisions_hold_and_survive_a_new_index() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let query = "unresolved import `rust_decimal` again";
    let id = machine.of(&store, "error_fix").id;
    for (event, status, shown) in [
        ("memory_rejected", Status::Rejected, 0),
        ("memory_restored", Status::Candidate, 1),
        ("memory_retired", Status::Retired, 0),
        ("memory_accepted", Status::Accepted, 1),
        ("memory_quarantined", Status::Quarantined, 0),
        ("memory_accepted", Status::Accepted, 1),
    ] {
        machine.decide(&store, &id, event);
        assert_eq!(machine.of(&store, "error_fix").status, status);
        assert_eq!(machine.shown(&store, query, "/home/dev/shop").len(), shown, "{event}");
    }
    let before = machine.all(&store);
    std::fs::remove_dir_all(store.root().join("index")).unwrap();
    assert_eq!(machine.all(&store), before, "from the files alone");
    let store = machine.sync();
    assert_eq!(machine.all(&store), before, "from a new index");
}

#[test]
fn the_order_of_arrival_does_not_show() {
    let told = [session(1, "shop", 1, FAILS), session(2, "shop", 2, CORRECTED), session(3, "shop", 3, FAILS)];
    let memories = |order: &[usize]| {
        let machine = Machine::new();
        let mut store = None;
        for at in order {
            machine.tell(AGENTS[0], &told[*at]);
            store = Some(machine.sync());
        }
        machine.all(&store.unwrap())
    };
    let whole = memories(&[0, 1, 2]);
    assert_eq!(whole.len(), 2, "the same failure twice is one memory");
    assert_eq!(whole[0].origins.len(), 2);
    for order in [[2, 1, 0], [1, 2, 0], [2, 0, 1]] {
        assert_eq!(memories(&order), whole, "{order:?}");
    }
}

#[test]
fn a_newer_rule_takes_the_place_of_an_older_one() {
    let machine = Machine::new();
    let other = CORRECTED.replace(
        "don't use sleep loops, use backoff instead. We always use backoff",
        "don't use backoff, use tower instead. We always use tower",
    );
    machine.tell(AGENTS[0], &session(1, "shop", 1, CORRECTED));
    machine.tell(AGENTS[0], &session(2, "shop", 2, &other));
    let store = machine.sync();
    let rules: Vec<Memory> =
        machine.all(&store).into_iter().filter(|memory| memory.method == "user_rules").collect();
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].superseded_by.as_ref(), Some(&rules[1].id));
    let shown = machine.shown(&store, "which one, backoff or tower?", "/home/dev/shop");
    assert_eq!(shown.len(), 1);
    assert!(shown[0].contains("use tower instead"), "{shown:?}");
}

#[test]
fn a_rule_said_in_two_repositories_is_the_persons() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, CORRECTED));
    machine.tell(AGENTS[0], &session(2, "billing", 2, CORRECTED));
    let store = machine.sync();
    let rule = machine.of(&store, "user_rules");
    assert_eq!((rule.scope, rule.kind), (Scope::User, Kind::UserPreference));
    assert_eq!(machine.shown(&store, "sleep or backoff?", "/home/dev/third").len(), 1);
}

#[test]
fn what_helped_is_rewarded_once_and_comes_first() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let id = machine.of(&store, "error_fix").id;
    let later = "019ca8d7-2d00-7000-8000-000000000009";
    let exposure = Exposure {
        shown_at: Timestamp::parse("2026-03-09T10:00:00Z"),
        session_id: Some(later.to_owned()),
        cwd: None,
        memory_ids: vec![id.clone()],
    };
    let lock = store.lock(&|| false).unwrap().unwrap();
    EXPOSURES.append(&lock, &store, &[exposure]).unwrap();
    drop(lock);
    machine.tell(AGENTS[0], &session(9, "shop", 9, FAILS));
    let store = machine.sync();
    machine.sync();
    let memory = memory::find(&machine.world, &machine.config, &store, &id).unwrap();
    assert_eq!((memory.utility.shown, memory.utility.successes, memory.utility.failures), (1, 1, 0));
    assert!(memory.utility.q_value > 0.5);
}

#[test]
fn what_is_forgotten_is_in_no_file_and_does_not_come_back() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let memory = machine.of(&store, "error_fix");
    engine::forget(&machine.world, &machine.config, &store, &memory).unwrap();
    assert_eq!(machine.all(&store).iter().filter(|memory| memory.method == "error_fix").count(), 0);
    engine::reindex(&machine.world, &machine.config, &store).unwrap();
    std::fs::remove_dir_all(store.root().join("index")).unwrap();
    let store = machine.sync();
    assert_eq!(machine.all(&store).iter().filter(|memory| memory.method == "error_fix").count(), 0);
}

#[test]
fn a_torn_line_costs_nothing_else() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let id = machine.of(&store, "error_fix").id;
    machine.decide(&store, &id, "memory_accepted");
    let path = store.root().join("memories/events.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"{\"memory_id\": \"to");
    std::fs::write(&path, bytes).unwrap();
    let doctor = memory::doctor(&machine.world, &machine.config, &store).unwrap();
    assert_eq!(doctor.unreadable.len(), 1, "{doctor:?}");
    machine.decide(&store, &id, "memory_retired");
    assert_eq!(machine.of(&store, "error_fix").status, Status::Retired);
}

/// The database of the index with what is beside it.
fn database(store: &Store) -> Vec<(PathBuf, Vec<u8>)> {
    let files = std::fs::read_dir(store.root().join("index")).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

#[test]
fn a_decision_counts_though_the_index_is_of_before() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let query = "unresolved import `rust_decimal` again";
    let id = machine.of(&store, "error_fix").id;
    let before = database(&store);
    machine.decide(&store, &id, "memory_rejected");
    let after = database(&store);
    drop(store);
    after.iter().for_each(|(path, _)| std::fs::remove_file(path).unwrap());
    before.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).unwrap());
    let store = Store::open(&machine.config.root.value, Arc::new(RealDisk)).unwrap();
    assert_eq!(machine.shown(&store, query, "/home/dev/shop").len(), 0, "before any sync");
    let store = machine.sync();
    assert_eq!(machine.of(&store, "error_fix").status, Status::Rejected);
    assert!(memory::doctor(&machine.world, &machine.config, &store).unwrap().index_is_current);
}

/// The files of a store that hold some words, but for what a session said itself.
fn holding(store: &Store, words: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![store.root().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if holds(&entry, words) {
                found.push(entry.strip_prefix(store.root()).unwrap().display().to_string());
            }
        }
    }
    found
}

/// Whether a file has these words, unpacked if it is packed.
fn holds(path: &std::path::Path, words: &str) -> bool {
    let bytes = std::fs::read(path).unwrap();
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    let unpacked = is_packed.then(|| zstd::stream::decode_all(&bytes[..]).ok()).flatten();
    unpacked.unwrap_or(bytes).windows(words.len()).any(|part| part == words.as_bytes())
}

#[test]
fn what_a_person_wrote_is_in_no_file_after_it_was_forgotten() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let note = "---\nwhen_to_use: parcels\n---\nThe qqbeta note says something.\n";
    std::fs::write(store.notes_folder().unwrap().join("note.md"), note).unwrap();
    engine::reindex(&machine.world, &machine.config, &store).unwrap();
    let found = |words: &str| {
        let all = machine.all(&store);
        all.into_iter().find(|memory| memory.text.contains(words)).unwrap()
    };
    let added = Memory {
        id: "the-qqdelta-table".to_owned(),
        source: retro_memory::Source::Added,
        text: "The qqdelta table is old.".to_owned(),
        created_at: Some(machine.world.now()),
        ..found("qqbeta")
    };
    engine::add(&machine.world, &machine.config, &store, &[added]).unwrap();
    let edited = Decision {
        memory_id: "the-qqdelta-table".to_owned(),
        event: "memory_edited".to_owned(),
        text: Some("The qqepsilon table is old.".to_owned()),
        ..Decision::default()
    };
    engine::decide(&machine.world, &machine.config, &store, &[edited]).unwrap();
    let lock = store.lock(&|| false).unwrap().unwrap();
    let shown = Exposure { memory_ids: vec!["the-qqdelta-table".to_owned()], ..Exposure::default() };
    EXPOSURES.append(&lock, &store, &[shown]).unwrap();
    drop(lock);
    for words in ["qqbeta", "qqepsilon"] {
        assert!(!holding(&store, words).is_empty());
        engine::forget(&machine.world, &machine.config, &store, &found(words)).unwrap();
    }
    for words in ["qqbeta", "qqdelta", "qqepsilon"] {
        assert_eq!(holding(&store, words), Vec::<String>::new(), "{words}");
    }
}

#[test]
fn forgetting_that_was_stopped_is_finished_by_the_next_sync() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let memory = machine.of(&store, "error_fix");
    let mined = || {
        let all = store.all_mined().unwrap().into_iter();
        all.filter(|(_, _, bytes)| String::from_utf8_lossy(bytes).contains("It passed after this")).count()
    };
    assert!(mined() > 0);
    // The first line is all that a stop has left.
    let forgotten = Decision {
        memory_id: memory.id.clone(),
        event: "memory_forgotten".to_owned(),
        words_hash: Some(retro_memory::words_hash(&memory.text)),
        ..Decision::default()
    };
    let lock = store.lock(&|| false).unwrap().unwrap();
    DECISIONS.append(&lock, &store, &[forgotten]).unwrap();
    drop(lock);
    assert_eq!(machine.shown(&store, "unresolved import `rust_decimal` again", "/home/dev/shop").len(), 0);
    machine.sync();
    assert_eq!(mined(), 0);
}

#[test]
fn what_a_clock_that_was_ahead_has_dated_is_shown_at_once() {
    let machine = Machine::new();
    machine.tell(AGENTS[0], &session(1, "shop", 1, FAILS));
    let store = machine.sync();
    let ahead = machine.world.clone().with_clock(Timestamp::parse("2028-06-01T00:00:00Z").unwrap());
    let added = Memory {
        id: "ports".to_owned(),
        source: retro_memory::Source::Added,
        text: "Port 8080 is for staging deployments.".to_owned(),
        when_to_use: "staging deployments need a port".to_owned(),
        scope: Scope::Global,
        status: Status::Accepted,
        created_at: Some(ahead.now()),
        ..machine.of(&store, "error_fix")
    };
    engine::add(&ahead, &machine.config, &store, &[added]).unwrap();
    let shown = machine.shown(&store, "which port do staging deployments need", "/home/dev/shop");
    assert!(shown.iter().any(|text| text.contains("8080")), "{shown:?}");
}
