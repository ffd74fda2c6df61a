use crate::context::{Context, Exit, Outcome};
use crate::table::{Column, Table};

/// List the agents retro reads, and where it looks for their logs
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro agents
  retro agents --json      with the mapping table of each agent's records")]
pub struct Args {}

pub fn run(_args: &Args, context: &Context) -> Outcome {
    let view = retro::views::agents(&context.world, &context.config()?);
    if context.global.json {
        context.print_json(&view)?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = view
        .agents
        .iter()
        .map(|agent| {
            let roots = if agent.roots.is_empty() {
                format!("not found here (looked in {})", agent.looked_in.join(", "))
            } else {
                agent.roots.join(", ")
            };
            vec![agent.name.to_owned(), agent.title.to_owned(), agent.aliases.join(", "), roots]
        })
        .collect();
    let columns = [
        Column::left("agent"),
        Column::left("program").spare(2),
        Column::left("also").spare(1),
        Column::left("folders").wraps(24),
    ];
    context.table(&Table::new(columns).rows(rows))?;
    let found: Vec<&str> = view.unsupported.iter().filter(|a| a.found).map(|a| a.title).collect();
    if !found.is_empty() {
        context.say(&format!("Used here and not supported yet: {}.", found.join(", ")));
    }
    Ok(Exit::Done)
}
