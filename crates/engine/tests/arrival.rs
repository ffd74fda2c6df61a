//! Arrival does not show: capture in any pieces and any order gives equal content.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod support;

use proptest::prelude::*;
use std::path::PathBuf;
use support::{Machine, OTHER, STORY};

/// A file of the stories.
struct Told {
    path: PathBuf,
    bytes: Vec<u8>,
    grows: bool,
}

fn files() -> Vec<Told> {
    let machine = Machine::new();
    let mut paths = Vec::new();
    for (agent, story) in stories() {
        paths.extend(machine.tell(agent, &story));
    }
    let logs = machine.logs();
    let told = |path: PathBuf| Told {
        bytes: std::fs::read(&path).unwrap(),
        grows: logs.contains(&path),
        path: path.strip_prefix(machine.home()).unwrap().to_owned(),
    };
    paths.into_iter().map(told).collect()
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

fn in_one_go(files: &[Told]) -> Machine {
    let machine = Machine::new();
    for file in files {
        machine.write(&file.path, &file.bytes);
    }
    machine.sync();
    machine
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_and_order_of_arrival_do_not_show(
        order in Just((0..files().len()).collect::<Vec<_>>()).prop_shuffle(),
        cuts in proptest::collection::vec((0usize..64, 0.0f64..1.0), 0..6),
        forget_index in any::<bool>(),
    ) {
        let files = files();
        let expected = in_one_go(&files).answers();
        let machine = Machine::new();
        let mut ends: Vec<Vec<usize>> = vec![Vec::new(); files.len()];
        for (which, share) in cuts {
            let at = which % files.len();
            if files[at].grows {
                ends[at].push((files[at].bytes.len() as f64 * share) as usize);
            }
        }
        for (step, at) in order.into_iter().enumerate() {
            let Told { path, bytes, .. } = &files[at];
            ends[at].sort_unstable();
            for end in &ends[at] {
                machine.write(path, &bytes[..*end]);
                machine.sync();
                if forget_index {
                    std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
                }
            }
            machine.write(path, bytes);
            if step % 3 == 0 {
                machine.sync();
            }
        }
        machine.sync();
        let got = machine.answers();
        let extra: Vec<_> = got.keys().filter(|name| !expected.contains_key(*name)).collect();
        let missing: Vec<_> = expected.keys().filter(|name| !got.contains_key(*name)).collect();
        prop_assert!(extra.is_empty() && missing.is_empty(), "extra {:?}, missing {:?}", extra, missing);
        for (name, answer) in &expected {
            prop_assert_eq!(&got[name], answer, "{}", name);
        }
        machine.verify();
    }
}
