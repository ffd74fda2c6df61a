//! Law: a store that gave up raw bytes gives the same answers about sessions as one that
//! never did, whatever else happens to it. What needs the bytes says that they are gone.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use proptest::prelude::*;
use retro::engine::evict::{Evicted, evict};
use retro::engine::rebuild::rebuild;
use retro::engine::retain::{Sweep, retain};
use retro::model::SessionKey;
use retro::store::{DIGESTS, REMAINS};
use retro::usage::{Billing, By, Prices, Query};
use retro::views;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use support::{Machine, first_difference, machine::OTHER, machine::STORY, problems, scene};

/// Two stores of the same logs: one that gives up raw bytes, and one that never does.
struct Pair {
    gives: Machine,
    keeps: Machine,
}

impl Pair {
    fn of(gives: Machine) -> Pair {
        let mut keeps = Machine::new();
        keeps.world = gives.world.clone();
        let pair = Pair { gives, keeps };
        pair.sync();
        pair
    }

    fn sync(&self) {
        self.gives.sync();
        self.keeps.sync();
    }

    fn evict(&self, keys: &[SessionKey]) -> Evicted {
        evict(&self.gives.world, &self.gives.config, keys, &|_| {}).unwrap()
    }

    /// How the answers of the two differ, if they do.
    fn difference(&self) -> Option<String> {
        first_difference(&kept(&self.gives), &kept(&self.keeps))
    }
}

/// Every answer that does not need raw bytes.
fn kept(machine: &Machine) -> BTreeMap<String, String> {
    let (world, config, store) = (&machine.world, &machine.config, machine.store());
    let index = store.index().unwrap();
    let mut answers = BTreeMap::new();
    let mut put = |name: String, value: serde_json::Value| {
        let text = value.as_str().map(str::to_owned);
        answers.insert(name, text.unwrap_or_else(|| serde_json::to_string_pretty(&value).unwrap()));
    };
    let options = views::ListOptions { children: true, ..Default::default() };
    let mut list = views::list(world, config, &options).unwrap();
    // That it was evicted is what is said of it, and all that differs.
    list.sessions.iter_mut().for_each(|session| session.evicted = false);
    put("list".into(), serde_json::to_value(&list).unwrap());
    put(
        "report".into(),
        serde_json::to_value(views::report(world, config, &store, &options).unwrap()).unwrap(),
    );
    let outcomes = views::outcomes(world, config, &store, &options, true).unwrap();
    put("outcome".into(), serde_json::to_value(outcomes).unwrap());
    let memories = views::memory::all(world, config, &store).unwrap();
    let memories: Vec<_> = memories.iter().map(views::memory::view).collect();
    put("memory".into(), serde_json::to_value(memories).unwrap());
    for by in [By::Daily, By::Session, By::Model, By::Project] {
        let prices = Prices::embedded().unwrap();
        let ledgers = retro::engine::ask::Ledgers::of(&index, &prices);
        let query = Query { by, ..Query::default() };
        put(
            format!("usage {by:?}"),
            serde_json::to_value(views::usage(&ledgers, Billing::Plan, query).unwrap()).unwrap(),
        );
    }
    for key in store.session_keys().unwrap() {
        let readings = views::readings(world, config, &store, &key).unwrap();
        put(format!("signal {key}"), serde_json::to_value(readings).unwrap());
        let mut digest: serde_json::Value = store.object(&DIGESTS, &key).unwrap().unwrap_or_default();
        digest.as_object_mut().map(|digest| digest.remove("check"));
        put(format!("digest {key}"), digest);
        let rows = (
            index.responses_of(&key).unwrap(),
            index.turns_of(&key).unwrap(),
            index.openers_of(&key).unwrap(),
            index.copies_of(&key).unwrap(),
        );
        put(format!("rows {key}"), format!("{rows:#?}").into());
        let calls = (index.touches_in(&key).unwrap(), index.repairs_in(&key).unwrap());
        put(format!("calls {key}"), format!("{calls:#?}").into());
        for touch in &calls.0 {
            let files = views::files(Some(&index), &touch.path, None).unwrap();
            put(format!("files {}", touch.path), serde_json::to_value(files).unwrap());
        }
    }
    put("fix".into(), format!("{:#?}", index.last_repairs(1_000).unwrap()).into());
    answers
}

fn keys(machine: &Machine) -> Vec<SessionKey> {
    machine.store().session_keys().unwrap()
}

