use retro::views::Health;
use std::collections::BTreeMap;

use crate::context::{Context, Exit, Outcome};
use crate::progress::Bar;

/// Check that everything is in order, and say what helps where it is not
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro doctor
  retro doctor --fix       mend what raw files and the agents' logs can mend")]
pub struct Args {
    /// Repair the store from its raw files, and capture damaged ones again
    #[arg(long)]
    fix: bool,
}

/// Maximum findings listed of one kind. The rest are only counted.
const NAMED_MAX: usize = 5;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    if args.fix {
        let bar = Bar::new(context);
        let mended = retro::engine::rebuild::mend(&context.world, &config, &|step| bar.step(step))?;
        bar.done();
        for line in &mended {
            context.say(line);
        }
    }
    let view = retro::views::doctor(&context.world, &config)?;
    let exit = if view.ok { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&view)?;
        return Ok(exit);
    }
    let mut named: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, check) in view.checks.iter().enumerate() {
        let number = named.entry(check.name).or_default();
        *number += 1;
        if *number > NAMED_MAX && !context.global.verbose {
            continue;
        }
        let (mark, style) = match check.health {
            Health::Good => ("✓", anstyle::AnsiColor::Green.on_default()),
            Health::Notice => ("!", anstyle::AnsiColor::Yellow.on_default()),
            Health::Bad => ("✗", anstyle::AnsiColor::Red.on_default()),
        };
        let dim = anstyle::Style::new().dimmed();
        let what = retro::text::terminal::one_line(&check.what, usize::MAX);
        let room = context.room().map_or(usize::MAX, |columns| columns.saturating_sub(17).max(20));
        for (at, line) in crate::prose::wrap(&what, room).iter().enumerate() {
            let (mark, name) = if at == 0 { (mark, check.name) } else { (" ", "") };
            context.print(&format!("{style}{mark}{style:#} {name:14} {line}"))?;
        }
        // Help that applies to all findings of a kind follows the last of them.
        let next = view.checks.get(at + 1).filter(|next| next.name == check.name);
        let is_last = next.is_none() || (*number == NAMED_MAX && !context.global.verbose);
        if !is_last && next.is_some_and(|next| next.help == check.help) {
            continue;
        }
        if let Some(help) = &check.help {
            for (at, line) in crate::prose::wrap(help, room.saturating_sub(2)).iter().enumerate() {
                let arrow = if at == 0 { "→" } else { " " };
                context.print(&format!("  {:14} {dim}{arrow} {line}{dim:#}", ""))?;
            }
        }
    }
    for (name, number) in named {
        if let Some(more @ 1..) = number.checked_sub(NAMED_MAX).filter(|_| !context.global.verbose) {
            context.print(&format!("  {name:14} {more} more, which --verbose lists"))?;
        }
    }
    Ok(exit)
}
