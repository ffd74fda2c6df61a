//! Facts about threads from the program's database: names, branches, archived threads, and which
//! thread started which.
//!
//! The rollouts are the truth and the database is a hint, so each thread's few columns are kept as
//! state: the newest counts. Columns are looked up by name, since the schema grows with every
//! version. The number in the file's name is its generation, and older ones may be beside the
//! newest.

use retro_model::{Facts, Kind, Link, LinkKind, Origin, Part as Piece, TitleRank};
use retro_text::redact;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params_from_iter};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::database::columns;
use crate::json::pick;
use crate::words::id;
use crate::{Database, DatabaseError, Json, Out, Parse, Record, field};

/// The path of a thread's rollout when the row was written. Not kept.
pub(super) const ROLLOUT: &str = "rollout_path";

/// The columns that are read, apart from the tree.
const COLUMNS: &[&str] =
    &["archived", "archived_at", "first_user_message", "git_branch", "name", ROLLOUT, "title"];

/// The most threads that a database may list.
const THREADS_MAX: usize = 1_000_000;

/// The newest `state_N.sqlite` of a root.
pub(super) fn newest(root: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(root).ok()?;
    let generation = |name: &str| name.strip_prefix("state_")?.strip_suffix(".sqlite")?.parse::<u64>().ok();
    let files = entries.flatten().filter_map(|entry| {
        let generation = generation(entry.file_name().to_str()?)?;
        Some((generation, entry.path()))
    });
    files.max().map(|(_, path)| path)
}

/// The relevant columns of a thread, as one JSON object.
pub(super) type Row = Map<String, Value>;

/// Every thread of a database, by its id.
pub(super) fn read(database: &Database) -> Result<BTreeMap<String, Row>, DatabaseError> {
    database.read(|connection| read_threads(connection, None))
}

/// The database's row of one thread, as the stored bytes.
pub(super) fn rows(database: &Database, thread: &str) -> Result<Vec<u8>, DatabaseError> {
    let mut threads = database.read(|connection| read_threads(connection, Some(thread)))?;
    let mut row = threads.remove(thread).unwrap_or_default();
    row.remove(ROLLOUT);
    Ok(content(row))
}

/// The stored bytes of a row. Empty if the row has no facts.
pub(super) fn content(row: Row) -> Vec<u8> {
    if row.is_empty() { Vec::new() } else { Value::Object(row).to_string().into_bytes() }
}

/// Reads every thread, or one of them, with its position in the tree.
fn read_threads(connection: &Connection, only: Option<&str>) -> Result<BTreeMap<String, Row>, DatabaseError> {
    let mut threads: BTreeMap<String, Row> = BTreeMap::new();
    let known: BTreeSet<String> = columns(connection, "threads")?.into_iter().collect();
    if known.contains("id") {
        let columns: Vec<&str> = COLUMNS.iter().copied().filter(|name| known.contains(*name)).collect();
        let list: String = columns.iter().map(|name| format!(", \"{name}\"")).collect();
        let which = if only.is_some() { " WHERE id = ?1" } else { "" };
        let mut statement = connection.prepare(&format!("SELECT id{list} FROM threads{which}"))?;
        let mut rows = statement.query(params_from_iter(only))?;
        while let Some(row) = rows.next()? {
            let Ok(thread) = row.get::<_, String>(0) else { continue };
            let mut said = Map::new();
            for (at, name) in (1..).zip(&columns) {
                if let Some(value) = value(row.get_ref(at)?) {
                    said.insert((*name).to_owned(), value);
                }
            }
            threads.insert(thread, said);
            if threads.len() > THREADS_MAX {
                return Err(DatabaseError::TooMany(THREADS_MAX));
            }
        }
    }
    let edges: BTreeSet<String> = columns(connection, "thread_spawn_edges")?.into_iter().collect();
    if edges.contains("parent_thread_id") && edges.contains("child_thread_id") {
        let which = if only.is_some() { "WHERE parent_thread_id = ?1 OR child_thread_id = ?1" } else { "" };
        let sql =
            format!("SELECT parent_thread_id, child_thread_id FROM thread_spawn_edges {which} ORDER BY 1, 2");
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query(params_from_iter(only))?;
        while let Some(row) = rows.next()? {
            let (Ok(parent), Ok(child)) = (row.get::<_, String>(0), row.get::<_, String>(1)) else {
                continue;
            };
            let of_child = threads.entry(child.clone()).or_default();
            of_child.insert("parent".to_owned(), Value::from(parent.as_str()));
            let of_parent = threads.entry(parent).or_default();
            let children = of_parent.entry("children").or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(children) = children {
                children.push(Value::from(child));
            }
        }
    }
    Ok(threads)
}

