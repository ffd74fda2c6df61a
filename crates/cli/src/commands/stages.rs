use crate::context::{Context, Exit, Outcome};
use crate::table::{Column, Table};

/// Show the stages of a sync, their versions and the work left
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro stages
  retro sync --until capture    runs up to and including a stage")]
pub struct Args {}

pub fn run(_args: &Args, context: &Context) -> Outcome {
    let view = retro::views::stages(&context.world, &context.config()?)?;
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = view
        .stages
        .iter()
        .map(|stage| {
            vec![
                stage.name.to_owned(),
                stage.version.to_string(),
                runs(stage).to_owned(),
                stage.current.to_string(),
                stage.backlog.to_string(),
                stage.help.to_owned(),
            ]
        })
        .collect();
    let columns = [
        Column::left("stage"),
        Column::right("version").spare(2),
        Column::left("runs").spare(1),
        Column::right("current"),
        Column::right("backlog"),
        Column::left("what it does").wraps(22),
    ];
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}

fn runs(stage: &retro::views::StageView) -> &'static str {
    match stage {
        stage if stage.hot => "on every append",
        stage if stage.asked => "when asked",
        _ => "when quiet",
    }
}
