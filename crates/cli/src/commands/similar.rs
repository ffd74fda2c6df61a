use retro::views::{SearchQuestion, open_search};

use super::search::{Filters, How, SESSIONS, tell};
use crate::context::{Context, Outcome};
use crate::patience;
use crate::progress::Bar;

/// Find sessions like a session, or like one of its turns
///
/// `ID#7` is turn 7 of the session. The session itself is left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro similar latest
  retro similar claude 3f2a#7
  retro similar 3f2a --project shop --json")]
pub struct Args {
    /// The session: any unique beginning of its id, or `latest`; with # and the number of a
    /// turn for that turn alone
    #[arg(value_name = "SESSION", required = true, num_args = 1..=2)]
    session: Vec<String>,

    #[command(flatten)]
    filters: Filters,

    /// By words, by meaning, or both
    #[arg(long, value_enum, default_value = "hybrid")]
    mode: How,

    /// Sessions to show [default: as many as fit on one screen, 8 at most]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let bar = Bar::new(context);
    let patience = args.filters.waiting.patience(context)?;
    let searching = open_search(&context.world, &config, patience, &|step| bar.step(step))?;
    bar.done();
    let words: Vec<&str> = args.session.iter().map(String::as_str).collect();
    let target = searching.turn(&words, context.world.now())?;
    let question = SearchQuestion {
        mode: args.mode.mode(),
        limit: args.limit.unwrap_or(SESSIONS).max(1),
        ..args.filters.question(String::new(), context)?
    };
    let view = searching.similar(&context.world, &config, &question, &target)?;
    let exit = tell(context, &view, &words.join(" "), args.limit)?;
    context.hang_up();
    patience::keeping(context, |step| searching.keep(&context.world, &config, step));
    Ok(exit)
}
