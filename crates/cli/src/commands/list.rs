use anstyle::{AnsiColor, Style};
use jiff::tz::TimeZone;
use retro::views::{ListOptions, ListView, SessionView, Sort};

use super::{agent_name, rows_max};
use crate::args::AgentWord;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{self, are, count, thousands};
use crate::table::{Column, Table};
use crate::when::{Between, end, start};

/// List the sessions on this machine and in the store
///
/// The first column says where a session is: ● here and in the store, ◐ in the store,
/// but it has grown since, ○ here and not in the store yet, ■ only in the store, □ evicted:
/// its raw bytes were given up, its digest, costs and memories are kept, × forgotten: its log is
/// here and is not captured. Words
/// choose sessions by title, project, folder, branch or id. Nothing is captured by
/// listing, and turns and costs are those of the last sync. Only where the store has lost
/// its index is a sync done first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro list
  retro list vat rounding --since 'last week'
  retro list --project shop --sort cost --limit 5
  retro list --agent claude --json | jq '.sessions[].resume'")]
pub struct Args {
    /// Only sessions with all of these words
    #[arg(value_name = "WORDS")]
    words: Vec<String>,

    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Only this project: its name, a part of it, or a folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    between: Between,

    /// The sort order
    #[arg(long, value_enum, default_value = "last")]
    sort: SortBy,

    /// At most so many; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Also sessions that are sub-agents of others
    #[arg(long)]
    children: bool,

    /// Only sessions that ended so
    #[arg(long, value_name = "OUTCOME", value_parser = ["success", "failed", "abandoned", "unknown"])]
    outcome: Option<String>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum SortBy {
    /// The session that was active last
    Last,
    /// The session that began last
    Started,
    /// Most expensive first
    Cost,
    /// The one with most turns
    Turns,
    /// The one that lasted longest
    Duration,
    /// Largest first
    Size,
    /// By project, then by time
    Project,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let limit = rows_max(args.limit, context);
    let tz = TimeZone::system();
    let (since, until) = args.between.days(context, &tz)?;
    let options = ListOptions {
        agent: agent_name(&args.agent)?,
        project: args.project.clone(),
        words: args.words.clone(),
        since: since.and_then(|day| start(day, &tz)),
        before: until.and_then(|day| end(day, &tz)),
        sort: match args.sort {
            SortBy::Last => Sort::Last,
            SortBy::Started => Sort::Started,
            SortBy::Cost => Sort::Cost,
            SortBy::Turns => Sort::Turns,
            SortBy::Duration => Sort::Duration,
            SortBy::Size => Sort::Size,
            SortBy::Project => Sort::Project,
        },
        limit,
        children: args.children,
        outcome: args.outcome.clone(),
    };
    let config = context.config()?;
    let view = retro::views::list(&context.world, &config, &options)?;
    if context.global.json {
        context.print_json(&view)?;
    } else {
        let is_filtered = !args.words.is_empty()
            || args.project.is_some()
            || args.agent.is_some()
            || args.outcome.is_some()
            || since.is_some()
            || until.is_some();
        let dated = match view.total {
            0 => super::nothing::in_time(context, &config, &options, (since, until))?,
            _ => None,
        };
        match dated {
            Some(dated) => context.say(&dated),
            None => tell(context, &view, is_filtered)?,
        }
    }
    Ok(if view.total == 0 { Exit::Findings } else { Exit::Done })
}

/// The list as a table, with a summary.
pub fn tell(context: &Context, view: &ListView, is_filtered: bool) -> Result<(), Failure> {
    match (view.total, is_filtered) {
        (0, true) => {
            let near = view.nearest_project.as_ref();
            let near = near.map_or(String::new(), |near| format!(" Did you mean the project {near:?}?"));
            context.say(&format!("No session fits.{near} `retro list` shows all."));
        }
        (0, false) => context.say(
            "No sessions found. `retro demo` shows what retro does, `retro agents` says where it looked.",
        ),
        _ => {
            context.table(&table(view, Moment::of(context)))?;
            context.say(&summary(view));
        }
    }
    for warning in &view.warnings {
        let yellow = AnsiColor::Yellow.on_default();
        context.say(&format!("{yellow}warning:{yellow:#} {warning}."));
    }
    if !view.unsupported.is_empty() {
        context.say(&format!("Found and not supported yet: {}.", view.unsupported.join(", ")));
    }
    if context.global.verbose {
        for session in view.sessions.iter().filter_map(|session| session.resume.as_ref()) {
            context.say(&format!("resume: {}", retro::text::terminal::safe_line(session)));
        }
    }
    Ok(())
}

/// How much of a time is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Moment {
    /// Day and time of day.
    Whole,
    /// The day: a narrow terminal has better use for the rest of the column.
    Day,
}

impl Moment {
    fn of(context: &Context) -> Moment {
        const WIDE_COLUMNS: usize = 120;
        match context.room() {
            Some(columns) if columns < WIDE_COLUMNS => Moment::Day,
            _ => Moment::Whole,
        }
    }
}

