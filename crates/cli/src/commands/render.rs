use retro::engine::Config;
use retro::model::SessionKey;
use retro::store::Store;
use retro::views::{markdown, show};
use std::path::PathBuf;

use super::WhichSession;
use retro::views::answers::{Answer, Rendered};

use crate::context::{Context, Exit, Failure, Outcome};

/// Write a session as markdown into the store, and print the file's path
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro render latest
  less \"$(retro render 3f2a)\"")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    let key = args.session.find(&store, context)?;
    let path = render(&config, &store, &key)?;
    if context.global.json {
        let rendered = Rendered { session: key.to_string(), path: path.display().to_string() };
        context.print_json(&Answer::of(rendered))?;
    } else {
        context.print(&path.display().to_string())?;
    }
    Ok(Exit::Done)
}

/// Renders one session into the store.
pub fn render(config: &Config, store: &Store, key: &SessionKey) -> Result<PathBuf, Failure> {
    let shown = show(config, store, key)?;
    let text = markdown(&shown.view, &shown.transcript());
    Ok(store.put_rendered(key, &text)?)
}
