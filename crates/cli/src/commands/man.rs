use clap::CommandFactory;
use std::path::PathBuf;

use super::Cli;
use retro::views::answers::{Answer, ManualPages};

use crate::context::{Context, Exit, Failure, Outcome};

/// Write the manual pages into a folder
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro man ~/.local/share/man/man1")]
pub struct Args {
    /// The folder; it is made if it is not there
    dir: PathBuf,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let trouble = |error: std::io::Error| {
        Failure::Message(format!("cannot write manual pages into {}: {error}", args.dir.display()))
    };
    std::fs::create_dir_all(&args.dir).map_err(trouble)?;
    clap_mangen::generate_to(Cli::command(), &args.dir).map_err(trouble)?;
    if context.global.json {
        let folder = args.dir.display().to_string();
        context.print_json(&Answer::of(ManualPages { folder }))?;
        return Ok(Exit::Done);
    }
    context.say(&format!("Wrote the manual pages into {}.", args.dir.display()));
    Ok(Exit::Done)
}
