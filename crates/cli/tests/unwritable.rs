//! Where the real program cannot write: a small disk that is full, a disk mounted
//! read-only, folders that belong to somebody else. It says which path and what helps,
//! questions are still answered, and nothing that was captured is lost.
//!
//! Mounts are made in a namespace of their own and vanish with it; where that is not
//! allowed, the test says that it skips. Rights mean nothing to root, so that the
//! program is then run as another user.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(unix)]

use retro::agents::{AGENTS, script::Script};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

const RETRO: &str = env!("CARGO_BIN_EXE_retro");

/// Nobody, on most systems.
const NOBODY: u32 = 65_534;

struct User {
    dir: tempfile::TempDir,
}

struct Answer {
    code: Option<i32>,
    said: String,
}

impl User {
    /// A home with some sessions of every agent.
    fn new() -> User {
        let user = User { dir: tempfile::tempdir().unwrap() };
        for number in 1..=6 {
            let words = format!("{number} ").repeat(40 * number);
            let story =
                format!("@ session 00000000-0000-4000-8000-00000000000{number}\n> Count {words}\n< Done.\n");
            for agent in AGENTS {
                for (path, bytes) in agent.write(&Script::parse(&story).unwrap()) {
                    let path = user.home().join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, bytes).unwrap();
                }
            }
        }
        user
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn run(&self, root: &Path, arguments: &[&str]) -> Answer {
        let mut command = Command::new(RETRO);
        command.args(arguments).arg("--root").arg(root).env_clear().env("HOME", self.home()).env("TZ", "UTC");
        let owner = std::fs::metadata(self.dir.path()).unwrap().uid();
        if owner != 0 && running_as_root(self.dir.path()) {
            command.uid(owner).gid(owner);
        }
        let output = command.current_dir(self.dir.path()).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        Answer { code: output.status.code(), said: String::from_utf8(said).unwrap() }
    }

    /// Runs lines of shell where a disk can be mounted at `disk`; nothing if that is
    /// not allowed here.
    fn with_a_disk(&self, lines: &str) -> Option<String> {
        let disk = self.dir.path().join("disk");
        std::fs::create_dir_all(&disk).unwrap();
        let script = format!(
            "set -u; D={}; R='{RETRO} --home {} --root {}/store';\nrun() {{ echo \"== $*\"; \"$@\" 2>&1; echo \"== exit $?\"; }}\n{lines}",
            disk.display(),
            self.home().display(),
            disk.display(),
        );
        let namespace = if running_as_root(self.dir.path()) { "-m" } else { "-Urm" };
        let allowed =
            Command::new("unshare").args([namespace, "mount", "-t", "tmpfs", "tmpfs"]).arg(&disk).output();
        if !allowed.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let output = Command::new("unshare").args([namespace, "sh", "-c", &script]).output().unwrap();
        Some(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
    }
}

/// Whether what we make belongs to root.
fn running_as_root(folder: &Path) -> bool {
    let probe = tempfile::tempfile_in(folder).unwrap();
    probe.metadata().unwrap().uid() == 0
}

/// What the command that begins so said, and how it ended.
fn part<'t>(text: &'t str, words: &str) -> (&'t str, &'t str) {
    let from = text.find(words).unwrap_or_else(|| panic!("{words} was not run:\n{text}"));
    let (said, rest) =
        text[from..].split_once("== exit ").unwrap_or_else(|| panic!("{words} did not end:\n{text}"));
    (said, rest.lines().next().unwrap_or_default())
}

#[test]
fn a_full_disk_is_told_and_completed_when_there_is_room() {
    let user = User::new();
    let told = user.with_a_disk(
        "mount -t tmpfs -o size=320k tmpfs $D\nrun $R sync\nrun $R verify --deep\nmount -o remount,size=40m $D\n\
         run $R --quiet sync\nrun $R --quiet verify --deep",
    );
    let Some(told) = told else {
        println!(
            "skipped: no disk can be mounted here; crates/retro/tests/full.rs tries it in the file layer"
        );
        return;
    };
    let (said, exit) = part(&told, " sync");
    assert_eq!(exit, "2", "{told}");
    assert!(said.contains("/disk/store") && said.contains("free some space"), "{said}");
    assert_eq!(part(&told, " verify --deep").1, "0", "{told}");
    assert_eq!(part(&told, " --quiet sync"), (part(&told, " --quiet sync").0, "0"), "{told}");
    assert_eq!(part(&told, " --quiet verify").1, "0", "{told}");
}

#[test]
fn a_read_only_disk_is_told_and_questions_are_answered() {
    let user = User::new();
    let told = user.with_a_disk(
        "mount -t tmpfs -o size=40m tmpfs $D\nrun $R --quiet sync\nmount -o remount,ro $D\nrun $R sync\nrun $R list\n\
         run $R usage\nrun $R show claude latest\nrun $R events claude latest\nrun $R verify --deep\nrun $R memory weave --query count --cwd /home/dev\n\
         run $R dashboard build --out $D.page\nrun $R rebuild",
    );
    let Some(told) = told else {
        println!(
            "skipped: no disk can be mounted here; crates/retro/tests/full.rs tries it in the file layer"
        );
        return;
    };
    for refused in [" sync", " rebuild"] {
        let (said, exit) = part(told.split_once("== exit 0").unwrap().1, refused);
        assert_eq!(exit, "2", "{told}");
        assert!(said.contains("/disk/store") && said.contains("mount it for writing"), "{said}");
    }
    for answered in [" list", " usage", " show", " events", " verify", " memory weave", " dashboard build"] {
        assert_eq!(part(&told, answered).1, "0", "{told}");
    }
    assert!(part(&told, " show").0.contains("Count"), "{told}");
}