#[test]
fn everything_is_given_up_and_answers_stay_through_rebuilds_and_lost_indexes() {
    let pair = Pair::of(scene::empty());
    let all = keys(&pair.gives);
    let evicted = pair.evict(&all);
    assert_eq!((evicted.sessions.len(), evicted.left), (all.len(), vec![]));
    let store = pair.gives.store();
    assert_eq!(store.raw_keys().unwrap(), []);
    assert_eq!(pair.difference(), None, "at once");
    let report = pair.gives.sync();
    assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "nothing is captured again");
    assert_eq!(pair.difference(), None, "after a sync");
    let report = rebuild(&pair.gives.world, &pair.gives.config, None, &|_| {}).unwrap();
    assert_eq!((report.failed, &*report.failures), (0, &[][..]));
    assert_eq!(pair.difference(), None, "after a rebuild");
    std::fs::remove_dir_all(store.root().join("index")).unwrap();
    let report = pair.gives.sync();
    assert_eq!((report.ingested, report.appended, report.failed), (0, 0, 0), "remains have the stamps");
    assert_eq!(pair.difference(), None, "with a new index");
    assert_eq!(problems(&pair.gives), Vec::<String>::new());
}

#[test]
fn what_needs_the_bytes_says_when_they_were_given_up() {
    let pair = Pair::of(scene::empty());
    let key = keys(&pair.gives).remove(0);
    pair.evict(std::slice::from_ref(&key));
    let agent = retro::agents::by_name(&key.agent).unwrap();
    let error = retro::engine::events::all(&pair.gives.store(), agent, &key).unwrap_err().to_string();
    assert!(error.contains("were given up on 20") && error.contains("retro digest"), "{error}");
}

#[test]
fn a_tree_goes_as_a_whole_and_a_session_that_is_not_there_is_named() {
    let pair = Pair::of(scene::empty());
    let index = pair.gives.store().index().unwrap();
    let root = keys(&pair.gives).into_iter().find(|key| !index.children_of(key).unwrap().is_empty()).unwrap();
    let child = index.children_of(&root).unwrap().remove(0).key();
    let evicted = pair.evict(&[child.clone(), SessionKey::new("claude", "nobody")]);
    assert!(evicted.sessions.contains(&root) && evicted.sessions.contains(&child), "{evicted:?}");
    assert_eq!(evicted.left.len(), 1);
    assert_eq!(pair.difference(), None);
}

#[test]
fn one_that_grows_afterwards_is_captured_again_from_its_start() {
    let pair = Pair::of(scene::empty());
    let all = keys(&pair.gives);
    pair.evict(&all);
    let log = log_of(&pair.gives, "2222.jsonl");
    grow(&log, 1);
    pair.sync();
    assert_eq!(pair.difference(), None);
    let key = all.iter().find(|key| key.id.ends_with("2222")).unwrap();
    let store = pair.gives.store();
    assert_eq!(store.session(key).unwrap().unwrap().evicted_at, None);
    assert!(store.object::<serde_json::Value>(&REMAINS, key).unwrap().is_none());
    assert!(store.raw_keys().unwrap().contains(key));
    assert_eq!(problems(&pair.gives), Vec::<String>::new());
}

fn log_of(machine: &Machine, ending: &str) -> PathBuf {
    let is_it = |path: &PathBuf| path.to_string_lossy().ends_with(ending);
    machine.logs().into_iter().find(is_it).unwrap()
}

/// Says the last thing that was said again.
fn grow(log: &Path, number: usize) {
    let bytes = std::fs::read(log).unwrap();
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let is_said = |line: &&&[u8]| line.windows(6).any(|word| word == b"\"user\"");
    let Some(last) = lines.iter().rev().find(is_said) else { return };
    let again = String::from_utf8_lossy(last).replace("\"uuid\":\"", &format!("\"uuid\":\"again{number}-"));
    std::fs::write(log, [&bytes[..], again.as_bytes()].concat()).unwrap();
}

/// Something that happens to a store.
#[derive(Debug, Clone, Copy)]
enum Step {
    Sync,
    Evict(usize),
    Retain(u64, u64),
    Rebuild,
    RebuildStage(usize),
    LoseIndex,
    OlderSchema,
    Grow(usize),
    Tell(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => Just(Step::Sync),
        3 => (0..8usize).prop_map(Step::Evict),
        3 => (0..110u64, 0..60u64).prop_map(|(soft, more)| Step::Retain(soft, soft + more)),
        1 => Just(Step::Rebuild),
        1 => (0..5usize).prop_map(Step::RebuildStage),
        1 => Just(Step::LoseIndex),
        1 => Just(Step::OlderSchema),
        2 => (0..8usize).prop_map(Step::Grow),
        1 => (0..3usize).prop_map(Step::Tell),
    ]
}

