//! What a user's machine throws at retro, for every agent of the registry, through
//! real files and real syncs: one row a trial.
//!
//! A trial is a session of its own beside others in one home, so that each also
//! shows that its neighbours survive. Whatever a log holds, its bytes come back,
//! what could not be read has a place and a reason, and the store verifies.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod bytes;
mod cuts;
mod files;
mod flips;
mod ids;
mod mutants;
mod rewrites;
#[path = "../support/mod.rs"]
mod support;
mod times;
mod types;
mod vanishing;

use retro_agents::script::Script;
use retro_agents::{Agent, Format, Settled, by_name};
use retro_engine::discover::discover;
use retro_engine::read;
use retro_model::{Coverage, Event, Kind, SessionKey, SourceKey, SourceKind};
use retro_store::Slot;
use std::path::{Path, PathBuf};
use support::{Machine, raw};

/// The session of [`STORY`], and the number that stands for it in paths and bytes.
const ID: &str = "019ca8d7-2d00-7000-8000-000000000000";

/// A short story with words, a call, an edit and a second turn.
const STORY: &str = "\
@ cwd /home/dev/shop
> Fix the tax test
? Rounding, perhaps.
$ cargo test
| 1 failed
! 101
~ src/tax.rs
- old
+ new
< Done.
> Thanks, now add docs
< Added.
";

/// One file of a session.
#[derive(Clone)]
struct File {
    /// Below the home directory.
    path: PathBuf,
    bytes: Vec<u8>,
    source: SourceKey,
    kind: SourceKind,
    format: Format,
}

impl File {
    fn is_log(&self) -> bool {
        self.kind == SourceKind::Log && self.format == Format::JsonLines
    }
}

/// The story as an agent logs it.
fn story(agent: &dyn Agent) -> Vec<File> {
    logged(agent, STORY)
}

fn logged(agent: &dyn Agent, story: &str) -> Vec<File> {
    let machine = Machine::new();
    let script = Script::parse(&format!("@ session {ID}\n{story}")).unwrap();
    for (path, bytes) in agent.write(&script) {
        machine.write(&path, &bytes);
    }
    let found = discover(&machine.world, &machine.config, Some(agent.name()), &Default::default());
    let files = found.sessions.into_iter().flat_map(|session| session.files);
    let file = |found: retro_agents::Found| File {
        bytes: std::fs::read(&found.path).unwrap(),
        path: found.path.strip_prefix(machine.home()).unwrap().to_owned(),
        source: found.source,
        kind: found.kind,
        format: found.format,
    };
    files.map(file).collect()
}

/// The agents whose main source is a log of lines; what only logs can suffer is
/// tried on them.
fn loggers() -> Vec<&'static dyn Agent> {
    let is_log = |agent: &dyn Agent| story(agent).iter().any(|file| file.source.is_main() && file.is_log());
    let mut loggers = Vec::new();
    for agent in support::agents() {
        match is_log(*agent) {
            true => loggers.push(*agent),
            false => println!("{} has no log of lines", agent.name()),
        }
    }
    assert!(!loggers.is_empty());
    loggers
}

/// The id of the n-th session; as long as [`ID`].
fn nth(n: usize) -> String {
    format!("{}{n:012}", &ID[..24])
}

/// The same files for another session: its id in the place of the story's.
fn retold(files: &[File], id: &str) -> Vec<File> {
    let retell = |file: &File| File {
        path: PathBuf::from(file.path.display().to_string().replace(ID, id)),
        bytes: replaced(&file.bytes, ID.as_bytes(), id.as_bytes()),
        ..file.clone()
    };
    files.iter().map(retell).collect()
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for at in memchr::memmem::find_iter(bytes, from) {
        out.extend_from_slice(&bytes[done..at]);
        out.extend_from_slice(to);
        done = at + from.len();
    }
    out.extend_from_slice(&bytes[done..]);
    out
}

fn write(machine: &Machine, files: &[File]) {
    for file in files {
        machine.write(&file.path, &file.bytes);
    }
}

/// A session as the store tells it, with its gaps.
fn settled(machine: &Machine, key: &SessionKey) -> Settled {
    read::session(&machine.store(), by_name(&key.agent).unwrap(), key).unwrap()
}

/// What is said and done, without addresses: they move when lines are put between.
fn words(events: &[Event]) -> Vec<String> {
    let told = events.iter().filter(|event| event.kind != Kind::Unknown);
    told.map(|event| {
        let text = event.text.as_ref().map(|text| text.to_string());
        let tool = event.tool.as_ref().map(|tool| tool.name.clone());
        let outcome = event.result.as_ref().map(|result| result.outcome);
        format!("{:?} {:?} {text:?} {tool:?} {outcome:?} turn {}", event.kind, event.origin, event.turn)
    })
    .collect()
}

/// Everything that must hold of any session, whatever its logs hold: the bytes come
/// back, every record is counted, every gap has its place.
fn holds(machine: &Machine, key: &SessionKey, files: &[File], what: &str) -> Settled {
    let store = machine.store();
    for file in files {
        let slot = Slot::Session { key: key.clone(), source: file.source.clone(), revision: 1 };
        assert!(raw(&store, &slot) == file.bytes, "{what}: {} comes back otherwise", file.source);
    }
    let settled = settled(machine, key);
    let Coverage { records, mapped, folded, noted, unknown, malformed, .. } = settled.coverage;
    assert_eq!(records, mapped + folded + noted + unknown + malformed, "{what}");
    for gap in &settled.gaps {
        let file = files.iter().find(|file| file.source == gap.source).unwrap();
        let (line, offset) = (gap.line.unwrap(), gap.offset.unwrap() as usize);
        let before = file.bytes[..offset].iter().filter(|byte| **byte == b'\n').count() as u64;
        let at_line_start = offset == 0 || file.bytes[offset - 1] == b'\n';
        assert!(at_line_start && (line == before + 1 || file.format == Format::Json), "{what}: {gap:?}");
    }
    settled
}

/// The lines of a log, each with its end.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}
