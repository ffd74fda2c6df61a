//! Commits as sessions: what somebody asked for and what was edited, with the subject of the
//! commit, which is not part of the session, as a question about it.
//!
//! Some commits are left out. Their subjects are questions without an answer.

use retro::agents::script::{Script, Step};
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;

/// The newest commits that are read.
const COMMITS_MAX: &str = "-1500";

/// One commit of so many is left out.
const LEFT_OUT: usize = 5;

/// A subject has at least so many words: a version alone is no question.
const QUESTION_WORDS_MIN: usize = 4;

/// Lines of one file's change that are listed.
const LINES_MAX: usize = 400;

/// Files of a commit that are listed. A commit with more only moves code.
const FILES_MAX: usize = 12;

/// Begins a commit in what git is asked for, and divides its parts.
const COMMIT: char = '\u{1}';
const PART: char = '\u{2}';

/// A commit, taken apart.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Commit {
    /// The question.
    pub(super) subject: String,
    /// What the user says in the session.
    pub(super) body: String,
    pub(super) edits: Vec<Edit>,
    /// Whether there is a session of it.
    pub(super) is_told: bool,
}

/// How one file was changed.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Edit {
    pub(super) path: String,
    pub(super) removed: Vec<String>,
    pub(super) added: Vec<String>,
}

/// The newest commits of a repository, newest first.
pub(super) fn read(repository: &Path) -> Result<Vec<Commit>, Failure> {
    let format = format!("--format={COMMIT}%s{PART}%b{PART}");
    let output = Command::new("git")
        .arg("-C")
        .arg(repository)
        .args(["log", "--no-merges", "--unified=0", "--no-color", "--no-ext-diff", "--patch", COMMITS_MAX])
        .arg(format)
        .output()
        .map_err(|error| Failure::at(repository, error))?;
    if !output.status.success() {
        return Err(Failure::at(repository, String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(commits(&String::from_utf8_lossy(&output.stdout)))
}

fn commits(log: &str) -> Vec<Commit> {
    let parts = log.split(COMMIT).filter_map(|text| text.split_once(PART));
    let all = parts.filter_map(|(subject, rest)| {
        let (body, patch) = rest.split_once(PART)?;
        let edits = edits(patch);
        let is_question = subject.split_whitespace().count() >= QUESTION_WORDS_MIN && !edits.is_empty();
        is_question.then(|| Commit {
            subject: subject.trim().to_owned(),
            body: body.trim().to_owned(),
            edits,
            is_told: true,
        })
    });
    let mut all: Vec<Commit> = all.collect();
    all.iter_mut().step_by(LEFT_OUT).for_each(|commit| commit.is_told = false);
    all
}

fn edits(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for file in patch.split("\ndiff --git ").skip(1).take(FILES_MAX) {
        let Some(path) = file.lines().next().and_then(|line| line.rsplit_once(" b/")) else { continue };
        let mut edit = Edit { path: path.1.to_owned(), ..Edit::default() };
        let hunks = file.split_once("\n@@").map_or("", |(_, hunks)| hunks);
        for line in hunks.lines().skip(1).take(LINES_MAX) {
            match line.split_at_checked(1) {
                Some(("-", line)) => edit.removed.push(line.to_owned()),
                Some(("+", line)) => edit.added.push(line.to_owned()),
                _ => {}
            }
        }
        if !edit.removed.is_empty() || !edit.added.is_empty() {
            edits.push(edit);
        }
    }
    edits
}

impl Commit {
    /// Its session, under a name that says which it is.
    pub(super) fn script(&self, number: usize) -> Script {
        let asked = if self.body.is_empty() { "go on".to_owned() } else { self.body.clone() };
        let mut steps = vec![Step::Model("m-large".to_owned()), Step::User(asked)];
        steps.extend(self.edits.iter().cloned().map(|Edit { path, removed, added }| Step::Edit {
            path,
            removed,
            added,
        }));
        steps.push(Step::Assistant("Done.".to_owned()));
        Script {
            session: name(number),
            cwd: "/home/dev/project".to_owned(),
            branch: "main".to_owned(),
            start_ms: 1_772_359_200_000 + number as i64 * 3_600_000,
            steps,
        }
    }

    /// All text of its session.
    pub(super) fn text(&self) -> String {
        let mut text = self.body.clone();
        for edit in &self.edits {
            for line in [&edit.path].into_iter().chain(&edit.removed).chain(&edit.added) {
                text.push('\n');
                text.push_str(line);
            }
        }
        text
    }
}

/// The id of the session of a commit.
pub(super) fn name(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_a_question_and_what_was_edited() {
        let log = "\u{1}Round the cart total once\u{2}It was off by a cent.\n\u{2}\n\n\
            diff --git a/src/cart.rs b/src/cart.rs\nindex 1..2 100644\n--- a/src/cart.rs\n+++ b/src/cart.rs\n\
            @@ -1 +1 @@ fn total\n-let a = 1;\n+let a = 2;\n\u{1}v1.2\u{2}\u{2}\n";
        let commits = commits(log);
        assert_eq!(commits.len(), 1, "a version is no question");
        assert_eq!(commits[0].subject, "Round the cart total once");
        assert_eq!(commits[0].body, "It was off by a cent.");
        let edit = Edit {
            path: "src/cart.rs".to_owned(),
            removed: vec!["let a = 1;".to_owned()],
            added: vec!["let a = 2;".to_owned()],
        };
        assert_eq!(commits[0].edits, [edit]);
    }
}
