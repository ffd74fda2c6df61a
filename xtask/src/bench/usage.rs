//! `cargo xtask bench usage`: how long a question about use takes, beside ccusage.
//!
//! Both read the same logs in the same minute, round after round in turn, and
//! the median counts. *Cold* is the first question on a machine: no store, and
//! the logs not in the kernel's cache. *Warm* is the question asked again.
//! The *answer* is there when all of it was printed and the output is closed; `retro`
//! goes on to write what it read into its store, and *ends* after that. Both are said.

use retro_usage::Prices;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::days;
use super::diff::{self, Diff};
use super::logs::{self, Logs};
use super::measure::{Cost, Meter};
use super::peers::{self, Peer};
use super::report::{Line, Report};
use super::{Scratch, best_of, empty};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;

/// How often each question is asked.
const ROUNDS: usize = 3;

/// How often the status line is asked for; the cheapest run counts.
const RUNS_LINE: usize = 10;

/// Answers in the logs that are made here: the size our bar is set for.
const RESPONSES: usize = 36_000;

/// The command: times, or with `--diff` the figures themselves.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let has = |option: &str| options.iter().any(|given| given == option);
    let retro = match has("--diff") && !has("--retro") {
        // Figures are the same however the program is built.
        true => repository.build_retro(false)?,
        false => repository.retro_of(options)?,
    };
    let ccusage = peers::ccusage(repository);
    if has("--diff") {
        let ccusage = ccusage.ok_or_else(|| Failure::new("there is nothing to compare with; install npm"))?;
        return differences(repository, &retro, &ccusage, has("--write"));
    }
    let scratch = Scratch::new()?;
    let questions = Questions { retro, ccusage, meter: Meter::new(&scratch.folder), scratch };
    let mut text = String::new();
    if let Some(corpus) = std::env::var_os("RETRO_CORPUS") {
        let home = questions.scratch.folder.join("corpus");
        for agent in ["claude", "codex"] {
            logs::copy(&Path::new(&corpus).join(format!("public-{agent}/home")), &home, None)?;
        }
        text.push_str(&questions.over(&Logs::at(&home)?, "published logs")?);
        text.push('\n');
    }
    let made = Logs::of_responses(&questions.scratch.folder.join("made"), RESPONSES)?;
    text.push_str(&questions.over(&made, "36,000 responses")?);
    print!("{text}");
    if has("--write") {
        let versions = questions.ccusage.as_ref().map_or("", |peer| peer.name.as_str());
        let command = "cargo xtask bench usage --write";
        Part { name: "bench usage", title: "Usage", command, versions }.write(repository, &text)?;
    }
    Ok(())
}

fn differences(repository: &Repository, retro: &Path, ccusage: &Peer, write: bool) -> Result<(), Failure> {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS names no folder with recorded sessions");
        return Ok(());
    };
    let prices = Prices::embedded().map_err(|error| Failure::new(error.to_string()))?;
    let diff = Diff { retro, ccusage, prices };
    let sets = diff::sets(&corpus)?;
    let sets = sets.iter().map(|(name, units)| diff.set(name, units)).collect::<Result<Vec<_>, _>>()?;
    let mut totals = diff::totals(&sets);
    let published = corpus.join("public-claude/home");
    if published.is_dir() {
        totals.push_str(&format!("\n{}", days::days(retro, ccusage, &published)?));
    }
    println!("{}\n{totals}", diff::files(&sets));
    if write {
        let command = "cargo xtask bench usage --diff --write";
        let title = "Usage: our figures and ccusage's";
        Part { name: "bench usage diff", title, command, versions: &ccusage.name }
            .write(repository, &totals)?;
    }
    Ok(())
}

struct Questions {
    retro: PathBuf,
    ccusage: Option<Peer>,
    meter: Meter,
    scratch: Scratch,
}

