use std::collections::BTreeSet;

use crate::context::{Context, Exit, Outcome};
use crate::format::count;
use crate::table::{Column, Table};

/// List where captured logs hold secrets: record and rule, never the value
///
/// Everything retro derives is redacted; the raw files are kept as the agents wrote
/// them. Exits 1 when something was found.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro secrets
  retro secrets --session 3f2a
  retro raw claude 3f2a --line 42      shows a record, value and all
  retro forget --secret 9c1e6f02b7aa   cuts one out, everywhere")]
pub struct Args {
    /// Only the session whose id begins so
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let store = context.store(&context.config()?)?;
    let keys = match &args.session {
        Some(id) => vec![retro::views::session(&store, &[id], context.world.now())?],
        None => store.session_keys()?,
    };
    let view = retro::views::secrets(&store, &keys)?;
    let exit = if view.found.is_empty() { Exit::Done } else { Exit::Findings };
    if context.global.json {
        context.print_json(&view)?;
        return Ok(exit);
    }
    if !view.found.is_empty() {
        let rows: Vec<Vec<String>> = view
            .found
            .iter()
            .map(|secret| {
                vec![
                    secret.agent.clone(),
                    secret.short_id.clone(),
                    secret.address.clone(),
                    secret.id.clone(),
                    secret.count.to_string(),
                    secret.rule.to_owned(),
                ]
            })
            .collect();
        let columns = [
            Column::left("agent"),
            Column::left("session").shrinks_inside(13),
            Column::left("record").shrinks_inside(10),
            Column::left("id"),
            Column::right("count").spare(1),
            Column::left("rule").wraps(12),
        ];
        context.table(&Table::new(columns).rows(rows))?;
    }
    let total: u64 = view.found.iter().map(|secret| secret.count).sum();
    let with: BTreeSet<(&str, &str)> =
        view.found.iter().map(|secret| (secret.agent.as_str(), secret.session_id.as_str())).collect();
    context.say(&format!(
        "{} in {}, of {} looked through.",
        count(total, "secret"),
        count(with.len() as u64, "session"),
        count(view.sessions, "session")
    ));
    Ok(exit)
}
