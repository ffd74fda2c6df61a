use retro::views::{ListOptions, ListView, SessionView};

use super::agent_name;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::table::{Column, table};

/// List the sessions on this machine and in the store
///
/// The first column says whether a session is in the store: ● all of it, ◐ it has
/// grown since, ○ not yet. Nothing is captured by listing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro list
  retro list --project shop --limit 5
  retro list --agent claude --json | jq '.sessions[].resume'")]
pub struct Args {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT")]
    agent: Option<String>,

    /// Only this project: its name, or a folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    /// At most so many, newest first; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Also sessions that are sub-agents of others
    #[arg(long)]
    children: bool,
}

/// Sessions in a table that nobody limited.
const ROWS: usize = 20;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let limit = match args.limit {
        Some(0) => None,
        Some(limit) => Some(limit),
        None if context.global.json => None,
        None => Some(ROWS),
    };
    let options = ListOptions {
        agent: agent_name(&args.agent)?,
        project: args.project.clone(),
        limit,
        children: args.children,
    };
    let view = retro::views::list(&context.world, &context.config()?, &options)?;
    if context.global.json {
        context.print_json(&view)?;
    } else {
        tell(context, &view)?;
    }
    Ok(if view.total == 0 { Exit::Findings } else { Exit::Done })
}

/// The list as a table, and what to know of it.
pub fn tell(context: &Context, view: &ListView) -> Result<(), Failure> {
    if view.total == 0 {
        context.say(
            "No sessions found. `retro demo` shows what retro does; `retro doctor` says where it looked.",
        );
    } else {
        let rows: Vec<Vec<String>> =
            view.sessions.iter().map(|session| row(session, view.id_length)).collect();
        let header = [
            Column::left(" "),
            Column::left("agent"),
            Column::left("session"),
            Column::left("last"),
            Column::left("project"),
            Column::right("size"),
            Column::flexible("title"),
        ];
        for line in table(&header, &rows, context.columns()) {
            context.print(&line)?;
        }
        context.say(&summary(view));
    }
    for warning in &view.warnings {
        let yellow = anstyle::AnsiColor::Yellow.on_default();
        context.say(&format!("{yellow}warning:{yellow:#} {warning}"));
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

fn row(session: &SessionView, id_length: usize) -> Vec<String> {
    let mark = match (session.captured, session.up_to_date) {
        (true, true) => "●",
        (true, false) => "◐",
        (false, _) => "○",
    };
    vec![
        mark.to_owned(),
        session.agent.clone(),
        session.session_id.chars().take(id_length).collect(),
        format::time(session.ended_at),
        session.project.clone().unwrap_or_else(|| "-".to_owned()),
        format::bytes(session.bytes),
        session.title.clone().unwrap_or_else(|| "(no prompt)".to_owned()),
    ]
}

fn summary(view: &ListView) -> String {
    let shown = match view.sessions.len() {
        all if all == view.total => format::count(view.total as u64, "session"),
        some => format!("{some} of {}", format::count(view.total as u64, "session")),
    };
    let rest = match view.total - view.captured {
        0 => "all in the store".to_owned(),
        missing => format!("{missing} not in the store: `retro sync` captures them"),
    };
    let more = if view.sessions.len() < view.total { " (--limit 0 shows all)" } else { "" };
    format!("{shown}{more}, {rest}.")
}
