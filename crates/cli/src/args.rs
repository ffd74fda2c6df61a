//! The arguments that every command takes.

use clap::{ArgAction, Args, ColorChoice, Parser};
use std::path::PathBuf;

use crate::commands::Command;

/// Keep every session of your coding agents, and find out what they did.
///
/// retro captures the logs of coding agents byte for byte into one local store,
/// turns them into one event stream and answers questions about them. Nothing
/// leaves this machine. Without a command it says what is here and what to do next.
#[derive(Debug, Parser)]
#[command(
    name = "retro",
    version,
    propagate_version = false,
    after_help = "Examples:
  retro                    what is here and what to do next
  retro demo               everything, on bundled sample sessions
  retro sync               capture what is new on this machine
  retro list               what is here and what is in the store
  retro show latest        read the last session
  retro help usage         what a command does and takes"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,

    #[command(subcommand)]
    pub command: Option<Command>,
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

    /// Say more
    #[arg(long, short, global = true, action = ArgAction::SetTrue)]
    pub verbose: bool,

    /// Answer from the store as it is, without reading what is new
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
