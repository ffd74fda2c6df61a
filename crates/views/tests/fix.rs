//! `retro fix`: an error that is in the store is found, alone or in a whole output, whatever
//! paths, numbers and versions it is printed with. Over made-up logs of every agent, and over
//! the failing outputs of recorded ones where `RETRO_CORPUS` names them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

use retro_agents::AGENTS;
use retro_agents::script::Script;
use retro_engine::news::Patience;
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::{Kind, SessionKey, Timestamp};
use retro_store::{RealDisk, Store};
use retro_text::fingerprint::error_line;
use retro_views::{FixView, FoundBy, SearchQuestion, each_event, open_search};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

struct Machine {
    _dir: tempfile::TempDir,
    world: World,
    config: Config,
}

impl Machine {
    fn new() -> Machine {
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        let now = Timestamp::parse("2027-03-03T00:00:00Z").unwrap();
        let world = World::at(dir.path().join("home")).with_clock(now);
        let config = Config::for_root(dir.path().join("store"));
        Machine { _dir: dir, world, config }
    }

    fn put(&self, path: &Path, bytes: &[u8]) {
        let path = self.world.home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn sync(&self) {
        sync(&self.world, &self.config, &SyncOptions::default(), &|_| {}).unwrap();
    }

    fn store(&self) -> Store {
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }

    fn fix(&self, text: &str) -> FixView {
        let searching = open_search(&self.world, &self.config, Patience::None, &|_| {}).unwrap();
        let question = SearchQuestion { tz: jiff::tz::TimeZone::UTC, ..SearchQuestion::new("") };
        searching.fix(&self.world, &self.config, Some(text), &question).unwrap()
    }
}

const TESTS: &str = "019ca8d7-2d00-7000-8000-0000000000aa";
const OTHER: &str = "019ca8f2-a440-7000-8000-0000000000bb";

fn story() -> String {
    format!(
        "@ session {TESTS}
@ cwd /home/dev/shop
@ time 2026-03-01T10:00:00Z
> The tests of the cart fail
$ python -m pytest tests
| ==== FAILURES ====
| E   AssertionError: assert 3 == 4
| tests/test_cart.py:12: AssertionError
| E   ModuleNotFoundError: No module named 'taxrates'
| src/tax.py:3: ModuleNotFoundError
| FAILED tests/test_cart.py::test_total
| 2 failed, 40 passed in 1.20s
! 1
$ pip install taxrates
| Successfully installed taxrates-2.1.0
$ python -m pytest tests
| 42 passed in 1.10s
< Done.
"
    )
}

fn other() -> String {
    format!(
        "@ session {OTHER}
@ cwd /home/dev/web
@ time 2026-03-02T10:00:00Z
> Why does the page not build?
$ npm run build
| Error: Failed to parse extensions of the module loader in /home/dev/web/loader.js:7
! 1
< The loader is old.
"
    )
}

#[test]
fn each_error_of_an_output_is_found_alone_and_with_other_paths_and_numbers() {
    for agent in AGENTS {
        let machine = Machine::new();
        for script in [story(), other()] {
            for (path, bytes) in agent.write(&Script::parse(&script).unwrap()) {
                machine.put(&path, &bytes);
            }
        }
        machine.sync();
        for (asked, session, by) in [
            ("ModuleNotFoundError: No module named 'taxrates'", TESTS, FoundBy::Error),
            ("E   AssertionError: assert 3 == 4", TESTS, FoundBy::Error),
            (
                "Error: Failed to parse extensions of the module loader in /srv/b/loader.js:99",
                OTHER,
                FoundBy::Error,
            ),
            (
                "$ pytest\nsome chatter\nE   ModuleNotFoundError: No module named 'taxrates'\n1 failed",
                TESTS,
                FoundBy::Error,
            ),
            ("Failed to parse extensions of the module loader", OTHER, FoundBy::Line),
        ] {
            let view = machine.fix(asked);
            let first = view.fixes.first().map(|row| row.session_id.as_str());
            assert_eq!((first, view.found), (Some(session), Some(by)), "{}: {asked}", agent.name());
        }
        let view = machine.fix("ModuleNotFoundError: No module named 'taxrates'");
        assert_eq!((view.fixes[0].seen, view.fixes[0].fixed), (1, 1));
        // Another module is another error.
        let view = machine.fix("ModuleNotFoundError: No module named 'shipping'");
        assert_ne!(view.found, Some(FoundBy::Error), "{}", agent.name());
    }
}

#[test]
fn files_that_a_command_line_writes_are_found_by_name() {
    for agent in AGENTS {
        let machine = Machine::new();
        let script = format!(
            "@ session {TESTS}\n@ cwd /home/dev/shop\n@ time 2026-03-01T10:00:00Z\n> Write the note\n\
             $ echo 'one cent' > notes/rounding.md\n| \n$ sed -i s/a/b/ src/tax.rs && mv old.txt new.txt\n| \n< Done.\n"
        );
        for (path, bytes) in agent.write(&Script::parse(&script).unwrap()) {
            machine.put(&path, &bytes);
        }
        machine.sync();
        let index = machine.store().index_if_there().unwrap();
        for name in ["rounding.md", "tax.rs", "new.txt"] {
            let found = retro_views::files(index.as_ref(), name, None).unwrap();
            let written: Vec<&str> = found.touches.iter().map(|touch| touch.access).collect();
            assert!(written.contains(&"write"), "{} {name}: {written:?}", agent.name());
        }
    }
}

/// Logs of the corpus that a debug build reads in a moment.
const LOG_BYTES_MAX: u64 = 600_000;
const LOGS_MAX: usize = 40;
/// Cases at least, or the corpus is not what it is taken for.
const CASES_MIN: usize = 30;

#[test]
fn failing_outputs_of_recorded_sessions_are_found_again() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let machine = Machine::new();
    for home in ["public-codex/home", "public-claude/home"] {
        let home = corpus.join(home);
        let logs = walkdir::WalkDir::new(&home).sort_by_file_name().into_iter().filter_map(Result::ok);
        let logs = logs.filter(|log| {
            log.path().extension().is_some_and(|end| end == "jsonl")
                && log.metadata().is_ok_and(|stat| (40_000..LOG_BYTES_MAX).contains(&stat.len()))
        });
        for log in logs.take(LOGS_MAX) {
            let bytes = std::fs::read(log.path()).unwrap();
            machine.put(log.path().strip_prefix(&home).unwrap(), &bytes);
        }
    }
    machine.sync();
    let cases = cases(&machine);
    assert!(cases.len() >= CASES_MIN, "{} failing outputs", cases.len());
    let mut sums: HashMap<&str, (usize, usize)> = HashMap::new();
    for case in &cases {
        for (how, asked) in [("alone", &case.line), ("whole", &case.output), ("elsewhere", &case.moved)] {
            let view = machine.fix(asked);
            let is_known = matches!(view.found, Some(FoundBy::Error | FoundBy::Line));
            let sum = sums.entry(how).or_default();
            sum.1 += 1;
            // The error was seen in this session; the same one may be in another, too.
            let is_there = view.truncated || view.fixes.iter().any(|row| row.session_id == case.session);
            sum.0 += usize::from(is_known && is_there);
        }
    }
    for how in ["alone", "whole", "elsewhere"] {
        let (found, all) = sums[how];
        println!("{how}: {found} of {all} found");
        assert!(found * 100 >= all * 95, "{how}: {found} of {all}");
    }
}

