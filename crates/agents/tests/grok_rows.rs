//! Every row of Grok's mapping table, shown by a record that has it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod grok_log;
mod home;

use grok_log::{grok, source};
use home::{Source, adds_up, settled, settled_drafts};
use retro_agents::Row;
use retro_model::Kind;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const FIXTURES: &str = include_str!("fixtures/grok_rows.txt");

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
        let mut records: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in lines {
            let (key, record) = match line.split_once('@') {
                Some((key, record)) if !key.contains('{') => (key, record),
                _ => ("m", line),
            };
            records.entry(key.to_owned()).or_default().push(serde_json::from_str(record).unwrap());
        }
        all.push(Fixture {
            row: row.to_owned(),
            becomes: becomes.split(' ').map(str::to_owned).collect(),
            sources: records.into_iter().map(|(key, records)| source(&key, records)).collect(),
        });
    }
    all
}

fn word(kind: Kind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// What the drafts of the fixture's row became.
fn became(fixture: &Fixture) -> Vec<String> {
    let (drafts, folded) = settled_drafts(grok(), "s1", &fixture.sources);
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
    for Row { record, gives, may_fold, .. } in grok().mapping() {
        let of_row = fixtures.iter().filter(|fixture| fixture.row == *record);
        let shown: BTreeSet<String> = of_row.flat_map(became).collect();
        let mut allowed: BTreeSet<String> = gives.iter().map(|kind| word(*kind)).collect();
        if *may_fold {
            allowed.insert("folded".to_owned());
        }
        assert_eq!(shown, allowed, "{record}");
    }
    for fixture in &fixtures {
        assert!(grok().mapping().iter().any(|row| row.record == fixture.row), "{} is no row", fixture.row);
    }
}

#[test]
fn no_fixture_gives_what_its_rows_do_not_say() {
    let rows: BTreeMap<&str, &Row> = grok().mapping().iter().map(|row| (row.record, row)).collect();
    for fixture in fixtures() {
        let (drafts, folded) = settled_drafts(grok(), "s1", &fixture.sources);
        for draft in &drafts {
            let row = rows.get(draft.hint.row).unwrap_or_else(|| panic!("{} is no row", draft.hint.row));
            match draft.hint.fold_only {
                true => assert!(row.may_fold, "{}: {} was folded", fixture.row, row.record),
                false => assert!(row.gives.contains(&draft.event.kind), "{}: {}", fixture.row, row.record),
            }
        }
        for row in folded.keys() {
            assert!(rows[row].may_fold, "{}: {row} was folded", fixture.row);
        }
    }
}

#[test]
fn fixtures_leave_nothing_unaccounted_and_nothing_unknown_but_what_is_meant_so() {
    for fixture in fixtures() {
        let settled = settled(grok(), "s1", &fixture.sources);
        assert!(adds_up(&settled.coverage), "{}: {:?}", fixture.row, settled.coverage);
        assert_eq!(settled.coverage.malformed, 0, "{}", fixture.row);
        let is_unknown = fixture.row == "unknown";
        assert_eq!(settled.coverage.unknown > 0, is_unknown, "{}", fixture.row);
    }
}
