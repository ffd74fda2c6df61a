use jiff::tz::TimeZone;
use retro::views::{ListOptions, ReportView};

use super::agent_name;
use crate::context::{Context, Exit, Outcome};
use crate::format;
use crate::when::{Between, end, start};

/// Print a page: what was done, what it cost, what went wrong again, what to try
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro report --since 'last week'
  retro report --project shop --format md > report.md")]
pub struct Args {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT")]
    agent: Option<String>,

    /// Only this project: its name, a part of it, or a folder
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,

    #[command(flatten)]
    between: Between,

    /// How it is written
    #[arg(long, value_enum, default_value = "text")]
    format: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// For a terminal
    Text,
    /// Markdown
    Md,
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
        ..ListOptions::default()
    };
    let view = retro::views::report(&context.world, &config, &store, &options)?;
    let exit = if view.sessions == 0 { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&view)?;
        return Ok(exit);
    }
    if view.sessions == 0 {
        context.say("No session with a digest fits. `retro sync` makes digests of quiet sessions.");
        return Ok(exit);
    }
    for line in lines(&view, args.format) {
        context.print(&context.shown(&line))?;
    }
    Ok(exit)
}

/// The page, line by line.
fn lines(view: &ReportView, form: Form) -> Vec<String> {
    let heading = |text: &str| if form == Form::Md { format!("\n## {text}\n") } else { format!("\n{text}") };
    let item = |text: String| {
        if form == Form::Md { format!("- {}", text.replace('|', "\\|")) } else { format!("  {text}") }
    };
    let mut lines = Vec::new();
    lines.push(if form == Form::Md { "# Report".to_owned() } else { "Report".to_owned() });
    lines.push(heading("What was done"));
    let agents: Vec<String> = view.agents.iter().map(|(agent, count)| format!("{agent} {count}")).collect();
    lines.push(item(format!(
        "{} ({}), {} of them real work",
        format::count(view.sessions, "session"),
        agents.join(", "),
        view.real
    )));
    let outcomes: Vec<String> =
        view.outcomes.iter().map(|(outcome, count)| format!("{count} {outcome}")).collect();
    lines.push(item(format!("how they ended: {}", outcomes.join(", "))));
    lines.push(item(format!(
        "{} of active time, {}, {} lines added and {} removed",
        format::took(view.active_seconds * 1000),
        format::count(view.commits, "commit"),
        format::thousands(view.lines_added),
        format::thousands(view.lines_removed)
    )));
    let projects: Vec<String> =
        view.projects.iter().map(|project| format!("{} {}", project.name, project.count)).collect();
    lines.push(item(format!("projects: {}", projects.join(", "))));
    let commands: Vec<String> = view
        .commands
        .iter()
        .map(|command| match command.failed {
            0 => format!("{} {}", command.name, command.count),
            failed => format!("{} {} ({failed} failed)", command.name, command.count),
        })
        .collect();
    lines.push(item(format!("commands: {}", commands.join(", "))));
    lines.push(heading("What it cost"));
    lines.push(item(match view.cost_usd {
        Some(usd) => format!("{} list price", format::money(Some(usd), view.cost_complete)),
        None => "not known: no session has a price".to_owned(),
    }));
    if !view.errors.is_empty() {
        lines.push(heading("What went wrong more than once"));
    }
    for error in &view.errors {
        let fixed = if error.fixed { "passed later each time" } else { "not seen to pass each time" };
        lines.push(item(format!(
            "{} x in {}: {} ({fixed})",
            error.count,
            format::count(error.sessions.len() as u64, "session"),
            error.sample
        )));
    }
    if !view.corrections.is_empty() {
        lines.push(heading("What you corrected"));
    }
    for correction in &view.corrections {
        lines.push(item(format!("{} {}: {}", correction.session, correction.event_id, correction.text)));
    }
    if !view.findings.is_empty() {
        lines.push(heading("What to try"));
    }
    for finding in &view.findings {
        lines.push(item(format!("{}: {} ({})", finding.text, finding.advice, finding.sessions.join(", "))));
    }
    if view.undigested > 0 {
        lines.push(item(format!("{} not counted: no digest yet", format::count(view.undigested, "session"))));
    }
    lines
}