fn value(column: ValueRef<'_>) -> Option<Value> {
    match column {
        ValueRef::Integer(number) => Some(Value::from(number)),
        ValueRef::Text(text) => Some(Value::from(String::from_utf8_lossy(text))),
        ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => None,
    }
}

/// Reads such a row as the state of its thread.
pub(super) struct Parser;

impl Parse for Parser {
    fn record(&mut self, record: &Record<'_>, out: &mut Out) {
        const ROW: &str = "state/thread";
        let told = record.json;
        let mut facts = Facts::default();
        if let Some(name) = field::some(told, "name") {
            facts.title(TitleRank::User, record.address, &redact(name));
        }
        // The title is the first prompt, unless the program found a better one.
        let prompt = field::some(told, "first_user_message");
        if let Some(title) = field::some(told, "title").filter(|title| Some(*title) != prompt) {
            facts.title(TitleRank::Agent, record.address, &redact(title));
        }
        if let Some(branch) = field::some(told, "git_branch") {
            facts.branch = Some((record.address.clone(), redact(branch)));
        }
        let parent =
            field::some(told, "parent").map(|parent| Link { kind: LinkKind::Parent, session_id: id(parent) });
        let children = field::list(told, "children").iter().filter_map(Json::as_str);
        facts.links.extend(parent);
        facts.links.extend(children.map(|child| Link { kind: LinkKind::Child, session_id: id(child) }));
        out.facts.merge(&facts);
        if field::count(told, "archived").unwrap_or(0) == 0 {
            return out.fold(ROW);
        }
        let mut draft = record.draft(ROW, Piece::Whole, Kind::Note, Origin::Harness);
        draft.event.data = pick(told, &["archived", "archived_at"]);
        out.push(draft);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(path: &Path) -> Database {
        Database::new(crate::by_name("codex").unwrap(), path, None)
    }

    #[test]
    fn columns_are_found_by_name_and_missing_ones_are_fine() {
        let folder = tempfile::tempdir().unwrap();
        for (name, sql) in [
            (
                "state_4.sqlite",
                "CREATE TABLE threads(id TEXT, name TEXT); INSERT INTO threads VALUES ('old', 'Old');",
            ),
            (
                "state_11.sqlite",
                "CREATE TABLE threads(new_thing BLOB, title TEXT, id TEXT, archived INTEGER, name TEXT);
                 INSERT INTO threads VALUES (x'00', 'Sort', 'a', 1, NULL), (NULL, 'Test', 'b', 0, 'Mine');
                 CREATE TABLE thread_spawn_edges(status TEXT, child_thread_id TEXT, parent_thread_id TEXT);
                 INSERT INTO thread_spawn_edges VALUES ('open', 'b', 'a');",
            ),
        ] {
            Connection::open(folder.path().join(name)).unwrap().execute_batch(sql).unwrap();
        }
        let path = newest(folder.path()).unwrap();
        assert!(path.ends_with("state_11.sqlite"));
        let database = database(&path);
        let threads = read(&database).unwrap();
        assert_eq!(
            Value::Object(threads["a"].clone()),
            serde_json::json!({ "title": "Sort", "archived": 1, "children": ["b"] })
        );
        assert_eq!(threads["b"]["parent"], "a");
        assert_eq!(threads.len(), 2);
        for (thread, row) in threads {
            assert_eq!(rows(&database, &thread).unwrap(), content(row), "{thread} alone");
        }
        assert!(rows(&database, "nobody").unwrap().is_empty());
    }

    #[test]
    fn a_database_without_threads_has_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state_5.sqlite");
        Connection::open(&path).unwrap().execute_batch("CREATE TABLE other(id)").unwrap();
        assert!(read(&database(&path)).unwrap().is_empty());
    }
}
