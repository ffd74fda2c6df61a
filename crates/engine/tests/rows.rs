//! An agent whose sessions are rows of a database: the database is seen once, only sessions
//! that changed are read, and what they grew by is appended.
#![allow(clippy::unwrap_used)]

use retro_agents::script::Script;
use retro_agents::{
    Agent, Database, DatabaseError, Draft, Format, Kindred, Out, Parse, Part, Places, Record, Row, RowsSeen,
    RowsStamp, Sightings,
};
use retro_engine::capture::{self, Before};
use retro_engine::discover::{Discovery, Keep, Scope, look};
use retro_engine::{Config, World};
use retro_model::{SessionKey, SourceKey, SourceKind};
use retro_store::{Comparison, RealDisk, Slot, Stamps, Store};
use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Keeps every message of every session in `.toy/toy.sqlite`.
#[derive(Default)]
struct Toy {
    /// How often it was asked for the sessions of a database.
    listed: AtomicUsize,
    /// How often it was asked for the rows of a session.
    read: AtomicUsize,
}

impl Agent for Toy {
    fn name(&self) -> &'static str {
        "toy"
    }

    fn title(&self) -> &'static str {
        "Toy"
    }

    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    fn parser_version(&self) -> u32 {
        1
    }

    fn roots(&self, places: &Places) -> Vec<PathBuf> {
        vec![places.home.join(".toy")]
    }

    fn discover(&self, root: &Path, seen: &mut Sightings) {
        seen.database(&root.join("toy.sqlite"), 0);
    }

    fn is_root(&self, folder: &Path) -> bool {
        folder.join("toy.sqlite").is_file()
    }

    fn log_folders(&self) -> &'static [&'static str] {
        &[]
    }

    fn list(&self, database: &Database, seen: &mut Sightings) -> Result<(), DatabaseError> {
        self.listed.fetch_add(1, Ordering::Relaxed);
        database.read(|connection| {
            let sql = "SELECT session, sum(length(body)), max(changed) FROM messages GROUP BY session";
            let mut statement = connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let (size, changed): (i64, i64) = (row.get(1)?, row.get(2)?);
                let (size, hash) = (size.cast_unsigned(), changed.cast_unsigned());
                seen.rows(RowsSeen {
                    session: row.get(0)?,
                    source: SourceKey::main(),
                    kind: SourceKind::Rows,
                    format: Format::JsonLines,
                    stamp: RowsStamp { size, hash, changed_ns: changed },
                });
            }
            Ok(())
        })
    }

    fn rows(
        &self,
        database: &Database,
        session: &str,
        _source: &SourceKey,
    ) -> Result<Vec<u8>, DatabaseError> {
        self.read.fetch_add(1, Ordering::Relaxed);
        database.read(|connection| {
            let sql =
                "SELECT json_object('id', id, 'body', body) FROM messages WHERE session = ?1 ORDER BY id";
            let mut statement = connection.prepare(sql)?;
            let lines = statement.query_map([session], |row| row.get::<_, String>(0))?;
            let lines: Vec<String> = lines.collect::<Result<_, _>>()?;
            Ok(lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect())
        })
    }

    fn identify(&self, _path: &Path, _head: &[u8]) -> Option<Kindred> {
        None
    }

    fn parser(&self, _part: &Part, _state: Option<&[u8]>) -> Box<dyn Parse> {
        Box::new(Parser)
    }

    fn settle(&self, _session: &SessionKey, _drafts: &mut Vec<Draft>) {}

    fn resume(&self, _session_id: &str, _cwd: Option<&str>) -> Option<String> {
        None
    }

    fn source_form(&self, _source: &SourceKey) -> (SourceKind, Format) {
        (SourceKind::Rows, Format::JsonLines)
    }

    fn mapping(&self) -> &'static [Row] {
        &[]
    }

    fn write(&self, _script: &Script) -> Vec<(PathBuf, Vec<u8>)> {
        Vec::new()
    }
}

struct Parser;

