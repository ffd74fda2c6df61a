use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use retro::engine::quick;
use retro::text::terminal::one_line;
use retro::usage::{By, Figures, Mode, Order, Prices, Query, Report, TokenLimit};
use retro::views::UsageView;

use super::{WhichSession, agent_name};
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{count, thousands};
use crate::table::{Column, table};

/// Say what your agents used, and what it costs at list price
///
/// Every answer of a model counts once, however many files it was copied into by
/// resuming, forking or sub-agents. What has no price is said, never counted as
/// zero: a figure with ≥ is a lower bound.
#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  retro usage                        by day
  retro usage model --since 2026-03-01
  retro usage session --project shop
  retro usage blocks --active        the running five-hour window
  retro usage explain claude 3f2a    each response: line, tokens, price row, cost"
)]
pub struct Args {
    /// What makes a row
    #[arg(value_enum, default_value = "daily")]
    by: Rows,

    #[command(flatten)]
    question: Question,

    #[command(subcommand)]
    explain: Option<Explain>,
}

#[derive(Debug, Subcommand)]
enum Explain {
    /// Each response of a session: where it stands, tokens, price row, cost; and copies that count elsewhere
    Explain {
        #[command(flatten)]
        session: WhichSession,

        /// Whose cost figures count
        #[arg(long, value_enum, env = "RETRO_COST_MODE", default_value = "auto")]
        mode: CostMode,
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
enum CostMode {
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
    /// From this day on, as 2026-03-01
    #[arg(long, value_name = "DAY")]
    since: Option<Date>,

    /// Up to and including this day
    #[arg(long, value_name = "DAY")]
    until: Option<Date>,

    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT")]
    agent: Option<String>,

    /// Only this project
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
    #[arg(long)]
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
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let unread = match context.global.no_sync {
        true => 0,
        false => quick::before_costs(&context.world, &config)?,
    };
    let store = context.store(&config)?;
    let index = store.index()?;
    let prices = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    if let Some(Explain::Explain { session, mode }) = &args.explain {
        let key = session.find(&store)?;
        let view = retro::views::explain(&index, &prices, mode_of(*mode), &key)?;
        return explain(context, &view);
    }
    let view = retro::views::usage(&index, &prices, query(args, context)?, unread)?;
    let exit = if view.report.totals.responses == 0 { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&view)?;
    } else if args.question.csv {
        csv(context, &view.report)?;
    } else {
        tell(context, &view, args.question.compact)?;
    }
    Ok(exit)
}

fn mode_of(mode: CostMode) -> Mode {
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
            Failure::Message(format!("there is no time zone {name:?}; one looks like Europe/Berlin or UTC"))
        })?,
    };
    let token_limit = match asked.token_limit.as_deref() {
        None => None,
        Some("max") => Some(TokenLimit::Max),
        Some(number) => Some(TokenLimit::Tokens(number.parse().map_err(|_| {
            Failure::Message(format!("--token-limit takes a number or `max`, not {number:?}"))
        })?)),
    };
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
        since: asked.since,
        until: asked.until,
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

/// Columns of the bar.
const BAR_COLUMNS: f64 = 12.0;

/// The report as a table, and what to know of it.
pub fn tell(context: &Context, view: &UsageView, compact: bool) -> Result<(), Failure> {
    let report = &view.report;
    if report.totals.responses == 0 {
        context.say("Nothing was used, as far as the logs here tell. `retro sync` reads what is new.");
        return Ok(());
    }
    let most = report.rows.iter().filter_map(|row| row.figures.cost_usd).fold(0.0, f64::max);
    let mut rows = Vec::new();
    for row in &report.rows {
        let name = match (&row.session, &row.block) {
            (Some(session), _) => {
                let id: String = session.session_id.chars().take(8).collect();
                format!("{} {id} {}", session.agent, session.project.as_deref().unwrap_or("-"))
            }
            _ => row.key.clone(),
        };
        rows.push(line(&name, &row.figures, compact, bar(row.figures.cost_usd, most)));
        for part in &row.breakdown {
            rows.push(line(&format!("  {}", part.model), &part.figures, compact, String::new()));
        }
    }
    rows.push(line("total", &report.totals, compact, String::new()));
    let mut header = vec![Column::flexible(""), Column::left("")];
    if !compact {
        header.extend(["input", "cache write", "cache read"].map(Column::right));
    }
    header.extend(["output", "tokens", "responses", "list price"].map(Column::right));
    for line in table(&header, &rows, context.columns()) {
        context.print(&line)?;
    }
    for note in notes(view) {
        context.say(&note);
    }
    Ok(())
}

