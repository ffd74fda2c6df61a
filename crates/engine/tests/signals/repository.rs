//! A git repository for a story.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::Machine;

/// A repository with its commits, oldest first.
pub struct Repository {
    folder: PathBuf,
    hashes: Vec<String>,
}

impl Repository {
    /// A story in this repository: `{cwd}` is its folder, `{1}` its first commit.
    pub fn fill(&self, story: &str) -> String {
        let mut story = story.replace("{cwd}", &self.folder.display().to_string());
        for (at, hash) in self.hashes.iter().enumerate() {
            story = story.replace(&format!("{{{}}}", at + 1), &hash[..7]);
        }
        story
    }

    fn git(&self, at_s: i64, arguments: &[&str]) -> String {
        git(&self.folder, at_s, arguments)
    }
}

fn git(folder: &Path, at_s: i64, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=dev", "-c", "user.email=dev@example.com", "-c", "commit.gpgsign=false"]);
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command.env("GIT_AUTHOR_DATE", format!("@{at_s} +0000"));
    command.env("GIT_COMMITTER_DATE", format!("@{at_s} +0000"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes a repository: lines `commit DAYS Subject` (days before now, or `story` for the time
/// of the session), `branch NAME`, file names, and lines of a file behind two blanks.
pub fn make(machine: &Machine, text: &str) -> Repository {
    let folder = machine.path().join("repository");
    std::fs::create_dir_all(&folder).unwrap();
    let mut made = Repository { folder, hashes: Vec::new() };
    made.git(0, &["init", "-q", "-b", "main"]);
    let now_s = machine.world.now().as_millis() / 1000;
    let mut next: Option<(i64, String)> = None;
    let mut file = String::new();
    for line in text.lines() {
        if let Some(branch) = line.strip_prefix("branch ") {
            commit(&mut made, next.take());
            made.git(0, &["checkout", "-q", "-B", branch]);
        } else if let Some(rest) = line.strip_prefix("commit ") {
            commit(&mut made, next.take());
            let (days, subject) = rest.split_once(' ').unwrap();
            let at_s = match days {
                "story" => retro_agents::script::Script::parse("> x").unwrap().start_ms / 1000,
                days => now_s - days.parse::<i64>().unwrap() * 86_400,
            };
            next = Some((at_s, subject.to_owned()));
        } else if let Some(line) = line.strip_prefix("  ") {
            let path = made.folder.join(&file);
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            std::fs::write(path, format!("{before}{line}\n")).unwrap();
        } else {
            file = line.to_owned();
            drop(std::fs::remove_file(made.folder.join(&file)));
        }
    }
    commit(&mut made, next.take());
    made
}

fn commit(made: &mut Repository, next: Option<(i64, String)>) {
    let Some((at_s, subject)) = next else { return };
    made.git(at_s, &["add", "-A"]);
    made.git(at_s, &["commit", "-q", "--allow-empty", "-m", &subject]);
    made.hashes.push(made.git(at_s, &["rev-parse", "HEAD"]));
}
