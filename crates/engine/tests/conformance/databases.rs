//! Databases that belong to a running program: what it committed is read, what it
//! has not is not, and no trace is left beside it.

use retro_agents::Agent;
use retro_agents::script::Script;
use retro_engine::discover::discover;
use retro_model::{SessionKey, SourceKey};
use retro_store::{Slot, Stamps};
use rusqlite::Connection;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::content;
use crate::support::{self, Machine, STORY, raw};

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
        // The index of a write-ahead log is shared inside a process: the program, which is
        // this test, lets its readers write it.
        if path.to_string_lossy().ends_with("-shm") {
            return (path, (Vec::new(), SystemTime::UNIX_EPOCH));
        }
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

/// A checkpoint, or a row of another session, changes the file and no session.
#[test]
fn a_database_that_changed_is_no_news_of_a_session_whose_rows_did_not() {
    for scene in scenes() {
        let program = scene.connection("wal");
        scene.sync("running");
        let name = scene.agent.name();
        assert_eq!(scene.machine.sync().appended, 0, "{name}");
        let stamps = || scene.machine.store().index().unwrap().stamps().unwrap();
        let news = || {
            let found = discover(&scene.machine.world, &scene.machine.config, None, &stamps());
            found.sessions.iter().filter(|session| session.news).count()
        };
        assert!(stamps().place(&scene.path).is_some(), "{name}: how the database looked is not kept");
        program.execute_batch("CREATE TABLE others(x); INSERT INTO others VALUES (1)").unwrap();
        assert_eq!(news(), 0, "{name}: another table");
        program.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
        assert_eq!(news(), 0, "{name}: a checkpoint");
        let times = |stamps: &Stamps| {
            let places = stamps.iter().filter(|place| place.session.is_some());
            places.map(|place| place.stamp.changed_ns()).max()
        };
        let before = times(&stamps());
        scene.sync("checkpointed");
        assert_eq!(times(&stamps()), before, "{name}: the time of a session is not its database's");
        scene.update(&program, NEWS);
        assert!(news() > 0, "{name}");
    }
}

/// An unchanged database is not opened: not even one that could not be read.
#[test]
fn a_database_that_looks_as_it_did_is_not_opened() {
    for scene in scenes() {
        scene.sync("closed");
        let meta = std::fs::metadata(&scene.path).unwrap();
        let garbled = vec![0x5A; meta.len() as usize];
        std::fs::write(&scene.path, garbled).unwrap();
        let file = std::fs::File::options().write(true).open(&scene.path).unwrap();
        file.set_modified(meta.modified().unwrap()).unwrap();
        let report = scene.machine.sync();
        assert!(report.skipped_files.is_empty(), "{:?}", report.skipped_files);
        assert_eq!((report.appended, report.failed), (0, 0));
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(scene.machine.sync().skipped_files.len(), 1);
    }
}

/// A view without end is given up with a reason, and takes nothing else with it.
#[test]
fn a_database_without_end_is_skipped_with_a_reason() {
    for scene in scenes() {
        let program = scene.connection("delete");
        let (table, _) = texts(&program).remove(0);
        let columns: Vec<String> = {
            let mut statement = program.prepare("SELECT name FROM pragma_table_info(?1)").unwrap();
            statement.query_map([&table], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
        };
        let list: Vec<String> = columns.iter().map(|name| format!("x AS \"{name}\"")).collect();
        program
            .execute_batch(&format!(
                "DROP TABLE \"{table}\"; CREATE VIEW \"{table}\" AS WITH RECURSIVE n(x) AS
                 (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT {} FROM n",
                list.join(", ")
            ))
            .unwrap();
        drop(program);
        let (rows, skipped) = scene.sync("endless");
        assert!(rows.is_empty() && skipped.len() == 1, "{skipped:?}");
        assert!(skipped[0].contains("steps") || skipped[0].contains("more than"), "{skipped:?}");
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
