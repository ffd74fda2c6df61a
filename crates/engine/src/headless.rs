//! Runs a model-backed miner: the user's own `codex` or `claude`, on request only.
//!
//! The text goes in on standard input and never as an argument, without a shell. After 900 seconds
//! the program is killed with everything it started. Neither program writes a session of its own,
//! so that our runs are never captured as the user's work. Its redacted output is kept under
//! `headless/` in the store.

pub(crate) mod process;
mod run_folder;
mod spent;

pub(crate) use spent::forget;
pub(crate) use spent::rows;
pub use spent::{Spent, tokens_on};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use retro_agents::integration as agents;
use retro_agents::{AGENTS, Agent};
use retro_memory::{Episode, Mined, headless};
use retro_model::Tokens;
use retro_store::Store;
use serde_json::Value;

use crate::World;
use run_folder::RunFolder;

/// Time limit of one run.
pub const LIMIT: Duration = Duration::from_secs(900);

/// An agent whose program can mine.
#[derive(Clone, Copy)]
pub struct Miner {
    agent: &'static dyn Agent,
    run: &'static dyn agents::Headless,
}

impl Miner {
    /// All miners, by the names of their agents.
    pub fn all() -> impl Iterator<Item = Miner> {
        let miner =
            |agent: &&'static dyn Agent| Some(Miner { agent: *agent, run: agent.integration()?.headless? });
        AGENTS.iter().filter_map(miner)
    }

    /// The name of the method.
    pub fn method(&self) -> String {
        format!("{}_headless", self.agent.name())
    }

    /// A description of the method, for people.
    pub fn title(&self) -> String {
        format!("what your own `{}` finds in a session, checked against it; uses tokens", self.program())
    }

    /// The program it runs.
    pub fn program(&self) -> &'static str {
        self.run.program()
    }

    /// The provider of its model.
    fn provider(&self) -> &'static str {
        self.run.provider()
    }

    /// The miner with this name of a method.
    pub fn by_method(name: &str) -> Option<Miner> {
        Miner::all().find(|miner| miner.method() == name)
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct Headless {
    /// Findings that were checked against the session. The caller applies the filters.
    pub mined: Mined,
    /// Tokens that the run used, as the program reports them.
    pub tokens: Tokens,
    /// The model, if the program names it.
    pub model: Option<String>,
    /// Path of the kept output.
    pub stream: PathBuf,
}

/// The reason why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not installed. Nothing was written.
    #[error("`{0}` is not on the PATH\nhint: install it, or mine with a local method: `retro methods`")]
    Absent(&'static str),
    /// It could not be started, fed or read.
    #[error("cannot run `{program}`: {source}")]
    Run {
        /// Name of the program.
        program: &'static str,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// It took too long and was killed.
    #[error("`{program}` did not end within {seconds} seconds and was stopped")]
    Late {
        /// Name of the program.
        program: &'static str,
        /// Time limit of the run.
        seconds: u64,
    },
    /// It failed, or its answer cannot be used.
    #[error("`{program}` gave no answer: {why}")]
    NoAnswer {
        /// Name of the program.
        program: &'static str,
        /// The reason, for people.
        why: String,
        /// Tokens that the run used despite the failure.
        tokens: Box<Tokens>,
    },
    /// Its output could not be kept.
    #[error("cannot keep the output of the run: {0}")]
    Keep(std::io::Error),
}

/// Mines a session with a program that is found on the user's PATH, within `limit`, which is
/// [`LIMIT`] except in tests. The caller checks the budget and the quality gate, and applies the
/// filters.
pub fn run(
    world: &World,
    store: &Store,
    episode: &Episode,
    miner: Miner,
    limit: Duration,
) -> Result<Headless, Error> {
    let path = OsString::from((world.own_env)("PATH").unwrap_or_default());
    let program = find(miner.program(), &path).ok_or(Error::Absent(miner.program()))?;
    let failed = |source| Error::Run { program: miner.program(), source };
    let folder = RunFolder::new(store, &*world.disk).map_err(failed)?;
    let mut command = Command::new(program);
    command.args(miner.run.arguments(&folder.files()));
    command.current_dir(folder.files().work).env("PATH", &path).env(OUR_RUN, "1");
    let ended = process::run(command, headless::input(episode), limit).map_err(failed)?;
    let text = String::from_utf8_lossy(&ended.output);
    let stream =
        run_folder::keep(store, &*world.disk, &miner.method(), &episode.key, redacted(&text).as_bytes())
            .map_err(Error::Keep)?;
    let said = miner.run.said(&text, folder.read_answer());
    let Some(status) = ended.status else {
        return Err(Error::Late { program: miner.program(), seconds: limit.as_secs() });
    };
    let no_answer =
        |why: String| Error::NoAnswer { program: miner.program(), why, tokens: Box::new(said.tokens) };
    if let Some(why) = &said.error {
        return Err(no_answer(retro_memory::shortened(why, 300)));
    }
    if !status.success() {
        return Err(no_answer(format!("{status}: {}", last_line(&ended.errors))));
    }
    let mined = headless::parse(&said.answer, episode, &miner.method())
        .map_err(|headless::NoAnswer(why)| no_answer(why))?;
    Ok(Headless { mined, tokens: said.tokens, model: said.model, stream })
}

/// The program's file, in the first folder of `path` that has it.
fn find(program: &str, path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// Environment variable set for programs that we start: our hooks do nothing in them.
pub const OUR_RUN: &str = "RETRO_HEADLESS";

/// Redacts the output line by line.
fn redacted(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    for line in text.lines() {
        let clean = match serde_json::from_str::<Value>(line) {
            Ok(value) => retro_text::redact_json(value).into_inner().to_string(),
            Err(_) => retro_text::redact(line).into_inner(),
        };
        kept.push_str(&clean);
        kept.push('\n');
    }
    kept
}

/// The last line of a program's error output, made safe to show.
fn last_line(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed no error");
    retro_memory::shortened(&retro_text::redact(line).into_inner(), 300)
}
