//! Windows of five hours as a table, and the running one in words.

use anstyle::Style;
use jiff::tz::TimeZone;
use retro::model::Timestamp;
use retro::usage::{Block, ReportRow};
use retro::views::UsageView;

use super::report::{notes, say_empty, say_unread};
use crate::context::{Context, Failure};
use crate::format::{money, span, thousands, tokens};
use crate::table::{Column, Table};

/// The blocks, and a projection of the current one.
pub fn tell(context: &Context, view: &UsageView, tz: &TimeZone, only_active: bool) -> Result<(), Failure> {
    say_unread(context, view);
    let running =
        view.report.rows.iter().find_map(|row| Some((row, row.block.as_ref().filter(|b| b.is_active)?)));
    if view.report.rows.is_empty() && only_active {
        context.say(
            "No block is running: nothing was used in the last five hours. `retro usage blocks` shows all.",
        );
        return Ok(());
    }
    if view.report.rows.is_empty() {
        say_empty(context, view);
        return Ok(());
    }
    context.table(&table(view, tz))?;
    if let Some((row, block)) = running {
        for line in in_words(row, block, context.world.now(), tz) {
            context.print_prose(&line)?;
        }
    }
    for note in notes(view, context.global.verbose) {
        context.say(&note);
    }
    Ok(())
}

fn table(view: &UsageView, tz: &TimeZone) -> Table {
    let dim = Style::new().dimmed();
    let columns = [
        Column::left("began"),
        Column::left("ends").spare(1).style(dim),
        Column::left(""),
        Column::right("input").spare(5),
        Column::right("cache write").spare(5),
        Column::right("cache read").spare(5),
        Column::right("output").spare(4),
        Column::right("tokens"),
        Column::right("of limit").spare(2),
        Column::right("responses").spare(3),
        Column::right(view.billing.word()),
        Column::left("models").wraps(22).spare(6).style(dim),
    ];
    let mut table = Table::new(columns);
    let mut before: Option<Timestamp> = None;
    for row in &view.report.rows {
        let start = row.block.as_ref().map(|block| block.start);
        if let (Some(before), Some(start)) = (before, start)
            && start.as_millis() - before.as_millis() >= IDLE_MS_MIN
        {
            let idle = format!("· {} without use", span(before, start));
            table.styled(vec![idle], dim);
        }
        before = row.last_at.filter(|_| row.block.is_some());
        table.row(cells(row, tz));
    }
    let totals = &view.report.totals;
    let mut total = vec!["total".to_owned(), String::new(), String::new()];
    total.extend(
        [
            totals.input_tokens,
            totals.cache_creation_tokens,
            totals.cache_read_tokens,
            totals.output_tokens,
            totals.total_tokens,
        ]
        .map(thousands),
    );
    total.extend([String::new(), thousands(totals.responses), money(totals.cost_usd, totals.cost_complete)]);
    table.styled(total, Style::new().bold());
    table
}

/// Minimum length of a pause that gets a line.
const IDLE_MS_MIN: i64 = 60 * 60_000;

fn cells(row: &ReportRow, tz: &TimeZone) -> Vec<String> {
    let figures = &row.figures;
    let block = row.block.as_ref();
    let mut cells = vec![
        block.map_or_else(|| row.key.clone(), |block| clock(block.start, tz, "%Y-%m-%d %H:%M")),
        block.map_or(String::new(), |block| clock(block.end, tz, "%H:%M")),
        if block.is_some_and(|block| block.is_active) { "running".to_owned() } else { String::new() },
    ];
    cells.extend(
        [
            figures.input_tokens,
            figures.cache_creation_tokens,
            figures.cache_read_tokens,
            figures.output_tokens,
            figures.total_tokens,
        ]
        .map(thousands),
    );
    let percent = block.and_then(|block| block.token_limit_percent);
    cells.push(percent.map_or(String::new(), |percent| format!("{percent:.0}%")));
    cells.push(thousands(figures.responses));
    cells.push(money(figures.cost_usd, figures.cost_complete));
    cells.push(row.models.join(", "));
    cells
}

/// The rate of the current block, and its projected end.
fn in_words(row: &ReportRow, block: &Block, now: Timestamp, tz: &TimeZone) -> Vec<String> {
    let cost = |usd: Option<f64>| money(usd, row.figures.cost_complete);
    let mut lines = vec![format!(
        "Running since {}, {} left until {}: {} and {} tokens so far.",
        clock(block.start, tz, "%H:%M"),
        span(now, block.end),
        clock(block.end, tz, "%H:%M"),
        cost(row.figures.cost_usd),
        tokens(row.figures.total_tokens),
    )];
    if let (Some(rate), Some(projection)) = (&block.burn_rate, &block.projection) {
        lines.push(format!(
            "Burn rate: {} an hour, {} tokens a minute. At this rate the block ends at {} and {} tokens.",
            cost(rate.cost_usd_per_hour),
            thousands(rate.tokens_per_minute.round() as u64),
            cost(projection.cost_usd),
            tokens(projection.total_tokens),
        ));
        if let Some(limit) = block.token_limit.filter(|limit| *limit > 0) {
            let share = projection.total_tokens as f64 * 100.0 / limit as f64;
            let warning = if share > 100.0 { ", over the limit" } else { "" };
            lines.push(format!("That is {share:.0}% of the limit of {} tokens{warning}.", tokens(limit)));
        }
    }
    lines
}

fn clock(ts: Timestamp, tz: &TimeZone, style: &str) -> String {
    ts.to_jiff().to_zoned(tz.clone()).strftime(style).to_string()
}
