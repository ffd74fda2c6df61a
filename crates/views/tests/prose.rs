//! A question is a text: quotation marks, dashes and colons of a sentence change no first session
//! in a real index.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

use proptest::prelude::*;
use proptest::test_runner::{Config as Cases, TestRunner};
use retro_agents::{by_name, script::Script};
use retro_engine::news::Patience;
use retro_engine::{Config, SyncOptions, World, sync};
use retro_model::Timestamp;
use retro_views::{SearchQuestion, Searching, open_search};

/// What the sessions are about: a few words each, some of which others have too.
const ABOUT: &[&str] = &[
    "the lock of the orders table is held by a migration",
    "total of the cart is off by one cent with a discount",
    "flaky test of the file watcher on slow disks",
    "model of the invoice gets a new field for the tax",
    "deploy job waits for a lease before it starts",
    "CartTotal rounds twice in src/cart.rs",
    "the parser drops the last line of tmp/a.rs",
    "release v1.2 needs a changelog and a tag",
    "search box is slow with many rows",
    "is the cache of prices warm after a restart",
    "colour of the button in the dark theme",
    "before the upload a file is scanned for viruses",
];

/// Words of sentences, with the signs that operators are made of.
const SIGNED: &str = "(-{0,2}|\"|\\()(lock|total|cart|slow|deploy|src/cart\\.rs|with|CartTotal|file|is|v1\\.2|tax)(\"|:|\\)|\\?)?\
    |(file|model|is|before)(:|: )(lock|tmp/a\\.rs|slow)|-[a-z]{2,5}|\"(held|off by|dark theme)\"|the|why";

/// The sentence without the signs.
fn without_signs(text: &str) -> String {
    let text = text.replace('"', "");
    let words = text.split_whitespace().map(|word| {
        let word = word.trim_start_matches('-');
        let keyed = ["file:", "model:", "is:", "before:"].into_iter().find_map(|key| word.strip_prefix(key));
        match keyed {
            Some(value) => format!("{} {value}", word.trim_end_matches(value).trim_end_matches(':')),
            None => word.to_owned(),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn first(searching: &Searching, world: &World, config: &Config, text: &str) -> (Option<String>, bool) {
    let question = SearchQuestion { tz: jiff::tz::TimeZone::UTC, ..SearchQuestion::new(text) };
    let view = searching.search(world, config, &question).unwrap();
    (
        view.hits.first().map(|hit| hit.session_id.clone()),
        view.operators.is_empty() && view.dropped.is_empty(),
    )
}

#[test]
fn signs_of_a_sentence_change_no_first_session() {
    let dir = tempfile::tempdir().unwrap();
    let world =
        World::at(dir.path().join("home")).with_clock(Timestamp::parse("2026-03-20T00:00:00Z").unwrap());
    let config = Config::for_root(dir.path().join("store"));
    for (number, about) in ABOUT.iter().enumerate() {
        let story = format!(
            "@ session {number:08}-6666-4666-8666-666666666666\n@ cwd /home/dev/p{number}\n\
             @ time 2026-03-{:02}T10:00:00Z\n> Why: {about}?\n$ grep -rn {number} src\n| none\n\
             < It was about {about}.\n",
            number + 1
        );
        let agent = ["claude", "codex", "grok"][number % 3];
        for (path, bytes) in by_name(agent).unwrap().write(&Script::parse(&story).unwrap()) {
            let path = world.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }
    }
    sync(&world, &config, &SyncOptions::default(), &|_| {}).unwrap();
    let searching = open_search(&world, &config, Patience::None, &|_| {}).unwrap();
    let sentences = proptest::collection::vec(SIGNED, 2..9).prop_map(|words| words.join(" "));
    let (found, compared) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    TestRunner::new(Cases { cases: 300, failure_persistence: None, ..Cases::default() })
        .run(&sentences, |text| {
            let (signed, is_prose) = first(&searching, &world, &config, &text);
            if is_prose {
                let (plain, _) = first(&searching, &world, &config, &without_signs(&text));
                compared.set(compared.get() + 1);
                found.set(found.get() + usize::from(plain.is_some()));
                prop_assert_eq!(signed, plain, "{:?} and {:?}", &text, without_signs(&text));
            }
            Ok(())
        })
        .unwrap();
    println!("{} sentences compared, {} of them found a session", compared.get(), found.get());
    assert!(found.get() * 2 > compared.get() && compared.get() > 100, "too few found anything");
}
