//! The store under faults: a machine with a rich past, every command that writes to
//! its store, what the store answers, and how it is put back for the next try.
//!
//! The sources are only read, so they stay as they are between two tries; only the
//! store is laid down again from memory. That is what makes thousands of tries quick.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::print_stdout)]

pub mod commands;
#[path = "../../../engine/tests/support/mod.rs"]
pub mod machine;
pub mod scene;
pub mod snapshot;
pub mod trial;

use retro::engine::ask::Ledgers;
use retro::store::{Index, Store};
use retro::usage::{Billing, By, Prices, Query};
use retro::views;
use std::collections::BTreeMap;

pub use commands::{COMMANDS, Command};
pub use machine::Machine;
pub use snapshot::Snapshot;
pub use trial::{IndexFate, Trial, none};

/// Whether everything is tried (`cargo xtask trial`) or only some of it.
pub fn is_trial() -> bool {
    std::env::var_os("RETRO_TRIAL").is_some()
}

/// The line by which `cargo xtask trial` knows how a trial went.
pub fn tell(trial: &str, points: usize, failures: &[String]) {
    println!("trial {trial}: {points} points, {} failures", failures.len());
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {points} points failed:\n{shown}", failures.len());
}

/// Everything the store of a machine answers: what it holds, and what is shown of it.
pub fn answers(machine: &Machine) -> BTreeMap<String, String> {
    let mut answers = machine.answers();
    let store = machine.store();
    let options = views::ListOptions { children: true, ..Default::default() };
    let list = views::list(&machine.world, &machine.config, &options).unwrap();
    answers.insert("list".to_owned(), serde_json::to_string_pretty(&list).unwrap());
    for key in store.session_keys().unwrap() {
        let shown = views::show(&machine.config, &store, &key).unwrap();
        let mut view = serde_json::to_value(&shown.view).unwrap();
        // Which caches there are is no content: what is missing is computed.
        view.as_object_mut().unwrap().remove("artifacts").unwrap();
        answers.insert(format!("show {key}"), serde_json::to_string_pretty(&view).unwrap());
    }
    answers.insert("usage".to_owned(), usage(&store.index().unwrap()));
    let memories = views::memory::all(&machine.world, &machine.config, &store).unwrap();
    let memories: Vec<_> = memories.iter().map(views::memory::view).collect();
    answers.insert("memories".to_owned(), serde_json::to_string_pretty(&memories).unwrap());
    patterns(machine, &store, &mut answers);
    answers
}

/// What recurs, what was decided, and what was written down. The order of what waits is that
/// of the decisions.
fn patterns(machine: &Machine, store: &Store, answers: &mut BTreeMap<String, String>) {
    let found = views::patterns::detect(&machine.world, &machine.config, store, &Default::default()).unwrap();
    answers.insert("candidates".to_owned(), serde_json::to_string_pretty(&found).unwrap());
    let catalog = views::patterns::catalog(store, &machine.config).unwrap();
    for pattern in &catalog.patterns {
        let history = views::patterns::pattern_history(store, &machine.config, &pattern.id).unwrap();
        answers.insert(format!("pattern {}", pattern.id), serde_json::to_string_pretty(&history).unwrap());
    }
    answers.insert(
        "decisions".to_owned(),
        serde_json::to_string_pretty(&views::patterns::decisions(store).unwrap()).unwrap(),
    );
}

fn usage(index: &Index) -> String {
    let mut text = String::new();
    for by in [By::Daily, By::Session, By::Model] {
        let query = Query { by, ..Query::default() };
        let view =
            views::usage(&Ledgers::of(index, &Prices::embedded().unwrap()), Billing::Plan, query).unwrap();
        text.push_str(&serde_json::to_string_pretty(&view).unwrap());
    }
    text
}

/// What `verify --deep` finds; nothing if there is no store.
pub fn problems(machine: &Machine) -> Vec<String> {
    let root = &machine.config.root.value;
    let store = match Store::open(root, std::sync::Arc::new(retro::store::RealDisk)) {
        Ok(store) => store,
        Err(error) if error.is_absent() => return Vec::new(),
        Err(error) => return vec![error.to_string()],
    };
    match retro::engine::verify::verify(&store, true, &mut |_| {}) {
        Ok(report) => report.problems.iter().map(ToString::to_string).collect(),
        Err(error) => vec![error.to_string()],
    }
}

/// How a store differs from what is expected, in one line; nothing if it does not.
pub fn difference(machine: &Machine, expected: &BTreeMap<String, String>) -> Option<String> {
    first_difference(&answers(machine), expected)
}

/// The first answer that is not the expected one.
pub fn first_difference(
    got: &BTreeMap<String, String>,
    expected: &BTreeMap<String, String>,
) -> Option<String> {
    let mut names: Vec<&String> = expected.keys().chain(got.keys()).collect();
    names.sort();
    names.dedup();
    let name = names.into_iter().find(|name| expected.get(*name) != got.get(*name))?;
    let (none, empty) = (String::from("nothing"), String::new());
    let (a, b) = (expected.get(name).unwrap_or(&none), got.get(name).unwrap_or(&none));
    let lines = a.lines().zip(b.lines().chain(std::iter::repeat(empty.as_str())));
    let line = lines.into_iter().find(|(a, b)| a != b);
    Some(format!("{name}: expected {:.300?}, found {:.300?}", line.map(|l| l.0), line.map(|l| l.1)))
}
