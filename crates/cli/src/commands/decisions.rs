use clap::Subcommand;
use retro::engine::patterns::flush;
use retro::views::answers::Answer;
use retro::views::patterns::{DecisionsFlushed, decisions};

use crate::context::{Context, Exit, Outcome};
use crate::format;
use crate::table::{Column, Table};

/// List decisions about patterns, and hand on those that wait
///
/// Each decision goes to the command of `curate.sink` as one line of JSON. What it does not take
/// waits in a queue and keeps its id, by which the receiver knows one that comes twice.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro decisions list
  retro decisions flush")]
pub struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List every decision
    List,
    /// Send what waits, in order
    Flush,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let store = context.store(&config)?;
    match args.command {
        What::List => {
            let view = decisions(&store)?;
            if context.global.json {
                context.print_json(&Answer::of(view))?;
                return Ok(Exit::Done);
            }
            let columns = [
                Column::left("when"),
                Column::left("decision"),
                Column::left("pattern").spare(1),
                Column::left("sent"),
                Column::left("title").shrinks(16),
            ];
            let rows = view.decisions.iter().map(|decision| {
                let waits = view.waiting.contains(&decision.id);
                vec![
                    format::time(Some(decision.at)),
                    decision.decision.as_str().to_owned(),
                    decision.key.clone(),
                    if waits { "waits" } else { "" }.to_owned(),
                    decision.title.clone(),
                ]
            });
            if !view.decisions.is_empty() {
                context.table(&Table::new(columns).rows(rows))?;
            }
            context.say(&format!(
                "{}, {} for the sink.",
                format::count(view.decisions.len() as u64, "decision"),
                if view.waiting.len() == 1 {
                    "1 waits".to_owned()
                } else {
                    format!("{} wait", view.waiting.len())
                },
            ));
            Ok(Exit::Done)
        }
        What::Flush => {
            let view = DecisionsFlushed::from(flush(&context.world, &config, &store)?);
            let exit = if view.left == 0 { Exit::Done } else { Exit::Findings };
            if context.global.json {
                context.print_json(&Answer::of(view))?;
                return Ok(exit);
            }
            context.say(&format!("{} sent, {} left.", view.sent, view.left));
            if let Some(problem) = view.problem.filter(|_| view.left > 0) {
                context.say(&problem);
            }
            Ok(exit)
        }
    }
}
