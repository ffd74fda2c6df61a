//! Everything a contributor or CI runs: `cargo xtask help` lists it.
//!
//! Plain Rust instead of shell scripts, so that it works wherever the project
//! does. Nothing here is part of the program, and no crate depends on it.

// A program for a terminal, run by people and CI.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod bench;
mod dashboard;
mod docs;
mod embedding;
mod failure;
mod page;
mod repository;
mod run;
mod table;
mod test;
mod tidy;
mod trial;

use failure::Failure;
use repository::Repository;
use std::process::ExitCode;

/// The allocator of the program, so that measurements inside this process are of the same code.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// One thing to do: its words on the command line, what it is for, and how.
struct Command {
    words: &'static [&'static str],
    options: &'static str,
    about: &'static str,
    run: fn(&Repository, &[String]) -> Result<(), Failure>,
}

/// Every command, sorted.
static COMMANDS: &[Command] = &[
    Command {
        words: &["bench", "budget"],
        options: "",
        about: "Measure how long a sweep of 100,000 sessions takes to plan, and what 20 forgotten texts cost a first sync",
        run: bench::budget,
    },
    Command {
        words: &["bench", "capture"],
        options: "[--huge] [--many] [--retro PATH] [--write]",
        about: "Measure capture beside cat, zstd and retro-ai; --huge takes a log of 4 GB too, --many measures stores of very many sessions instead; --write puts it into docs/benchmarks.md",
        run: bench::capture,
    },
    Command {
        words: &["bench", "memory"],
        options: "[--retro PATH] [--write]",
        about: "Measure mining beside retro-ai, and questions to ten thousand memories",
        run: bench::memory,
    },
    Command {
        words: &["bench", "outcome"],
        options: "[--tune] [--write]",
        about: "Compare the outcomes of labelled sessions with their labels: the half held back, or with --tune the other",
        run: bench::outcome,
    },
    Command {
        words: &["bench", "page"],
        options: "[--retro PATH] [--write]",
        about: "Measure the budgets of the dashboard's page in Chromium; --retro takes a program that is built already, --write puts it into docs/benchmarks.md",
        run: dashboard::bench,
    },
    Command {
        words: &["bench", "patterns"],
        options: "[--write]",
        about: "Measure what signs add to a first sync, and how fast those of 20,000 sessions are put together",
        run: bench::patterns,
    },
    Command {
        words: &["bench", "recall"],
        options: "[--locomo PATH] [--history REPOSITORY] [--mode words|meaning|hybrid] [--parts] [--try NUMBERS]",
        about: "Count how often the lines that answer a question are found first, in conversations of LoCoMo's form; --history asks a repository's commits by their subjects instead, beside a plain BM25; --parts leaves out each part of the ranking, --try ranks with other numbers",
        run: bench::recall,
    },
    Command {
        words: &["bench", "search"],
        options: "[--million] [--turns N] [--part turns|vectors|appends] [--retro PATH] [--write]",
        about: "Measure search in 45,000 turns beside SQLite's; --million takes a million too, --turns so many instead, --retro a program that is built already",
        run: bench::search,
    },
    Command {
        words: &["bench", "secrets"],
        options: "",
        about: "Measure the scan for secrets on texts that are made to be slow",
        run: bench::secrets,
    },
    Command {
        words: &["bench", "signals"],
        options: "[--retro PATH] [--write]",
        about: "Measure digests and signals beside a sync without them and beside retro-ai",
        run: bench::signals,
    },
    Command {
        words: &["bench", "size"],
        options: "[--sessions N] [--write]",
        about: "Measure how much room a store takes beside its logs, by folder and by table",
        run: bench::size,
    },
    Command {
        words: &["bench", "usage"],
        options: "[--diff] [--retro PATH] [--write]",
        about: "Measure questions beside ccusage; --diff compares the figures and says why they differ, --retro takes a program that is built already",
        run: bench::usage,
    },
    Command {
        words: &["bench", "vectors"],
        options: "",
        about: "Measure embedding and the exact search of vectors, beside their bars",
        run: bench::vectors,
    },
    Command {
        words: &["docs"],
        options: "[--check]",
        about: "Generate docs/reference from the program; --check only compares",
        run: docs::run,
    },
    Command {
        words: &["embedding"],
        options: "[--check]",
        about: "Make the lookup files of the built-in embedding model; --check only compares",
        run: embedding::run,
    },
    Command { words: &["help"], options: "", about: "Print this list", run: help },
    Command {
        words: &["page", "build"],
        options: "",
        about: "Build the page of the dashboard into crates/web/assets; needs Node",
        run: dashboard::build,
    },
    Command {
        words: &["page", "screenshots"],
        options: "[--only NAMES]",
        about: "Photograph every view of the dashboard into docs/images, or those named, with commas; needs Node and Chromium",
        run: dashboard::screenshots,
    },
    Command {
        words: &["page", "test"],
        options: "",
        about: "Build the page again, compare it with crates/web/assets, and try it in a browser",
        run: dashboard::try_page,
    },
    Command {
        words: &["test"],
        options: "",
        about: "Everything that must hold before a change goes in",
        run: test::run,
    },
    Command {
        words: &["tidy"],
        options: "",
        about: "Check the rules of the house: edges, sizes, order, forbidden calls",
        run: tidy::run,
    },
    Command {
        words: &["trial"],
        options: "[NAME] [--minutes N] [--write]",
        about: "Try what a machine may do to a store: all trials and one table, or one (faults, flips, full, kills, links, power, soak, watch)",
        run: trial::run,
    },
    Command {
        words: &["trial", "fuzz"],
        options: "[--minutes N] [--target T]...",
        about: "Try the laws of crates/laws with bytes of a fuzzer's choice; needs cargo-fuzz",
        run: trial::fuzz::fuzz,
    },
    Command {
        words: &["trial", "page"],
        options: "[--retro PATH] [--write]",
        about: "Try and measure the page with 50,000 sessions, one of 100 MB and one of 100,000 events; fails if a test or a budget does",
        run: dashboard::trial,
    },
    Command {
        words: &["trial", "secrets"],
        options: "[--write]",
        about: "Count the random secrets that pass the scanner; --write puts it into docs/benchmarks.md",
        run: trial::secrets::secrets,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Failure> {
    let repository = Repository::find()?;
    let (command, options) = choose(arguments)?;
    (command.run)(&repository, options)
}

/// The command that the arguments name, and what follows it.
fn choose(arguments: &[String]) -> Result<(&'static Command, &[String]), Failure> {
    // Sorted, so of two commands that begin alike the longer one stands behind.
    let found = COMMANDS.iter().rev().find_map(|command| {
        let (words, options) = arguments.split_at_checked(command.words.len())?;
        (words == command.words).then_some((command, options))
    });
    let (command, options) =
        found.ok_or_else(|| Failure::new(format!("there is no such command\n\n{}", usage())))?;
    match unknown(command, options) {
        None => Ok((command, options)),
        Some(option) => Err(Failure::new(format!(
            "{} does not take {option:?}; usage: cargo xtask {} {}",
            command.words.join(" "),
            command.words.join(" "),
            command.options
        ))),
    }
}

/// The first option that a command does not take. An option with a value,
/// `[--minutes N]`, takes the word behind it along; `[NAME]` is that of a trial.
fn unknown<'a>(command: &Command, options: &'a [String]) -> Option<&'a String> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let alone = command.options.contains(&format!("[{option}]"));
        let is_name = command.options.contains("[NAME]") && trial::is_one(option);
        let mut valued = || {
            let number = command.options.contains(&format!("[{option} N]"));
            let any = command.options.contains(&format!("[{option} "));
            any && rest.next().is_some_and(|value| !number || value.parse::<u64>().is_ok())
        };
        if option == "NAME" || !(alone || is_name || valued()) {
            return Some(option);
        }
    }
    None
}

