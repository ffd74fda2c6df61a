//! `cargo xtask bench memory`: how long mining takes beside retro-ai, and what a question
//! to ten thousand memories costs. `--stories` only tells what is shown of what is known.

use serde_json::json;
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::logs::{self, Logs};
use super::measure::Meter;
use super::peers;
use super::report::{Line, Report};
use super::signals::{published, share_of_sync};
use super::{Scratch, best_of, own_release, ranking, stories};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;

/// Memories that are asked: the size our bar is set for.
const MEMORIES: usize = 10_000;

/// How often each question is asked; the cheapest run counts.
const RUNS: usize = 10;
const RUNS_MINE: usize = 3;

/// The methods that both programs have.
const METHODS: [&str; 3] = ["reme_refine_poc", "skill_pro", "memp_procedural"];

pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    if own_release(repository, &["bench", "memory"], options)? {
        return Ok(());
    }
    if options.iter().any(|option| option == "--stories") {
        print!("{}", stories::measure());
        return Ok(());
    }
    let retro = repository.retro_of(options)?;
    let scratch = Scratch::new()?;
    let meter = Meter::new(&scratch.folder);
    let mut report = Report::new("The cheapest of several runs.".to_owned());
    questions(&retro, &scratch, &meter, &mut report)?;
    let logs = published(&scratch.folder)?;
    share_of_sync(&logs, &scratch.folder, &["mine"], ("mining", "at most 1.25"), &mut report)?;
    let versions = mining(repository, &retro, &logs, &scratch, &meter, &mut report)?;
    let text = format!("{}\n{}\n{}", report.text(), stories::measure(), ranking::measure(&scratch.folder)?);
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let command = "cargo xtask bench memory --write";
        Part { name: "bench memory", title: "Memory", command, versions: &versions }
            .write(repository, &text)?;
    }
    Ok(())
}

/// A store with very many memories, and one question to it in each way.
fn questions(retro: &Path, scratch: &Scratch, meter: &Meter, report: &mut Report) -> Result<(), Failure> {
    let (home, root) = (scratch.folder.join("one"), scratch.folder.join("asked"));
    super::one_session(&home)?;
    let ours = |arguments: &[&str]| {
        let mut command = Command::new(retro);
        command.arg("--root").arg(&root).arg("--home").arg(&home).args(arguments).env("HOME", &home);
        command
    };
    run::run(ours(&["sync"]).stdout(Stdio::null()))?;
    let items = root.join("memories/items.jsonl");
    std::fs::create_dir_all(root.join("memories")).map_err(|error| Failure::at(&root, error))?;
    std::fs::write(&items, made(MEMORIES)).map_err(|error| Failure::at(&items, error))?;
    run::run(ours(&["memory", "reindex"]).stdout(Stdio::null()))?;
    let bare = best_of(RUNS, || meter.measure(&mut || Ok(ours(&["--version"]))))?;
    report.add(Line::plain("retro --version", bare));
    let query = "the nightly import of parcels fails with a timeout in the tariff module";
    for (name, arguments) in [
        ("memory retrieve", vec!["memory", "retrieve", "--query", query, "--json"]),
        (
            "memory weave",
            vec!["memory", "weave", "--query", query, "--no-record", "--cwd", "/home/dev/repo1"],
        ),
    ] {
        let cost = best_of(RUNS, || meter.measure(&mut || Ok(ours(&arguments))))?;
        report.add(Line::plain(&format!("{name}, {MEMORIES} memories"), cost));
        report.time(name, cost.wall, "at most 20 ms");
    }
    Ok(())
}

/// Memories that differ, as a file of them.
fn made(count: usize) -> String {
    let mut text = String::new();
    for number in 0..count {
        let words = logs::prose(number * 31, 30);
        let memory = json!({
            "id": format!("memory-{number}"), "source": "added", "kind": "case", "scope": "repo", "status": "accepted",
            "text": words, "when_to_use": logs::prose(number * 17 + 5, 12), "origin_repo": format!("/home/dev/repo{}", number % 3),
            "confidence": 0.8, "priority": 3, "risk": "medium", "origin": "user", "created_at": "2026-01-01T00:00:00.000Z",
        });
        let _ = writeln!(text, "{memory}");
    }
    text
}

/// The methods that both programs have, over the published logs.
fn mining(
    repository: &Repository,
    retro: &Path,
    logs: &Logs,
    scratch: &Scratch,
    meter: &Meter,
    report: &mut Report,
) -> Result<String, Failure> {
    let home = logs.home.clone();
    let root = scratch.folder.join("mined");
    let ours = |arguments: &[&str]| {
        let mut command = Command::new(retro);
        command.arg("--root").arg(&root).arg("--home").arg(&home).args(arguments).env("HOME", &home);
        command
    };
    run::run(ours(&["sync"]).stdout(Stdio::null()))?;
    let cost = meter.measure_long(&ours(&["rebuild", "mine"]))?;
    report.add(Line::plain("retro rebuild mine: every log read again, all six methods", cost));
    let mut own = Duration::ZERO;
    for method in METHODS {
        // Once: a second run finds its files as it would write them, and is cheaper still.
        let cost = meter.measure_long(&ours(&["mine", "--all", "--method", method]))?;
        own += cost.cpu.unwrap_or(cost.wall);
        report.add(Line::plain(&format!("retro mine --all, {method}"), cost));
    }
    let Some(peer) = peers::retro_ai(repository) else { return Ok(String::new()) };
    let archive = scratch.folder.join("theirs");
    let theirs = |arguments: &[&str]| {
        let mut command = Command::new(&peer.program);
        command.args(arguments).env("HOME", &home).env("RETRO_ROOT", &archive).current_dir(&home);
        command
    };
    if let Err(failure) = run::run(theirs(&["sync"]).stdout(Stdio::null())) {
        println!("{} cannot take the logs in, it is left out: {failure}", peer.name);
        return Ok(String::new());
    }
    let mut other = Duration::ZERO;
    for method in METHODS {
        let cost =
            best_of(RUNS_MINE, || meter.measure(&mut || Ok(theirs(&["mine", "*", "*", "--method", method]))));
        match cost {
            Ok(cost) => {
                other += cost.cpu.unwrap_or(cost.wall);
                report.add(Line::plain(&format!("{} mine, {method}", peer.name), cost));
            }
            Err(failure) => {
                println!("{} does not mine here, it is left out: {failure}", peer.name);
                return Ok(String::new());
            }
        }
    }
    report.ratio(
        "mining with the three methods, each from what its sync kept: CPU, theirs by ours",
        other,
        own,
        "at least 20",
    );
    Ok(peer.name)
}
