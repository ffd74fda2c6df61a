//! `cargo xtask bench recall --locomo PATH`: how often the right lines come first.
//!
//! Conversations of LoCoMo's form are put into a store, each line as a piece, and every
//! question is asked inside its conversation. What counts is how many of the lines that
//! answer it are among the first, and whether a session with one of them is. The data is
//! not part of the project.
//!
//! `--history REPOSITORY` asks for commits instead: see `first.rs`. `--parts` also leaves out
//! each part of the ranking, and `--try NAME=NUMBER,…` ranks with other numbers.

mod baseline;
mod first;
mod history;
mod locomo;
mod trial;

use hashbrown::{HashMap, HashSet};
use retro::search::{Found, Mode, Query, Scope};
use retro::store::SessionRow;
use retro_model::{Passage, Piece, PieceKind, SessionKey};
use std::path::Path;

use super::shelves::{Reader, Shelves, Told, said};
use super::{Scratch, own_release};
use crate::failure::Failure;
use crate::repository::Repository;
use crate::table::table;
use locomo::{Conversation, Question};
use trial::Trial;

/// Categories that have an answer in the conversation.
const CATEGORIES: std::ops::RangeInclusive<u64> = 1..=4;

/// Lines of a session that are looked at.
const LINES_A_SESSION: usize = 12;

/// Every way to ask, with its name.
const MODES: [(&str, Mode); 3] =
    [("words", Mode::Words), ("meaning", Mode::Meaning), ("hybrid", Mode::Hybrid)];

/// The command: asks everything in every mode, or in the one that is named.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let value = |name: &str| {
        let at = options.iter().position(|option| option == name)?;
        options.get(at + 1)
    };
    let mode = value("--mode");
    if mode.is_some_and(|mode| !MODES.iter().any(|(name, _)| name == mode)) {
        return Err(Failure::new("--mode is one of words, meaning, hybrid"));
    }
    let modes = MODES.into_iter().filter(|(name, _)| mode.is_none_or(|mode| mode == name));
    // What comes first does not depend on how the program was built.
    if let Some(path) = value("--history") {
        let trials = match options.iter().any(|option| option == "--parts") {
            true => Trial::of_parts()?,
            false => Vec::new(),
        };
        let tried = options.windows(2).filter(|pair| pair.first().is_some_and(|option| option == "--try"));
        let tried = tried.filter_map(|pair| pair.last()).map(|numbers| Trial::parse(numbers, numbers));
        let trials = trials.into_iter().map(Ok).chain(tried).collect::<Result<Vec<_>, _>>()?;
        print!("{}", first::measure(Path::new(path), modes, &trials)?);
        return Ok(());
    }
    let path = value("--locomo")
        .ok_or_else(|| Failure::new("say where the data is: --locomo PATH or --history REPOSITORY"))?;
    if !own_release(repository, &["bench", "recall"], options)? {
        print!("{}", measure(Path::new(path), modes)?);
    }
    Ok(())
}

fn measure(path: &Path, modes: impl Iterator<Item = (&'static str, Mode)>) -> Result<String, Failure> {
    let conversations = locomo::read(path)?;
    let scratch = Scratch::new()?;
    let shelves = Shelves::create(&scratch.folder, &scratch.folder.join("root"))?;
    let lines = put(&shelves, &conversations)?;
    let reader = Reader::open(&shelves)?;
    let scopes: Vec<Scope> =
        conversations.iter().map(|conversation| scope(&shelves, conversation)).collect::<Result<_, _>>()?;
    let mut rows = Vec::new();
    let mut asked = 0;
    for (name, mode) in modes {
        let mut sums: HashMap<u64, Sums> = HashMap::new();
        let mut all = Sums::default();
        for (conversation, scope) in conversations.iter().zip(&scopes) {
            for question in conversation.questions.iter().filter(is_counted) {
                let query = Query::literal(&question.text);
                let limits = (conversation.sessions.len(), LINES_A_SESSION);
                let found = reader.ask(&query, scope, mode, limits)?;
                let scores = Scores::of(&found, question);
                sums.entry(question.category).or_default().add(scores);
                all.add(scores);
            }
        }
        let mut categories: Vec<_> = sums.into_iter().collect();
        categories.sort_by_key(|(category, _)| *category);
        for (category, sums) in categories {
            rows.push(sums.row(&format!("{name}, category {category}")));
        }
        rows.push(all.row(name));
        asked = all.count;
    }
    let header = ["", "questions", "recall@5", "recall@10", "hit@1", "hit@5"];
    Ok(format!(
        "{} conversations, {lines} lines, {asked} questions in categories 1 to 4. Recall counts lines, hits count sessions.\n\n{}",
        conversations.len(),
        table(&header, &rows)
    ))
}

fn is_counted(question: &&Question) -> bool {
    CATEGORIES.contains(&question.category) && !question.evidence.is_empty()
}

/// Puts all lines into the store, and makes what search reads. Returns how many there are.
fn put(shelves: &Shelves, conversations: &[Conversation]) -> Result<usize, Failure> {
    let sessions: Vec<Told> = conversations
        .iter()
        .flat_map(|conversation| {
            let told = |session: &locomo::Session| Told {
                row: SessionRow::new(&key(conversation, session.number)),
                passages: session.lines.iter().enumerate().map(|(at, line)| passage(at, line)).collect(),
            };
            conversation.sessions.iter().map(told)
        })
        .collect();
    shelves.put(&sessions)?;
    shelves.follow("text")?;
    shelves.follow("vectors")?;
    Ok(sessions.iter().map(|session| session.passages.len()).sum())
}

fn key(conversation: &Conversation, session: u32) -> SessionKey {
    SessionKey::new("claude", format!("{}-{session}", conversation.name))
}

/// A line as a turn of its own.
fn passage(at: usize, line: &locomo::Line) -> Passage {
    let piece = Piece {
        kind: PieceKind::User,
        event: line.id.clone(),
        at: None,
        text: line.text.clone(),
        labels: Vec::new(),
    };
    let (turn, first) = (at as u32 + 1, at as u32);
    Passage { thread: "main".to_owned(), turn, first, live: true, pieces: vec![piece] }
}

fn scope(shelves: &Shelves, conversation: &Conversation) -> Result<Scope, Failure> {
    let mut sessions = HashSet::new();
    for session in &conversation.sessions {
        sessions.extend(shelves.index.session_number(&key(conversation, session.number)).map_err(said)?);
    }
    Ok(Scope { sessions: Some(sessions), ..Scope::default() })
}

/// How well one question was answered, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scores {
    recall: [f64; 2],
    hit: [f64; 2],
}

