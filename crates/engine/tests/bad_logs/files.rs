//! Files that are no files: links in circles, pipes, sockets, folders, and what the
//! user may not read. Each is skipped with a reason, and nothing waits.
#![cfg(unix)]

use retro_engine::SyncReport;
use retro_model::{SessionKey, SourceKey};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{self, Machine};
use crate::{File, name, nth, retold, story, write};

/// Where the main log of another session would lie.
fn main_of(machine: &Machine, files: &[File], n: usize) -> PathBuf {
    let files = retold(files, &nth(n));
    let main = files.into_iter().find(|file| file.source.is_main()).unwrap();
    let path = machine.home().join(main.path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

/// A way to put something that is no log where one would lie, and whether it must be told of.
type Odd = (&'static str, fn(&Path), bool);

const ODD: &[Odd] = &[
    ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success()), true),
    ("a socket", socket, true),
    ("a folder", |path| std::fs::create_dir(path).unwrap(), true),
    (
        "a folder with a log in it",
        |path| {
            std::fs::create_dir(path).unwrap();
            std::fs::write(path.join("x.jsonl"), "{}\n").unwrap();
        },
        true,
    ),
    ("a device", |path| symlink("/dev/zero", path).unwrap(), true),
    ("a link to itself", |path| symlink(path, path).unwrap(), true),
    ("a link to nothing", |path| symlink("/nowhere/at/all", path).unwrap(), false),
    (
        "a link to the folder above",
        |path| symlink(path.parent().unwrap().parent().unwrap(), path).unwrap(),
        true,
    ),
];

/// A path to a socket may have a hundred bytes; it is moved to its place.
fn socket(path: &Path) {
    let folder = tempfile::Builder::new().prefix("s").tempdir_in("/tmp").unwrap();
    let short = folder.path().join("s");
    drop(UnixListener::bind(&short).unwrap());
    if std::fs::rename(&short, path).is_err() {
        println!("a socket cannot be moved here; a pipe stands for it");
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }
}

fn told(report: &SyncReport, path: &Path) -> Option<String> {
    let name = name(path);
    let below = |failure: &&retro_engine::report::Failure| {
        failure.path == path.display().to_string() || failure.path.ends_with(&format!("/{name}"))
    };
    report.skipped_files.iter().chain(&report.failures).find(below).map(|failure| failure.reason.clone())
}

#[test]
fn what_is_no_file_is_skipped_with_a_reason() {
    for agent in support::agents() {
        let files = story(*agent);
        let clean = {
            let machine = Machine::new();
            write(&machine, &files);
            machine.sync();
            machine.answers()
        };
        for (what, make, must_tell) in ODD {
            let machine = Machine::new();
            write(&machine, &files);
            let path = main_of(&machine, &files, 1);
            make(&path);
            let report = machine.sync();
            let what = format!("{}: {what}", agent.name());
            assert_eq!((report.failed, report.ingested), (0, 1), "{what}: {:?}", report.failures);
            assert_eq!(machine.answers(), clean, "{what}");
            assert!(told(&report, &path).is_some() || !must_tell, "{what}: {:?}", report.skipped_files);
            machine.verify();
        }
    }
}

/// Folders that lead back to themselves are walked once.
#[test]
fn links_in_circles_come_to_an_end() {
    for agent in support::agents() {
        let files = story(*agent);
        let machine = Machine::new();
        write(&machine, &files);
        let main = machine.home().join(&files.iter().find(|file| file.source.is_main()).unwrap().path);
        for (n, above) in main.ancestors().skip(1).take_while(|path| **path != machine.home()).enumerate() {
            symlink(above, main.with_file_name(format!("circle-{n}"))).unwrap();
        }
        let report = machine.sync();
        assert_eq!((report.failed, report.ingested), (0, 1), "{}: {:?}", agent.name(), report.failures);
        assert_eq!(machine.sync().appended, 0, "{}", agent.name());
        machine.verify();
    }
}

fn is_root() -> bool {
    let probe = tempfile::tempdir().unwrap();
    probe.path().metadata().unwrap().uid() == 0
}

/// A log that the user may not read, and then a folder. Root may read everything, so
/// the same test is run again as nobody, where that can be done.
#[test]
fn what_may_not_be_read_is_skipped_with_a_reason() {
    if is_root() {
        return as_nobody("files::what_may_not_be_read_is_skipped_with_a_reason");
    }
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for agent in support::agents() {
        let files = story(*agent);
        let machine = Machine::new();
        write(&machine, &files);
        write(&machine, &retold(&files, &nth(1)));
        let path = main_of(&machine, &files, 1);
        mode(&path, 0);
        let report = machine.sync();
        assert!(told(&report, &path).is_some(), "{}: {report:?}", agent.name());
        let store = machine.store();
        let captured = |n: usize| store.session(&SessionKey::new(agent.name(), nth(n))).unwrap();
        assert!(captured(0).is_some(), "{}: the neighbour is not captured", agent.name());
        let main = captured(1).is_some_and(|session| session.sources.contains_key(&SourceKey::main()));
        assert!(!main, "{}: captured what cannot be read", agent.name());
        mode(&path, 0o600);
        let report = machine.sync();
        assert_eq!((report.failed, report.skipped_files.len()), (0, 0), "{}: {report:?}", agent.name());
        assert_eq!(machine.store().session_keys().unwrap().len(), 2, "{}", agent.name());
        let before = machine.answers();
        let folder = path.parent().unwrap().to_owned();
        mode(&folder, 0);
        let report = machine.sync();
        assert!(!report.skipped_files.is_empty() && report.failed == 0, "{}: {report:?}", agent.name());
        mode(&folder, 0o700);
        machine.sync();
        assert_eq!(machine.answers(), before, "{}", agent.name());
        machine.verify();
    }
}

/// Runs one test of this binary as an unprivileged user.
fn as_nobody(test: &str) {
    const NOBODY: u32 = 65_534;
    let folder = tempfile::tempdir().unwrap();
    let binary = folder.path().join("bad_logs");
    std::fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    for path in [folder.path(), &binary] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&binary);
    command.args(["--exact", test]).env_remove("TMPDIR").current_dir("/").uid(NOBODY).gid(NOBODY);
    match command.output() {
        Err(error) => println!("skipped: this machine does not let us be nobody: {error}"),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
        }
    }
}
