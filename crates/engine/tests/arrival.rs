//! Arrival does not show: capture in any pieces and any order gives equal content.

mod support;

use proptest::prelude::*;
use std::path::PathBuf;
use support::{Machine, OTHER, STORY};

/// The files of the stories, with their bytes.
fn logs() -> Vec<(PathBuf, Vec<u8>)> {
    let machine = Machine::new();
    let mut files = Vec::new();
    for (agent, story) in stories() {
        for path in machine.tell(agent, &story) {
            let bytes = std::fs::read(&path).unwrap();
            files.push((path.strip_prefix(machine.home()).unwrap().to_owned(), bytes));
        }
    }
    files
}

/// The stories for every agent, each under an id of its own.
fn stories() -> Vec<(&'static str, String)> {
    let mut stories = Vec::new();
    for agent in support::agents() {
        stories.push((agent.name(), STORY.to_owned()));
        stories.push((agent.name(), OTHER.to_owned()));
    }
    stories
}

fn in_one_go(files: &[(PathBuf, Vec<u8>)]) -> Machine {
    let machine = Machine::new();
    for (path, bytes) in files {
        machine.write(path, bytes);
    }
    machine.sync();
    machine
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_order_of_arrival_do_not_show(
        order in Just((0..logs().len()).collect::<Vec<_>>()).prop_shuffle(),
        cuts in proptest::collection::vec((0usize..64, 0.0f64..1.0), 0..6),
        forget_index in any::<bool>(),
    ) {
        let files = logs();
        let expected = in_one_go(&files).answers();
        let machine = Machine::new();
        let mut ends: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
        for (which, share) in cuts {
            let at = which % files.len();
            // Only logs grow; documents and state are written whole.
            if files[at].0.extension().is_some_and(|ext| ext == "jsonl") {
                ends[at].push((files[at].1.len() as f64 * share) as usize);
            }
        }
        for at in order {
            let (path, bytes) = &files[at];
            ends[at].sort_unstable();
            for end in &ends[at] {
                machine.write(path, &bytes[..*end]);
                machine.sync();
                if forget_index {
                    std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
                }
            }
            machine.write(path, bytes);
            machine.sync();
        }
        let got = machine.answers();
        prop_assert_eq!(got.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, answer) in &expected {
            prop_assert_eq!(&got[name], answer, "{}", name);
        }
        machine.verify();
    }
}