impl Scores {
    fn of(found: &Found, question: &Question) -> Scores {
        let mut lines: Vec<(f64, &str)> = Vec::new();
        for piece in found.sessions.iter().flat_map(|session| &session.pieces) {
            let event = piece.passage.passage.pieces.get(piece.piece).map_or("", |piece| &piece.event);
            lines.push((piece.score, event));
        }
        lines.sort_by(|a, b| b.0.total_cmp(&a.0));
        let recall = |count: usize| {
            let is_right = |(_, id): &&(f64, &str)| question.evidence.iter().any(|right| right == id);
            lines.iter().take(count).filter(is_right).count() as f64 / question.evidence.len() as f64
        };
        let right: Vec<&str> = question.evidence.iter().map(|id| locomo::session_of(id)).collect();
        let hit = |count: usize| {
            let first = found.sessions.iter().take(count).filter_map(|session| session.pieces.first());
            let mut ids = first.map(|piece| locomo::session_of(piece.passage.passage.event()));
            f64::from(ids.any(|id| right.contains(&id)))
        };
        Scores { recall: [recall(5), recall(10)], hit: [hit(1), hit(5)] }
    }
}

#[derive(Default)]
struct Sums {
    count: usize,
    recall: [f64; 2],
    hit: [f64; 2],
}

impl Sums {
    fn add(&mut self, scores: Scores) {
        self.count += 1;
        self.recall.iter_mut().zip(scores.recall).for_each(|(sum, score)| *sum += score);
        self.hit.iter_mut().zip(scores.hit).for_each(|(sum, score)| *sum += score);
    }

    fn row(&self, name: &str) -> Vec<String> {
        let mean = |sum: &f64| format!("{:.3}", sum / self.count.max(1) as f64);
        let mut row = vec![name.to_owned(), self.count.to_string()];
        row.extend(self.recall.iter().chain(&self.hit).map(mean));
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sessions of two people, three questions.
    const TALK: &str = r#"[{"sample_id": "one", "conversation": {
        "session_1_date_time": "9:00 am on 3 May, 2026",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "The kiln in the studio cracked last night."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Oh no! Did any bowls survive?"},
            {"speaker": "Ada", "dia_id": "D1:3", "text": "Look at this one.", "blip_caption": "a blue bowl on a shelf"}],
        "session_2_date_time": "8:00 pm on 9 May, 2026",
        "session_2": [
            {"speaker": "Ben", "dia_id": "D2:1", "text": "I adopted a greyhound called Comet."},
            {"speaker": "Ada", "dia_id": "D2:2", "text": "Lovely! How fast does he run?"}]},
        "qa": [
            {"question": "What happened to the kiln?", "evidence": ["D1:1"], "category": 1},
            {"question": "What is the name of the greyhound?", "evidence": ["D2:1; D2:2"], "category": 4},
            {"question": "Which bowl is on the shelf?", "evidence": ["D1:3"], "category": 2},
            {"question": "Who flew to the moon?", "evidence": ["D1:1"], "category": 5},
            {"question": "Nothing is said of this?", "evidence": [], "category": 1}]}]"#;

    #[test]
    fn every_line_that_answers_is_found_in_every_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("talk.json");
        std::fs::write(&path, TALK).unwrap();
        let text = measure(&path, MODES.into_iter()).unwrap();
        assert!(text.starts_with("1 conversations, 5 lines, 3 questions"), "{text}");
        for (name, _) in MODES {
            let row = text.lines().find(|line| line.starts_with(&format!("| {name} "))).unwrap();
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            assert_eq!(cells[2], "3", "{text}");
            // Five lines: all of them are among the first ten, but for those that are like nothing.
            let recall: f64 = cells[4].parse().unwrap();
            assert!(recall > 0.8, "{text}");
        }
    }

    #[test]
    fn lines_in_the_wrong_place_count_for_nothing() {
        let question =
            Question { text: String::new(), evidence: vec!["D1:1".into(), "D1:2".into()], category: 1 };
        let none = Scores { recall: [0.0; 2], hit: [0.0; 2] };
        assert_eq!(Scores::of(&Found::default(), &question), none);
        let mut sums = Sums::default();
        sums.add(none);
        sums.add(Scores { recall: [0.5, 1.0], hit: [0.0, 1.0] });
        assert_eq!(sums.row("x"), ["x", "2", "0.250", "0.500", "0.000", "0.500"]);
    }
}