impl Questions {
    fn over(&self, logs: &Logs, name: &str) -> Result<String, Failure> {
        let root = self.scratch.folder.join("root");
        let (mut answer, mut first) = (Vec::new(), Vec::new());
        let (mut read, mut again) = (Vec::new(), Vec::new());
        let (mut their_first, mut their_again) = (Vec::new(), Vec::new());
        let unread = self.unread_after_first(&logs.home, &root)?;
        let fresh = || empty(&root).and_then(|()| logs.forget_pages());
        for _ in 0..ROUNDS {
            // A question that stopped early read less than the others: no figure to compare.
            if unread == 0 {
                let ask = &mut || fresh().map(|()| self.ours(&logs.home, &root, &[]));
                answer.push(Cost::wall(self.meter.answer(&mut ask()?)?));
                first.push(self.meter.measure(ask)?);
            }
            read.push(self.meter.measure(&mut || fresh().map(|()| self.read(&logs.home, &root)))?);
            // Warm: the same was asked before.
            run::run(self.ours(&logs.home, &root, &[]).stdout(Stdio::null()))?;
            again.push(self.meter.measure(&mut || Ok(self.ours(&logs.home, &root, &["--no-sync"])))?);
            if let Some(peer) = &self.ccusage {
                let ask = &mut || logs.forget_pages().map(|()| theirs(peer, &logs.home));
                their_first.push(self.meter.measure(ask)?);
                their_again.push(self.meter.measure(&mut || Ok(theirs(peer, &logs.home)))?);
            }
        }
        let mut report = Report::new(format!(
            "{name}: {} files, {:.1} MB; median of {ROUNDS} rounds. A first `retro usage` answers after two seconds \
             at the latest; this time it left {unread} sessions unread.",
            logs.files.len(),
            logs.bytes as f64 / 1e6
        ));
        let (read, again) = (median(read), median(again));
        let first = checked_median(first);
        let answer = checked_median(answer);
        if let Some((answer, first)) = answer.zip(first) {
            report.add(Line::plain("retro usage, first: its answer", answer));
            report.add(Line::plain("retro usage, first: its end", first));
        }
        report.add(Line::plain("retro sync --until ledger, fresh store", read));
        report.add(Line::plain("retro usage --no-sync", again));
        report.time("usage --no-sync, whole command", again.wall, "at most 20 ms");
        let line = best_of(RUNS_LINE, || self.meter.measure(&mut || self.line(logs, &root)))?;
        report.add(Line::plain("retro statusline", line));
        report.time("statusline, whole command with its shell", line.wall, "at most 20 ms");
        if let (Some(cold), Some(warm)) = (checked_median(their_first), checked_median(their_again)) {
            report.add(Line::plain("ccusage, cold", cold));
            report.add(Line::plain("ccusage, warm", warm));
            // What stopped early is asked for in two steps.
            let (answer, ended) = answer.zip(first).unwrap_or_else(|| {
                let cpu = read.cpu.zip(again.cpu).map(|(read, again)| read + again);
                let both = Cost { wall: read.wall + again.wall, cpu, instructions: None };
                (both, both)
            });
            let what = "first usage beside ccusage cold";
            report.ratio(&format!("{what}: its answer"), answer.wall, cold.wall, "at most 1.5");
            report.ratio(&format!("{what}: its end, with all logs captured"), ended.wall, cold.wall, "");
            if let Some((ours, theirs)) = ended.cpu.zip(cold.cpu) {
                report.ratio(&format!("{what}: its CPU time"), ours, theirs, "");
            }
        }
        Ok(report.text())
    }

    /// How many sessions the first question leaves for later, because it answers
    /// after two seconds whatever there is.
    fn unread_after_first(&self, home: &Path, root: &Path) -> Result<u64, Failure> {
        empty(root)?;
        let asked = self.ours(home, root, &[]).output();
        // It ends with 1 where it had nothing to say yet, and prints its answer all the same.
        let printed =
            asked.map_err(|error| Failure::new(format!("retro cannot be started: {error}")))?.stdout;
        let answer: Value = serde_json::from_slice(&printed)
            .map_err(|error| Failure::new(format!("retro usage printed no JSON: {error}")))?;
        answer["unread_sessions"]
            .as_u64()
            .ok_or_else(|| Failure::new("retro usage does not say what is unread"))
    }

    /// Reads everything that a question about use needs.
    fn read(&self, home: &Path, root: &Path) -> Command {
        let mut command = Command::new(&self.retro);
        command
            .arg("--home")
            .arg(home)
            .arg("--root")
            .arg(root)
            .args(["--quiet", "sync", "--until", "ledger"]);
        command
    }

    /// What an agent asks for its status bar, about the newest of these logs.
    fn line(&self, logs: &Logs, root: &Path) -> Result<Command, Failure> {
        let claude = |path: &&PathBuf| path.components().any(|part| part.as_os_str() == ".claude");
        let log = logs.files.iter().rfind(claude).ok_or_else(|| Failure::at(&logs.home, "holds no log"))?;
        let id = log.file_stem().unwrap_or_default().to_string_lossy();
        let asked = json!({"session_id": id, "transcript_path": log, "cwd": "/home/dev/code/shop",
            "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet"}});
        let input = self.scratch.folder.join("status.json");
        std::fs::write(&input, asked.to_string()).map_err(|error| Failure::at(&input, error))?;
        let mut shell = Command::new("sh");
        shell.args(["-c", r#"exec "$0" --home "$1" --root "$2" statusline < "$3""#]);
        shell.arg(&self.retro).arg(&logs.home).arg(root).arg(&input);
        Ok(shell)
    }

    fn ours(&self, home: &Path, root: &Path, options: &[&str]) -> Command {
        let mut command = Command::new(&self.retro);
        command.arg("--home").arg(home).arg("--root").arg(root).args(["--quiet", "usage", "--json"]);
        command.args(options);
        command
    }
}

fn theirs(peer: &Peer, home: &Path) -> Command {
    let mut command = Command::new(&peer.program);
    command.args(["daily", "--json", "--offline"]).env("HOME", home);
    for variable in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
        command.env_remove(variable);
    }
    command
}

fn checked_median(costs: Vec<Cost>) -> Option<Cost> {
    (!costs.is_empty()).then(|| median(costs))
}

/// The median of each figure.
fn median(costs: Vec<Cost>) -> Cost {
    fn middle<T: Ord + Copy>(mut values: Vec<T>) -> Option<T> {
        values.sort();
        values.get(values.len() / 2).copied()
    }
    Cost {
        wall: middle(costs.iter().map(|cost| cost.wall).collect()).unwrap_or(Duration::ZERO),
        cpu: middle(costs.iter().filter_map(|cost| cost.cpu).collect()),
        instructions: middle(costs.iter().filter_map(|cost| cost.instructions).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_of_each_figure() {
        let cost = |wall, cpu: Option<u64>| Cost {
            wall: Duration::from_secs(wall),
            cpu: cpu.map(Duration::from_secs),
            instructions: None,
        };
        let middle = median(vec![cost(9, Some(1)), cost(1, None), cost(2, Some(5))]);
        assert_eq!(middle, cost(2, Some(5)));
        assert!(checked_median(Vec::new()).is_none());
    }
}
