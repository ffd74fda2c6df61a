//! Databases that belong to a running program: what it committed is read, what it
//! has not is not, and no trace is left beside it.

use retro_agents::Agent;
use retro_agents::script::Script;
use retro_engine::capture::{self, Before};
use retro_engine::discover::discover;
use retro_model::{SessionKey, SourceKey, SourceKind};
use retro_store::{Slot, Stamps};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::support::{self, Machine, STORY, raw};
use crate::{content, machine};

/// What a program writes into its database while it runs.
const NEWS: &str = "written by the program";

/// A machine with a story, and the agent's database with its rows.
struct Scene {
    machine: Machine,
    agent: &'static dyn Agent,
    path: PathBuf,
}

/// A scene for each agent that has a database.
fn scenes() -> Vec<Scene> {
    let script = Script::parse(STORY).unwrap();
    let scene = |agent: &&'static dyn Agent| {
        let (path, sql) = agent.write_database(&script)?;
        let machine = Machine::new();
        machine.tell(agent.name(), STORY);
        let path = machine.home().join(path);
        Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
        Some(Scene { machine, agent: *agent, path })
    };
    let scenes: Vec<Scene> = support::agents().iter().filter_map(scene).collect();
    println!("with a database: {:?}", scenes.iter().map(|scene| scene.agent.name()).collect::<Vec<_>>());
    assert!(!scenes.is_empty());
    scenes
}

impl Scene {
    fn connection(&self, journal: &str) -> Connection {
        let connection = Connection::open(&self.path).unwrap();
        connection.pragma_update(None, "journal_mode", journal).unwrap();
        connection
    }

    /// Every text of every table that is not a key, set to `text`.
    fn update(&self, connection: &Connection, text: &str) {
        for (table, column) in texts(connection) {
            connection.execute(&format!("UPDATE \"{table}\" SET \"{column}\" = ?1"), [text]).unwrap();
        }
    }

    /// So many rows that they do not fit into the program's memory.
    fn fill(&self, connection: &Connection) {
        connection.pragma_update(None, "cache_size", 2).unwrap();
        connection.execute_batch("CREATE TABLE ballast(x)").unwrap();
        for _ in 0..200 {
            connection.execute("INSERT INTO ballast VALUES (randomblob(2000))", []).unwrap();
        }
    }

    /// Syncs, and holds the sync to what it promises: nothing fails, the logs are
    /// captured, the database and its folder are as they were.
    fn sync(&self, what: &str) -> (Vec<u8>, Vec<String>) {
        let before = photograph(self.path.parent().unwrap());
        let report = self.machine.sync();
        assert_eq!(report.failed, 0, "{what}: {:?}", report.failures);
        assert_eq!(photograph(self.path.parent().unwrap()), before, "{what}");
        self.machine.verify();
        let told =
            |event: &retro_model::Event| event.text.as_deref().is_some_and(|text| text == "Fix the tax test");
        let key = SessionKey::new(self.agent.name(), "11111111-1111-4111-8111-111111111111");
        assert!(self.machine.events(&key).iter().any(told), "{what}");
        (self.rows(), report.skipped_files.into_iter().map(|skipped| skipped.reason).collect())
    }

    /// What the store holds of the database's rows.
    fn rows(&self) -> Vec<u8> {
        let store = self.machine.store();
        let mut rows = Vec::new();
        for key in store.session_keys().unwrap() {
            for (source, entry) in store.session(&key).unwrap().unwrap().sources {
                if entry.places.iter().any(|place| place.starts_with(&self.path.display().to_string())) {
                    assert_eq!(entry.revisions, 1, "{key} {source}");
                    rows.extend(raw(&store, &Slot::Session { key: key.clone(), source, revision: 1 }));
                }
            }
        }
        rows
    }

    fn fresh(&self) -> Scene {
        scenes().into_iter().find(|scene| scene.agent.name() == self.agent.name()).unwrap()
    }
}

