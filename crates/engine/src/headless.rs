//! Runs a model-backed miner: the user's own `codex` or `claude`, on request only.
//!
//! The text goes in on standard input and never as an argument; no shell is involved. The
//! program may take 900 seconds, then it is killed with everything it started. Neither
//! program writes a session of its own, so that our runs are never captured as the user's
//! work. What it printed is kept, redacted, under `headless/` in the store.

mod desk;
mod process;
mod said;
mod spent;

pub(crate) use spent::rows;
pub use spent::{Spent, tokens_on};

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use retro_memory::{Episode, Mined, headless};
use retro_model::Tokens;
use retro_store::Store;
use serde_json::Value;

use crate::World;
use desk::Desk;

/// How long a program may take.
pub const LIMIT: Duration = Duration::from_secs(900);

/// A program that can mine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Miner {
    /// `codex exec`.
    Codex,
    /// `claude -p`.
    Claude,
}

impl Miner {
    /// Both, sorted by name.
    pub const ALL: &'static [Miner] = &[Miner::Claude, Miner::Codex];

    /// The name of the method.
    pub fn method(self) -> &'static str {
        match self {
            Miner::Codex => "codex_headless",
            Miner::Claude => "claude_headless",
        }
    }

    /// The program it runs.
    pub fn program(self) -> &'static str {
        match self {
            Miner::Codex => "codex",
            Miner::Claude => "claude",
        }
    }

    /// Who answers it.
    fn provider(self) -> &'static str {
        match self {
            Miner::Codex => "openai",
            Miner::Claude => "anthropic",
        }
    }

    /// The one with this name of a method.
    pub fn by_method(name: &str) -> Option<Miner> {
        Miner::ALL.iter().copied().find(|miner| miner.method() == name)
    }
}

/// What a run gave.
#[derive(Debug)]
pub struct Headless {
    /// What was found, checked against the session. Filters are still to be applied.
    pub mined: Mined,
    /// What the run used, as the program says.
    pub tokens: Tokens,
    /// The model, where the program says so.
    pub model: Option<String>,
    /// Where its output is kept.
    pub stream: PathBuf,
}

/// Why a run gave nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program is not there. Nothing was written.
    #[error("`{0}` is not on the PATH\nhint: install it, or mine with a local method: `retro methods`")]
    Absent(&'static str),
    /// It could not be started, fed or read.
    #[error("cannot run `{program}`: {source}")]
    Run {
        /// Which.
        program: &'static str,
        /// Why.
        source: std::io::Error,
    },
    /// It took too long and was killed.
    #[error("`{program}` did not end within {seconds} seconds and was stopped")]
    Late {
        /// Which.
        program: &'static str,
        /// How long it was given.
        seconds: u64,
    },
    /// It failed, or its answer cannot be used.
    #[error("`{program}` gave no answer: {why}")]
    NoAnswer {
        /// Which.
        program: &'static str,
        /// Why.
        why: String,
        /// What the run used all the same.
        tokens: Box<Tokens>,
    },
    /// Its output could not be kept.
    #[error("cannot keep the output of the run: {0}")]
    Keep(std::io::Error),
}

/// Mines a session with a program that is found on the user's PATH, within `limit`, which is
/// [`LIMIT`] but for tests. The caller keeps the budget, asks the quality gate and applies
/// the filters.
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
    let desk = Desk::new(store, &*world.disk).map_err(failed)?;
    let command = command(miner, &program, &desk, &path);
    let ended = process::run(command, headless::input(episode), limit).map_err(failed)?;
    let text = String::from_utf8_lossy(&ended.output);
    let stream = desk::keep(store, &*world.disk, miner.method(), &episode.key, redacted(&text).as_bytes())
        .map_err(Error::Keep)?;
    let said = match miner {
        Miner::Codex => said::by_codex(&text, desk.read_answer()),
        Miner::Claude => said::by_claude(&text),
    };
    let Some(status) = ended.status else {
        return Err(Error::Late { program: miner.program(), seconds: limit.as_secs() });
    };
    let no_answer =
        |why: String| Error::NoAnswer { program: miner.program(), why, tokens: Box::new(said.tokens) };
    if let Some(why) = said.error.clone() {
        return Err(no_answer(why));
    }
    if !status.success() {
        return Err(no_answer(format!("{status}: {}", last_line(&ended.errors))));
    }
    let mined = headless::parse(&said.answer, episode, miner.method())
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

/// Set for programs that we start: hooks of ours that they call do nothing.
pub const OUR_RUN: &str = "RETRO_HEADLESS";

/// The command line, with our text still to come on standard input.
fn command(miner: Miner, program: &Path, desk: &Desk, path: &OsStr) -> Command {
    let mut command = Command::new(program);
    command.current_dir(desk.work()).env("PATH", path).env(OUR_RUN, "1");
    match miner {
        Miner::Codex => {
            command.args(["exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-rules"]);
            command.args(["-s", "read-only", "--output-schema"]).arg(desk.schema());
            command.arg("-o").arg(desk.answer()).arg("-C").arg(desk.work()).arg("-");
        }
        Miner::Claude => {
            command.args(["-p", "--no-session-persistence", "--output-format", "json"]);
        }
    }
    command
}

/// The output without secrets, line by line as it came.
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

/// The last line of what a program printed as errors, made safe to show.
fn last_line(errors: &[u8]) -> String {
    let text = String::from_utf8_lossy(errors);
    let line = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it printed no error");
    retro_memory::shortened(&retro_text::redact(line).into_inner(), 300)
}
