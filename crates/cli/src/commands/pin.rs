use retro::engine::retain::pin;
use retro::views::answers::{Answer, Pinned};

use super::WhichSession;
use crate::context::{Context, Exit, Outcome};

/// Keep the raw bytes of a session as long as possible
///
/// `retro retain` gives up the raw bytes of a pinned session, and of those in its tree, only
/// for the hard cap, and only after all others.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro pin claude 6a1f0c52
  retro pin latest --reason 'how the importer was designed'")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// Why, for those who read it later
    #[arg(long, value_name = "WORDS")]
    reason: Option<String>,
}

/// Let the raw bytes of a session go like others
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro unpin claude 6a1f0c52
  retro unpin latest")]
pub struct Undo {
    #[command(flatten)]
    session: WhichSession,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    change(&args.session, args.reason.as_deref(), true, context)
}

pub fn undo(args: &Undo, context: &Context) -> Outcome {
    change(&args.session, None, false, context)
}

fn change(session: &WhichSession, reason: Option<&str>, keep: bool, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = session.find(&store, context)?;
    let changed = pin(&context.world, &config, &key, reason, keep)?;
    if context.global.json {
        context.print_json(&Answer::of(Pinned::of(&key, keep, changed)))?;
        return Ok(Exit::Done);
    }
    let shown = key.to_string();
    let shown = context.shown(&shown);
    context.say(&match (keep, changed) {
        (true, true) => format!("{shown} is pinned: its raw bytes go last."),
        (true, false) => format!("{shown} was pinned already."),
        (false, true) => format!("{shown} is no longer pinned."),
        (false, false) => format!("{shown} was not pinned."),
    });
    Ok(Exit::Done)
}
