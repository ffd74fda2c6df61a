use anstyle::{AnsiColor, Style};
use retro::text::terminal::safe_line;
use retro::views::{FixRow, FixView, FoundBy, SearchQuestion, open_search};
use std::io::Read;

use super::search::Filters;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::patience;
use crate::progress::Bar;

/// Show the same error before, and what made it go away
///
/// Errors are told apart by the line that says what went wrong, without paths, numbers and
/// times. A failure counts as fixed only if the same command passed later. An error that was
/// not seen before shows the failures that have most of its words. Without a text, the newest
/// failures are shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro fix 'error[E0308]: mismatched types'
  cargo test 2>&1 | retro fix -
  retro fix --project shop --json")]
pub struct Args {
    /// The error text, or - to read it from stdin
    #[arg(value_name = "ERROR")]
    error: Vec<String>,

    #[command(flatten)]
    filters: Filters,

    /// Failures to show
    #[arg(long, value_name = "N", default_value_t = 5)]
    limit: usize,
}

/// Read at most this much text from stdin.
const INPUT_BYTES_MAX: u64 = 4 * 1024 * 1024;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let text = match args.error.as_slice() {
        [] => None,
        [dash] if dash == "-" => Some(stdin()?),
        words => Some(words.join(" ").trim().to_owned()),
    };
    let bar = Bar::new(context);
    let patience = args.filters.waiting.patience(context)?;
    let searching = open_search(&context.world, &config, patience, &|step| bar.step(step))?;
    bar.done();
    let question =
        SearchQuestion { limit: args.limit.max(1), ..args.filters.question(String::new(), context)? };
    let view = searching.fix(&context.world, &config, text.as_deref(), &question)?;
    let exit = if view.fixes.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&view)?;
    } else {
        tell(context, &view)?;
    }
    context.hang_up();
    patience::keeping(context, |step| searching.keep(&context.world, &config, step));
    Ok(exit)
}

fn stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().take(INPUT_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn tell(context: &Context, view: &FixView) -> Result<(), Failure> {
    let Some(first) = view.fixes.first() else {
        let what = view.error.as_deref().map_or("No failure is in the store.".to_owned(), |error| {
            format!("No failure like {:?} is in the store.", safe_line(error))
        });
        context.say(&format!("{what} `retro search` looks through everything else."));
        return Ok(());
    };
    if view.found == Some(FoundBy::Line) {
        context.print("Seen before, in an output with this line:")?;
    } else if view.fingerprint.is_some() {
        let times = |count: u64| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let fixed =
            if first.fixed == 0 { "never fixed".to_owned() } else { format!("fixed {}", times(first.fixed)) };
        context.print(&format!("Seen {}, {fixed}.", times(first.seen)))?;
    } else if view.error.is_some() {
        context.print("No exact match. Closest:")?;
    } else {
        context.print("The newest failures, those that were fixed first:")?;
    }
    for row in &view.fixes {
        context.print("")?;
        tell_row(context, row)?;
    }
    if view.truncated {
        context.say("There are more: --limit shows them.");
    }
    Ok(())
}

fn tell_row(context: &Context, row: &FixRow) -> Result<(), Failure> {
    let (dim, red, green, yellow) = (
        Style::new().dimmed(),
        AnsiColor::Red.on_default(),
        AnsiColor::Green.on_default(),
        AnsiColor::Yellow.on_default(),
    );
    let about = [Some(format::time(row.timestamp)), row.project.clone()];
    let about: Vec<String> = about.into_iter().flatten().collect();
    context.print(&format!(
        "{} {yellow}{}{yellow:#} {dim}{}{dim:#}",
        row.agent,
        safe_line(&row.session_id),
        safe_line(&about.join(" · "))
    ))?;
    context.print(&format!("  {red}failed{red:#}  {}", safe_line(&row.failing.command)))?;
    if let Some(snippet) = &row.failing.snippet {
        context.print(&format!("          {dim}{}{dim:#}", safe_line(snippet)))?;
    }
    for step in &row.steps {
        context.print(&format!("  then    {}", safe_line(&step.what)))?;
    }
    match &row.passing {
        Some(passing) => context.print(&format!("  {green}passed{green:#}  {}", safe_line(&passing.command))),
        None => context.print(&format!("  {dim}it did not pass later in this session{dim:#}")),
    }
}
