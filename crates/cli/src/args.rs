//! The arguments that every command takes.

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, Args, ColorChoice, Command};
use std::ffi::OsStr;
use std::path::PathBuf;

/// Accepts any word for an agent. Commands look it up themselves: they know aliases, and suggest
/// the nearest name. Completions offer the names.
#[derive(Debug, Clone, Copy)]
pub struct AgentWord;

impl TypedValueParser for AgentWord {
    type Value = String;

    fn parse_ref(&self, command: &Command, _: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        let text = value.to_str().map(str::to_owned);
        text.ok_or_else(|| clap::Error::new(ErrorKind::InvalidUtf8).with_cmd(command))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(retro::agents::AGENTS.iter().map(|agent| PossibleValue::new(agent.name()))))
    }
}

/// Arguments that may be given before or after the command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The store [default: `retro/store` in the platform's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub root: Option<PathBuf>,

    /// The configuration file
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Look for agents' logs in this home instead of yours (a backup, a container, WSL)
    #[arg(long, global = true, value_name = "DIR")]
    pub home: Option<PathBuf>,

    /// Print one JSON object instead of a table
    #[arg(long, global = true)]
    pub json: bool,

    /// Say nothing but errors
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more detail
    #[arg(long, short, global = true, action = ArgAction::SetTrue)]
    pub verbose: bool,

    /// Answer from the store as it is, without reading new records
    #[arg(long, global = true)]
    pub no_sync: bool,

    /// Do not send long answers through a pager (PAGER, or less)
    #[arg(long, global = true)]
    pub no_pager: bool,

    /// Answer as if it were this time (RFC 3339), for scripts and tests; also RETRO_NOW
    #[arg(long, global = true, value_name = "TIME", hide = true)]
    pub now: Option<String>,

    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}
