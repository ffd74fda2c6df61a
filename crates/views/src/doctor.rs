//! Checks whether everything works, and suggests what to do if not.

mod records;

use retro_agents::{AGENTS, open_regular};
use retro_engine::damage::{Trouble, troubles};
use retro_engine::discover::discover;
use retro_engine::{Config, World, verify};
use retro_store::{Problem, RealDisk, Store};
use serde::Serialize;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::Error;
use crate::agents::looked_in;
use crate::deletion::deletion_warnings;
use crate::list::stored;
use crate::units::bytes;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Health {
    /// No problem found.
    Good,
    /// A remark that needs no action.
    Notice,
    /// A problem that a person should fix.
    Bad,
}

/// One check and its outcome.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The thing that was checked.
    pub name: &'static str,
    /// The outcome of the check.
    pub health: Health,
    /// The finding, in a sentence.
    pub what: String,
    /// A command or step that helps.
    pub help: Option<String>,
}

/// The result of `retro doctor`.
#[derive(Debug, Clone, Serialize)]
pub struct DoctorView {
    /// `retro.doctor/1`.
    pub schema: &'static str,
    /// True if no check is bad.
    pub ok: bool,
    /// Every check, in order.
    pub checks: Vec<Check>,
}

/// Warn if the disk has fewer free bytes.
const FREE_BYTES_LOW: u64 = 2 * 1024 * 1024 * 1024;

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Facts that the caller already has, so that the doctor need not gather them.
#[derive(Default)]
pub struct Known<'a> {
    /// Problems of single sessions. `None`: read every session.
    pub troubles: Option<&'a [Trouble]>,
    /// Checks of the store's files. `None`: examine the files.
    pub files: Option<Vec<Check>>,
}

/// Runs every check. Writes nothing.
pub fn doctor(world: &World, config: &Config) -> Result<DoctorView, Error> {
    doctor_with(world, config, Known::default())
}

