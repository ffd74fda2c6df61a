use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use retro::views::ListOptions;

use super::{agent_name, rows_max};
use crate::args::AgentWord;
use crate::context::{Context, Exit, Outcome};
use crate::format;
use crate::table::{Column, Table};
use crate::when::{Between, end, start};

/// List sessions by how they ended, with the evidence in one line each
///
/// Success, failed, abandoned or unknown, by rule: from checks after the last edit, commits,
/// the last words, interruptions and calls left open. Sessions that were no real work, such
/// as health checks, are left out; --all shows them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro outcome --since 'last week'
  retro outcome --project shop --outcome failed")]
pub struct Args {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
    agent: Option<String>,

    /// Only this project: its name, a part of it, or a folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    between: Between,

    /// Only sessions that ended so
    #[arg(long, value_name = "OUTCOME", value_parser = ["success", "failed", "abandoned", "unknown"])]
    outcome: Option<String>,

    /// Also sessions that were no real work
    #[arg(long)]
    all: bool,

    /// At most so many; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let tz = TimeZone::system();
    let (since, until) = args.between.days(context, &tz)?;
    let options = ListOptions {
        agent: agent_name(&args.agent)?,
        project: args.project.clone(),
        since: since.and_then(|day| start(day, &tz)),
        before: until.and_then(|day| end(day, &tz)),
        outcome: args.outcome.clone(),
        ..ListOptions::default()
    };
    let mut view = retro::views::outcomes(&context.world, &config, &store, &options, args.all)?;
    let total = view.sessions.len();
    view.sessions.truncate(rows_max(args.limit, context).unwrap_or(total));
    if context.global.json {
        context.print_json(&view)?;
        return Ok(if view.sessions.is_empty() { Exit::Findings } else { Exit::Done });
    }
    let columns = [
        Column::left("outcome"),
        Column::left("session"),
        Column::left("ended").spare(1),
        Column::left("project").shrinks(10).spare(2),
        Column::left("why").wraps(24),
        Column::left("evidence").spare(3),
        Column::left("title").shrinks(16),
    ];
    let rows = view.sessions.iter().map(|session| {
        vec![
            session.outcome.value.as_str().to_owned(),
            session.short_id.clone(),
            format::time(session.ended_at),
            session.project.clone().unwrap_or_else(|| "-".to_owned()),
            session.outcome.reason.clone(),
            session.outcome.evidence_refs.first().cloned().unwrap_or_default(),
            session.title.clone().unwrap_or_else(|| "(no prompt)".to_owned()),
        ]
    });
    if !view.sessions.is_empty() {
        context.table(&Table::new(columns).rows(rows))?;
    }
    let counts = match view.counts.is_empty() {
        true => super::nothing::in_time(context, &config, &options, (since, until))?
            .unwrap_or_else(|| "No session fits.".to_owned()),
        false => format!("{}.", counted(&view.counts)),
    };
    let shown = match view.sessions.len() {
        some if some < total => {
            format!("{some} of {} (--limit 0 shows all). ", format::count(total as u64, "session"))
        }
        _ => String::new(),
    };
    let missing = match view.undigested {
        0 => String::new(),
        count => format!(
            " {} without a digest: `retro sync` makes them when they are quiet.",
            format::count(count, "session")
        ),
    };
    context.say(&format!("{shown}{counts}{}{missing}", left_out(&view.left_out)));
    Ok(if view.sessions.is_empty() { Exit::Findings } else { Exit::Done })
}

/// How many sessions are not listed, and why.
fn left_out(rules: &BTreeMap<String, u64>) -> String {
    let all: u64 = rules.values().sum();
    if all == 0 {
        return String::new();
    }
    let mut reasons: Vec<(u64, String)> =
        rules.iter().map(|(rule, count)| (*count, format!("{count} {}", rule.replace('_', " ")))).collect();
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.0));
    let reasons: Vec<String> = reasons.into_iter().map(|(_, reason)| reason).collect();
    let them = if all == 1 { "it" } else { "them" };
    format!(
        " {} not counted as real work ({}): --all lists {them}.",
        format::count(all, "more session"),
        reasons.join(", ")
    )
}

/// How many sessions ended in each way, the best way first.
pub(super) fn counted(counts: &BTreeMap<&'static str, u64>) -> String {
    let ways = ["success", "failed", "abandoned", "unknown"];
    let found = ways.iter().filter_map(|way| Some(format!("{} {way}", counts.get(way)?)));
    found.collect::<Vec<_>>().join(", ")
}