fn help(_: &Repository, _: &[String]) -> Result<(), Failure> {
    print!("{}", usage());
    Ok(())
}

fn usage() -> String {
    let mut text = String::from("Usage: cargo xtask COMMAND\n\n");
    for command in COMMANDS {
        let call = format!("{} {}", command.words.join(" "), command.options);
        text.push_str(&format!("  {call:<32} {}\n", command.about));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn commands_are_sorted_and_listed() {
        assert!(COMMANDS.is_sorted_by_key(|command| command.words));
        for command in COMMANDS {
            assert!(usage().contains(&command.words.join(" ")));
        }
    }

    #[test]
    fn a_command_of_two_words_is_found_with_its_options() {
        let line = arguments("bench capture --write");
        let (command, options) = choose(&line).unwrap();
        assert_eq!(command.words, ["bench", "capture"]);
        assert_eq!(options, ["--write"]);
    }

    #[test]
    fn trials_are_run_by_name_or_all() {
        for line in ["trial", "trial --write", "trial soak --minutes 3", "trial --minutes 1 --write"] {
            assert_eq!(choose(&arguments(line)).unwrap().0.words, ["trial"], "{line}");
        }
    }

    #[test]
    fn what_is_not_known_is_refused() {
        assert!(choose(&arguments("trial fuzz --target text --minutes 3")).is_ok());
        for line in [
            "",
            "bench",
            "tests",
            "tidy --chek",
            "docs --check --more",
            "trial nothing",
            "trial --minutes x",
            "trial fuzz --minutes",
        ] {
            assert!(choose(&arguments(line)).is_err(), "{line:?}");
        }
    }
}