/// Sweeps with caps that are so many percent of what raw bytes take now. Every session that
/// goes has its digest, and usage ends below the caps, or it is said why not.
fn sweep(machine: &Machine, soft_percent: u64, hard_percent: u64) -> Result<(), TestCaseError> {
    let mut config = machine.config.clone();
    let sweep = |config: &_, how| retain(&machine.world, config, how, &|_| {}).unwrap();
    let before = sweep(&config, Sweep::DryRun).usage_before;
    let limits = &mut config.retention.value;
    limits.raw_soft_cap_bytes = before * soft_percent / 100;
    limits.raw_hard_cap_bytes = before * hard_percent / 100;
    let (soft, hard) = (limits.raw_soft_cap_bytes, limits.raw_hard_cap_bytes);
    let done = sweep(&config, Sweep::ByPerson);
    let store = machine.store();
    for one in &done.evicted {
        let key = SessionKey::new(&one.agent, &one.session_id);
        prop_assert!(store.object::<serde_json::Value>(&DIGESTS, &key).unwrap().is_some(), "{}", key);
        prop_assert!(store.session(&key).unwrap().unwrap().evicted_at.is_some());
    }
    prop_assert_eq!(&done.data_loss, &[]);
    prop_assert!(done.final_usage <= soft || !done.needs.is_empty(), "{:?}", done);
    // Without an index nothing goes until a sync has made it again.
    let is_unready = done.evicted.is_empty() && !done.needs.is_empty();
    prop_assert!(
        done.final_usage <= hard || store.raw_keys().unwrap().is_empty() || is_unready,
        "{:?}",
        done
    );
    Ok(())
}

/// Stages that have something to make again.
const AGAIN: [&str; 5] = ["ledger", "turns", "calls", "digest", "mine"];

fn history(steps: &[Step]) -> Result<(), TestCaseError> {
    let machine = Machine::new();
    machine.tell("claude", STORY);
    machine.tell("codex", &STORY.replace("11111111", "33333333"));
    machine.tell("claude", OTHER);
    let pair = Pair::of(machine);
    let (world, config) = (&pair.gives.world, &pair.gives.config);
    let index = config.root.value.join("index");
    for (number, step) in steps.iter().enumerate() {
        match *step {
            Step::Sync => pair.sync(),
            Step::Evict(at) => {
                let all = keys(&pair.gives);
                pair.evict(&[all[at % all.len()].clone()]);
            }
            Step::Retain(soft, hard) => sweep(&pair.gives, soft, hard)?,
            Step::Rebuild => drop(rebuild(world, config, None, &|_| {}).unwrap()),
            Step::RebuildStage(at) => {
                let stage = retro::engine::stages::by_name(AGAIN[at]);
                drop(rebuild(world, config, stage, &|_| {}).unwrap());
            }
            Step::LoseIndex => drop(std::fs::remove_dir_all(&index)),
            Step::OlderSchema => {
                let path = index.join("retro.sqlite");
                let mut bytes = std::fs::read(&path).unwrap_or_default();
                // Where SQLite keeps the number that its user gave the tables.
                if let Some(number) = bytes.get_mut(60..64) {
                    number.copy_from_slice(&1u32.to_be_bytes());
                    std::fs::write(&path, &bytes).unwrap();
                }
            }
            Step::Grow(at) => {
                let logs: Vec<PathBuf> = pair.gives.logs().into_iter().collect();
                grow(&logs[at % logs.len()], number);
            }
            Step::Tell(at) => {
                let id = format!("4444444{at}");
                pair.gives.tell(["claude", "codex", "grok"][at], &STORY.replace("11111111", &id));
            }
        }
    }
    pair.sync();
    prop_assert_eq!(pair.difference(), None);
    prop_assert_eq!(problems(&pair.gives), Vec::<String>::new());
    Ok(())
}

#[test]
fn a_digest_that_was_made_again_is_seen_by_a_sweep() {
    history(&[Step::RebuildStage(3), Step::Grow(0), Step::Retain(0, 0)]).unwrap();
}

#[test]
fn a_lost_index_is_no_reason_to_give_up_what_is_not_known() {
    history(&[Step::Evict(1), Step::LoseIndex, Step::Retain(0, 0)]).unwrap();
    history(&[Step::LoseIndex, Step::Sync, Step::Retain(0, 0)]).unwrap();
}

/// How many histories: RETRO_HISTORIES says, or a few.
fn cases() -> u32 {
    let said = std::env::var("RETRO_HISTORIES").ok().and_then(|said| said.parse().ok());
    said.unwrap_or(if support::is_trial() { 500 } else { 24 })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_store_that_gave_up_bytes_answers_as_one_that_never_did(steps in prop::collection::vec(step(), 1..10)) {
        history(&steps)?;
    }
}
