mod change;
mod look;
pub mod review;
mod rules;
mod weave;

use clap::Subcommand;
use retro::views::memory::Verdict;

use crate::context::{Context, Outcome};

/// What past sessions taught: look at it, decide about it, hand it to an agent
///
/// `retro sync` mines sessions by itself. What is shown to an agent unasked is what you
/// accepted, and fixes, rules and commands of low risk that rest on evidence. Showing
/// nothing is the right answer most of the time.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro memory list --status needs_review
  retro memory retrieve how do I run the tests here --cwd .
  retro memory review
  retro memory rules --format claude-md
  retro memory add 'Use pnpm, not npm.' --when 'installing packages'
  retro memory weave --query 'the build fails' --cwd . --format text
  retro memory replay --since 30d")]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    Init(change::Init),
    Reindex(change::Reindex),
    Doctor(look::Doctor),
    ImportAuthored(change::ImportAuthored),
    Add(change::Add),
    List(look::List),
    Show(look::Show),
    Review(review::Review),
    Rules(rules::Rules),
    Retrieve(look::Retrieve),
    Weave(weave::Weave),
    Accept(change::Accept),
    Reject(change::Reject),
    Retire(change::Retire),
    Restore(change::Restore),
    Quarantine(change::Quarantine),
    Forget(change::Forget),
    UpdateUtility(change::UpdateUtility),
    Replay(look::Replay),
}

impl Args {
    /// True if the command reads the index and may take its time.
    pub fn asks_the_index(&self) -> bool {
        matches!(
            self.command,
            What::List(_)
                | What::Show(_)
                | What::Review(_)
                | What::Rules(_)
                | What::Retrieve(_)
                | What::Replay(_)
        )
    }
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    match &args.command {
        What::Init(_) => change::init(context),
        What::Reindex(_) => change::reindex(context),
        What::Doctor(_) => look::doctor(context),
        What::ImportAuthored(args) => change::import(args, context),
        What::Add(args) => change::add(args, context),
        What::List(args) => look::list(args, context),
        What::Show(args) => look::show(args, context),
        What::Review(args) => review::run(args, context),
        What::Rules(args) => rules::run(args, context),
        What::Retrieve(args) => look::retrieve(args, context),
        What::Weave(args) => weave::run(args, context),
        What::Accept(args) => change::decide(Verdict::Accept, &args.ids, context),
        What::Reject(args) => change::decide(Verdict::Reject, &args.ids, context),
        What::Retire(args) => change::decide(Verdict::Retire, &args.ids, context),
        What::Restore(args) => change::decide(Verdict::Restore, &args.ids, context),
        What::Quarantine(args) => change::quarantine(args, context),
        What::Forget(args) => change::forget(args, context),
        What::UpdateUtility(args) => change::update_utility(args, context),
        What::Replay(args) => look::replay(args, context),
    }
}
