use retro::model::{Edit, Kind, Origin, Outcome as CallOutcome};
use retro::text::terminal::{one_line, safe};
use retro::views::{Entry, ShowView, Shown};

use super::WhichSession;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;

/// Read a session: prompts, answers, and a line for each thing the agent did
///
/// With `--json`: what it is, its files, its events by kind, what became of every
/// record, and what could not be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro show '*' latest
  retro show claude 3f2a | less -R
  retro show claude 3f2a --json | jq .coverage")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// Also the model's thinking
    #[arg(long)]
    thinking: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store)?;
    let shown = retro::views::show(&config, &store, &key)?;
    if context.global.json {
        context.print_json(&shown.view)?;
        return Ok(Exit::Done);
    }
    tell(context, &shown, args.thinking)?;
    Ok(Exit::Done)
}

/// A session for reading.
pub fn tell(context: &Context, shown: &Shown, thinking: bool) -> Result<(), Failure> {
    let view = &shown.view;
    head(context, view)?;
    let page = Page { context, columns: context.columns().clamp(40, 120), thinking };
    page.entries(&shown.transcript(), 0)?;
    if shown.left_out > 0 {
        context.print(&format!(
            "\n{} in the middle of this very large session are not shown; `retro events` prints all.",
            format::count(shown.left_out, "event")
        ))?;
    }
    for gap in &view.gaps {
        let yellow = anstyle::AnsiColor::Yellow.on_default();
        context.print(&format!("{yellow}gap{yellow:#} {}", retro::views::gap_line(gap)))?;
    }
    Ok(())
}

/// What it is, in a few lines.
fn head(context: &Context, view: &ShowView) -> Result<(), Failure> {
    let session = &view.session;
    let (bold, dim) = (anstyle::Style::new().bold(), anstyle::Style::new().dimmed());
    let title = session.title.as_deref().unwrap_or("(no prompt)");
    context.print(&format!("{bold}{}{bold:#}", one_line(title, 100)))?;
    let mut facts = vec![format!("{} {}", session.agent, session.session_id)];
    facts.extend(session.cwd.clone());
    facts.extend(session.branch.clone().filter(|branch| !branch.is_empty()));
    facts.push(format!("{} – {}", format::time(session.started_at), format::time(session.ended_at)));
    context.print(&format!("{dim}{}{dim:#}", one_line(&facts.join(" · "), usize::MAX)))?;
    let coverage = &view.coverage;
    let mut counts = vec![
        format::bytes(session.bytes),
        format::count(coverage.records, "record"),
        format::count(view.event_counts.values().sum(), "event"),
    ];
    counts.extend(view.models.iter().cloned());
    if coverage.unknown + coverage.malformed > 0 {
        counts.push(format!("{} unknown, {} malformed", coverage.unknown, coverage.malformed));
    }
    context.print(&format!("{dim}{}{dim:#}", one_line(&counts.join(" · "), usize::MAX)))?;
    if let Some(resume) = &session.resume {
        context.print(&format!("{dim}resume: {}{dim:#}", one_line(resume, usize::MAX)))?;
    }
    Ok(())
}

struct Page<'a> {
    context: &'a Context,
    columns: usize,
    thinking: bool,
}

impl Page<'_> {
    fn entries(&self, entries: &[Entry], depth: usize) -> Result<(), Failure> {
        entries.iter().try_for_each(|entry| self.entry(entry, depth))
    }

    fn entry(&self, entry: &Entry, depth: usize) -> Result<(), Failure> {
        let indent = "  ".repeat(depth);
        let dim = anstyle::Style::new().dimmed();
        let columns = self.columns.saturating_sub(2 * depth + 4);
        match entry {
            Entry::Prompt { turn, ts, origin, text, live } => {
                let bold = anstyle::AnsiColor::Cyan.on_default().bold();
                let who = match origin {
                    Origin::User => "you",
                    Origin::Agent => "task",
                    _ => "message",
                };
                let dead = if *live { "" } else { " (rewound)" };
                self.print(&format!(
                    "\n{indent}{bold}{who} {turn}{bold:#}{dim} {}{dead}{dim:#}",
                    format::time(*ts)
                ))?;
                self.block(text, &indent)
            }
            Entry::Answer(text) => {
                let bold = anstyle::Style::new().bold();
                self.print(&format!("\n{indent}{bold}agent{bold:#}"))?;
                self.block(text, &indent)
            }
            Entry::Thought(text) if self.thinking => {
                self.print(&format!("{indent}{dim}thinking{dim:#}"))?;
                self.block(text, &indent)
            }
            Entry::Thought(_) => Ok(()),
            Entry::Call { name, what, outcome, exit_code, edits, trouble } => {
                let exit = exit_code.map_or(String::new(), |code| format!(" exit {code}"));
                let counts: String = edits.iter().map(counts).collect();
                let room = columns.saturating_sub(name.len() + exit.len() + counts.len() + 4).max(20);
                self.print(&format!(
                    "{indent}{} {} {}{exit}{counts}",
                    mark(*outcome),
                    one_line(name, 40),
                    one_line(what, room)
                ))?;
                for line in trouble.iter().flat_map(|trouble| trouble.lines()) {
                    self.print(&format!("{indent}    {dim}{}{dim:#}", one_line(line, columns)))?;
                }
                Ok(())
            }
            Entry::Subagent { thread, entries } => {
                self.print(&format!("{indent}  {dim}┌ sub-agent {}{dim:#}", one_line(thread, 40)))?;
                self.entries(entries, depth + 2)?;
                self.print(&format!("{indent}  {dim}└{dim:#}"))
            }
            Entry::History { session, entries } => {
                self.print(&format!("\n{dim}before the fork, in {}{dim:#}", one_line(session, 80)))?;
                self.entries(entries, depth)?;
                self.print(&format!("\n{dim}here the fork begins{dim:#}"))
            }
            Entry::Mark { kind, text } => {
                let yellow = anstyle::AnsiColor::Yellow.on_default();
                let name = match kind {
                    Kind::Compaction => "context compacted",
                    Kind::Interruption => "interrupted",
                    Kind::Denial => "refused",
                    Kind::Error => "error",
                    Kind::Rewind => "went back",
                    Kind::Plan => "plan",
                    _ => "unknown",
                };
                let line = format!("{indent}{yellow}{name}{yellow:#} {}", one_line(text, columns));
                self.print(line.trim_end())
            }
        }
    }

    fn block(&self, text: &str, indent: &str) -> Result<(), Failure> {
        for line in safe(text).lines() {
            self.print(&format!("{indent}{line}"))?;
        }
        Ok(())
    }

    fn print(&self, line: &str) -> Result<(), Failure> {
        self.context.print(line)
    }
}

fn mark(outcome: Option<CallOutcome>) -> String {
    let (mark, color) = match outcome {
        Some(CallOutcome::Ok) => ("✓", anstyle::AnsiColor::Green),
        Some(CallOutcome::Failed) => ("✗", anstyle::AnsiColor::Red),
        Some(CallOutcome::Denied) => ("⊘", anstyle::AnsiColor::Yellow),
        Some(CallOutcome::Interrupted) => ("◼", anstyle::AnsiColor::Yellow),
        Some(CallOutcome::Unknown) | None => ("·", anstyle::AnsiColor::White),
    };
    let style = color.on_default();
    format!("{style}{mark}{style:#}")
}

fn counts(edit: &Edit) -> String {
    match (edit.added, edit.removed) {
        (None, None) => String::new(),
        (added, removed) => format!(" +{} −{}", added.unwrap_or(0), removed.unwrap_or(0)),
    }
}
