//! What patterns keep of sessions goes with the sessions, and an approved pattern keeps the raw
//! bytes of its evidence to the last.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use retro_agents::testing::recurring::Recurring;
use retro_engine::forget::{forget, preview};
use retro_engine::patterns::{Curator, QUEUE, REVIEWS, Words, catalog, recurring};
use retro_engine::retain::{Sweep, retain};
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::{SessionKey, Timestamp};
use retro_patterns::Pattern;
use retro_store::{RealDisk, Store};
use retro_views::patterns::{DetectQuestion, detect};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

struct Told {
    _dir: tempfile::TempDir,
    world: World,
    config: Config,
}

/// Weeks of work in which things recur, all of them approved; each but the first few twice, so
/// that there are earlier versions.
fn told() -> Told {
    let dir = tempfile::tempdir().unwrap();
    let world =
        World::at(dir.path().join("home")).with_clock(Timestamp::parse("2099-01-01T00:00:00Z").unwrap());
    let config = Config::for_root(dir.path().join("store"));
    Recurring::write(&world.home);
    sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let told = Told { _dir: dir, world, config };
    let store = told.store();
    let mut curator =
        Curator::open(&told.world, &told.config, &store, recurring(&store).unwrap().corpus).unwrap();
    let found = detect(&told.world, &told.config, &store, &DetectQuestion::default()).unwrap().candidates;
    for (at, one) in found.iter().enumerate() {
        curator.approve(&one.candidate, one.impact.usd, &Words::default()).unwrap();
        if at > 2 {
            let words = Words { when_to_use: Some("it comes up".to_owned()), ..Words::default() };
            curator.approve(&one.candidate, one.impact.usd, &words).unwrap();
        }
    }
    told
}

impl Told {
    fn store(&self) -> Store {
        Store::open(&self.config.root.value, Arc::new(RealDisk)).unwrap()
    }

    fn patterns(&self) -> Vec<Pattern> {
        catalog(&self.store(), &self.config).unwrap().patterns
    }

    /// Every text below the folder of patterns.
    fn texts(&self) -> String {
        let mut texts = String::new();
        let mut folders = vec![self.config.root.value.join("patterns")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                match entry.file_type().unwrap().is_dir() {
                    true => folders.push(entry.path()),
                    false => texts.push_str(&std::fs::read_to_string(entry.path()).unwrap()),
                }
            }
        }
        texts
    }
}

fn sessions(pattern: &Pattern) -> Vec<SessionKey> {
    let sessions = pattern.provenance.sessions.iter();
    sessions.map(|one| SessionKey::new(&one.agent, &one.session_id)).collect()
}

#[test]
fn patterns_let_go_of_sessions_that_are_forgotten() {
    let told = told();
    let pattern = told.patterns().into_iter().max_by_key(|pattern| sessions(pattern).len()).unwrap();
    let all = sessions(&pattern);
    assert!(all.len() >= 2, "{all:?}");
    let (first, last) = all.split_at(all.len() - 1);
    let preview = preview(&told.world, &told.config, first, false).unwrap();
    assert!(preview.patterns.weakened.contains(&pattern.id), "{:?}", preview.patterns);
    let done = forget(&told.world, &told.config, first, false, &|_| {}).unwrap();
    assert_eq!(done.patterns, preview.patterns);
    assert_eq!(done.places.left, Vec::<String>::new());
    let left = told.patterns().into_iter().find(|one| one.id == pattern.id).expect("it rests on others");
    assert!(sessions(&left).iter().all(|key| last.contains(key)), "{:?}", sessions(&left));
    let texts = told.texts();
    let kept: BTreeSet<&String> = left.provenance.sessions.iter().flat_map(|one| &one.snapshot).collect();
    for one in
        pattern.provenance.sessions.iter().filter(|one| first.iter().any(|key| key.id == one.session_id))
    {
        assert!(!texts.contains(&one.session_id), "{}", one.session_id);
        for words in one.snapshot.iter().filter(|words| words.len() > 30 && !kept.contains(words)) {
            assert!(!left.text().contains(words.as_str()), "{words}");
        }
    }
    let rest: Vec<SessionKey> = sessions(&left);
    let done = forget(&told.world, &told.config, &rest, false, &|_| {}).unwrap();
    assert!(done.patterns.removed.contains(&pattern.id), "{:?}", done.patterns);
    assert!(told.patterns().iter().all(|one| one.id != pattern.id));
    let store = told.store();
    for journal in [&REVIEWS, &QUEUE] {
        assert!(journal.read(&store).unwrap().0.iter().all(|decision| decision.key != pattern.id));
    }
    assert!(!told.texts().contains(&format!("\"{}\"", pattern.title)), "{}", pattern.title);
    assert!(
        !Path::new(&told.config.root.value).join(format!("patterns/catalog/{}.json", pattern.id)).exists()
    );
}

#[test]
fn evidence_of_an_approved_pattern_goes_last() {
    let mut told = told();
    let limits = &mut told.config.retention.value;
    (limits.raw_soft_cap_bytes, limits.raw_hard_cap_bytes) = (0, u64::MAX);
    let evidence: BTreeSet<SessionKey> = told.patterns().iter().flat_map(sessions).collect();
    let planned = retain(&told.world, &told.config, Sweep::DryRun, &|_| {}).unwrap();
    assert!(!evidence.is_empty() && !planned.evicted.is_empty(), "{planned:?}");
    for one in &planned.evicted {
        assert!(!evidence.contains(&SessionKey::new(&one.agent, &one.session_id)), "{one:?}");
    }
    assert!(planned.needs.iter().any(|need| need.contains("pattern")), "{:?}", planned.needs);
}
