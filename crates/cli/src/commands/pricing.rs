mod import;
mod list;
mod set;

use clap::Subcommand;
pub use list::dollars;

use crate::context::{Context, Outcome};

/// Show and change the prices that costs are calculated with
///
/// A table comes with the program; each row carries the day and the source of its
/// figures. Newer figures can be imported from a published table, and your own
/// prices set by hand: your own win over imported ones, those over the program's.
/// retro downloads nothing itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro pricing list
  retro pricing show claude-opus-4-8
  retro pricing show us.anthropic.claude-sonnet-4-5-20250929-v1:0
  retro pricing import model_prices_and_context_window.json --only-known
  retro pricing set my-model --input 0.25 --output 2 --cache-read 0.025")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Every row
    #[command(after_help = "Examples:\n  retro pricing list\n  retro pricing list | grep opus")]
    List,
    /// The row that a model's name in a log leads to, and why that one
    #[command(
        after_help = "Examples:\n  retro pricing show gpt-5.5\n  retro pricing show us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    )]
    Show {
        /// The name as a log writes it
        model: String,
    },
    Import(import::Args),
    Set(set::Args),
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.what {
        What::List => list::list(context),
        What::Show { model } => list::show(context, model),
        What::Import(args) => import::run(args, context),
        What::Set(args) => set::run(args, context),
    }
}