#[test]
fn what_is_to_be_forgotten_waits_for_a_disk_that_can_be_written() {
    let user = User::new();
    let told = user.with_a_disk(
        "mount -t tmpfs -o size=40m tmpfs $D\nrun $R --quiet sync\nmount -o remount,ro $D\n\
         run $R forget claude 00000000-0000-4000-8000-000000000005 --yes\n\
         echo 'Count 3 3 3 3' | run $R forget --text-stdin --yes\nrun $R --quiet retain --yes\n\
         mount -o remount,rw $D\nrun $R forget --list\n\
         head -c 60m /dev/zero > $D/fill 2> /dev/null\n\
         echo 'Count 3 3 3 3' | run $R --quiet forget --text-stdin --yes\nrm $D/fill\n\
         echo 'Count 3 3 3 3' | run $R --verbose forget --text-stdin --yes\n\
         run $R raw claude 00000000-0000-4000-8000-000000000003\nrun $R verify --deep\n\
         cp -r $D/store $D/other\nO=$(echo $R | sed s,disk/store,disk/other,)\n\
         run $O --quiet sync\nrun $O --no-pager raw claude 00000000-0000-4000-8000-000000000003\n\
         run $R --quiet rebuild &\necho 'Count 4 4 4 4' | run $R --json forget --text-stdin --yes > $D/second\nwait\n\
         cat $D/second\nrun $R --quiet verify --deep",
    );
    let Some(told) = told else {
        println!("skipped: no disk can be mounted here");
        return;
    };
    for refused in [" forget claude", " forget --text-stdin", " --quiet retain"] {
        let (said, exit) = part(&told, refused);
        assert_eq!(exit, "2", "{refused}: {told}");
        assert!(said.contains("/disk/store") && said.contains("mount it for writing"), "{said}");
    }
    assert!(part(&told, " forget --list").0.contains("Nothing was forgotten"), "{told}");
    let (said, exit) = part(&told, " --quiet forget --text-stdin");
    assert!(exit == "2" && said.contains("free some space"), "{told}");
    let (said, exit) = part(&told, " --verbose forget --text-stdin");
    assert!(exit == "0" && said.contains("found in 0 places"), "{told}");
    for read in [" raw claude", " --no-pager raw"] {
        let (said, exit) = part(&told, read);
        assert!(exit == "0" && said.contains("****") && !said.contains("Count 3 3"), "{told}");
    }
    assert_eq!(part(&told, " verify --deep").1, "0", "{told}");
    assert!(told.contains("\"after\": 0") || told.contains("\"after\":0"), "beside a sync: {told}");
    assert_eq!(part(&told, " --quiet verify").1, "0", "{told}");
}

#[test]
fn folders_of_somebody_else_are_told_and_nothing_is_lost() {
    let user = User::new();
    if running_as_root(user.dir.path()) {
        give(user.dir.path(), NOBODY);
        if user.run(Path::new("elsewhere"), &["agents"]).code != Some(0) {
            println!("skipped: the program cannot be run as another user from here");
            return;
        }
    }
    let root = user.dir.path().join("store");
    assert_eq!(user.run(&root, &["sync"]).code, Some(0));
    let grown = user.home().join(".claude/projects");
    let log = first_file(&grown);
    let bytes = std::fs::read(&log).unwrap();
    std::fs::write(&log, [&bytes[..], &bytes[..]].concat()).unwrap();
    for folder in ["raw/claude", "sessions", "index", ""] {
        let folder = root.join(folder);
        if !folder.is_dir() {
            continue;
        }
        let files = first_files(&folder);
        for path in files.iter().chain([&folder]) {
            let mode = if path.is_dir() { 0o500 } else { 0o400 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let answer = user.run(&root, &["sync"]);
        if answer.code != Some(0) {
            let helps = answer.said.contains("make the folder yours again");
            assert!(answer.said.contains(&root.display().to_string()) && helps, "{}", answer.said);
        }
        for path in files.iter().chain([&folder]) {
            let mode = if path.is_dir() { 0o700 } else { 0o600 };
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(user.run(&root, &["verify", "--deep"]).code, Some(0), "{}", folder.display());
    }
    let after = user.run(&root, &["sync"]);
    assert_eq!(after.code, Some(0), "{}", after.said);
    assert_eq!(user.run(&root, &["verify", "--deep"]).code, Some(0));
}

#[test]
fn a_store_on_another_file_system_is_like_any() {
    let user = User::new();
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        println!("skipped: there is no second file system here");
        return;
    };
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    let where_ = if device(memory.path()) == device(user.dir.path()) { "the same" } else { "another" };
    println!("the store lies on {where_} file system");
    let root = memory.path().join("store");
    for command in [&["sync"][..], &["sync"], &["rebuild"], &["verify", "--deep"]] {
        let answer = user.run(&root, command);
        assert_eq!(answer.code, Some(0), "{command:?}: {}", answer.said);
    }
}

fn give(folder: &Path, owner: u32) {
    chown(folder, Some(owner), Some(owner)).unwrap();
    for path in all_below(folder) {
        chown(path, Some(owner), Some(owner)).unwrap();
    }
}

fn first_file(folder: &Path) -> PathBuf {
    all_below(folder).into_iter().find(|path| path.is_file()).unwrap()
}

/// The files that lie directly in a folder.
fn first_files(folder: &Path) -> Vec<PathBuf> {
    all_below(folder).into_iter().filter(|path| path.is_file() && path.parent() == Some(folder)).collect()
}

fn all_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all_below(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}
