//! The purpose of a command line, its verdict, and when two are the same.
//!
//! [`understand`] reads a command line as agents log it. [`Call::judge`] decides how it ended, from
//! the exit status *and* from the summary that the runner printed: `cargo test | tail` exits with 0
//! after a red summary, and `rg` exits with 1 when it finds nothing. [`same_command`] and
//! [`covers`] decide if a later run answers an earlier one.
//!
//! Nothing here fails: anything that is not understood is [`Purpose::Other`] and
//! [`Verdict::Unknown`].

mod danger;
mod programs;
mod purpose;
mod same;
mod shell;
mod summary;
mod unwrap;
mod verdict;
mod written;

pub use purpose::Purpose;
pub use same::{covers, same_command};
pub use shell::Join;
pub use summary::{Summary, summary};
pub use verdict::{Exit, Judged, Verdict};
pub use written::Written;

/// The greatest nesting of scripts that is read.
const DEPTH_MAX: usize = 4;

/// One program that a command line runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// How it is connected to the previous step.
    pub join: Join,
    /// The purpose of its program.
    pub purpose: Purpose,
    /// Its usual name with its sub-command: `cargo test`, `pytest`, `script lint`.
    pub runner: String,
    /// The program and its arguments, without wrappers.
    pub words: Vec<String>,
    /// The number of `words` in the runner's name.
    arguments_at: usize,
    /// The working directory, if the line changed it before this step.
    pub folder: Option<String>,
}

impl Step {
    /// The name of the program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// Its arguments after the sub-command.
    pub fn arguments(&self) -> &[String] {
        self.words.get(self.arguments_at..).unwrap_or_default()
    }
}

/// A parsed command line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Call {
    /// The programs it runs, in order.
    pub steps: Vec<Step>,
    /// The index of the main step.
    main: usize,
    /// Files that the line changes.
    pub written: Vec<Written>,
    /// True if a pipe fails when any part of it does.
    pipefail: bool,
}

/// Parses a command line.
pub fn understand(command: &str) -> Call {
    let mut call = Call::default();
    let mut folder = None;
    add(&mut call, command, Join::First, &mut folder, 0);
    call.main =
        (0..call.steps.len()).min_by_key(|&at| call.steps.get(at).map(|step| step.purpose)).unwrap_or(0);
    call
}

/// Adds the steps of a script. `join` connects the first one to the previous step.
fn add(call: &mut Call, script: &str, join: Join, folder: &mut Option<String>, depth: usize) {
    for (at, simple) in shell::split(script).into_iter().enumerate() {
        let join = if at == 0 { join } else { simple.join };
        let is_set = simple.words.first().is_some_and(|word| word == "set");
        if is_set {
            call.pipefail |= simple.words.iter().any(|word| word == "pipefail");
            continue;
        }
        match unwrap::real(&simple.words) {
            unwrap::Real::Program(words) => {
                let known = purpose::known(&words);
                let at = call.steps.len();
                call.written.extend(written::by(&simple, &words, folder.as_deref(), at));
                call.steps.push(Step {
                    join: if call.steps.is_empty() { Join::First } else { join },
                    purpose: known.purpose,
                    runner: known.runner,
                    words,
                    arguments_at: known.arguments_at,
                    folder: folder.clone(),
                });
            }
            unwrap::Real::Script(script) if depth < DEPTH_MAX => {
                let mut inside = folder.clone();
                let before = call.written.len();
                add(call, &script, join, &mut inside, depth + 1);
                // Files on another machine do not count.
                if simple.words.iter().any(|word| word == "ssh") {
                    call.written.truncate(before);
                }
            }
            unwrap::Real::Folder(dir) => *folder = Some(dir),
            unwrap::Real::Script(_) | unwrap::Real::Nothing => {}
        }
    }
}

impl Call {
    /// The purpose of the line: the most important purpose of its steps.
    pub fn purpose(&self) -> Purpose {
        self.main_step().map_or(Purpose::Other, |step| step.purpose)
    }

    /// True if any of its steps has this purpose.
    pub fn does(&self, purpose: Purpose) -> bool {
        self.steps.iter().any(|step| step.purpose == purpose)
    }

    /// The step with the main purpose of the line.
    pub fn main_step(&self) -> Option<&Step> {
        self.steps.get(self.main)
    }

    /// The main step's usual name: `cargo test`, `pytest`, `git commit`.
    pub fn runner(&self) -> &str {
        self.main_step().map_or("", |step| &step.runner)
    }

    /// True if it makes a commit.
    pub fn commits(&self) -> bool {
        self.steps.iter().any(|step| {
            matches!(
                &*step.runner,
                "git commit" | "git merge" | "git cherry-pick" | "git rebase" | "git revert" | "git am"
            ) && !step
                .words
                .iter()
                .any(|word| matches!(word.as_str(), "--dry-run" | "--abort" | "-h" | "--help"))
        })
    }

    /// The reason if the line could destroy work: `rm -rf`, `git reset --hard`, …
    pub fn danger(&self) -> Option<&'static str> {
        self.steps.iter().find_map(danger::of)
    }
}

#[cfg(test)]
mod tests;
