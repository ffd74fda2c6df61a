mod blocks;
mod explain;
mod limits;
mod report;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use retro::engine::Config;
use retro::engine::ask::{self, Ledgers};
use retro::usage::{By, Mode, Order, Query, TokenLimit};
use retro::views::ListOptions;

use super::{WhichSession, agent_name, nothing};
use crate::args::AgentWord;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::patience::{self, Waiting};
use crate::progress::Bar;
use crate::when::Between;
pub use report::tell;

/// Say what your agents used, and what it costs at list price
///
/// Every answer of a model counts once, however many files it was copied into by
/// resuming, forking or sub-agents. An amount with ≥ is a lower bound: something that
/// belongs to it has no price, was logged before its end, or is not read yet. A model
/// that was used in a faster or slower tier is a row of its own.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  retro usage                        by day
  retro usage model --since 'last month'
  retro usage session --project shop --order desc
  retro usage blocks --active        the running five-hour window
  retro usage limits                 what is used and left of subscriptions
  retro usage explain 3f2a           each response: line, tokens, prices, cost"
)]
pub struct Args {
    /// What makes a row
    #[arg(value_enum, default_value = "daily")]
    by: Rows,

    #[command(flatten)]
    question: Question,

    #[command(subcommand)]
    special: Option<Special>,
}

