//! `cargo xtask trial`: the store and the real program under conditions that a test
//! command has no time for.
//!
//! Most trials are tests that try some points of what they are about, and all of them
//! when `RETRO_TRIAL` is set; each prints one line that says how many there were and
//! how many failed. `cargo xtask trial` runs all of them and prints one table.

pub(crate) mod fuzz;
pub(crate) mod secrets;
mod watch;

pub(crate) use watch::Watcher;

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// What came of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Outcome {
    /// Points, rounds or files that were tried.
    points: usize,
    failures: usize,
}

/// A trial: its name, what it shows, and how it is run for so many minutes.
struct Trial {
    name: &'static str,
    about: &'static str,
    run: fn(&Repository, u64) -> Result<Outcome, Failure>,
}

/// Every trial, sorted.
static TRIALS: &[Trial] = &[
    Trial {
        name: "faults",
        about: "every writing command stopped after every write, once and for good",
        run: |repository, _| test(repository, "faults", &[]),
    },
    Trial {
        name: "flips",
        about: "every byte of a store flipped",
        run: |repository, _| test(repository, "flips", &[]),
    },
    Trial {
        name: "found",
        about: "a sync stopped at every write of the word index and the vectors, and what is found then",
        run: |repository, _| test(repository, "found", &[]),
    },
    Trial {
        name: "full",
        about: "every writing command on a disk that is full, or whose rights are lost",
        run: |repository, _| test(repository, "full", &[]),
    },
    Trial {
        name: "fuzz",
        about: "every law against bytes of a fuzzer's choice, a minute for each",
        run: |repository, _| fuzz::a_minute_each(repository),
    },
    Trial {
        name: "kills",
        about: "the program killed while agents write",
        run: |repository, _| test(repository, "kills", &[]),
    },
    Trial {
        name: "links",
        about: "every writing command on stores with a link at every place",
        run: |repository, _| test(repository, "hostile", &[]),
    },
    Trial {
        name: "power",
        about: "the power cut at every write of every writing command",
        run: |repository, _| test(repository, "power", &[]),
    },
    Trial {
        name: "secrets",
        about: "random secrets in the shapes in which logs hold them",
        run: secrets::run,
    },
    Trial {
        name: "soak",
        about: "logs that grow, programs at once, kills, rewrites, for a while",
        run: |repository, minutes| test(repository, "soak", &[("RETRO_SOAK_MINUTES", &minutes.to_string())]),
    },
    Trial { name: "watch", about: "from a line written to a line captured", run: watch::run },
];

/// How long the soak lasts when nobody says.
const MINUTES: u64 = 10;

/// Runs the trial that is named, or all of them, and prints the table.
pub(crate) fn run(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let minutes = minutes(options)?;
    let mut rows = Vec::new();
    let mut failures = 0;
    for trial in TRIALS.iter().filter(|trial| is_named(trial, options)) {
        println!("== {}: {}", trial.name, trial.about);
        let start = Instant::now();
        let outcome = (trial.run)(repository, minutes)?;
        failures += outcome.failures;
        rows.push(row(trial, outcome, start.elapsed()));
    }
    let text = table(&["trial", "points", "failures", "time"], &rows);
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let text = format!("[Guarantees](guarantees.md) says what each trial shows.\n\n{text}");
        let command = "cargo xtask trial --write";
        Part { name: "trials", title: "Trials", command, versions: "" }.write(repository, &text)?;
    }
    match failures {
        0 => Ok(()),
        count => Err(Failure::new(format!("{count} failures"))),
    }
}

/// Whether there is a trial of this name.
pub(crate) fn is_one(name: &str) -> bool {
    TRIALS.iter().any(|trial| trial.name == name)
}

fn is_named(trial: &Trial, options: &[String]) -> bool {
    let mut names = options.iter().filter(|option| is_one(option));
    match names.next() {
        Some(name) => trial.name == name,
        None => true,
    }
}

fn minutes(options: &[String]) -> Result<u64, Failure> {
    match options.iter().position(|option| option == "--minutes") {
        None => Ok(MINUTES),
        Some(at) => {
            let number = options.get(at + 1).and_then(|text| text.parse().ok());
            number.ok_or_else(|| Failure::new("--minutes takes a number"))
        }
    }
}

fn row(trial: &Trial, outcome: Outcome, time: Duration) -> Vec<String> {
    vec![
        format!("{}: {}", trial.name, trial.about),
        outcome.points.to_string(),
        outcome.failures.to_string(),
        run::seconds(time),
    ]
}

/// Runs a test with everything tried. A test that fails without having counted what
/// failed is one failure.
fn test(repository: &Repository, name: &str, environment: &[(&str, &str)]) -> Result<Outcome, Failure> {
    // Of the whole workspace, so that what the test command compiled serves here too.
    let mut command =
        repository.cargo(&["test", "--workspace", "--test", name, "--", "--nocapture", "--test-threads=1"]);
    command.env("RETRO_TRIAL", "1").envs(environment.iter().copied());
    let mut outcome = Outcome::default();
    let ended = run::watch(&mut command, |line| outcome.add(line));
    if ended.is_err() && outcome.failures == 0 {
        outcome.failures = 1;
    }
    match (ended, outcome.points) {
        (Err(failure), 0) => Err(failure),
        _ => Ok(outcome),
    }
}

impl Outcome {
    /// Adds what a line like `trial faults: 12 points, 0 failures` says. It may stand
    /// behind the name of its test.
    fn add(&mut self, line: &str) {
        let said = line.rsplit_once(" ... ").map_or(line, |(_, said)| said);
        let Some((_, counts)) = said.strip_prefix("trial ").and_then(|rest| rest.split_once(": ")) else {
            return;
        };
        let number = |text: &str| text.split(' ').next().and_then(|number| number.parse::<usize>().ok());
        if let Some((points, failures)) = counts.split_once(" points, ") {
            self.points += number(points).unwrap_or(0);
            self.failures += number(failures).unwrap_or(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_are_sorted() {
        assert!(TRIALS.is_sorted_by_key(|trial| trial.name));
    }

    #[test]
    fn what_a_test_says_of_itself_is_added_up() {
        let mut outcome = Outcome::default();
        for line in [
            "trial faults: 12 points, 0 failures",
            "trial x: 3 points, 2 failures",
            "test a_full_disk_loses_nothing ... trial full disk: 7 points, 0 failures",
            "trial by fire",
            "12 points",
        ] {
            outcome.add(line);
        }
        assert_eq!(outcome, Outcome { points: 22, failures: 2 });
    }

    #[test]
    fn one_is_run_or_all() {
        let options = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        let count = |line: &str| TRIALS.iter().filter(|trial| is_named(trial, &options(line))).count();
        assert_eq!((count(""), count("--write"), count("soak --minutes 2")), (TRIALS.len(), TRIALS.len(), 1));
        assert_eq!(minutes(&options("soak --minutes 2")).unwrap(), 2);
        assert!(minutes(&options("--minutes")).is_err());
    }
}
