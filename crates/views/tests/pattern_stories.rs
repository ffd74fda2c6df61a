//! What recurs in made-up weeks of work is found, each thing once, with what solved it; what comes
//! once, looking around and checks are not. Then it is decided about, twice, with a sink that
//! fails, with changed evidence and with files that a person changed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use retro_agents::testing::recurring::{Candidate, Recurring};
use retro_engine::patterns::{Curator, Done, QUEUE, REVIEWS, Words, catalog, flush, history, recurring};
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::Timestamp;
use retro_store::{RealDisk, Store};
use retro_views::patterns::{CandidateView, DetectQuestion, detect};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

struct Told {
    dir: tempfile::TempDir,
    world: World,
    config: Config,
    story: Recurring,
}

fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

static TOLD: LazyLock<Told> = LazyLock::new(|| {
    let dir = folder();
    let world =
        World::at(dir.path().join("home")).with_clock(Timestamp::parse("2026-06-01T00:00:00Z").unwrap());
    let config = Config::for_root(dir.path().join("store"));
    let story = Recurring::write(&world.home);
    // Files are new, and the clock of the story is not.
    let quiet = world.clone().with_clock(Timestamp::parse("2099-01-01T00:00:00Z").unwrap());
    sync(&quiet, &config, &SyncOptions::default(), &|_| {}).unwrap();
    Told { dir, world, config, story }
});

fn store(config: &Config) -> Store {
    Store::open(&config.root.value, Arc::new(RealDisk)).unwrap()
}

fn found(told: &Told) -> Vec<CandidateView> {
    detect(&told.world, &told.config, &store(&told.config), &DetectQuestion::default()).unwrap().candidates
}

#[test]
fn what_recurs_is_found_once_and_nothing_else_is() {
    let told = &*TOLD;
    assert!(told.story.made >= 100, "{} sessions", told.story.made);
    let found = found(told);
    let plain: Vec<Candidate> = found
        .iter()
        .map(|one| {
            (
                format!("{} {:?}", one.title, one.types),
                one.sessions.iter().map(|session| session.session_id.clone()).collect(),
                one.resolutions.iter().map(|known| known.text.clone()).collect(),
            )
        })
        .collect();
    let matched = told.story.judge(&plain);
    println!(
        "{} sessions, {} planted, {} found: {matched:?}",
        told.story.made,
        told.story.planted.len(),
        plain.len()
    );
    for planted in &told.story.planted {
        let of = |one: &&CandidateView| {
            one.sessions.iter().filter(|s| planted.sessions.contains(&s.session_id)).count() * 2
                >= planted.sessions.len()
        };
        if let Some(one) = found.iter().find(of) {
            assert!(one.types.iter().any(|kind| kind == planted.kind), "{} is {:?}", planted.name, one.types);
        }
    }
    assert_eq!(matched.found, told.story.planted.len(), "{}", matched.said);
    assert_eq!((matched.twice, matched.noise), (0, 0), "{}", matched.said);
    assert!(matched.solved * 10 >= matched.solvable * 9, "{}", matched.said);
    // Those of several agents first.
    let first_single = found.iter().position(|one| !one.cross_agent).unwrap_or(found.len());
    assert!(found[first_single..].iter().all(|one| !one.cross_agent));
    assert!(found.iter().all(|one| one.new && !one.evidence_refs.is_empty() && !one.why.is_empty()));
}

