use jiff::tz::TimeZone;
use retro::model::Timestamp;
use retro::views::{CostBounds, Counted, ListOptions, RecurringError, ReportView};

use super::agent_name;
use crate::args::AgentWord;
use crate::context::{Context, Exit, Outcome};
use crate::format;
use crate::when::{Between, end, start};

/// Print a page about the work done, its cost, repeated problems and advice
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro report --since 'last week'
  retro report --project shop --format md > report.md")]
pub struct Args {
    /// Only this agent
    #[arg(long, alias = "host", value_name = "AGENT", value_parser = AgentWord, hide_possible_values = true)]
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
        let dated = super::nothing::in_time(context, &config, &options, (since, until))?;
        context.say(&dated.filter(|_| view.undigested == 0).unwrap_or_else(|| {
            "No session with a digest fits. `retro sync` makes digests of quiet sessions.".to_owned()
        }));
        return Ok(exit);
    }
    for line in lines(&view, args.format) {
        let line = context.shown(&line);
        match args.format {
            // Each item is one line. Its continuation is indented.
            Form::Text => line.split('\n').try_for_each(|line| context.print_hanging(line, 4))?,
            Form::Md => context.print(&line)?,
        }
    }
    Ok(exit)
}

/// Maximum sessions named with an error.
const NAMED: usize = 3;

/// The page, line by line.
fn lines(view: &ReportView, form: Form) -> Vec<String> {
    let day = |time: Option<Timestamp>| format::time(time).chars().take(10).collect::<String>();
    let title = format!("Report: {} to {}", day(view.from), day(view.until));
    let first = if form == Form::Md { format!("# {title}") } else { title };
    let mut page = Page { form, lines: vec![first] };
    page.part("What was done", done(view));
    let cost = match view.cost_usd {
        Some(usd) if view.cost_complete => format!("{} at list prices", format::money(Some(usd), true)),
        Some(usd) => {
            let why = view.cost_bounds.as_ref().map(why_bound).unwrap_or_default();
            format!("{} at list prices: {}", format::money(Some(usd), false), why.join("; "))
        }
        None => "not known: no session has a price".to_owned(),
    };
    page.part("What it cost", vec![cost]);
    let errors = view.errors.iter().map(|error| wrong(error, form)).collect();
    page.part("What went wrong more than once", errors);
    let corrections = view.corrections.iter();
    let corrections = corrections.map(|one| format!("{} {}: {}", one.session, one.event_id, one.text));
    page.part("What you corrected", corrections.collect());
    let recurs = view.patterns.iter().map(|one| {
        let helped = one.helped.as_ref().map_or(String::new(), |helped| format!("; what helped: {helped}"));
        let sessions = format::count(one.sessions, "session");
        format!("{}, {} x in {sessions}{helped} ({})", one.title, one.frequency, one.key)
    });
    page.part("What recurs", recurs.collect());
    let findings = view.findings.iter().map(|finding| {
        let sessions = named(&finding.sessions, finding.count, finding.sessions.len());
        format!("{}. Try: {}.{sessions}", finding.text, finding.advice)
    });
    page.part("What to try", findings.collect());
    if view.undigested > 0 {
        page.item(&format!("{} not counted: no digest yet", format::count(view.undigested, "session")));
    }
    page.lines
}

