//! A database whose program runs meanwhile, as a process of its own: SQLite shares what it
//! knows of a write-ahead log inside a process, so a test must not be the program.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use retro_agents::{Database, by_name};
use rusqlite::Connection;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Names the database for which this test binary is the program.
const DATABASE: &str = "RETRO_TEST_DATABASE";

/// The program: runs SQL that it reads line by line, and says when each is done.
#[test]
fn the_program() {
    let Ok(path) = std::env::var(DATABASE) else { return };
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    for sql in std::io::stdin().lines() {
        connection.execute_batch(&sql.unwrap()).unwrap();
        println!("\ndone");
    }
}

struct Program(Child);

impl Program {
    fn on(database: &Path) -> Program {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_program", "--nocapture"]).env(DATABASE, database);
        Program(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap())
    }

    fn run(&mut self, sql: &str) {
        writeln!(self.0.stdin.as_mut().unwrap(), "{sql}").unwrap();
        let mut said = BufReader::with_capacity(1, self.0.stdout.as_mut().unwrap()).lines();
        assert!(said.any(|line| line.unwrap() == "done"), "the program stopped");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn photograph(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn rows_that_are_only_in_the_wal_are_read_in_place_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a #1?.sqlite");
    let mut program = Program::on(&path);
    program.run("CREATE TABLE t(x); INSERT INTO t VALUES (1), (2);");
    let elsewhere = tempfile::tempdir().unwrap();
    let copies = elsewhere.path().join("copies");
    let database = Database::new(by_name("codex").unwrap(), &path, Some(copies.clone()));
    let count = || {
        let before = photograph(folder.path());
        let count: i64 = database
            .read(|connection| Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?))
            .unwrap();
        assert!(photograph(folder.path()) == before, "after {count} rows");
        count
    };
    assert_eq!(photograph(folder.path()).len(), 3);
    assert_eq!(count(), 2);
    program.run("INSERT INTO t VALUES (3);");
    assert_eq!(count(), 3, "the same value sees what was added");
    program.run("BEGIN IMMEDIATE; INSERT INTO t VALUES (4);");
    assert_eq!(count(), 3, "what is not committed is not read");
    program.run("COMMIT;");
    program.run("PRAGMA wal_checkpoint(TRUNCATE);");
    program.run("INSERT INTO t VALUES (5);");
    assert_eq!(count(), 5, "the log began again");
    drop(program);
    assert_eq!(count(), 5, "its program was killed");
    let fresh = Database::new(by_name("codex").unwrap(), &path, Some(copies.clone()));
    let before = photograph(folder.path());
    let rows: i64 = fresh
        .read(|connection| Ok(connection.query_row("SELECT count(*) FROM t", [], |row| row.get(0))?))
        .unwrap();
    assert_eq!(rows, 5);
    assert!(photograph(folder.path()) == before);
    assert!(!copies.exists(), "nothing was copied");
}
