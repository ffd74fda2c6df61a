//! A model of the user's own in the place of the built-in table, in a program that can run it
//! and in one that cannot.
#![allow(clippy::unwrap_used)]

#[cfg(feature = "embedding-runtime")]
#[path = "../../search/src/embed/gguf/runtime/tests/random.rs"]
mod random;
mod support;

use retro::engine::ask::Patience;
use retro::engine::config::Embedding;
use retro::engine::{rebuild, stages};
use retro::search::Mode;
use retro::views::{self, SearchQuestion, SearchView, embed_status, open_search};
use support::Machine;
use support::machine::{OTHER, STORY};

/// A machine with two sessions, synced, and a configuration that names a file as the model.
fn machine() -> Machine {
    let mut machine = Machine::new();
    machine.tell("claude", STORY);
    machine.tell("codex", OTHER);
    machine.sync();
    let model = machine.path().join("model.gguf");
    machine.config.embedding.value =
        Embedding { model: Some(model), threads: Some(1), ..Embedding::default() };
    machine
}

fn search(machine: &Machine, mode: Mode) -> Result<SearchView, views::Error> {
    let question = SearchQuestion { mode, ..SearchQuestion::new("tax test") };
    let searching = open_search(&machine.world, &machine.config, Patience::None, &|_| {})?;
    searching.search(&machine.world, &machine.config, &question)
}

fn make_vectors(machine: &Machine) -> Result<(), retro::engine::Error> {
    rebuild::rebuild(&machine.world, &machine.config, stages::by_name("vectors"), &|_| {}).map(drop)
}

/// No such file, or nothing that could run it.
#[test]
fn a_model_that_cannot_be_run_leaves_the_words() {
    let machine = machine();
    machine.tell("claude", &STORY.replace("11111111", "44444444").replace("tax test", "tax report"));
    let report = machine.sync();
    let note = report.notes.iter().find(|note| note.starts_with("no vectors were made"));
    assert!(note.is_some_and(|note| note.contains("\nhint: ")), "{:?}", report.notes);
    assert_eq!((report.failed, report.ingested), (0, 1));

    let view = search(&machine, Mode::Hybrid).unwrap();
    assert_eq!(view.hits.len(), search(&machine, Mode::Words).unwrap().hits.len());
    assert!(!view.hits.is_empty() && view.warnings.len() == 1, "{:?}", view.warnings);
    assert!(search(&machine, Mode::Meaning).is_err_and(|error| error.is_of_model()));
    assert!(embed_status(&machine.config).is_err_and(|error| error.is_of_model()));
    assert!(make_vectors(&machine).is_err(), "whoever asks for vectors hears why there are none");
}

#[cfg(feature = "embedding-runtime")]
mod with_runtime {
    use super::*;

    /// Writes a model under the configured name.
    fn write(machine: &Machine, seed: u64) {
        std::fs::write(machine.path().join("model.gguf"), random::model(seed)).unwrap();
    }

    #[test]
    fn vectors_are_of_the_model_that_is_configured() {
        let mut machine = machine();
        let built_in = embed_status(&Machine::new().config).unwrap();
        write(&machine, 1);
        make_vectors(&machine).unwrap();
        let first = embed_status(&machine.config).unwrap();
        assert_eq!((first.dimensions, first.missing), (random::WIDTH, 0));
        assert!(first.model.starts_with("model-") && first.vectors > 0, "{first:?}");
        assert!(!search(&machine, Mode::Meaning).unwrap().hits.is_empty());
        assert!(search(&machine, Mode::Hybrid).unwrap().warnings.is_empty());

        // Other weights under the same name and of the same size: the next sync notices.
        write(&machine, 2);
        assert_eq!(embed_status(&machine.config).unwrap().vectors, 0);
        assert!(machine.sync().notes.is_empty());
        let second = embed_status(&machine.config).unwrap();
        assert_ne!(second.model, first.model);
        assert_eq!((second.vectors, second.missing), (first.vectors, 0));
        assert!(!search(&machine, Mode::Meaning).unwrap().hits.is_empty());

        // Back to the built-in table, which a sync notices too.
        machine.config.embedding.value = Embedding::default();
        machine.sync();
        let back = embed_status(&machine.config).unwrap();
        assert_eq!((back.model, back.vectors, back.missing), (built_in.model, first.vectors, 0));
        assert_eq!(search(&machine, Mode::Meaning).unwrap().hits[0].agent, "claude");
    }
}
