use retro::views::answers::{Answer, Verified};

use crate::context::{Context, Exit, Outcome};
use crate::format::count;

/// Check the store's files against their checksums
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro verify             names, ends and checksums: seconds
  retro verify --deep      every captured byte, and what the index says of it")]
pub struct Args {
    /// Read every captured byte, and compare the index with what it says
    #[arg(long)]
    deep: bool,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let store = context.store(&context.config()?)?;
    let report = retro::engine::verify::verify(&store, args.deep, &mut |_| {})?;
    let ok = report.problems.is_empty();
    let exit = if ok { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&Answer::of(Verified::from(&report)))?;
        return Ok(exit);
    }
    for note in &report.notes {
        context.say(&format!("note: {note}"));
    }
    for problem in &report.problems {
        context.print(&problem.to_string())?;
    }
    let checked = count(report.checked, "file");
    if ok {
        context.say(&format!("{checked} checked, all good."));
    } else {
        let problems = count(report.problems.len() as u64, "problem");
        context.say(&format!(
            "{checked} checked, {problems}. `retro doctor --fix` mends what raw files can mend."
        ));
    }
    Ok(exit)
}
