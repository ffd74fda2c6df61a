//! Every response of a session with the parts of its cost, as a table.

use anstyle::Style;
use retro::views::{ExplainView, Explained, RatesUsd};
use std::collections::BTreeMap;

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{count, thousands, time};
use crate::table::{Column, Table};

pub fn tell(context: &Context, view: &ExplainView) -> Outcome {
    let exit = if view.responses.is_empty() && view.dropped.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(view)?;
        return Ok(exit);
    }
    if view.responses.is_empty() {
        context.say(&format!("No response counts in {}.", view.session));
    } else {
        context.table(&table(view))?;
        files(context, view)?;
        prices(context, view)?;
    }
    for copy in &view.dropped {
        context.print_prose(&format!("{} repeats {} and counts there", copy.event, copy.twin))?;
    }
    let mut bounds: BTreeMap<&str, u64> = BTreeMap::new();
    for response in &view.responses {
        if !response.exact {
            *bounds.entry("the log has their output only as it was before their end").or_default() += 1;
        }
        if let Some(why) = response.bound {
            *bounds.entry(why).or_default() += 1;
        }
    }
    for (why, responses) in bounds {
        context.say(&format!("≥ on {}: {why}.", count(responses, "response")));
    }
    Ok(exit)
}

fn table(view: &ExplainView) -> Table {
    let dim = Style::new().dimmed();
    let columns = [
        Column::left("line").shrinks_inside(8),
        Column::left("when").spare(5).style(dim),
        Column::left("model").shrinks_inside(10).spare(4),
        Column::right("input"),
        Column::right("write 5m").spare(2),
        Column::right("write 1h").spare(2),
        Column::right("read").spare(1),
        Column::right("output"),
        Column::right("searches").spare(3),
        Column::right("cost"),
        Column::left("").spare(6).style(dim),
    ];
    let mut table = Table::new(columns);
    let zero = |number: u64| if number == 0 { "-".to_owned() } else { thousands(number) };
    let names = rate_names(view);
    for one in &view.responses {
        let tier = one.tier.as_deref().map_or(String::new(), |tier| format!(" ({tier})"));
        table.row(vec![
            place(one),
            time(one.ts),
            format!("{}{tier}", one.model.as_deref().unwrap_or("unknown")),
            thousands(one.input_tokens),
            zero(one.cache_creation_5m_tokens),
            zero(one.cache_creation_1h_tokens),
            zero(one.cache_read_tokens),
            format!("{}{}", if one.exact { "" } else { "≥ " }, thousands(one.output_tokens)),
            if one.web_searches == 0 { String::new() } else { thousands(one.web_searches) },
            cost(one.cost_usd, one.exact && one.bound.is_none()),
            names.get(&price_key(one)).map_or(String::new(), |number| format!("price {number}")),
        ]);
    }
    let totals = &view.totals;
    let sum = |of: fn(&Explained) -> u64| view.responses.iter().map(of).sum::<u64>();
    let total = vec![
        "total".to_owned(),
        String::new(),
        count(totals.responses, "response"),
        thousands(totals.input_tokens),
        zero(sum(|one| one.cache_creation_5m_tokens)),
        zero(sum(|one| one.cache_creation_1h_tokens)),
        zero(totals.cache_read_tokens),
        thousands(totals.output_tokens),
        if totals.web_searches == 0 { String::new() } else { thousands(totals.web_searches) },
        cost(totals.cost_usd, totals.cost_complete),
    ];
    table.styled(total, Style::new().bold());
    table
}

/// Source and line: `m:16`. The file names follow below the table.
fn place(one: &Explained) -> String {
    let address = one.event.address();
    format!("{}:{}", address.source, address.record)
}

fn cost(usd: Option<f64>, is_complete: bool) -> String {
    match usd {
        None => "unknown".to_owned(),
        Some(usd) => format!("{}${usd:.4}", if is_complete { "" } else { "≥ " }),
    }
}

/// The files that contain the lines.
fn files(context: &Context, view: &ExplainView) -> Result<(), Failure> {
    let mut files: BTreeMap<String, Option<&str>> = BTreeMap::new();
    for one in &view.responses {
        files.insert(one.event.address().source.to_string(), one.file.as_deref());
    }
    for (source, file) in files {
        let file = file.map_or_else(|| "not known".to_owned(), one_path);
        context.print(&format!("{source} is {file}"))?;
    }
    let id = view.session.split_once('/').map_or(view.session.as_str(), |(_, id)| id);
    if let Some(first) = view.responses.first() {
        context.say(&format!("`retro raw {id} --line {}` prints a line of the main file.", first.line));
    }
    Ok(())
}

fn one_path(path: &str) -> String {
    retro::text::terminal::safe_line(path).into_owned()
}

/// The key of a price: the row of the table, and the rates taken from it.
fn price_key(one: &Explained) -> String {
    match (&one.price, &one.rates) {
        (Some(price), Some(rates)) => format!("{price}{}", rate_line(rates)),
        _ => String::new(),
    }
}

/// Prices by number, in order of first use.
fn rate_names(view: &ExplainView) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    for one in view.responses.iter().filter(|one| one.rates.is_some()) {
        let next = names.len() + 1;
        names.entry(price_key(one)).or_insert(next);
    }
    names
}

/// The prices in use, in dollars per million tokens.
fn prices(context: &Context, view: &ExplainView) -> Result<(), Failure> {
    let mut seen = BTreeMap::new();
    for one in &view.responses {
        if let (Some(price), Some(rates)) = (&one.price, &one.rates) {
            seen.entry(price_key(one)).or_insert((price, rates));
        }
    }
    let names = rate_names(view);
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (key, (price, rates)) in &seen {
        let number = names.get(key).copied().unwrap_or(0);
        lines.push((number, format!("price {number}, $ a million tokens: {}. {price}", rate_line(rates))));
    }
    lines.sort();
    lines.iter().try_for_each(|(_, line)| context.print_prose(line))
}

fn rate_line(rates: &RatesUsd) -> String {
    let number = |rate: f64| super::super::pricing::dollars(rate);
    let mut parts = vec![
        format!("input {}", number(rates.input_usd_per_million)),
        format!("write 5m {}", number(rates.cache_write_5m_usd_per_million)),
        format!("write 1h {}", number(rates.cache_write_1h_usd_per_million)),
        rates
            .cache_read_usd_per_million
            .map_or("read unknown".to_owned(), |rate| format!("read {}", number(rate))),
        format!("output {}", number(rates.output_usd_per_million)),
    ];
    parts.extend(rates.reasoning_usd_per_million.map(|rate| format!("reasoning {}", number(rate))));
    parts.extend(rates.web_search_usd.map(|usd| format!("a web search ${}", number(usd))));
    if rates.multiplier != 1.0 {
        parts.push(format!("all tokens times {}", rates.multiplier));
    }
    parts.join(", ")
}
