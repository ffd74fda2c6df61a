mod page;

use super::WhichSession;
use crate::context::{Context, Exit, Outcome};

/// Print a page about a session: request, work, outcome and cost
///
/// The request, the work in figures, the last answer, the outcome with the events that show
/// it, commits, checks, errors and what cured them, files, cost and time, on one screen; --full
/// cuts no list. A digest is kept when the session's log is gone. It is made when a session
/// has been quiet for ten minutes; of one that still grows it is made now, and its outcome is
/// unknown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro digest latest
  retro digest claude 3f2a --json | jq .outcome")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// Show all of each list, however long the page gets
    #[arg(long)]
    full: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store, context)?;
    let view = retro::views::digest_page(&context.world, &config, &store, &key)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let rows = if args.full { usize::MAX } else { context.rows() };
    for line in page::lines(&view, context.room(), rows) {
        context.print(&line)?;
    }
    Ok(Exit::Done)
}
