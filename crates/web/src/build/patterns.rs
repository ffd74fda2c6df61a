//! What recurs, and what was written down of it: one chunk for the view Patterns.

use retro::engine::patterns::REVIEWS;
use retro::engine::{Config, World};
use retro::model::Timestamp;
use retro::patterns::{Candidate, Pattern, Review, Voice, evidence_of};
use retro::store::{RealDisk, Store};
use retro::text::redact;
use retro::views::patterns::{CandidateView, CatalogView, DetectQuestion, catalog, detect};
use retro::views::readable as text;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::state::State;
use super::{Build, Options, Site};
use crate::Error;
use crate::chunk::{Chunk, unpacked};
use crate::folder::{Folder, STATE};
use crate::session::Redact;

/// The name of the chunk, and of its news.
pub const NAME: &str = "patterns";

const DAY_MS: i64 = 86_400_000;
/// Weeks of a trend: a year.
const WEEKS_MAX: i64 = 53;
/// Sessions of a candidate whose words are shown, and pieces of each.
const MEMBERS_MAX: usize = 12;
const PIECES_MAX: usize = 3;

/// The patterns of a dashboard.
pub struct Recurs {
    chunk: Chunk,
    /// What the first chunk of the page says of them.
    pub told: Value,
}

/// Makes the chunk. `is_wanted` says whether a pattern of the catalog is shown.
pub fn recurs(
    (world, config): (&World, &Config),
    store: &Store,
    options: &Options,
    is_wanted: &dyn Fn(&Pattern) -> bool,
) -> Result<Recurs, Error> {
    let question = DetectQuestion {
        since: options.since,
        project: options.project.clone(),
        ..DetectQuestion::default()
    };
    let found = detect(world, config, store, &question)?;
    let CatalogView { folder, mut patterns, unreadable } = catalog(store, config)?;
    patterns.retain(|pattern| {
        is_wanted(pattern) || found.candidates.iter().any(|one| pattern.is_of(&one.candidate))
    });
    let log = REVIEWS.read(store).map_err(retro::engine::Error::from)?.0;
    let review = Review::of(&log);
    let is_strict = options.redact == Redact::Strict;
    let mut rows = Vec::new();
    for one in &found.candidates {
        rows.push(row(one, &review, &patterns, is_strict)?);
    }
    let open = found.candidates.iter().filter(|one| one.new).count();
    let total = found.candidates.len() + patterns.len() + unreadable.len();
    let mut kept = Vec::new();
    for pattern in &patterns {
        kept.push(written(pattern, &found.candidates, is_strict)?);
    }
    let value = json!({
        "schema": "retro.page.patterns/1",
        "sessions": found.sessions,
        "candidates": rows,
        "folder": folder,
        "catalog": kept,
        "unreadable": unreadable,
    });
    let told = json!({ "total": total, "open": open });
    Ok(Recurs { chunk: Chunk::of(NAME, &clean(value, ""))?, told })
}

fn value(of: &impl serde::Serialize) -> Result<Value, Error> {
    serde_json::to_value(of).map_err(|error| Error::Json(error.to_string()))
}

/// A candidate as `retro detect --json` has it, with its trend and its evidence.
fn row(one: &CandidateView, review: &Review, patterns: &[Pattern], is_strict: bool) -> Result<Value, Error> {
    let candidate = &one.candidate;
    let mut row = value(one)?;
    row["evidence"] = evidence_of(candidate).into();
    row["weeks"] = weeks(candidate);
    row["pattern"] =
        patterns.iter().find(|pattern| pattern.is_of(candidate)).map(|pattern| pattern.id.clone()).into();
    row["decision"] = review.about(candidate).map(|decision| decision.decision.as_str()).into();
    let member = |member: &retro::patterns::Member| {
        let pieces = member.evidence.iter().filter(|piece| !is_strict || piece.voice != Voice::Program);
        let pieces: Vec<Value> = pieces
            .take(PIECES_MAX)
            .map(|piece| {
                json!({
                    "event": member.address(&piece.event_id), "text": piece.text, "voice": piece.voice,
                })
            })
            .collect();
        json!({
            "agent": member.agent, "session_id": member.session_id, "at": member.at, "times": member.times,
            "repo": member.repo, "evidence": pieces,
        })
    };
    row["members"] = candidate.members.iter().rev().take(MEMBERS_MAX).map(member).collect();
    if is_strict && quotes_programs(candidate) {
        row["title"] = left_out(&candidate.kind).into();
    }
    Ok(row)
}