/// A failing output.
struct Case {
    session: String,
    /// The line that says what went wrong.
    line: String,
    output: String,
    /// That line, as another machine would print it.
    moved: String,
}

/// One output for each error and session, at most three of a session.
fn cases(machine: &Machine) -> Vec<Case> {
    let store = machine.store();
    let index = store.index_if_there().unwrap().unwrap();
    let mut cases = Vec::new();
    for key in store.session_keys().unwrap() {
        let failed: HashMap<String, String> =
            index.repairs_in(&key).unwrap().into_iter().map(|row| (row.event, row.fingerprint)).collect();
        let mut seen = Vec::new();
        for (event, output) in outputs(&store, &key) {
            let Some(fingerprint) = failed.get(&event).filter(|print| !print.is_empty()) else { continue };
            if seen.len() >= 3 || seen.contains(fingerprint) {
                continue;
            }
            seen.push(fingerprint.clone());
            let line = error_line(&output).unwrap().text();
            cases.push(Case { session: key.id.clone(), moved: moved(&line), line, output });
        }
    }
    cases
}

fn outputs(store: &Store, key: &SessionKey) -> Vec<(String, String)> {
    let mut found = Vec::new();
    each_event(store, key, |event| {
        if event.kind == Kind::ToolResult
            && let Some(text) = &event.text
        {
            found.push((event.id.to_string(), text.to_string()));
        }
        Ok::<(), retro_views::Error>(())
    })
    .unwrap();
    found
}

/// A line with other folders, line numbers and versions.
fn moved(line: &str) -> String {
    let words = line.split(' ').map(|word| {
        let is_path = word.matches('/').count() >= 2 && !word.contains("://");
        match (is_path, word.parse::<u64>()) {
            (true, _) => word.replacen('/', "/srv/elsewhere/", 1),
            (false, Ok(number)) => (number + 17).to_string(),
            (false, Err(_)) => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
