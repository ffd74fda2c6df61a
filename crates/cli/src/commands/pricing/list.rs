//! The price table, whole or one row of it with the reason why it is that one.

use retro::engine::prices;
use retro::usage::{Layer, PriceRow, Prices, Rates, Step};
use retro::views::answers::{Answer, ModelPrice, PriceTable};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{count, thousands};
use crate::table::{Column, Table};

pub fn list(context: &Context) -> Outcome {
    let prices = prices::load(&context.world, &context.config()?)?;
    let rows: Vec<&PriceRow> = prices.rows().collect();
    if context.global.json {
        context.print_json(&Answer::of(PriceTable::from(&prices)))?;
        return Ok(Exit::Done);
    }
    print(context, &prices, &rows)?;
    context.say(&format!(
        "{}, dollars a million tokens, newest figures of {}.",
        count(rows.len() as u64, "row"),
        prices.snapshot
    ));
    Ok(Exit::Done)
}

pub fn show(context: &Context, model: &str) -> Outcome {
    let config = context.config()?;
    let prices = prices::load(&context.world, &config)?;
    let now = Some(context.world.now());
    let Some(found) = prices.resolve(model, None, now) else {
        let why = prices.unpriced_reason(model).unwrap_or("no row of the table fits its name");
        return Err(Failure::missing(
            format_args!("no price is known for {model:?}: {why}"),
            format_args!("`retro pricing set {model:?} --input X --output Y` adds one"),
        ));
    };
    let layer = prices.layer(found.row);
    let config_file = config.file.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    let imported = prices::file(&context.world, &config).display().to_string();
    let name = if found.row.model == model {
        String::new()
    } else {
        format!("{model} is {} of {}. ", found.row.model, found.row.provider)
    };
    let from = match layer {
        Layer::Override => format!("Your own price, from {config_file}. It wins over all others"),
        Layer::Imported => {
            format!("Imported, seen {}, from {imported}. It wins over the program's", found.row.date)
        }
        Layer::BuiltIn => format!("Part of the program, seen {} ({})", found.row.date, found.row.source),
    };
    let why = format!("{name}{from}");
    // What would hold without the rows that win.
    let program = Prices::embedded().map_err(|error| Failure::Message(error.to_string()))?;
    let beaten = program.resolve(model, None, now).map(|found| found.row).filter(|_| layer != Layer::BuiltIn);
    if context.global.json {
        let price = ModelPrice { asked: model, layer, why: &why, row: found.row, instead_of: beaten };
        context.print_json(&Answer::of(price))?;
        return Ok(Exit::Done);
    }
    print(context, &prices, &[found.row])?;
    for line in special_prices(found.row) {
        context.say(&line);
    }
    context.say(&format!("{why}. Prices are dollars a million tokens."));
    if let Some(row) = beaten {
        let (input, output) = (per_million(row.rates.input), per_million(row.rates.output));
        context.say(&format!("The program's own row says {input} for input and {output} for output."));
    }
    Ok(Exit::Done)
}

/// Prices that hold only under a condition, a line each.
fn special_prices(row: &PriceRow) -> Vec<String> {
    let rates = |rates: &Rates| {
        let read = rates.cache_read.map_or(String::new(), |rate| format!(", {} read", per_million(rate)));
        format!("{} input, {} output{read}", per_million(rates.input), per_million(rates.output))
    };
    let above = |name: &str, steps: &[Step]| -> Vec<String> {
        let line = |step: &Step| {
            format!("{name}prompt above {} tokens: {}", thousands(step.tokens), rates(&step.rates))
        };
        steps.iter().map(line).collect()
    };
    let mut lines = above("", &row.above);
    for (name, tier) in &row.tiers {
        lines.push(format!("{name} tier: {}", rates(&tier.rates)));
        lines.extend(above(&format!("{name} tier, "), &tier.above));
    }
    for (name, factor) in &row.multipliers {
        lines.push(format!("{name}: times {}", f64::from(*factor) / 1000.0));
    }
    if let Some(peak) = &row.peak {
        let spans: Vec<String> = peak.hours_utc.iter().map(|(from, to)| format!("{from}-{to}")).collect();
        let hours = spans.join(", ");
        lines.push(format!("busy hours ({hours} UTC): times {}", f64::from(peak.multiplier) / 1000.0));
    }
    if let Some(nano) = row.web_search {
        lines.push(format!("a web search: ${}", per_million(nano / 1000)));
    }
    lines
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
    let columns = [
        Column::left("model").shrinks(16),
        Column::left("provider").spare(4),
        Column::right("input"),
        Column::right("write 5m").spare(1),
        Column::right("write 1h").spare(2),
        Column::right("read"),
        Column::right("output"),
        Column::left("from").spare(3),
        Column::left("seen").spare(5),
    ];
    context.table(&Table::new(columns).rows(cells))
}

/// The table counts in millionths of a dollar a million tokens.
pub fn per_million(rate: u64) -> String {
    let text = format!("{}.{:06}", rate / 1_000_000, rate % 1_000_000);
    let (whole, part) = text.split_once('.').unwrap_or((&text, ""));
    let part = part.trim_end_matches('0');
    format!("{whole}.{part:0<2}")
}

/// Dollars with two decimals or as many as they need: `3.00`, `0.075`.
pub fn dollars(usd: f64) -> String {
    per_million((usd * 1e6).round() as u64)
}
