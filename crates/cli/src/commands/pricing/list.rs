//! The price table, whole or one row of it with the reason why it is that one.

use retro::engine::prices;
use retro::usage::{Layer, PriceRow, Prices};
use serde_json::json;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::table::{Column, table};

pub fn list(context: &Context) -> Outcome {
    let prices = prices::load(&context.world, &context.config()?)?;
    let rows: Vec<&PriceRow> = prices.rows().collect();
    if context.global.json {
        let answer = json!({
            "schema": "retro.pricing/1", "snapshot": prices.snapshot, "unit": prices.unit, "rows": rows,
        });
        context.print_json(&answer)?;
        return Ok(Exit::Done);
    }
    print(context, &prices, &rows)?;
    context.say(&format!("{} rows, newest figures of {}.", rows.len(), prices.snapshot));
    Ok(Exit::Done)
}

pub fn show(context: &Context, model: &str) -> Outcome {
    let config = context.config()?;
    let prices = prices::load(&context.world, &config)?;
    let now = Some(context.world.now());
    let Some(found) = prices.resolve(model, None, now) else {
        let why = prices.unpriced_reason(model).unwrap_or("no row of the table fits its name");
        let text = format!(
            "no price is known for {model:?}: {why}; `retro pricing list` shows all rows, \
             `retro pricing set {model:?} --input X --output Y` adds one"
        );
        return Err(Failure::NotFound(text));
    };
    let layer = prices.layer(found.row);
    let config_file = config.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let imported = prices::file(&context.world, &config).display().to_string();
    let why = match layer {
        Layer::Override => format!("Your own price, from {config_file}; it wins over all others"),
        Layer::Imported => {
            format!("Imported, seen {}, from {imported}; it wins over the program's", found.row.date)
        }
        Layer::BuiltIn => format!("Part of the program, seen {} ({})", found.row.date, found.row.source),
    };
    // What would hold without the rows that win.
    let program = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    let beaten = program.resolve(model, None, now).map(|found| found.row).filter(|_| layer != Layer::BuiltIn);
    if context.global.json {
        context.print_json(&json!({
            "schema": "retro.price/1", "asked": model, "layer": layer, "why": why, "row": found.row,
            "instead_of": beaten,
        }))?;
        return Ok(Exit::Done);
    }
    print(context, &prices, &[found.row])?;
    context.say(&format!("{why}."));
    if let Some(row) = beaten {
        let (input, output) = (per_million(row.rates.input), per_million(row.rates.output));
        context.say(&format!("The program's own row says {input} for input and {output} for output."));
    }
    Ok(Exit::Done)
}

fn print(context: &Context, prices: &Prices, rows: &[&PriceRow]) -> Result<(), Failure> {
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            let rates = &row.rates;
            let optional = |rate: Option<u64>| rate.map_or("-".to_owned(), per_million);
            let layer = prices.layer(row);
            vec![
                row.model.clone(),
                row.provider.clone(),
                per_million(rates.input),
                optional(rates.cache_write_5m),
                optional(rates.cache_write_1h),
                optional(rates.cache_read),
                per_million(rates.output),
                row.from.map_or(String::new(), |from| from.to_string()),
                match layer {
                    Layer::Override => "your own".to_owned(),
                    Layer::Imported => format!("{} import", row.date),
                    Layer::BuiltIn => row.date.to_string(),
                },
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
        Column::left("from"),
        Column::left("seen"),
    ];
    for line in table(&header, &cells, context.columns()) {
        context.print(&line)?;
    }
    Ok(())
}

/// The table counts in millionths of a dollar a million tokens.
pub fn per_million(rate: u64) -> String {
    let text = format!("{}.{:06}", rate / 1_000_000, rate % 1_000_000);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    format!("{whole}.{part:0<2}")
}