/// A pattern as `retro catalog show --json` has it, with the candidate that it is about.
fn written(pattern: &Pattern, candidates: &[CandidateView], is_strict: bool) -> Result<Value, Error> {
    let of = candidates.iter().find(|one| pattern.is_of(&one.candidate));
    let mut row = value(pattern)?;
    row["candidate"] = of.map(|one| one.key.clone()).into();
    // A pattern about which nothing is known any more may quote anybody.
    if is_strict && of.is_none_or(|one| quotes_programs(&one.candidate)) {
        row["title"] = left_out(&pattern.kind).into();
        row["problem"] = "".into();
        row["hints"] = json!({});
        row["provenance"]["sessions"] = json!([]);
    }
    Ok(row)
}

fn left_out(kind: &str) -> String {
    format!("{}: left out, it quotes what a program printed", kind.replace('_', " "))
}

fn quotes_programs(candidate: &Candidate) -> bool {
    candidate.members.iter().flat_map(|member| &member.evidence).any(|piece| piece.voice == Voice::Program)
}

/// In how many sessions it was seen in each week from the first to the last, Mondays in UTC.
fn weeks(candidate: &Candidate) -> Value {
    let week = |at: Timestamp| (at.as_millis().div_euclid(DAY_MS) + 3).div_euclid(7);
    let mut counts: BTreeMap<i64, u32> = BTreeMap::new();
    candidate
        .members
        .iter()
        .filter_map(|member| member.at)
        .for_each(|at| *counts.entry(week(at)).or_default() += 1);
    let (Some((first, _)), Some((last, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return json!([]);
    };
    let first = (*first).max(last - WEEKS_MAX + 1);
    let one = |week: i64| {
        let monday = Timestamp::from_millis((week * 7 - 3) * DAY_MS).map(|at| at.to_string());
        let day = monday.unwrap_or_default().chars().take(10).collect::<String>();
        json!({ "from": day, "sessions": counts.get(&week).copied().unwrap_or(0) })
    };
    (first..=*last).map(one).collect()
}

/// Fields that hold names and places, not words.
const PLACES: [&str; 6] = ["event", "evidence_refs", "session_id", "loci", "evidence", "key"];

/// As the page gets it: without secrets and hidden characters.
fn clean(value: Value, name: &str) -> Value {
    match value {
        Value::String(words) if !PLACES.contains(&name) => text::plain(&redact(&words).into_inner()).into(),
        Value::Array(list) => list.into_iter().map(|one| clean(one, name)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, field)| {
                let field = clean(field, &name);
                (name, field)
            })
            .collect(),
        other => other,
    }
}

impl Site {
    /// Writes the chunk if it differs.
    pub(super) fn patterns(&mut self, recurs: &Recurs) -> Result<(), Error> {
        let before = self.folder.written;
        self.folder.put_chunk(&recurs.chunk, &self.build)?;
        if self.folder.written > before {
            self.built.changed.push(NAME.to_owned());
        }
        Ok(())
    }
}

/// Writes the patterns of a folder again after a decision: nothing else differs then.
pub fn again(work: &Build<'_>) -> Result<(), Error> {
    let Build { world, config, options } = *work;
    let store = Store::open(&config.root.value, Arc::new(RealDisk))?;
    let mut folder = Folder::open(&options.out)?;
    let state = folder.read(STATE).and_then(|bytes| serde_json::from_slice::<State>(&bytes).ok());
    let build = state.map(|state| super::build_of(&state.fingerprint)).unwrap_or_default();
    let read = |folder: &Folder, name: &str| -> Option<Value> {
        serde_json::from_slice(&unpacked(&folder.read(&format!("data/{name}.js"))?)?).ok()
    };
    let known = read(&folder, NAME).unwrap_or_default();
    let rows = known["catalog"].as_array();
    let ids: HashSet<&str> = rows.into_iter().flatten().filter_map(|row| row["id"].as_str()).collect();
    let is_whole = options.since.is_none() && options.project.is_none();
    let recurs =
        recurs((world, config), &store, options, &|pattern| is_whole || ids.contains(pattern.id.as_str()))?;
    folder.put_chunk(&recurs.chunk, &build)?;
    if let Some(mut meta) = read(&folder, "meta") {
        meta[NAME] = recurs.told;
        folder.put_chunk(&Chunk::of("meta", &meta)?, &build)?;
    }
    Ok(())
}