/// What a session was about, how it ended and what it cost come first; what is left out first
/// on a narrow terminal is last in the order of `spare`.
fn table(view: &ListView, last: Moment) -> Table {
    let dim = Style::new().dimmed();
    let columns = [
        Column::left(" "),
        Column::left("agent").spare(4),
        Column::left("session").shrinks_inside(13).style(AnsiColor::Yellow.on_default()),
        Column::left("last").style(dim),
        Column::left("project").shrinks(8).spare(3),
        Column::left("ended").spare(1).style(dim),
        Column::right("turns").spare(5),
        Column::right("lasted").spare(6).style(dim),
        Column::right("cost").spare(2),
        Column::right("size").spare(7).style(dim),
        Column::left("title").shrinks(24),
    ];
    // If the store has none of the sessions, columns with its data would be empty.
    let is_known = view.sessions.iter().any(|session| session.captured);
    Table::new(columns).rows(view.sessions.iter().map(|session| row(session, is_known, last)))
}

/// Words of a title shown before the part that distinguishes it from others.
const START_WORDS: usize = 3;

fn row(session: &SessionView, is_known: bool, last: Moment) -> Vec<String> {
    let mark = match (session.captured, session.up_to_date, session.on_disk) {
        _ if session.forgotten => "×",
        _ if session.evicted && session.up_to_date => "□",
        (true, _, false) => "■",
        (true, true, true) => "●",
        (true, false, true) => "◐",
        (false, _, _) => "○",
    };
    let dash = || "-".to_owned();
    let unknown = || if is_known { dash() } else { String::new() };
    let title = match (&session.title, &session.difference) {
        (Some(title), Some(difference)) => {
            let start: Vec<&str> = title.split(' ').take(START_WORDS).collect();
            format!("{} … {difference}", start.join(" "))
        }
        (Some(title), None) => title.clone(),
        (None, _) => "(no prompt)".to_owned(),
    };
    vec![
        mark.to_owned(),
        session.agent.clone(),
        session.short_id.clone(),
        match (last, session.ended_at) {
            (Moment::Day, Some(at)) => format::day(at),
            _ => format::time(session.ended_at),
        },
        session.project.clone().unwrap_or_else(dash),
        session.outcome.clone().filter(|outcome| outcome != "unknown").unwrap_or_default(),
        session.turns.map_or_else(unknown, |turns| turns.to_string()),
        session.duration_ms.filter(|_| session.captured).map_or_else(unknown, format::took),
        session.cost_usd.map_or_else(unknown, |usd| format::money(Some(usd), session.cost_complete)),
        format::bytes(session.bytes),
        if session.is_below { format!("  └ {title}") } else { title },
    ]
}

fn summary(view: &ListView) -> String {
    let total = view.total as u64;
    let shown = match view.sessions.len() {
        all if all == view.total => count(total, "session"),
        some => format!("{} of {} (--limit 0 shows all)", thousands(some as u64), count(total, "session")),
    };
    let forgotten = view.sessions.iter().filter(|session| session.forgotten).count();
    let missing = (view.total - view.captured).saturating_sub(forgotten) as u64;
    let (grown, only) = (view.grown as u64, view.only_here);
    let mut parts = Vec::new();
    if missing > 0 {
        let has = if missing == 1 { "has" } else { "have" };
        parts.push(format!(
            "{} {} not in the store and {has} only a title here",
            thousands(missing),
            are(missing)
        ));
    }
    if grown > 0 {
        let has = if grown == 1 { "has" } else { "have" };
        parts.push(format!("{} {has} grown since", thousands(grown)));
    }
    let help = if parts.is_empty() { "" } else { ": `retro sync` captures what is new" };
    if only > 0 {
        parts.insert(0, format!("{} only in the store (■)", thousands(only as u64)));
    } else if parts.is_empty() && view.unreadable_files.is_empty() {
        parts.push("all in the store".to_owned());
    } else if parts.is_empty() {
        parts.push("in the store".to_owned());
    }
    let evicted = view.sessions.iter().filter(|session| session.evicted).count() as u64;
    if evicted > 0 {
        parts.push(format!("{} evicted (□: `retro digest` shows what is kept)", thousands(evicted)));
    }
    if forgotten > 0 {
        parts.push(format!("{} forgotten (×)", thousands(forgotten as u64)));
    }
    // Without an index, turns and costs are unknown.
    let has_index = view.sessions.iter().all(|session| !session.captured || session.turns.is_some());
    let index = if has_index { "" } else { " Turns and costs are known again after the next `retro sync`." };
    let below = match view.below {
        0 => String::new(),
        1 => " 1 sub-agent is not listed (--children lists it).".to_owned(),
        some => format!(" {some} sub-agents are not listed (--children lists them)."),
    };
    format!("{shown}, {}{help}.{below}{index}", parts.join(", "))
}
