//! Every command, one file each.

mod agents;
mod catalog;
mod completions;
mod config;
mod curate;
mod dashboard;
mod decisions;
mod demo;
mod detect;
mod digest;
mod doctor;
mod embed;
mod events;
mod files;
mod fix;
mod forget;
mod import;
mod list;
mod man;
mod memory;
mod methods;
mod mine;
mod nothing;
mod outcome;
mod pin;
mod pricing;
mod raw;
mod rebuild;
mod render;
mod report;
mod retain;
mod schedule;
mod search;
mod secrets;
mod show;
mod signal;
mod similar;
mod stages;
mod status;
mod statusline;
mod sync;
mod usage;
mod verify;

use clap::{Parser, Subcommand};
use retro::engine::ask::Ledgers;
use retro::model::SessionKey;
use retro::store::Store;

use crate::args::Global;
use crate::context::{Context, Failure, Outcome};
use crate::lost;

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

#[derive(Debug, Subcommand)]
pub enum Command {
    Agents(agents::Args),
    Catalog(catalog::Args),
    Completions(completions::Args),
    Config(config::Args),
    Curate(curate::Args),
    Dashboard(dashboard::Args),
    Decisions(decisions::Args),
    Demo(demo::Args),
    Detect(detect::Args),
    Digest(digest::Args),
    Doctor(doctor::Args),
    Embed(embed::Args),
    Events(events::Args),
    Files(files::Args),
    Fix(fix::Args),
    Forget(forget::Args),
    Import(import::Args),
    List(list::Args),
    Man(man::Args),
    Memory(memory::Args),
    Methods(methods::Args),
    Mine(mine::Args),
    Outcome(outcome::Args),
    Pin(pin::Args),
    Pricing(pricing::Args),
    Raw(raw::Args),
    Rebuild(rebuild::Args),
    Render(render::Args),
    Report(report::Args),
    Retain(retain::Args),
    Schedule(schedule::Args),
    Search(search::Args),
    Secrets(secrets::Args),
    Show(show::Args),
    Signal(signal::Args),
    Similar(similar::Args),
    Stages(stages::Args),
    Statusline(statusline::Args),
    Sync(sync::Args),
    Unpin(pin::Undo),
    Usage(usage::Args),
    Verify(verify::Args),
}

impl Command {
    /// True if the command may finish work that another one left. The others must be quick, or do
    /// not use a store.
    fn may_take_long(&self) -> bool {
        match self {
            Command::Agents(_)
            | Command::Completions(_)
            | Command::Config(_)
            | Command::Demo(_)
            | Command::Man(_)
            | Command::Schedule(_)
            | Command::Statusline(_) => false,
            Command::Sync(args) => !args.is_of_hook(),
            _ => true,
        }
    }

    /// True if the command reads the index. The others read the logs, must not wait, write the
    /// store themselves, or report damage in it.
    fn asks_the_index(&self) -> bool {
        match self {
            Command::Dashboard(_)
            | Command::Curate(_)
            | Command::Detect(_)
            | Command::Digest(_)
            | Command::Events(_)
            | Command::Files(_)
            | Command::Fix(_)
            | Command::List(_)
            | Command::Mine(_)
            | Command::Outcome(_)
            | Command::Raw(_)
            | Command::Render(_)
            | Command::Report(_)
            | Command::Search(_)
            | Command::Secrets(_)
            | Command::Show(_)
            | Command::Signal(_)
            | Command::Similar(_) => true,
            Command::Memory(args) => args.asks_the_index(),
            _ => false,
        }
    }
}

