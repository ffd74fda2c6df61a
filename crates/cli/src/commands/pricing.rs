use clap::Subcommand;
use retro::usage::{PriceRow, Prices};
use serde_json::json;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::table::{Column, table};

/// Show the prices that costs are calculated with
///
/// The table is part of the program; retro downloads nothing. Each row carries the
/// day and the source of its figures.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro pricing list
  retro pricing show claude-opus-4-8
  retro pricing show us.anthropic.claude-sonnet-4-5-20250929-v1:0")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Every row
    List,
    /// The row that a model's name in a log leads to
    Show {
        /// The name as a log writes it
        model: String,
    },
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let prices = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    match &args.what {
        What::List => {
            let rows: Vec<&PriceRow> = prices.rows().collect();
            if context.global.json {
                let answer = json!({
                    "schema": "retro.pricing/1", "snapshot": prices.snapshot, "unit": prices.unit, "rows": rows,
                });
                context.print_json(&answer)?;
                return Ok(Exit::Done);
            }
            print(context, &rows)?;
            context.say(&format!("{} rows, newest figures of {}.", rows.len(), prices.snapshot));
            Ok(Exit::Done)
        }
        What::Show { model } => {
            let now = Some(context.world.now());
            let Some(found) = prices.resolve(model, None, now) else {
                let why = prices.unpriced_reason(model).unwrap_or("no row of the table fits its name");
                let text =
                    format!("no price is known for {model:?}: {why}; `retro pricing list` shows all rows");
                return Err(Failure::NotFound(text));
            };
            match context.global.json {
                true => context
                    .print_json(&json!({"schema": "retro.price/1", "asked": model, "row": found.row}))?,
                false => print(context, &[found.row])?,
            }
            Ok(Exit::Done)
        }
    }
}

fn print(context: &Context, rows: &[&PriceRow]) -> Result<(), Failure> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let rates = &row.rates;
            let optional = |rate: Option<u64>| rate.map_or("-".to_owned(), per_million);
            vec![
                row.model.clone(),
                row.provider.clone(),
                per_million(rates.input),
                optional(rates.cache_write_5m),
                optional(rates.cache_write_1h),
                optional(rates.cache_read),
                per_million(rates.output),
                row.date.to_string(),
            ]
        })
        .collect();
    let header = [
        Column::flexible("model ($ a million tokens)"),
        Column::left("provider"),
        Column::right("input"),
        Column::right("write 5m"),
        Column::right("write 1h"),
        Column::right("read"),
        Column::right("output"),
        Column::left("seen"),
    ];
    for line in table(&header, &cells, context.columns()) {
        context.print(&line)?;
    }
    Ok(())
}

/// The table counts in millionths of a dollar a million tokens.
fn per_million(rate: u64) -> String {
    let text = format!("{}.{:06}", rate / 1_000_000, rate % 1_000_000);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    format!("{whole}.{part:0<2}")
}
