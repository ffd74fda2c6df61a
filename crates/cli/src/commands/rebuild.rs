use retro::engine::stages::{STAGES, Stage, by_name};
use retro::views::answers::{Answer, Rebuilt};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::count;
use crate::progress::Bar;

/// Make derived data again, from the raw files
///
/// What was captured is not touched, and every answer is the same afterwards.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro rebuild            everything that is derived
  retro rebuild normalized one stage (`retro stages` lists them)")]
pub struct Args {
    /// The stage, or `all`
    #[arg(default_value = "all")]
    stage: String,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let stage = match args.stage.as_str() {
        "all" => None,
        name => Some(stage(name)?),
    };
    let config = context.config()?;
    context.store(&config)?;
    let bar = Bar::new(context);
    let report = retro::engine::rebuild::rebuild(&context.world, &config, stage, &|step| bar.step(step))?;
    bar.done();
    let exit = if report.failed > 0 { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&Answer::of(Rebuilt::of(&args.stage, &report)))?;
        return Ok(exit);
    }
    for note in &report.notes {
        context.say(&format!("note: {note}"));
    }
    for failure in &report.failures {
        context.say(&format!("failed: {}: {}", failure.path, failure.reason));
    }
    if context.interrupted() {
        context.say("Stopped. `retro sync` makes what is left.");
        return Ok(exit);
    }
    context.say(&format!("Rebuilt {} from raw.", count(report.discovered, "session")));
    Ok(exit)
}

/// The stage with this name. The error lists all stages.
pub fn stage(name: &str) -> Result<&'static Stage, Failure> {
    by_name(name).ok_or_else(|| {
        let names: Vec<&str> = STAGES.iter().map(|stage| stage.name).collect();
        Failure::hinted(
            format_args!("there is no stage {name:?}"),
            format_args!("the stages are {}", names.join(", ")),
        )
    })
}
