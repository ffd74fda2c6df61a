use retro::store::RealDisk;
use retro::views::FilesView;
use std::sync::Arc;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{self, count};
use crate::table::{Column, Table};

/// Show the sessions and turns that read or changed a file
///
/// A path may be written from the root, from the project, or as a name alone. A folder
/// shows what was touched below it. The answer is as of the last sync.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro files src/cart.rs
  retro files README.md --limit 50
  retro files src/ --json")]
pub struct Args {
    /// The file or folder
    #[arg(value_name = "PATH")]
    path: String,

    /// At most so many; 0 for all [default: 20; all with --json]
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

/// Default number of rows in the table.
const ROWS: usize = 20;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let limit = match args.limit {
        Some(0) => None,
        Some(limit) => Some(limit),
        None if context.global.json => None,
        None => Some(ROWS),
    };
    let config = context.config()?;
    let index = match retro::store::Store::open(&config.root.value, Arc::new(RealDisk)) {
        Ok(store) => store.index_if_there()?,
        Err(error) if error.is_absent() => None,
        Err(error) => return Err(error.into()),
    };
    let view = retro::views::files(index.as_ref(), &args.path, limit)?;
    let exit = if view.touches.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(&view)?;
    } else {
        tell(context, &view)?;
    }
    Ok(exit)
}

fn tell(context: &Context, view: &FilesView) -> Result<(), Failure> {
    if view.touches.is_empty() {
        context
            .say(&format!("No call in the store touched {}. `retro sync` captures what is new.", view.path));
        return Ok(());
    }
    let columns = [
        Column::left("when"),
        Column::left("did"),
        Column::right("lines").spare(2),
        Column::left("agent").spare(3),
        Column::left("turn").shrinks_inside(13),
        Column::left("path").shrinks_inside(16).spare(1),
        Column::left("title").shrinks(16).spare(4),
    ];
    let rows = view.touches.iter().map(|touch| {
        let did = match (touch.access, touch.failed) {
            ("write", false) => "changed",
            ("write", true) => "failed to change",
            (_, false) => "read",
            (_, true) => "failed to read",
        };
        let lines = match (touch.added, touch.removed) {
            (None, None) => String::new(),
            (added, removed) => format!("+{} -{}", added.unwrap_or(0), removed.unwrap_or(0)),
        };
        vec![
            format::time(touch.timestamp),
            did.to_owned(),
            lines,
            touch.agent.clone(),
            format!("{}#{}", touch.session_id, touch.turn),
            touch.path.clone(),
            touch.title.clone().unwrap_or_default(),
        ]
    });
    context.table(&Table::new(columns).rows(rows))?;
    let shown = view.touches.len();
    let total = count(view.total as u64, "call");
    context.say(&if shown < view.total {
        format!("{shown} of {total} (--limit 0 shows all).")
    } else {
        format!("{total}.")
    });
    Ok(())
}