impl Parse for Parser {
    fn record(&mut self, _record: &Record<'_>, out: &mut Out) {
        out.fold("message");
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
}

/// A machine on which the toy's program runs, and a store.
struct Scene {
    home: tempfile::TempDir,
    toy: &'static Toy,
    program: Connection,
    world: World,
    config: Config,
    store: Store,
}

impl Scene {
    fn with(sessions: usize) -> Scene {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".toy")).unwrap();
        let program = Connection::open(home.path().join(".toy/toy.sqlite")).unwrap();
        program.pragma_update(None, "journal_mode", "wal").unwrap();
        program
            .execute_batch(
                "CREATE TABLE messages(id INTEGER PRIMARY KEY, session TEXT, body TEXT, changed INTEGER);
                 CREATE INDEX by_session ON messages(session)",
            )
            .unwrap();
        let config = Config::for_root(home.path().join("store"));
        let store = Store::open_or_create(&config.root.value, Arc::new(RealDisk)).unwrap();
        let world = World::at(home.path());
        let scene = Scene { home, toy: Box::leak(Box::new(Toy::default())), program, world, config, store };
        scene.program.execute_batch("BEGIN").unwrap();
        for number in 0..sessions {
            scene.say(number, "first");
            scene.say(number, "second");
        }
        scene.program.execute_batch("COMMIT").unwrap();
        scene
    }

    fn say(&self, session: usize, body: &str) {
        let sql = "INSERT INTO messages(session, body, changed)
                   VALUES (?1, ?2, (SELECT ifnull(max(id), 0) + 1 FROM messages))";
        self.program.execute(sql, (format!("s{session}"), body)).unwrap();
    }

    fn look(&self) -> (Stamps, Discovery) {
        let scope = Scope { agents: vec![self.toy], from: None };
        let store = &self.store;
        let read = |_: &_| Ok(store.index_and_stamps()?);
        let (_, stamps, found) = look(&self.world, &self.config, &scope, Keep::News, read).unwrap();
        (stamps, found)
    }

    /// Captures what is news; the bytes that were new.
    fn sync(&self) -> (Vec<SessionKey>, u64) {
        let (stamps, found) = self.look();
        assert!(found.skipped.is_empty(), "{:?}", found.skipped);
        let index = self.store.index().unwrap();
        let _lock = self.store.lock(&|| false).unwrap().unwrap();
        let mut new_bytes = 0;
        for session in &found.sessions {
            let sources = index.sources_of(&session.key).unwrap();
            let before = Before { sources, stamps: &stamps, is_bare: false, is_old: false };
            let captured = capture::session(&self.store, session, before, &|| false).unwrap();
            assert!(captured.failed.is_empty(), "{:?}", captured.failed);
            new_bytes += captured.new_bytes;
            index
                .write(|index| {
                    captured.places.iter().try_for_each(|place| index.put_place(place))?;
                    captured.sources.iter().try_for_each(|source| index.put_source(source))
                })
                .unwrap();
        }
        self.store.sync_all().unwrap();
        index.write(|index| found.databases.iter().try_for_each(|place| index.put_place(place))).unwrap();
        (found.sessions.into_iter().map(|session| session.key).collect(), new_bytes)
    }

    fn asked(&self) -> (usize, usize) {
        (self.toy.listed.load(Ordering::Relaxed), self.toy.read.load(Ordering::Relaxed))
    }

    /// Whether a revision holds just what the database says of a session.
    fn holds(&self, session: usize, revision: u32) -> bool {
        let key = SessionKey::new("toy", format!("s{session}"));
        let database = Database::new(self.toy, &self.home.path().join(".toy/toy.sqlite"), None);
        let rows = Toy::default().rows(&database, &key.id, &SourceKey::main()).unwrap();
        let archive = self.store.archive(&Slot::Session { key, source: SourceKey::main(), revision });
        archive.compare(&mut rows.as_slice()).unwrap() == Comparison::Equal
    }

    fn revisions(&self, session: usize) -> u32 {
        let file = self.store.session(&SessionKey::new("toy", format!("s{session}"))).unwrap().unwrap();
        file.sources[&SourceKey::main()].revisions
    }

    fn names(&self) -> Vec<PathBuf> {
        let mut names: Vec<PathBuf> =
            self.home.path().join(".toy").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        names
    }
}

#[test]
fn of_a_thousand_sessions_the_one_that_grew_is_read() {
    const SESSIONS: usize = 1_000;
    let scene = Scene::with(SESSIONS);
    let beside = scene.names();
    assert_eq!(scene.sync().0.len(), SESSIONS);
    assert_eq!(scene.asked(), (1, SESSIONS));
    assert!(scene.sync().0.is_empty());
    assert_eq!(scene.asked(), (1, SESSIONS), "an unchanged database is not opened");

    scene.say(500, "third");
    let (read, new_bytes) = scene.sync();
    assert_eq!(read, [SessionKey::new("toy", "s500")]);
    assert_eq!(scene.asked(), (2, SESSIONS + 1));
    assert!(new_bytes < 100, "what was kept before is not kept again: {new_bytes} bytes");
    assert_eq!(scene.revisions(500), 1);
    assert!(scene.holds(500, 1) && scene.holds(499, 1));

    assert!(!scene.config.root.value.join("index/copies").exists(), "nothing is copied");
    assert_eq!(scene.names(), beside, "nothing is made beside the database");
}

#[test]
fn rows_that_were_rewritten_are_the_next_revision() {
    let scene = Scene::with(10);
    scene.sync();
    let sql = "UPDATE messages SET body = 'other', changed = 1000000 WHERE session = 's7' AND body = 'first'";
    scene.program.execute(sql, []).unwrap();
    assert_eq!(scene.sync().0, [SessionKey::new("toy", "s7")]);
    assert_eq!(scene.revisions(7), 2);
    assert!(scene.holds(7, 2) && !scene.holds(7, 1));
}

#[test]
fn a_checkpoint_is_no_news_of_any_session() {
    let scene = Scene::with(10);
    scene.sync();
    scene.program.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    assert!(scene.look().1.sessions.is_empty());
    assert_eq!(scene.asked(), (2, 10), "the list was asked for, and no rows");
}
