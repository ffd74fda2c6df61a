//! Memory over made-up months of work. Each session sees only what was mined before it; what
//! should have been shown is known from the story, so recall and wrong shows are counted
//! against the truth.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use retro_agents::testing::months::Months;
use retro_engine::{Config, SyncOptions, World, sync};
use retro_memory::{WEIGHTS, Weights};
use retro_model::Timestamp;
use retro_store::{RealDisk, Store};
use retro_views::memory::{self, Told};
use std::sync::Arc;

fn folder() -> tempfile::TempDir {
    let memory = std::path::Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

#[test]
fn what_was_learned_is_shown_when_it_fits_and_hardly_ever_when_it_does_not() {
    let dir = folder();
    let world =
        World::at(dir.path().join("home")).with_clock(Timestamp::parse("2027-01-01T00:00:00Z").unwrap());
    let config = Config::for_root(dir.path().join("store"));
    let months = Months::write(&world.home);
    assert!(months.made >= 200, "{} sessions", months.made);
    sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let store = Store::open(&config.root.value, Arc::new(RealDisk)).unwrap();
    let memories = memory::all(&world, &config, &store).unwrap();
    let told = Told::read(&world, &config, &store, None, &mut |_, _| {}).unwrap();
    let judged = |weights: &Weights| {
        let view = told.replay(weights);
        (view.replay.prompts, months.judge(|session| view.texts_shown(&memories, session)))
    };
    let (prompts, found) = judged(&WEIGHTS);
    println!("{} sessions, {prompts} prompts: {found:?}", months.made);
    assert!(found.found * 100 >= found.wanted * 60, "{found:?}");
    assert!(found.wrong * 100 <= prompts * 2, "{found:?}");
    // Without the floor everything of the repository is shown: the figures can fail.
    let (_, floorless) = judged(&Weights {
        shown_cosine: f64::NEG_INFINITY,
        shown_stems: 0,
        shown_coverage: 0.0,
        shown_spoken_of: 0.0,
        shown_same: 0.0,
        ..WEIGHTS.clone()
    });
    assert!(floorless.wrong * 100 > prompts * 2, "{floorless:?}");
}
