//! Installs and removes the lines of a scheduler. Shows every change before making it.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::lines::{CRON_MARK, Job, LABEL, SERVICE, TIMER};
use super::{Target, no_hook};
use retro::views::answers::{Answer, ScheduleChange, ScheduleStatus, SchedulerRow};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::table::{Column, Table};

/// One step of a change.
enum Step {
    /// Write this file.
    Write(PathBuf, String),
    /// Remove this file.
    Remove(PathBuf),
    /// Run this program; `Some` is its input.
    Run(&'static str, Vec<String>, Option<String>),
}

pub fn install(context: &Context, target: Target, job: &Job, yes: bool) -> Outcome {
    let home = context.own_home();
    let steps = match target {
        Target::Hook(..) => return Err(no_hook(target)),
        Target::Cron => {
            let mut lines = without_ours(&crontab()?);
            lines.extend([CRON_MARK.to_owned(), job.cron()]);
            vec![Step::crontab(lines)]
        }
        Target::Systemd => {
            let folder = units(context, &home);
            vec![
                Step::Write(folder.join(SERVICE), job.service()),
                Step::Write(folder.join(TIMER), job.timer()),
                Step::systemctl(&["daemon-reload"]),
                Step::systemctl(&["enable", "--now", TIMER]),
            ]
        }
        Target::Launchd => {
            let file = launch_agent(&home);
            let path = file.display().to_string();
            vec![
                Step::Write(file, job.plist()),
                Step::Run("launchctl", vec!["load".to_owned(), "-w".to_owned(), path], None),
            ]
        }
    };
    change(context, &steps, yes, "Installed. `retro schedule status` shows it.")
}

pub fn uninstall(context: &Context, target: Target, yes: bool) -> Outcome {
    let home = context.own_home();
    if matches!(target, Target::Hook(..)) {
        return Err(no_hook(target));
    }
    if !is_installed(context, target)? {
        return Err(Failure::missing("nothing is installed there", "`retro schedule status` shows what is"));
    }
    let steps = match target {
        Target::Cron => vec![Step::crontab(without_ours(&crontab()?))],
        Target::Systemd => {
            let folder = units(context, &home);
            vec![
                Step::systemctl(&["disable", "--now", TIMER]),
                Step::Remove(folder.join(TIMER)),
                Step::Remove(folder.join(SERVICE)),
                Step::systemctl(&["daemon-reload"]),
            ]
        }
        _ => {
            let file = launch_agent(&home);
            let path = file.display().to_string();
            vec![
                Step::Run("launchctl", vec!["unload".to_owned(), "-w".to_owned(), path], None),
                Step::Remove(file),
            ]
        }
    };
    change(context, &steps, yes, "Uninstalled.")
}

pub fn status(context: &Context) -> Outcome {
    let targets = [(Target::Cron, "cron"), (Target::Systemd, "systemd"), (Target::Launchd, "launchd")];
    let mut rows = Vec::new();
    for (target, name) in targets {
        let is_here = is_installed(context, target).unwrap_or(false);
        rows.push((name, is_here, is_here && is_running(target)));
    }
    let exit = if rows.iter().any(|(_, _, runs)| *runs) { Exit::Done } else { Exit::Findings };
    if context.global.json {
        let rows: Vec<_> = rows
            .iter()
            .map(|(name, installed, running)| SchedulerRow {
                scheduler: name,
                installed: *installed,
                running: *running,
            })
            .collect();
        context.print_json(&Answer::of(ScheduleStatus { schedulers: rows }))?;
        return Ok(exit);
    }
    let row = |(name, is_here, runs): &(&str, bool, bool)| {
        let state = match (is_here, runs) {
            (true, true) => "installed and running",
            (true, false) => "installed, not running",
            (false, _) => "not installed",
        };
        vec![(*name).to_owned(), state.to_owned()]
    };
    let columns = [Column::left("scheduler"), Column::left("retro sync").wraps(12)];
    context.table(&Table::new(columns).rows(rows.iter().map(row)))?;
    if exit == Exit::Findings {
        context.say("Nothing runs `retro sync` on its own. `retro schedule install` changes that.");
    }
    Ok(exit)
}

/// Shows the steps, asks, and performs them.
fn change(context: &Context, steps: &[Step], yes: bool, done: &str) -> Outcome {
    for step in steps {
        context.say(&step.shown());
    }
    if !yes && !confirmed(context)? {
        context.say("Nothing was changed.");
        return Ok(Exit::Findings);
    }
    for step in steps {
        step.take()?;
    }
    if context.global.json {
        context.print_json(&Answer::of(ScheduleChange { done: true }))?;
    }
    context.say(done);
    Ok(Exit::Done)
}

fn confirmed(context: &Context) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::hinted(
            "nobody is here to say yes, so nothing was changed",
            "--yes makes the change without asking",
        ));
    }
    context.say("Make this change? [y/N]");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

