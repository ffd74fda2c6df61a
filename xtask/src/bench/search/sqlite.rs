//! The same turns in SQLite, one row each: searched by `LIKE` and by FTS5.

use rusqlite::{Connection, params_from_iter, types::Value};
use std::path::Path;

use super::questions::{Joined, Question, Where};
use super::turns::{project_of, session_of, starts_at};
use crate::bench::shelves::said;
use crate::failure::Failure;

/// Rows that are returned, as many as `retro search` shows.
const LIMIT: usize = 8;

/// A database with all turns, and a full text index of them.
pub(super) struct Sqlite {
    connection: Connection,
}

impl Sqlite {
    /// An empty database.
    pub(super) fn create(path: &Path) -> Result<Sqlite, Failure> {
        let connection = Connection::open(path).map_err(said)?;
        let tables = "PRAGMA journal_mode = wal; PRAGMA synchronous = off; \
             CREATE TABLE turns (number INTEGER PRIMARY KEY, session INTEGER, project TEXT, at INTEGER, text TEXT); \
             CREATE VIRTUAL TABLE words USING fts5(text, content = 'turns', content_rowid = 'number', \
                 tokenize = 'porter unicode61');";
        connection.execute_batch(tables).map_err(said)?;
        Ok(Sqlite { connection })
    }

    /// Adds turns, given with their numbers.
    pub(super) fn put(&self, turns: &[(usize, String)]) -> Result<(), Failure> {
        let put = || -> rusqlite::Result<()> {
            self.connection.execute_batch("BEGIN")?;
            let text = "INSERT INTO turns VALUES (?1, ?2, ?3, ?4, ?5)";
            let mut statement = self.connection.prepare_cached(text)?;
            for (number, text) in turns {
                let session = session_of(*number);
                statement.execute((
                    *number as i64,
                    session as i64,
                    project_of(session),
                    starts_at(session),
                    text,
                ))?;
            }
            self.connection.execute_batch("COMMIT")
        };
        put().map_err(said)
    }

    /// Makes the full text index.
    pub(super) fn index(&self) -> Result<(), Failure> {
        self.connection.execute_batch("INSERT INTO words (words) VALUES ('rebuild')").map_err(said)
    }

    /// Asks the full text index, best first. Returns how many rows there are.
    pub(super) fn fts(&self, question: &Question) -> Result<usize, Failure> {
        let quoted = |word: &String| format!("\"{}\"", word.replace('"', ""));
        let query = match question.joined {
            Joined::Phrase => quoted(&question.words.join(" ")),
            Joined::All => question.words.iter().map(quoted).collect::<Vec<_>>().join(" AND "),
            Joined::Any => question.words.iter().map(quoted).collect::<Vec<_>>().join(" OR "),
        };
        let (only, mut values) = narrowed(question);
        values.insert(0, query.into());
        let text = format!(
            "SELECT turns.number FROM words JOIN turns ON turns.number = words.rowid \
             WHERE words MATCH ? {only} ORDER BY words.rank LIMIT {LIMIT}"
        );
        self.rows(&text, values)
    }

    /// Looks through all rows, newest first.
    pub(super) fn like(&self, question: &Question) -> Result<usize, Failure> {
        let words = match question.joined {
            Joined::Phrase => vec![question.words.join(" ")],
            _ => question.words.clone(),
        };
        let between = if question.joined == Joined::All { " AND " } else { " OR " };
        let likes = vec!["text LIKE ?"; words.len()].join(between);
        let (only, more) = narrowed(question);
        let mut values: Vec<Value> = words.iter().map(|word| format!("%{word}%").into()).collect();
        values.extend(more);
        let text =
            format!("SELECT number FROM turns WHERE ({likes}) {only} ORDER BY at DESC, number LIMIT {LIMIT}");
        self.rows(&text, values)
    }

    fn rows(&self, text: &str, values: Vec<Value>) -> Result<usize, Failure> {
        let rows = || -> rusqlite::Result<usize> {
            let mut statement = self.connection.prepare_cached(text)?;
            let rows = statement.query_map(params_from_iter(values), |row| row.get::<_, i64>(0))?;
            rows.map(|row| row.map(|_| 1)).sum()
        };
        rows().map_err(said)
    }
}

/// The condition for where a question is asked.
fn narrowed(question: &Question) -> (&'static str, Vec<Value>) {
    match &question.place {
        Where::Everywhere => ("", Vec::new()),
        Where::Session(session) => ("AND session = ?", vec![(*session as i64).into()]),
        Where::Project(project) => ("AND project = ?", vec![project.clone().into()]),
        Where::Between(from, to) => ("AND at >= ? AND at < ?", vec![(*from).into(), (*to).into()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_row() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::create(&folder.path().join("db")).unwrap();
        sqlite.put(&[(0, "the kiln cracked".into()), (1, "a bowl on the shelf".into())]).unwrap();
        sqlite.index().unwrap();
        let ask = |words: &[&str], joined, place| Question {
            text: String::new(),
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            joined,
            place,
        };
        for (question, rows) in [
            (ask(&["kiln", "cracked"], Joined::Phrase, Where::Everywhere), 1),
            (ask(&["kiln", "bowl"], Joined::All, Where::Everywhere), 0),
            (ask(&["kiln", "bowl"], Joined::Any, Where::Everywhere), 2),
            (ask(&["kiln"], Joined::Any, Where::Session(9)), 0),
            (ask(&["kiln"], Joined::Any, Where::Project(project_of(0))), 1),
            (ask(&["kiln"], Joined::Any, Where::Between(0, i64::MAX)), 1),
        ] {
            assert_eq!(sqlite.fts(&question).unwrap(), rows, "{question:?}");
            assert_eq!(sqlite.like(&question).unwrap(), rows, "{question:?}");
        }
    }
}
