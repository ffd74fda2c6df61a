//! A report of use and cost as a table with what to know of it, or as CSV.

use retro::text::terminal::one_line;
use retro::usage::{Billing, Figures, Incomplete, Report, UnpricedModel};
use retro::views::UsageView;
use std::collections::BTreeMap;

use crate::context::{Context, Failure};
use crate::format::{count, thousands};
use crate::table::{Column, table};

/// Columns of the bar.
const BAR_COLUMNS: f64 = 12.0;

/// The report as a table, and what to know of it.
pub fn tell(context: &Context, view: &UsageView, compact: bool) -> Result<(), Failure> {
    let report = &view.report;
    if report.totals.responses == 0 {
        context.say("Nothing was used, as far as the logs here tell. `retro sync` reads what is new.");
        notes(view).iter().skip(1).for_each(|note| context.say(note));
        return Ok(());
    }
    let most = report.rows.iter().filter_map(|row| row.figures.cost_usd).fold(0.0, f64::max);
    let mut rows = Vec::new();
    for row in &report.rows {
        let name = match (&row.session, &row.block) {
            (Some(session), _) => {
                let id: String = session.session_id.chars().take(8).collect();
                format!("{} {id} {}", session.agent, session.project.as_deref().unwrap_or("-"))
            }
            _ => row.key.clone(),
        };
        rows.push(line(&name, &row.figures, compact, bar(row.figures.cost_usd, most)));
        for part in &row.breakdown {
            rows.push(line(&format!("  {}", part.model), &part.figures, compact, String::new()));
        }
    }
    rows.push(line("total", &report.totals, compact, String::new()));
    let mut header = vec![Column::flexible(""), Column::left("")];
    if !compact {
        header.extend(["input", "cache write", "cache read"].map(Column::right));
    }
    header.extend(["output", "tokens", "responses", view.billing.word()].map(Column::right));
    for line in table(&header, &rows, context.columns()) {
        context.print(&line)?;
    }
    for note in notes(view) {
        context.say(&note);
    }
    Ok(())
}

fn line(name: &str, figures: &Figures, compact: bool, bar: String) -> Vec<String> {
    let mut cells = vec![name.to_owned(), bar];
    if !compact {
        cells.extend(
            [figures.input_tokens, figures.cache_creation_tokens, figures.cache_read_tokens].map(thousands),
        );
    }
    cells.extend([figures.output_tokens, figures.total_tokens, figures.responses].map(thousands));
    cells.push(money(figures));
    cells
}

fn money(figures: &Figures) -> String {
    match (figures.cost_usd, figures.cost_complete) {
        (None, _) => "unknown".to_owned(),
        (Some(usd), true) => format!("${usd:.2}"),
        (Some(usd), false) => format!("≥ ${usd:.2}"),
    }
}

fn bar(usd: Option<f64>, most: f64) -> String {
    let share = usd.filter(|_| most > 0.0).map_or(0.0, |usd| usd / most);
    "▇".repeat((share * BAR_COLUMNS).round() as usize)
}

/// What a reader must know so as not to be misled.
fn notes(view: &UsageView) -> Vec<String> {
    let report = &view.report;
    let mut notes = vec![match view.billing {
        Billing::Plan => format!(
            "List prices of {}: what the same tokens cost when billed by use, not what a plan charges.",
            view.prices_of
        ),
        Billing::Api => format!("Calculated with list prices of {}, before any discount.", view.prices_of),
    }];
    let named = |responses: fn(&UnpricedModel) -> u64| {
        let models = report.unpriced_models.iter().filter(|model| responses(model) > 0);
        let models = models
            .map(|model| format!("{} ({})", one_line(&model.model, 60), count(responses(model), "response")));
        models.collect::<Vec<_>>().join(", ")
    };
    let (unpriced, beyond) =
        (named(|model| model.responses.saturating_sub(model.beyond)), named(|model| model.beyond));
    if !unpriced.is_empty() {
        notes.push(format!("No price is known for {unpriced}."));
    }
    if !beyond.is_empty() {
        notes.push(format!("No cost can be given for {beyond}: the logged token counts are too large."));
    }
    if report.lower_bound_responses > 0 {
        let estimate = match report.totals.estimated_cost_usd {
            Some(usd) => format!("; with their output estimated from the logged text it is about ${usd:.2}"),
            None => String::new(),
        };
        notes.push(format!(
            "{} logged before their end: at least this much{estimate}.",
            count(report.lower_bound_responses, "response")
        ));
    }
    if report.duplicates_dropped > 0 {
        notes.push(format!(
            "{} of resumed or forked sessions counted once.",
            count(report.duplicates_dropped, "copy").replace("copys", "copies")
        ));
    }
    if !report.unlogged.is_empty() {
        let tokens: u64 = report.unlogged.iter().map(|part| part.total_tokens).sum();
        notes.push(format!(
            "{} tokens more stand only in the agents' own totals (titles, compactions); not counted here.",
            thousands(tokens)
        ));
    }
    notes.extend(incomplete(&report.incomplete));
    if view.unread_sessions > 0 {
        notes.push(format!(
            "{} not read yet, so costs are at least this; `retro sync` reads them.",
            count(view.unread_sessions, "session")
        ));
    }
    notes
}

/// Sessions named for one reason before the rest is only counted.
const NAMED_MAX: usize = 3;

/// What the logs leave open: one line a reason, with the sessions.
fn incomplete(open: &[Incomplete]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in open {
        let id: String = one.session_id.chars().take(8).collect();
        reasons.entry(&one.reason).or_default().push(format!("{} {id}", one.agent));
    }
    let line = |(reason, sessions): (&str, Vec<String>)| {
        let named = sessions.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let more = match sessions.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more (--json names them)"),
        };
        format!("Incomplete: {reason}: {named}{more}.")
    };
    reasons.into_iter().map(line).collect()
}

pub fn csv(context: &Context, report: &Report) -> Result<(), Failure> {
    context.print(
        "key,input_tokens,cache_creation_tokens,cache_creation_1h_tokens,cache_read_tokens,output_tokens,\
         reasoning_tokens,total_tokens,responses,cost_usd,cost_complete",
    )?;
    for row in &report.rows {
        let f = &row.figures;
        let cost = f.cost_usd.map_or(String::new(), |usd| usd.to_string());
        context.print(&format!(
            "\"{}\",{},{},{},{},{},{},{},{},{cost},{}",
            row.key.replace('"', "\"\""),
            f.input_tokens,
            f.cache_creation_tokens,
            f.cache_creation_1h_tokens,
            f.cache_read_tokens,
            f.output_tokens,
            f.reasoning_tokens,
            f.total_tokens,
            f.responses,
            f.cost_complete
        ))?;
    }
    Ok(())
}