impl Step {
    fn systemctl(words: &[&str]) -> Step {
        let words = std::iter::once("--user").chain(words.iter().copied()).map(str::to_owned).collect();
        Step::Run("systemctl", words, None)
    }

    fn crontab(lines: Vec<String>) -> Step {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Step::Run("crontab", vec!["-".to_owned()], Some(text))
    }

    fn shown(&self) -> String {
        let indented = |text: &str| text.lines().map(|line| format!("  {line}\n")).collect::<String>();
        match self {
            Step::Write(path, text) => format!("write {}:\n{}", path.display(), indented(text)),
            Step::Remove(path) => format!("remove {}", path.display()),
            Step::Run(program, words, None) => format!("run {program} {}", words.join(" ")),
            Step::Run(program, words, Some(text)) if text.is_empty() => {
                format!("run {program} {} with no lines left", words.join(" "))
            }
            Step::Run(program, words, Some(text)) => {
                format!("run {program} {} with these lines:\n{}", words.join(" "), indented(text))
            }
        }
    }

    fn take(&self) -> Result<(), Failure> {
        let trouble =
            |path: &Path, error| Failure::Message(format!("cannot write {}: {error}", path.display()));
        match self {
            Step::Write(path, text) => {
                if let Some(folder) = path.parent() {
                    std::fs::create_dir_all(folder).map_err(|error| trouble(folder, error))?;
                }
                std::fs::write(path, text).map_err(|error| trouble(path, error))
            }
            Step::Remove(path) => match std::fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(trouble(path, error)),
                _ => Ok(()),
            },
            Step::Run(program, words, input) => run(program, words, input.as_deref()),
        }
    }
}

fn run(program: &str, words: &[String], input: Option<&str>) -> Result<(), Failure> {
    let failed = |why: String| {
        Failure::hinted(
            format_args!("`{program} {}` failed: {why}", words.join(" ")),
            "`retro schedule print` shows lines for other schedulers",
        )
    };
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| failed(error.to_string()))?;
    if let Some(mut stdin) = child.stdin.take() {
        let written = stdin.write_all(input.unwrap_or_default().as_bytes());
        // A program without need for input may close it first. Its exit code decides.
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            return Err(failed(error.to_string()));
        }
    }
    let output = child.wait_with_output().map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// The lines of the user's crontab. Empty if there is none yet.
fn crontab() -> Result<Vec<String>, Failure> {
    let output = Command::new("crontab").arg("-l").stdin(Stdio::null()).output().map_err(|error| {
        Failure::hinted(
            format_args!("cannot run crontab: {error}"),
            "`retro schedule install systemd` or `launchd` does without it",
        )
    })?;
    let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    Ok(if output.status.success() { lines } else { Vec::new() })
}

/// A crontab without retro's mark and the line below it.
fn without_ours(lines: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        if line == CRON_MARK {
            lines.next();
        } else {
            kept.push(line.clone());
        }
    }
    kept
}

fn is_installed(context: &Context, target: Target) -> Result<bool, Failure> {
    let home = context.own_home();
    Ok(match target {
        Target::Cron => is_on_path(context, "crontab") && crontab()?.iter().any(|line| line == CRON_MARK),
        Target::Systemd => units(context, &home).join(TIMER).exists(),
        Target::Launchd => launch_agent(&home).exists(),
        _ => false,
    })
}

/// True if the scheduler reports that it runs the installed job.
fn is_running(target: Target) -> bool {
    let words: &[&str] = match target {
        Target::Cron => return true,
        Target::Systemd => &["systemctl", "--user", "is-active", "--quiet", TIMER],
        Target::Launchd => &["launchctl", "list", LABEL],
        _ => return false,
    };
    let status = Command::new(words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

/// True if a program of this name can be run.
pub fn is_on_path(context: &Context, program: &str) -> bool {
    let path = (context.world.own_env)("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn units(context: &Context, home: &Path) -> PathBuf {
    let config = (context.world.own_env)("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    config.map_or_else(|| home.join(".config"), PathBuf::from).join("systemd/user")
}

fn launch_agent(home: &Path) -> PathBuf {
    home.join("Library/LaunchAgents").join(format!("{LABEL}.plist"))
}
