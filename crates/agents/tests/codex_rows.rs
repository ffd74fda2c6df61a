//! Every row of Codex' mapping table, shown by a record that has it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::{THREAD, codex, log};
use home::{Source, adds_up, settled, settled_drafts};
use retro_agents::Row;
use retro_model::Kind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const FIXTURES: &str = include_str!("fixtures/codex_rows.txt");

struct Fixture {
    row: String,
    /// What the drafts of that row become, in order.
    becomes: Vec<String>,
    sources: Vec<Source>,
}

fn fixtures() -> Vec<Fixture> {
    let mut all: Vec<Fixture> = Vec::new();
    for block in FIXTURES.split("\n\n") {
        let mut lines = block.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let Some((row, becomes)) = lines.next().and_then(|head| head.rsplit_once(": ")) else { continue };
        let mut sources: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in lines.map(str::trim) {
            let (key, record) = match line.strip_prefix('@') {
                Some(line) => line.split_once(' ').unwrap(),
                None => ("m", line),
            };
            sources.entry(key.to_owned()).or_default().push(serde_json::from_str(record).unwrap());
        }
        all.push(Fixture {
            row: row.to_owned(),
            becomes: becomes.split(' ').map(str::to_owned).collect(),
            sources: sources.into_iter().map(|(key, records)| log(&key, records)).collect(),
        });
    }
    all
}

fn word(kind: Kind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// What the drafts of the fixture's row became.
fn became(fixture: &Fixture) -> Vec<String> {
    let (drafts, folded) = settled_drafts(codex(), THREAD, &fixture.sources);
    let mut became: Vec<String> = drafts
        .iter()
        .filter(|draft| draft.hint.row == fixture.row)
        .map(|draft| if draft.hint.fold_only { "folded".to_owned() } else { word(draft.event.kind) })
        .collect();
    let without_draft = folded.get(fixture.row.as_str()).copied().unwrap_or(0);
    became.extend((0..without_draft).map(|_| "folded".to_owned()));
    became
}

#[test]
fn each_fixture_becomes_what_it_says() {
    for fixture in fixtures() {
        assert_eq!(became(&fixture), fixture.becomes, "{}", fixture.row);
    }
}

#[test]
fn each_row_has_fixtures_for_all_it_may_become_and_nothing_else() {
    let fixtures = fixtures();
    for Row { record, gives, may_fold, .. } in codex().mapping() {
        let shown: BTreeSet<String> =
            fixtures.iter().filter(|fixture| fixture.row == *record).flat_map(became).collect();
        let mut allowed: BTreeSet<String> = gives.iter().map(|kind| word(*kind)).collect();
        if *may_fold {
            allowed.insert("folded".to_owned());
        }
        assert_eq!(shown, allowed, "{record}");
    }
    for fixture in &fixtures {
        assert!(codex().mapping().iter().any(|row| row.record == fixture.row), "{} is no row", fixture.row);
    }
}

#[test]
fn fixtures_leave_nothing_unaccounted_and_nothing_unknown_but_what_is_meant_so() {
    for fixture in fixtures() {
        let settled = settled(codex(), THREAD, &fixture.sources);
        assert!(adds_up(&settled.coverage), "{}: {:?}", fixture.row, settled.coverage);
        assert_eq!(settled.coverage.malformed, 0, "{}", fixture.row);
        let is_unknown = fixture.becomes.iter().any(|word| word == "unknown");
        assert_eq!(settled.coverage.unknown > 0, is_unknown, "{}", fixture.row);
    }
}