/// Why the cost is a lower bound, one clause per reason.
fn why_bound(bounds: &CostBounds) -> Vec<String> {
    let mut why = Vec::new();
    let mut say = |number: u64, what: &str, one: &str, more: &str| {
        if number > 0 {
            why.push(format!("{} {}", format::count(number, what), if number == 1 { one } else { more }));
        }
    };
    let estimated = bounds.estimated_cost_usd.map_or(String::new(), |usd| {
        format!(" (about {} if the missing output is estimated)", format::money(Some(usd), true))
    });
    let unfinished = |verb: &str| format!("{verb} logged before the end{estimated}");
    say(bounds.unfinished_responses, "response", &unfinished("was"), &unfinished("were"));
    say(bounds.unpriced_responses, "response", "has no known price", "have no known price");
    let undecided = |verb: &str| format!("{verb} a price that depends on what the log does not say");
    say(bounds.undecided_responses, "response", &undecided("has"), &undecided("have"));
    let unlogged = "with answers of which the log has no figures";
    say(bounds.sessions_with_unlogged_answers, "session", unlogged, unlogged);
    let grown = |verb: &str| format!("{verb} grown since the last sync");
    say(bounds.grown_sessions, "session", &grown("has"), &grown("have"));
    say(bounds.uncosted_sessions, "session", "has no known cost", "have no known cost");
    let undigested = |verb: &str| format!("{verb} not counted yet");
    say(bounds.undigested_sessions, "session", &undigested("is"), &undigested("are"));
    why
}

/// A page under construction.
struct Page {
    form: Form,
    lines: Vec<String>,
}

impl Page {
    /// Adds a heading with its items, if there are any.
    fn part(&mut self, heading: &str, items: Vec<String>) {
        if items.is_empty() {
            return;
        }
        self.lines.push(match self.form {
            Form::Md => format!("\n## {heading}\n"),
            Form::Text => format!("\n{heading}"),
        });
        items.iter().for_each(|item| self.item(item));
    }

    fn item(&mut self, text: &str) {
        self.lines.push(match self.form {
            Form::Md => format!("- {}", text.replace('|', "\\|")),
            Form::Text => format!("  {text}"),
        });
    }
}

fn done(view: &ReportView) -> Vec<String> {
    let agents: Vec<String> = view.agents.iter().map(|(agent, count)| format!("{agent} {count}")).collect();
    let counted = |one: &Counted| match one.failed {
        0 => format!("{} {}", one.name, one.count),
        failed => format!("{} {} ({failed} failed)", one.name, one.count),
    };
    let list = |all: &[Counted]| all.iter().map(counted).collect::<Vec<_>>().join(", ");
    let sessions = format::count(view.sessions, "session");
    let mut items = vec![format!("{sessions} ({}), {} of them real work", agents.join(", "), view.real)];
    if !view.outcomes.is_empty() {
        items.push(format!("how these ended: {}", super::outcome::counted(&view.outcomes)));
    }
    items.push(format!(
        "{} of active time, {}, {} lines added and {} removed",
        format::took(view.active_seconds * 1000),
        format::count(view.commits, "commit"),
        format::thousands(view.lines_added),
        format::thousands(view.lines_removed)
    ));
    for (what, all) in [("projects", &view.projects), ("commands", &view.commands)] {
        if !all.is_empty() {
            items.push(format!("{what}: {}", list(all)));
        }
    }
    items
}

/// A recurring error, and whether it went away.
fn wrong(error: &RecurringError, form: Form) -> String {
    let sessions = error.sessions.len() as u64;
    let later = match error.open {
        0 => "passed later each time".to_owned(),
        open if open == sessions => "never passed later".to_owned(),
        open => format!("did not pass later in {}", format::count(open, "session")),
    };
    let such = if error.varies { "errors such as " } else { "" };
    let sample = match form {
        Form::Md => format!("`{}`", error.sample.replace('`', "'")),
        Form::Text => error.sample.clone(),
    };
    let (sessions, names) = (format::count(sessions, "session"), named(&error.sessions, sessions, NAMED));
    format!("{} x in {sessions}, {later}: {such}{sample}{names}", error.count)
}

/// The first few of `count` sessions, in brackets.
fn named(sessions: &[String], count: u64, most: usize) -> String {
    let names: Vec<&str> = sessions.iter().take(most).map(String::as_str).collect();
    let more = if count > names.len() as u64 { ", …" } else { "" };
    format!(" ({}{more})", names.join(", "))
}