/// Runs a command. Without one, prints the status.
pub fn run(command: Option<Command>, context: &Context) -> Outcome {
    if command.as_ref().is_none_or(Command::may_take_long) {
        lost::finish_forgetting(context);
    }
    if command.as_ref().is_none_or(Command::asks_the_index) {
        lost::restore_index(context);
    }
    match command {
        None => status::run(context),
        Some(Command::Agents(args)) => agents::run(&args, context),
        Some(Command::Catalog(args)) => catalog::run(&args, context),
        Some(Command::Completions(args)) => completions::run(&args, context),
        Some(Command::Config(args)) => config::run(&args, context),
        Some(Command::Curate(args)) => curate::run(&args, context),
        Some(Command::Dashboard(args)) => dashboard::run(&args, context),
        Some(Command::Decisions(args)) => decisions::run(&args, context),
        Some(Command::Demo(args)) => demo::run(&args, context),
        Some(Command::Detect(args)) => detect::run(&args, context),
        Some(Command::Digest(args)) => digest::run(&args, context),
        Some(Command::Doctor(args)) => doctor::run(&args, context),
        Some(Command::Embed(args)) => embed::run(&args, context),
        Some(Command::Events(args)) => events::run(&args, context),
        Some(Command::Files(args)) => files::run(&args, context),
        Some(Command::Fix(args)) => fix::run(&args, context),
        Some(Command::Forget(args)) => forget::run(&args, context),
        Some(Command::Import(args)) => import::run(&args, context),
        Some(Command::List(args)) => list::run(&args, context),
        Some(Command::Man(args)) => man::run(&args, context),
        Some(Command::Memory(args)) => memory::run(&args, context),
        Some(Command::Methods(args)) => methods::run(&args, context),
        Some(Command::Mine(args)) => mine::run(&args, context),
        Some(Command::Outcome(args)) => outcome::run(&args, context),
        Some(Command::Pin(args)) => pin::run(&args, context),
        Some(Command::Pricing(args)) => pricing::run(&args, context),
        Some(Command::Raw(args)) => raw::run(&args, context),
        Some(Command::Rebuild(args)) => rebuild::run(&args, context),
        Some(Command::Render(args)) => render::run(&args, context),
        Some(Command::Report(args)) => report::run(&args, context),
        Some(Command::Retain(args)) => retain::run(&args, context),
        Some(Command::Schedule(args)) => schedule::run(&args, context),
        Some(Command::Search(args)) => search::run(&args, context),
        Some(Command::Secrets(args)) => secrets::run(&args, context),
        Some(Command::Show(args)) => show::run(&args, context),
        Some(Command::Signal(args)) => signal::run(&args, context),
        Some(Command::Similar(args)) => similar::run(&args, context),
        Some(Command::Stages(args)) => stages::run(&args, context),
        Some(Command::Statusline(args)) => statusline::run(&args, context),
        Some(Command::Sync(args)) => sync::run(&args, context),
        Some(Command::Unpin(args)) => pin::undo(&args, context),
        Some(Command::Usage(args)) => usage::run(&args, context),
        Some(Command::Verify(args)) => verify::run(&args, context),
    }
}

/// Which session a command is about.
#[derive(Debug, Clone, clap::Args)]
pub struct WhichSession {
    /// The session: any unique beginning of its id, or `latest`. An agent's name may come
    /// before it, or alone for the agent's newest session. ID#7 is its turn 7
    #[arg(value_name = "SESSION", required = true, num_args = 1..=2)]
    session: Vec<String>,
}

impl WhichSession {
    fn find(&self, store: &Store, context: &Context) -> Result<SessionKey, Failure> {
        Ok(retro::views::session(store, &self.words(), context.world.now())?)
    }

    fn find_in(&self, ledgers: &Ledgers<'_>, context: &Context) -> Result<SessionKey, Failure> {
        Ok(retro::views::session_in(ledgers, &self.words(), context.world.now())?)
    }

    /// The number of the turn after a `#`, or of the turn with that event.
    fn turn(&self, store: &Store, key: &SessionKey) -> Result<Option<u32>, Failure> {
        let words = self.words();
        let (_, Some(place)) = retro::views::without_place(&words) else { return Ok(None) };
        match place.parse() {
            Ok(turn) => Ok(Some(turn)),
            Err(_) => Ok(Some(retro::views::turn_of(store, key, place)?)),
        }
    }

    fn words(&self) -> Vec<&str> {
        self.session.iter().map(String::as_str).collect()
    }
}

/// Default number of sessions in a table.
const ROWS: usize = 20;

/// The maximum number of sessions to show: the value of `--limit`, where 0 means all. Without it, a
/// table is limited and JSON is not.
fn rows_max(limit: Option<usize>, context: &Context) -> Option<usize> {
    match limit {
        None if context.global.json => None,
        None => Some(ROWS),
        Some(limit) => Some(limit).filter(|limit| *limit > 0),
    }
}

/// Resolves an agent option to retro's name for the agent.
fn agent_name(name: &Option<String>) -> Result<Option<String>, Failure> {
    let Some(name) = name else { return Ok(None) };
    let agents = retro::views::agent(name)?;
    Ok(match agents.as_slice() {
        [one] => Some(one.name().to_owned()),
        _ => None,
    })
}
