//! `cargo xtask bench recall --history REPOSITORY`: how often the right session comes first,
//! beside a plain BM25 over whole sessions in the same run.
//!
//! Sessions are written as logs and captured, so that they are cut and indexed as real ones.

use retro::agents::AGENTS;
use retro::engine::{Config, SyncOptions, World, sync};
use retro::search::{Mode, Query, Scope};
use retro::store::{RealDisk, Store};
use retro_model::SessionKey;
use std::path::Path;
use std::sync::Arc;

use super::baseline::Baseline;
use super::history::{self, Commit};
use super::trial::Trial;
use crate::bench::Scratch;
use crate::bench::shelves::{Reader, Shelves, said};
use crate::failure::Failure;
use crate::table::table;

/// Sessions that are asked for.
const LIMIT: usize = 20;

/// Pieces of each.
const PIECES: usize = 3;

/// From this share of its words on, a question's words are said to be in what the user says.
const HELD: f64 = 0.4;

/// Kinds of questions with an answer: by what the user says, or by code alone.
const KINDS: [&str; 2] = ["words are there", "only code fits"];

/// One answer: the place of the right session, from 1, and the best score.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Answered {
    /// The kind. `None` for a question without an answer.
    kind: Option<usize>,
    place: Option<usize>,
    score: f64,
}

/// Asks the subject of every commit in every mode.
pub(super) fn measure(
    repository: &Path,
    modes: impl Iterator<Item = (&'static str, Mode)>,
    trials: &[Trial],
) -> Result<String, Failure> {
    let commits = history::read(repository)?;
    let told: Vec<(usize, &Commit)> = commits.iter().filter(|commit| commit.is_told).enumerate().collect();
    if told.is_empty() {
        return Err(Failure::at(repository, "has too few commits with a subject of some words"));
    }
    let mut baseline = Baseline::new(told.iter().map(|(_, commit)| commit.text()));
    let mut prompts = Baseline::new(told.iter().map(|(_, commit)| commit.body.clone()));
    // A question, its session and its kind.
    let mut questions: Vec<(&str, Option<usize>, Option<usize>)> = Vec::new();
    for (number, commit) in &told {
        let kind = usize::from(prompts.held(&commit.subject, *number) < HELD);
        questions.push((&commit.subject, Some(*number), Some(kind)));
    }
    let left_out = commits.iter().filter(|commit| !commit.is_told);
    questions.extend(left_out.map(|commit| (commit.subject.as_str(), None, None)));
    let mut rows = Vec::new();
    let plain: Vec<Answered> = questions
        .iter()
        .map(|(text, right, kind)| {
            let found = baseline.ask(text);
            let place = right.and_then(|right| found.iter().position(|(at, _)| *at == right));
            answered(*kind, place, found.first().map(|(_, score)| *score))
        })
        .collect();
    rows.extend(lines("plain BM25", &plain));
    let scratch = Scratch::new()?;
    let shelves = captured(&scratch, &told)?;
    let mut reader = Reader::open(&shelves)?;
    let mut number_of = Vec::new();
    for (number, _) in &told {
        let key = SessionKey::new(AGENTS[0].name(), history::name(*number));
        number_of.push(shelves.index.session_number(&key).map_err(said)?);
    }
    let ask = |reader: &Reader<'_>, mode: Mode| -> Result<Vec<Answered>, Failure> {
        let answer = |(text, right, kind): &(&str, Option<usize>, Option<usize>)| {
            let query = Query::parse(text, jiff::civil::Date::MAX);
            let found = reader.ask(&query, &Scope::default(), mode, (LIMIT, PIECES))?;
            let right = right.and_then(|right| number_of.get(right).copied().flatten());
            let is_right = |right: u32| found.sessions.iter().position(|session| session.session == right);
            let best = found.sessions.first().map(|session| session.score);
            Ok(answered(*kind, right.and_then(is_right), best))
        };
        questions.iter().map(answer).collect()
    };
    for (name, mode) in modes {
        rows.extend(lines(name, &ask(&reader, mode)?));
    }
    for Trial { name, ranker } in trials {
        reader.rank_with(ranker.clone());
        rows.extend(lines(name, &ask(&reader, Mode::Hybrid)?));
    }
    let header = ["", "questions", "mrr", "hit@1", "hit@5", "AUC"];
    Ok(format!(
        "{} sessions, {} questions, {} of them without an answer. AUC: the best score tells a question with an answer from one without.\n\n{}",
        told.len(),
        questions.len(),
        questions.len() - told.len(),
        table(&header, &rows)
    ))
}