#[derive(Debug, Subcommand)]
enum Special {
    /// Each response of a session: file and line, tokens, prices, cost, and the sum
    ///
    /// Copies that resuming or forking made are named with the response that counts
    /// in their place. `--verbose` shows the price row of each response.
    #[command(after_help = "Examples:
  retro usage explain latest
  retro usage explain claude 3f2a --verbose
  retro usage explain 3f2a --json | jq '.responses[] | [.file, .line, .cost_usd]'")]
    Explain {
        #[command(flatten)]
        session: WhichSession,

        /// Whose cost figures count
        #[arg(long, value_enum, env = "RETRO_COST_MODE", default_value = "auto")]
        mode: CostMode,
    },
    /// What is used and left of subscriptions, and when it resets, from the newest figures in the logs
    #[command(
        after_help = "Codex logs carry these figures. What other agents' logs carry is said below the table.
A reading is as old as the newest answer in the logs. A window that has ended since is shown as such.

Examples:
  retro usage limits
  retro usage limits --agent codex --json"
    )]
    Limits {
        /// Only this agent
        #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
        agent: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Rows {
    Daily,
    Weekly,
    Monthly,
    Session,
    Project,
    Model,
    Agent,
    Blocks,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CostMode {
    /// The log's own cost where it has one, else calculated
    Auto,
    /// Always calculated
    Calculate,
    /// Only what logs report
    Display,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum RowOrder {
    Asc,
    Desc,
}

#[derive(Debug, ClapArgs)]
struct Question {
    #[command(flatten)]
    between: Between,

    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Only this project: its name or a part of it
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// Only this model
    #[arg(long, value_name = "MODEL")]
    model: Option<String>,

    /// The zone in which days are cut, as Europe/Berlin [default: this machine's]
    #[arg(long, alias = "timezone", value_name = "ZONE")]
    tz: Option<String>,

    /// Whose cost figures count
    #[arg(long, value_enum, env = "RETRO_COST_MODE", default_value = "auto")]
    mode: CostMode,

    /// Break each row down by model
    #[arg(long, short)]
    breakdown: bool,

    /// Order of the rows
    #[arg(long, value_enum, default_value = "asc")]
    order: RowOrder,

    /// First day of a week
    #[arg(long, value_name = "DAY", default_value = "monday")]
    start_of_week: String,

    /// Fewer columns
    #[arg(long)]
    compact: bool,

    /// Print CSV
    #[arg(long, conflicts_with = "json")]
    csv: bool,

    /// Blocks: only the running one
    #[arg(long)]
    active: bool,

    /// Blocks: only those of the last three days
    #[arg(long)]
    recent: bool,

    /// Blocks: a limit to hold them against, a number or `max`
    #[arg(long, value_name = "N")]
    token_limit: Option<String>,

    #[command(flatten)]
    waiting: Waiting,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let bar = Bar::new(context);
    let asked =
        ask::read(&context.world, &config, args.question.waiting.patience(context)?, &|step| bar.step(step))?;
    bar.done();
    let outcome = answer(args, context, &config, &asked.ledgers());
    // The reader has the complete answer. The rest concerns only the store.
    context.hang_up();
    patience::keeping(context, |step| asked.keep(&context.world, &config, step));
    outcome
}

fn answer(args: &Args, context: &Context, config: &Config, ledgers: &Ledgers<'_>) -> Outcome {
    match &args.special {
        None => {}
        Some(Special::Explain { session, mode }) => {
            let key = session.find_in(ledgers, context)?;
            let places = retro::views::source_places(&context.world, config, &key)?;
            let view = retro::views::explain(ledgers, mode_of(*mode), &key, &places)?;
            return explain::tell(context, &view);
        }
        Some(Special::Limits { agent }) => {
            let agent = agent_name(agent)?;
            let view = retro::views::limits(ledgers, agent.as_deref(), context.world.now())?;
            return limits::tell(context, &view);
        }
    }
    let query = query(args, context)?;
    let tz = query.tz.clone();
    let span = (query.since, query.until);
    let fitting =
        ListOptions { agent: query.agent.clone(), project: query.project.clone(), ..ListOptions::default() };
    let view = retro::views::usage(ledgers, config.billing.value, query)?;
    let exit = if view.report.totals.responses == 0 { Exit::Findings } else { Exit::Done };
    let is_table = !context.global.json && !args.question.csv;
    if exit == Exit::Findings
        && is_table
        && view.nearest_project.is_none()
        && let Some(dated) = nothing::in_time(context, config, &fitting, span)?
    {
        report::say_unread(context, &view);
        context.say(&dated);
        return Ok(exit);
    }
    if context.global.json {
        context.print_json(&view)?;
    } else if args.question.csv {
        report::say_unread(context, &view);
        report::csv(context, &view.report)?;
    } else if matches!(args.by, Rows::Blocks) {
        blocks::tell(context, &view, &tz, args.question.active)?;
    } else {
        report::tell(context, &view, args.question.compact)?;
    }
    Ok(exit)
}

pub fn mode_of(mode: CostMode) -> Mode {
    match mode {
        CostMode::Auto => Mode::Auto,
        CostMode::Calculate => Mode::Calculate,
        CostMode::Display => Mode::Display,
    }
}

fn query(args: &Args, context: &Context) -> Result<Query, Failure> {
    let asked = &args.question;
    let tz = match &asked.tz {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(name).map_err(|_| {
            Failure::hinted(
                format_args!("there is no time zone {name:?}"),
                "one looks like Europe/Berlin or UTC",
            )
        })?,
    };
    let token_limit = match asked.token_limit.as_deref() {
        None => None,
        Some("max") => Some(TokenLimit::Max),
        Some(number) => Some(TokenLimit::Tokens(number.parse().map_err(|_| {
            Failure::Message(format!("--token-limit takes a number or `max`, not {number:?}"))
        })?)),
    };
    let (since, until) = asked.between.days(context, &tz)?;
    Ok(Query {
        by: match args.by {
            Rows::Daily => By::Daily,
            Rows::Weekly => By::Weekly,
            Rows::Monthly => By::Monthly,
            Rows::Session => By::Session,
            Rows::Project => By::Project,
            Rows::Model => By::Model,
            Rows::Agent => By::Agent,
            Rows::Blocks => By::Blocks,
        },
        since,
        until,
        agent: agent_name(&asked.agent)?,
        project: asked.project.clone(),
        model: asked.model.clone(),
        tz,
        mode: mode_of(asked.mode),
        breakdown: asked.breakdown,
        order: match asked.order {
            RowOrder::Asc => Order::Asc,
            RowOrder::Desc => Order::Desc,
        },
        start_of_week: weekday(&asked.start_of_week)?,
        active: asked.active,
        recent: asked.recent,
        token_limit,
        now: Some(context.world.now()),
        ..Query::default()
    })
}

fn weekday(name: &str) -> Result<Weekday, Failure> {
    let days = [
        ("monday", Weekday::Monday),
        ("tuesday", Weekday::Tuesday),
        ("wednesday", Weekday::Wednesday),
        ("thursday", Weekday::Thursday),
        ("friday", Weekday::Friday),
        ("saturday", Weekday::Saturday),
        ("sunday", Weekday::Sunday),
    ];
    let wanted = name.to_ascii_lowercase();
    let found = days.iter().find(|(day, _)| wanted.len() >= 2 && day.starts_with(&wanted));
    found.map(|(_, day)| *day).ok_or_else(|| Failure::Message(format!("{name:?} is no day of the week")))
}
