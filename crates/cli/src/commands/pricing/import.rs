//! Imports newer prices from a published table.

use retro::engine::prices;
use retro::usage::{Change, Import, Rates};
use std::io::Read;
use std::path::PathBuf;

use super::list::per_million;
use retro::views::answers::{Answer, PricesImported};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::thousands;
use crate::table::{Column, Table};
use crate::when;

/// Take newer prices from a LiteLLM table
///
/// A price that differs from what is known holds from the day of the import on:
/// what was used before keeps the price it had. Imported rows are kept in
/// `prices.json` beside the configuration file; delete it to be rid of them. When
/// a later retro has newer figures for a model than the import, those count.
#[derive(Debug, clap::Args)]
#[command(after_help = "retro downloads nothing. This gets the file:
  curl -LO \\
    https://raw.githubusercontent.com/BerriAI/litellm/main/model_prices_and_context_window.json

Examples:
  retro pricing import model_prices_and_context_window.json --dry-run
  retro pricing import model_prices_and_context_window.json --only-known
  retro pricing import model_prices_and_context_window.json --date 2026-12-01")]
pub struct Args {
    /// The table, as LiteLLM publishes it
    file: PathBuf,

    /// Only models that the price table knows already
    #[arg(long)]
    only_known: bool,

    /// The day of the table's figures [default: today]
    #[arg(long, value_name = "DAY")]
    date: Option<String>,

    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// Maximum bytes of a table. It may come through a pipe, which may never end.
const TABLE_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Maximum new models named. The rest are only counted.
const ADDED_MAX: usize = 20;

pub fn run(args: &Args, context: &Context) -> Outcome {
    let config = context.config()?;
    let mut text = String::new();
    std::fs::File::open(&args.file)
        .and_then(|file| file.take(TABLE_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| Failure::Message(format!("cannot read {}: {error}", args.file.display())))?;
    let day = when::day(args.date.as_deref().unwrap_or("today"), context)?;
    let known = prices::without_own(&context.world, &config)?;
    let import = known
        .import_litellm(&text, day, args.only_known)
        .map_err(|error| Failure::Message(format!("{}: {error}", args.file.display())))?;
    let kept = prices::file(&context.world, &config);
    let writes = !args.dry_run && !import.changes.is_empty();
    if writes {
        prices::keep(&kept, &import.prices)?;
    }
    if context.global.json {
        context.print_json(&Answer::of(PricesImported {
            snapshot: day.to_string(),
            written: writes,
            file: kept.display().to_string(),
            import: (&import).into(),
        }))?;
        return Ok(Exit::Done);
    }
    tell(context, &import)?;
    match (writes, args.dry_run) {
        (true, _) => context.say(&format!("Kept in {}, as figures of {day}.", kept.display())),
        (false, true) => context.say("Nothing was written (--dry-run)."),
        (false, false) => context.say("Nothing to change."),
    }
    Ok(Exit::Done)
}

fn tell(context: &Context, import: &Import) -> Result<(), Failure> {
    let (changed, added): (Vec<&Change>, Vec<&Change>) =
        import.changes.iter().partition(|change| change.was.is_some());
    let shown = if context.global.verbose { added.len() } else { ADDED_MAX };
    let rows: Vec<Vec<String>> =
        changed.iter().chain(added.iter().take(shown)).map(|change| row(change)).collect();
    if !rows.is_empty() {
        let columns = [
            Column::left("model").shrinks(16),
            Column::left("provider").spare(2),
            Column::left("").spare(1),
            Column::right("input"),
            Column::right("read").spare(3),
            Column::right("output"),
        ];
        context.table(&Table::new(columns).rows(rows))?;
        context.say("Prices are dollars a million tokens.");
    }
    if added.len() > shown {
        context.say(&format!(
            "… and {} more new models; --verbose shows them.",
            thousands((added.len() - shown) as u64)
        ));
    }
    let tally = &import.tally;
    context.say(&format!(
        "{} changed, {} added, {} unchanged.",
        thousands(changed.len() as u64),
        thousands(added.len() as u64),
        thousands(tally.unchanged)
    ));
    let skipped: Vec<String> = [
        (tally.older, "older than what is known"),
        (tally.other_modes, "not for text (images, speech, embeddings)"),
        (tally.unpriced, "without a price"),
        (tally.variants, "a region, an account or a repeat"),
        (tally.unknown, "not known here (--only-known)"),
        (tally.sold_by_another, "under a name that another maker has"),
    ]
    .into_iter()
    .filter(|(number, _)| *number > 0)
    .map(|(number, why)| format!("{} {why}", thousands(number)))
    .collect();
    if !skipped.is_empty() {
        context.say(&format!("Skipped: {}.", skipped.join(", ")));
    }
    Ok(())
}

fn row(change: &Change) -> Vec<String> {
    let arrow = |of: fn(&Rates) -> Option<u64>| {
        let text = |rate: Option<u64>| rate.map_or("-".to_owned(), per_million);
        let (was, now) = (change.was.as_ref().map(of), of(&change.now));
        match was {
            Some(was) if was != now => format!("{} → {}", text(was), text(now)),
            _ => text(now),
        }
    };
    vec![
        change.model.clone(),
        change.provider.clone(),
        if change.was.is_some() { "changed" } else { "new" }.to_owned(),
        arrow(|rates| Some(rates.input)),
        arrow(|rates| rates.cache_read),
        arrow(|rates| Some(rates.output)),
    ]
}