/// Like [`doctor`], for a caller that already has some of the facts.
pub fn doctor_with(world: &World, config: &Config, known: Known<'_>) -> Result<DoctorView, Error> {
    let Known { troubles: known_troubles, files } = known;
    let mut checks = Vec::new();
    let mut say = |name, health, what: String, help: Option<&str>| {
        checks.push(Check { name, health, what, help: help.map(str::to_owned) });
    };

    match &config.file {
        Some(path) => say("configuration", Health::Good, path.display().to_string(), None),
        None => say("configuration", Health::Good, "defaults, no file".into(), None),
    }
    for note in &config.notes {
        say("configuration", Health::Notice, note.clone(), Some("remove the key"));
    }

    let root = &config.root.value;
    let store = match Store::open(root, Arc::new(RealDisk)) {
        Ok(store) => Some(store),
        Err(error) if error.is_absent() => {
            say("store", Health::Notice, format!("none yet at {}", root.display()), Some("retro sync"));
            None
        }
        Err(error) => {
            say("store", Health::Bad, error.to_string(), None);
            None
        }
    };
    if let Some(store) = &store {
        say("store", Health::Good, format!("{} (format {})", root.display(), store.format()), None);
        for Check { name, health, what, help } in files.map_or_else(|| look_through(store), Ok)? {
            say(name, health, what, help.as_deref());
        }
        let jobs = store.jobs()?.len();
        if jobs > 0 {
            say("queue", Health::Notice, format!("{} left by hooks", count(jobs, "job")), Some("retro sync"));
        }
        match store.index_if_there() {
            Ok(Some(index)) => {
                let failures = index.failures()?;
                for failure in &failures {
                    let what = format!("{}: {}", failure.path.display(), failure.reason);
                    say("sources", Health::Bad, what, Some("make it readable, then retro sync"));
                }
            }
            Ok(None) => say("index", Health::Notice, "missing".into(), Some("retro sync makes it again")),
            Err(error) => say("index", Health::Bad, error.to_string(), Some("retro rebuild all")),
        }
    }

    match retro_engine::platform::free_bytes(root) {
        Some(free) if free < FREE_BYTES_LOW => {
            say("disk", Health::Bad, format!("{} free", bytes(free)), Some("make room"))
        }
        Some(free) => say("disk", Health::Good, format!("{} free", bytes(free)), None),
        None => {}
    }

    if let Ok(Some(room)) = crate::status::room(world, config) {
        let growth = room
            .growth_week_bytes
            .map_or(String::new(), |growth| format!(", about {} more a week", bytes(growth)));
        let (raw, cap) = (bytes(room.raw_bytes), bytes(room.raw_soft_cap_bytes));
        let (health, help) = match room.raw_bytes > room.raw_soft_cap_bytes {
            true => (Health::Notice, Some("retro retain --dry-run lists what would go")),
            false => (Health::Good, None),
        };
        let when = room.weeks_to_cap.filter(|weeks| *weeks > 0);
        let when = when.map_or(String::new(), |weeks| format!(", reached in about {} weeks", weeks));
        say("room", health, format!("{raw} of raw bytes{growth}; cap {cap}{when}"), help);
    }

    let (rows, stamps) = stored(config).unwrap_or_default();
    let found = discover(world, config, None, &stamps);
    for (agent, root) in &found.roots {
        let sessions = found.sessions.iter().filter(|session| session.key.agent == *agent).count();
        let what = format!("{agent}: {} ({})", root.display(), count(sessions, "session"));
        say("agents", Health::Good, what, None);
    }
    for note in &found.notes {
        say("store", Health::Notice, note.clone(), None);
    }
    if found.roots.is_empty() {
        let places: Vec<String> = AGENTS.iter().flat_map(|agent| looked_in(world, config, *agent)).collect();
        let help = "[sources] in the configuration names other folders, and retro demo shows what retro does";
        say("agents", Health::Notice, format!("no logs found in {}", places.join(", ")), Some(help));
    }
    for skipped in &found.skipped {
        let what = format!("{}: {}", skipped.path.display(), skipped.reason);
        match skipped.may_hold_logs {
            true => say("unreadable", Health::Bad, what, Some(help_to_read(&skipped.path))),
            false => say("unreadable", Health::Notice, what, None),
        }
    }
    for title in &found.unsupported {
        say("agents", Health::Notice, format!("{title} is used here and not supported yet"), None);
    }
    for warning in deletion_warnings(world, &found) {
        say("agents", Health::Notice, warning, Some("retro schedule install"));
    }
    say("sessions", Health::Good, format!("{} in the store", count(rows.len(), "session")), None);
    if let Some(store) = &store {
        match known_troubles {
            Some(known) => checks.extend(records::checks(store, known)),
            None => checks.extend(records::checks(store, &troubles(store)?)),
        }
    }

    let ok = checks.iter().all(|check| check.health != Health::Bad);
    Ok(DoctorView { schema: "retro.doctor/1", ok, checks })
}

/// A hint that makes a log, folder or database readable.
fn help_to_read(path: &Path) -> &'static str {
    let read = match path.is_dir() {
        true => path.read_dir().map(drop),
        false => open_regular(path).map(drop),
    };
    match read {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            "make it readable (chmod u+rX), then retro sync"
        }
        _ => "once it can be read, retro sync takes it",
    }
}

/// Checks the files of a store.
pub fn look_through(store: &Store) -> Result<Vec<Check>, Error> {
    let report = verify::files(store, false, &mut |_| {})?;
    let bad = |name, problem: &Problem, help: String| Check {
        name,
        health: Health::Bad,
        what: format!("{}: {}", problem.path.display(), problem.what),
        help: Some(help),
    };
    let mut checks: Vec<Check> = report
        .problems
        .iter()
        .map(|problem| bad("files", problem, format!("retro doctor --fix, else {}", problem.help)))
        .collect();
    if checks.is_empty() {
        let what = format!("{} checked", report.checked);
        checks.push(Check { name: "files", health: Health::Good, what, help: None });
    }
    let decisions = verify::decision_problems(store)?;
    checks.extend(decisions.iter().map(|problem| bad("decisions", problem, problem.help.clone())));
    Ok(checks)
}