fn line(name: &str, figures: &Figures, compact: bool, bar: String) -> Vec<String> {
    let mut cells = vec![name.to_owned(), bar];
    if !compact {
        cells.extend(
            [figures.input_tokens, figures.cache_creation_tokens, figures.cache_read_tokens].map(thousands),
        );
    }
    cells.extend([figures.output_tokens, figures.total_tokens, figures.responses].map(thousands));
    cells.push(money(figures));
    cells
}

fn money(figures: &Figures) -> String {
    match (figures.cost_usd, figures.cost_complete) {
        (None, _) => "unknown".to_owned(),
        (Some(usd), true) => format!("${usd:.2}"),
        (Some(usd), false) => format!("≥ ${usd:.2}"),
    }
}

fn bar(usd: Option<f64>, most: f64) -> String {
    let share = usd.filter(|_| most > 0.0).map_or(0.0, |usd| usd / most);
    "▇".repeat((share * BAR_COLUMNS).round() as usize)
}

/// What a reader must know so as not to be misled.
fn notes(view: &UsageView) -> Vec<String> {
    let report = &view.report;
    let mut notes = vec![format!(
        "List prices of {}: what the same tokens cost when billed by use, not what a plan charges.",
        view.prices_of
    )];
    if !report.unpriced_models.is_empty() {
        let named: Vec<String> = report
            .unpriced_models
            .iter()
            .map(|model| format!("{} ({})", one_line(&model.model, 60), count(model.responses, "response")))
            .collect();
        notes.push(format!("No price is known for {}.", named.join(", ")));
    }
    if report.lower_bound_responses > 0 {
        let estimate = match report.totals.estimated_cost_usd {
            Some(usd) => format!("; with their output estimated from the logged text it is about ${usd:.2}"),
            None => String::new(),
        };
        notes.push(format!(
            "{} logged before their end: at least this much{estimate}.",
            count(report.lower_bound_responses, "response")
        ));
    }
    if report.duplicates_dropped > 0 {
        notes.push(format!(
            "{} of resumed or forked sessions counted once.",
            count(report.duplicates_dropped, "copy").replace("copys", "copies")
        ));
    }
    if !report.unlogged.is_empty() {
        let tokens: u64 = report.unlogged.iter().map(|part| part.total_tokens).sum();
        notes.push(format!(
            "{} tokens more stand only in the agents' own totals (titles, compactions); not counted here.",
            thousands(tokens)
        ));
    }
    if !report.incomplete.is_empty() {
        notes.push(format!(
            "{} could not be settled; --json names them.",
            count(report.incomplete.len() as u64, "figure")
        ));
    }
    if view.unread_sessions > 0 {
        notes.push(format!(
            "{} not read yet, so costs are at least this; `retro sync` reads them.",
            count(view.unread_sessions, "session")
        ));
    }
    notes
}

fn csv(context: &Context, report: &Report) -> Result<(), Failure> {
    context.print(
        "key,input_tokens,cache_creation_tokens,cache_creation_1h_tokens,cache_read_tokens,output_tokens,\
         reasoning_tokens,total_tokens,responses,cost_usd,cost_complete",
    )?;
    for row in &report.rows {
        let f = &row.figures;
        let cost = f.cost_usd.map_or(String::new(), |usd| usd.to_string());
        context.print(&format!(
            "\"{}\",{},{},{},{},{},{},{},{},{cost},{}",
            row.key.replace('"', "\"\""),
            f.input_tokens,
            f.cache_creation_tokens,
            f.cache_creation_1h_tokens,
            f.cache_read_tokens,
            f.output_tokens,
            f.reasoning_tokens,
            f.total_tokens,
            f.responses,
            f.cost_complete
        ))?;
    }
    Ok(())
}

fn explain(context: &Context, view: &retro::views::ExplainView) -> Outcome {
    let exit = if view.responses.is_empty() && view.dropped.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(view)?;
        return Ok(exit);
    }
    let rows: Vec<Vec<String>> = view
        .responses
        .iter()
        .map(|response| {
            vec![
                response.event.to_string(),
                crate::format::time(response.ts),
                thousands(response.input_tokens),
                thousands(response.cache_creation_tokens),
                thousands(response.cache_read_tokens),
                format!("{}{}", if response.exact { "" } else { "≥ " }, thousands(response.output_tokens)),
                response.cost_usd.map_or("unknown".to_owned(), |usd| format!("${usd:.4}")),
                response.price.clone().or_else(|| response.model.clone()).unwrap_or_default(),
            ]
        })
        .collect();
    let header = [
        Column::left("event"),
        Column::left("when"),
        Column::right("input"),
        Column::right("cache write"),
        Column::right("cache read"),
        Column::right("output"),
        Column::right("cost"),
        Column::flexible("price row"),
    ];
    for line in table(&header, &rows, context.columns()) {
        context.print(&line)?;
    }
    for copy in &view.dropped {
        context.print(&format!("{} repeats {} and counts there", copy.event, copy.twin))?;
    }
    Ok(exit)
}