#[test]
fn a_second_story_in_other_words_is_found_too() {
    let dir = folder();
    let world = World::at(dir.path().join("home"));
    let config = Config::for_root(dir.path().join("store"));
    let story = Recurring::elsewhere(&world.home);
    assert!(story.made >= 100, "{} sessions", story.made);
    let quiet = world.clone().with_clock(Timestamp::parse("2099-01-01T00:00:00Z").unwrap());
    sync(&quiet, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let found = detect(&quiet, &config, &store(&config), &DetectQuestion::default()).unwrap().candidates;
    let plain: Vec<Candidate> = found
        .iter()
        .map(|one| {
            let sessions = one.sessions.iter().map(|session| session.session_id.clone()).collect();
            let solved = one.resolutions.iter().map(|known| known.text.clone()).collect();
            (format!("{} {:?}", one.title, one.types), sessions, solved)
        })
        .collect();
    let matched = story.judge(&plain);
    println!("{} sessions, {} planted, {} found: {matched:?}", story.made, story.planted.len(), plain.len());
    assert!(matched.found * 100 >= story.planted.len() * 85, "{}", matched.said);
    assert_eq!((matched.twice, matched.noise), (0, 0), "{}", matched.said);
    assert!(matched.solved * 100 >= matched.solvable * 60, "{}", matched.said);
}

/// A copy of the store, to decide in.
fn copy(told: &Told, name: &str) -> Config {
    let to = told.dir.path().join(name);
    for entry in walk(&told.config.root.value) {
        let rest = entry.strip_prefix(&told.config.root.value).unwrap();
        let place = to.join(rest);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(&entry, &place).unwrap();
    }
    Config::for_root(to)
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(walk(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

fn contents(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    walk(folder).into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn curate(told: &Told, config: &Config) -> Vec<Done> {
    let store = store(config);
    let mut curator = Curator::open(&told.world, config, &store, recurring(&store).unwrap().corpus).unwrap();
    let candidates = detect(&told.world, config, &store, &DetectQuestion::default()).unwrap().candidates;
    candidates.iter().map(|one| curator.auto(&one.candidate, one.impact.usd).unwrap()).collect()
}

#[test]
fn a_second_run_promotes_nothing_and_writes_no_file() {
    let told = &*TOLD;
    let config = copy(told, "twice");
    let first = curate(told, &config);
    assert!(first.iter().filter(|done| matches!(done, Done::Promoted(_))).count() >= 10, "{first:?}");
    let patterns = catalog(&store(&config), &config).unwrap().patterns;
    assert!(
        patterns.iter().all(|pattern| pattern.distribution_ready != pattern.resolutions.is_empty()
            || pattern.not_ready.is_some())
    );
    assert!(
        patterns
            .iter()
            .filter(|pattern| pattern.resolutions.is_empty())
            .all(|pattern| !pattern.distribution_ready)
    );
    let before = contents(&config.root.value.join("patterns"));
    let second = curate(told, &config);
    assert!(second.iter().all(|done| !matches!(done, Done::Promoted(_) | Done::Updated(_))), "{second:?}");
    assert_eq!(before, contents(&config.root.value.join("patterns")));
}

#[test]
fn decisions_hold_until_the_evidence_changes_and_can_be_undone() {
    let told = &*TOLD;
    let config = copy(told, "decided");
    let store = store(&config);
    let mut curator = Curator::open(&told.world, &config, &store, recurring(&store).unwrap().corpus).unwrap();
    let all = found(told);
    let one = &all[0].candidate;
    curator.reject(one).unwrap();
    assert!(curator.settled(one).is_some());
    assert!(matches!(curator.auto(one, None).unwrap(), Done::Rejected(_)));
    let mut more = one.clone();
    more.members[0].times += 1;
    assert!(curator.settled(&more).is_none(), "changed evidence brings it back");
    assert!(matches!(curator.auto(&more, None).unwrap(), Done::Rejected(_)), "to a person, not to the gate");
    curator.undo().unwrap();
    assert!(curator.settled(one).is_none());
    // A person approves whatever the counts, in words of their own.
    let words = Words { title: Some("Mine".to_owned()), ..Words::default() };
    let Done::Promoted(pattern) = curator.approve(one, None, &words).unwrap() else { panic!() };
    assert_eq!((pattern.title.as_str(), pattern.version.as_str()), ("Mine", "1.0.0"));
    // More evidence is a new version that keeps the person's words; the old one is kept.
    let Done::Updated(pattern) = curator.auto(&more, None).unwrap() else { panic!() };
    assert_eq!((pattern.title.as_str(), pattern.version.as_str()), ("Mine", "1.0.1"));
    assert_eq!(history(&store, &config, &pattern.id).unwrap().len(), 1);
    curator.undo().unwrap();
    curator.undo().unwrap();
    assert!(catalog(&store, &config).unwrap().patterns.is_empty());
    assert!(curator.undo().unwrap().is_none());
}

#[test]
fn files_that_a_person_changed_are_taken_as_they_are() {
    let told = &*TOLD;
    let config = copy(told, "by-hand");
    curate(told, &config);
    let store = store(&config);
    let known = catalog(&store, &config).unwrap();
    let path = |at: usize| store.catalog_path(&known.folder, &known.patterns[at].id);
    let text = std::fs::read_to_string(path(0)).unwrap().replace(&known.patterns[0].when_to_use, "I say so");
    std::fs::write(path(0), &text).unwrap();
    std::fs::remove_file(path(1)).unwrap();
    std::fs::write(path(2), format!("<<<<<<< ours\n{text}")).unwrap();
    let done = curate(told, &config);
    assert!(done.iter().all(|done| !matches!(done, Done::Promoted(_) | Done::Updated(_))), "{done:?}");
    assert_eq!(std::fs::read_to_string(path(0)).unwrap(), text);
    assert!(!path(1).exists());
    let now = catalog(&store, &config).unwrap();
    assert_eq!((now.patterns.len(), now.bad.len()), (known.patterns.len() - 2, 1));
}

#[test]
fn a_stop_after_the_file_was_written_is_made_good() {
    let told = &*TOLD;
    let config = copy(told, "stopped");
    curate(told, &config);
    let store = store(&config);
    let before = (contents(&config.root.value.join("patterns/catalog")), ids(&store));
    // As after a stop before the queue and the log were written, or between the two.
    let log = REVIEWS.path(&store);
    let queue = QUEUE.path(&store);
    std::fs::write(&log, "").unwrap();
    curate(told, &config);
    assert_eq!(before.0, contents(&config.root.value.join("patterns/catalog")));
    assert_eq!(before.1.len(), ids(&store).len(), "no decision is queued twice");
    std::fs::write(&log, "").unwrap();
    std::fs::write(&queue, "").unwrap();
    curate(told, &config);
    assert_eq!(before.1.len(), ids(&store).len());
}

fn ids(store: &Store) -> Vec<String> {
    QUEUE.read(store).unwrap().0.into_iter().map(|decision| decision.id).collect()
}

#[cfg(unix)]
#[test]
fn a_sink_that_was_down_gets_every_decision_once_and_in_order() {
    let told = &*TOLD;
    let mut config = copy(told, "sink");
    let received = told.dir.path().join("received.jsonl");
    config.curate.value.sink = vec!["false".to_owned()];
    curate(told, &config);
    let store = store(&config);
    let waiting = ids(&store);
    assert!(waiting.len() >= 10);
    let down = flush(&told.world, &config, &store).unwrap();
    assert_eq!((down.sent, down.left), (0, waiting.len()));
    assert!(down.problem.is_some());
    config.curate.value.sink = vec!["tee".to_owned(), "-a".to_owned(), received.display().to_string()];
    let up = flush(&told.world, &config, &store).unwrap();
    assert_eq!((up.sent, up.left), (waiting.len(), 0));
    assert_eq!(flush(&told.world, &config, &store).unwrap().sent, 0);
    let text = std::fs::read_to_string(&received).unwrap();
    let got: Vec<String> = text
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(got, waiting);
}