fn texts(connection: &Connection) -> Vec<(String, String)> {
    let sql = "SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
               WHERE m.type = 'table' AND c.type = 'TEXT' AND c.pk = 0";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The files of a folder with their bytes and times.
fn photograph(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let entries = folder.read_dir().unwrap().flatten().filter(|entry| entry.path().is_file());
    let picture = |path: PathBuf| {
        let modified = path.metadata().unwrap().modified().unwrap();
        (path.clone(), (std::fs::read(&path).unwrap(), modified))
    };
    entries.map(|entry| picture(entry.path())).collect()
}

fn holds(rows: &[u8], text: &str) -> bool {
    rows.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn rows_are_state_of_their_sessions() {
    for scene in scenes() {
        let (rows, skipped) = scene.sync("closed");
        assert!(holds(&rows, "Fix tax") && skipped.is_empty(), "{skipped:?}");
        assert!(!holds(&rows, NEWS));
        scene.update(&Connection::open(&scene.path).unwrap(), NEWS);
        assert!(holds(&scene.sync("changed").0, NEWS));
        assert_eq!(scene.machine.sync().appended, 0);
    }
}

/// Each row: how the program writes, whether its transaction is committed, and
/// whether it is larger than the program's memory.
#[test]
fn a_program_that_writes_is_neither_waited_for_nor_misread() {
    for scene in scenes() {
        for (journal, begin, spills) in [
            ("wal", "BEGIN IMMEDIATE", false),
            ("wal", "BEGIN IMMEDIATE", true),
            ("delete", "BEGIN IMMEDIATE", false),
            ("delete", "BEGIN IMMEDIATE", true),
            ("delete", "BEGIN EXCLUSIVE", false),
            ("delete", "BEGIN EXCLUSIVE", true),
            ("truncate", "BEGIN EXCLUSIVE", true),
            ("persist", "BEGIN EXCLUSIVE", true),
            ("memory", "BEGIN EXCLUSIVE", false),
        ] {
            let what = format!("{} {journal} {begin}, spills: {spills}", scene.agent.name());
            let scene = scene.fresh();
            let program = scene.connection(journal);
            program.execute_batch(begin).unwrap();
            scene.update(&program, NEWS);
            if spills {
                scene.fill(&program);
            }
            let (rows, skipped) = scene.sync(&what);
            assert!(!holds(&rows, NEWS), "{what}: read what is not committed");
            assert!(holds(&rows, "Fix tax") || !skipped.is_empty(), "{what}: not read, and no reason given");
            program.execute_batch("COMMIT").unwrap();
            // Only in the WAL, where there is one: the program is still running.
            let (rows, skipped) = scene.sync(&what);
            assert!(holds(&rows, NEWS), "{what}: {skipped:?}");
            drop(program);
            assert!(holds(&scene.sync(&what).0, NEWS), "{what}: after the program has left");
        }
    }
}

#[test]
fn a_database_that_is_broken_is_skipped_with_a_reason() {
    type Harm = fn(&mut Vec<u8>);
    let harms: [(&str, Harm); 4] = [
        ("every page garbled", |bytes| bytes.iter_mut().skip(100).for_each(|byte| *byte ^= 0x5A)),
        ("cut in the middle of a page", |bytes| bytes.truncate(bytes.len() / 2 + 7)),
        ("no database", |bytes| *bytes = b"not a database, and long enough to be taken for one".repeat(9)),
        ("a header alone", |bytes| bytes.truncate(100)),
    ];
    for scene in scenes() {
        for (harm, spoil) in harms {
            let scene = scene.fresh();
            let whole = std::fs::read(&scene.path).unwrap();
            let mut bytes = whole.clone();
            spoil(&mut bytes);
            std::fs::write(&scene.path, bytes).unwrap();
            let (rows, skipped) = scene.sync(harm);
            assert!(rows.is_empty() && skipped.len() == 1, "{harm}: {skipped:?}");
            std::fs::write(&scene.path, whole).unwrap();
            assert!(holds(&scene.sync(harm).0, "Fix tax"), "{harm}: mended");
        }
    }
}

/// Columns are found by name: each of them may be missing, and others may be there.
#[test]
fn older_and_newer_schemas_are_read() {
    for scene in scenes() {
        let columns = texts(&Connection::open(&scene.path).unwrap());
        assert!(columns.len() > 2);
        for (table, column) in columns {
            let scene = scene.fresh();
            let what = format!("{} without {table}.{column}", scene.agent.name());
            let program = Connection::open(&scene.path).unwrap();
            program.execute_batch(&format!("ALTER TABLE \"{table}\" DROP COLUMN \"{column}\"")).unwrap();
            drop(program);
            let (rows, skipped) = scene.sync(&what);
            assert!(!rows.is_empty() && skipped.is_empty(), "{what}: {skipped:?}");
        }
        let fresh = scene.fresh();
        let (as_before, _) = fresh.sync("as it is");
        let program = Connection::open(&scene.path).unwrap();
        for (table, _) in texts(&program) {
            // A table may have been grown already under another of its columns.
            let _ = program
                .execute_batch(&format!("ALTER TABLE \"{table}\" ADD COLUMN novelty BLOB DEFAULT x'00FF'"));
        }
        program.execute_batch("CREATE TABLE novelties(id); CREATE VIEW seen AS SELECT 1").unwrap();
        drop(program);
        let (rows, skipped) = scene.sync("newer");
        assert_eq!((rows, skipped), (as_before, Vec::new()), "newer");
    }
}

/// Rows that are the session itself, and no hint beside a log, are kept like a
/// document: each state of them is a revision.
#[test]
fn rows_that_are_no_hint_are_kept_as_revisions() {
    for agent in support::agents() {
        let (machine, _) = machine(*agent);
        machine.sync();
        let found = discover(&machine.world, &machine.config, None, &Default::default());
        let mut session = found.sessions[0].clone();
        let mut rows = session.files[0].clone();
        rows.source = SourceKey::new("rows");
        rows.kind = SourceKind::Rows;
        rows.path = machine.home().join("database.sqlite#1");
        let store = machine.store();
        for content in ["{\"row\":1}\n", "{\"row\":1}\n{\"row\":2}\n", "{\"row\":1}\n"] {
            rows.content = Some(content.as_bytes().into());
            session.files.retain(|file| file.source != rows.source);
            session.files.push(rows.clone());
            let _lock = store.lock(&|| false).unwrap().unwrap();
            let before =
                Before { sources: Vec::new(), stamps: &Stamps::default(), is_bare: false, is_old: false };
            let captured = capture::session(&store, &session, before, &|| false).unwrap();
            assert!(captured.failed.is_empty(), "{}: {:?}", agent.name(), captured.failed);
        }
        let kept = |revision| {
            let slot = Slot::Session { key: session.key.clone(), source: rows.source.clone(), revision };
            String::from_utf8(raw(&store, &slot)).unwrap()
        };
        assert_eq!([kept(1), kept(2)], ["{\"row\":1}\n", "{\"row\":1}\n{\"row\":2}\n"], "{}", agent.name());
        assert_eq!(store.session(&session.key).unwrap().unwrap().sources[&rows.source].revisions, 2);
        machine.verify();
    }
}

#[test]
fn a_database_that_is_gone_takes_nothing_with_it() {
    for scene in scenes() {
        scene.sync("closed");
        let before = content(&scene.machine);
        std::fs::remove_file(&scene.path).unwrap();
        assert_eq!(scene.machine.sync().failed, 0);
        assert_eq!(content(&scene.machine), before);
        // And it is not the reason why a session is one.
        let found = discover(&scene.machine.world, &scene.machine.config, None, &Default::default());
        assert!(
            found
                .sessions
                .iter()
                .all(|session| session.files.iter().any(|file| file.source == SourceKey::main()))
        );
    }
}