/// The sessions in a store, as a sync leaves them.
fn captured(scratch: &Scratch, told: &[(usize, &Commit)]) -> Result<Shelves, Failure> {
    let (home, root) = (scratch.folder.join("home"), scratch.folder.join("root"));
    for (number, commit) in told {
        for (path, bytes) in AGENTS[0].write(&commit.script(*number)) {
            let path = home.join(path);
            let folder = path.parent().unwrap_or(&home);
            std::fs::create_dir_all(folder).map_err(|error| Failure::at(folder, error))?;
            std::fs::write(&path, bytes).map_err(|error| Failure::at(&path, error))?;
        }
    }
    let (world, config) = (World::at(&home), Config::for_root(&root));
    sync(&world, &config, &SyncOptions::default(), &|_| {}).map_err(said)?;
    let store = Store::open(&root, Arc::new(RealDisk)).map_err(said)?;
    let index = store.index().map_err(said)?;
    Ok(Shelves { world, config, store, index })
}

fn answered(kind: Option<usize>, place: Option<usize>, score: Option<f64>) -> Answered {
    Answered { kind, place: place.map(|at| at + 1), score: score.unwrap_or(f64::NEG_INFINITY) }
}

/// One row for all questions with an answer, and one for each kind.
fn lines(name: &str, answers: &[Answered]) -> Vec<Vec<String>> {
    let with = |kind: Option<usize>| -> Vec<Answered> {
        let is_of = |answer: &&Answered| answer.kind.is_some() && (kind.is_none() || answer.kind == kind);
        answers.iter().filter(is_of).copied().collect()
    };
    let none: Vec<f64> = answers.iter().filter(|answer| answer.kind.is_none()).map(|a| a.score).collect();
    let row = |name: String, of: &[Answered]| {
        let share = |value: &dyn Fn(usize) -> f64| {
            let sum =
                of.iter().filter_map(|answer| answer.place).map(value).fold(0.0, |sum, value| sum + value);
            format!("{:.3}", sum / of.len().max(1) as f64)
        };
        let scores: Vec<f64> = of.iter().map(|answer| answer.score).collect();
        vec![
            name,
            of.len().to_string(),
            share(&|place| 1.0 / place as f64),
            share(&|place| f64::from(place == 1)),
            share(&|place| f64::from(place <= 5)),
            format!("{:.3}", above(&scores, &none)),
        ]
    };
    let kinds = KINDS.iter().enumerate().map(|(at, kind)| row(format!("{name}, {kind}"), &with(Some(at))));
    kinds.chain([row(name.to_owned(), &with(None))]).collect()
}

/// How often one of the first is above one of the others; a half where both are equal.
fn above(first: &[f64], others: &[f64]) -> f64 {
    let of = |a: &f64, b: &f64| if a > b { 1.0 } else { f64::from(a == b) / 2.0 };
    let sum: f64 = first.iter().flat_map(|a| others.iter().map(move |b| of(a, b))).sum();
    sum / (first.len() * others.len()).max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_scores_are_counted() {
        let answers = [
            answered(Some(0), Some(0), Some(3.0)),
            answered(Some(0), Some(1), Some(1.0)),
            answered(Some(1), None, None),
            answered(None, None, Some(2.0)),
        ];
        let rows = lines("x", &answers);
        assert_eq!(rows[0], ["x, words are there", "2", "0.750", "0.500", "1.000", "0.500"]);
        assert_eq!(rows[1], ["x, only code fits", "1", "0.000", "0.000", "0.000", "0.000"]);
        assert_eq!(rows[2][..3], ["x", "3", "0.500"]);
    }

    #[test]
    fn commits_are_found_by_their_subjects() {
        let folder = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"];
            let output = std::process::Command::new("git")
                .arg("-C")
                .arg(folder.path())
                .args(who)
                .args(words)
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        git(&["init", "--quiet"]);
        for (name, text) in [
            ("kiln", "the kiln heats slowly"),
            ("harbour", "ships wait in the harbour"),
            ("greyhound", "a greyhound runs fast"),
        ] {
            std::fs::write(folder.path().join(format!("{name}.txt")), format!("{text}\n")).unwrap();
            git(&["add", "."]);
            git(&["commit", "--quiet", "-m", &format!("Say something about the {name}"), "-m", text]);
        }
        let told = measure(folder.path(), [("words", Mode::Words)].into_iter(), &[]).unwrap();
        assert!(told.starts_with("2 sessions, 3 questions, 1 of them without an answer"), "{told}");
        let all = told.lines().find(|line| line.starts_with("| words  ")).unwrap();
        assert!(all.contains("1.000"), "{told}");
    }
}
