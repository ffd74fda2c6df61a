//! A usage report as a table with notes, or as CSV.

use anstyle::Style;
use retro::text::terminal::one_line;
use retro::usage::{Billing, By, DISPUTED, Figures, Incomplete, Report, ReportRow};
use retro::views::UsageView;
use std::collections::BTreeMap;

use crate::context::{Context, Failure};
use crate::format::{are, count, money, thousands, time};
use crate::table::{Column, Table};

/// Width of the bar.
const BAR_COLUMNS: f64 = 12.0;

/// The report as a table with notes.
pub fn tell(context: &Context, view: &UsageView, compact: bool) -> Result<(), Failure> {
    say_unread(context, view);
    if view.report.totals.responses == 0 {
        say_empty(context, view);
        return Ok(());
    }
    context.table(&table(view, compact))?;
    for note in notes(view, context.global.verbose) {
        context.note(&note);
    }
    Ok(())
}

/// Warns that amounts are not final, before they are read.
pub fn say_unread(context: &Context, view: &UsageView) {
    if view.unread_sessions > 0 {
        let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
        context.say(&format!(
            "{yellow}Not complete:{yellow:#} {} {} not read yet, so every amount is at least what is shown. \
             `retro sync` reads all.",
            count(view.unread_sessions, "session"),
            are(view.unread_sessions)
        ));
    }
    if let [first, more @ ..] = view.unreadable_files.as_slice() {
        let yellow = anstyle::AnsiColor::Yellow.on_default().bold();
        let others = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        context.say(&format!(
            "{yellow}Not complete:{yellow:#} {}{others} cannot be read ({}), so every amount is at least what is \
             shown. `retro sync` names all.",
            one_line(&first.path, usize::MAX),
            first.reason
        ));
    }
}

/// Explains why there is nothing to show.
pub fn say_empty(context: &Context, view: &UsageView) {
    match &view.nearest_project {
        Some(near) => context.say(&format!("Nothing fits. Did you mean the project {near:?}?")),
        None => context.say("Nothing that was used fits the question. `retro sync` reads what is new."),
    }
}

fn table(view: &UsageView, compact: bool) -> Table {
    let report = &view.report;
    let is_session = report.by == By::Session;
    let name = match report.by {
        By::Daily => "day",
        By::Weekly => "week of",
        By::Monthly => "month",
        By::Session => "session",
        By::Project => "project",
        By::Model => "model",
        By::Agent => "agent",
        By::Blocks => "block",
    };
    let dim = Style::new().dimmed();
    let optional = |column: Column, order: u8| column.spare(order);
    let mut columns = vec![
        Column::left(name).shrinks_inside(match report.by {
            By::Session => 22,
            By::Model => 26,
            _ => 14,
        }),
        Column::left(if is_session { "last" } else { "" }).spare(2).style(dim),
        Column::left(if is_session { "project" } else { "" }).shrinks(12).spare(3),
        Column::left(if is_session { "title" } else { "" }).shrinks(20),
        Column::left("").spare(6).style(anstyle::AnsiColor::Green.on_default()),
    ];
    if !compact {
        columns.extend([
            optional(Column::right("input"), 5),
            optional(Column::right("cache write"), 5),
            optional(Column::right("cache read"), 5),
        ]);
    }
    columns.extend([
        optional(Column::right("output"), if is_session { 5 } else { 3 }),
        optional(Column::right("tokens"), if is_session { 1 } else { 0 }),
        optional(Column::right("responses"), 4),
        Column::right(view.billing.word()),
        optional(Column::left(if report.by == By::Model { "" } else { "models" }).wraps(22), 7).style(dim),
    ]);
    let mut table = Table::new(columns);
    let most = report.rows.iter().filter_map(|row| row.figures.cost_usd).fold(0.0, f64::max);
    for row in &report.rows {
        let models = if report.by == By::Model { String::new() } else { row.models.join(", ") };
        let [name, last, project, title] = names(view, row);
        let bar = bar(row.figures.cost_usd, most);
        table.row(line([name, last, project, title, bar], &row.figures, compact, models));
        for part in &row.breakdown {
            let name = if is_session { String::new() } else { format!("  └ {}", part.model) };
            let title = if is_session { format!("  └ {}", part.model) } else { String::new() };
            let heads = [name, String::new(), String::new(), title, String::new()];
            table.styled(line(heads, &part.figures, compact, String::new()), dim);
        }
    }
    let heads = ["total", "", "", "", ""].map(str::to_owned);
    table.styled(line(heads, &report.totals, compact, String::new()), Style::new().bold());
    if let Some(mining) = &view.mining {
        let heads = ["+ retro mine", "", "", "", ""].map(str::to_owned);
        table.styled(line(heads, mining, compact, String::new()), dim);
    }
    table
}

/// The name of a row: its key, or a session's id, last time, project and title.
fn names(view: &UsageView, row: &ReportRow) -> [String; 4] {
    let Some(session) = &row.session else {
        let is_named = row.key != "unknown";
        let key = if is_named { row.key.clone() } else { "(not in the log)".to_owned() };
        return [key, String::new(), String::new(), String::new()];
    };
    let id = view.short_ids.get(&session.session_id).unwrap_or(&session.session_id);
    let project = session.project.clone().unwrap_or_default();
    let title = session.title.as_deref().unwrap_or("(no prompt)").to_owned();
    [format!("{} {id}", session.agent), time(row.last_at), project, title]
}

fn line(heads: [String; 5], figures: &Figures, compact: bool, models: String) -> Vec<String> {
    let mut cells = heads.to_vec();
    if !compact {
        cells.extend(
            [figures.input_tokens, figures.cache_creation_tokens, figures.cache_read_tokens].map(thousands),
        );
    }
    cells.extend([figures.output_tokens, figures.total_tokens, figures.responses].map(thousands));
    cells.push(money(figures.cost_usd, figures.cost_complete));
    cells.push(models);
    cells
}

fn bar(usd: Option<f64>, most: f64) -> String {
    let share = usd.filter(|_| most > 0.0).map_or(0.0, |usd| usd / most);
    "▇".repeat((share * BAR_COLUMNS).round() as usize)
}

/// Notes without which a reader would be misled.
pub fn notes(view: &UsageView, verbose: bool) -> Vec<String> {
    let report = &view.report;
    let mut notes = Vec::new();
    let why = why_bounds(report);
    if !why.is_empty() {
        notes.push(format!("≥ marks a lower bound: {}.", why.join(", ")));
    }
    let mut about = vec![match view.billing {
        Billing::Plan => format!(
            "List prices of {}: what the same tokens cost when billed by use, not what a plan charges.",
            view.prices_of
        ),
        Billing::Api => format!("Calculated with list prices of {}, before any discount.", view.prices_of),
    }];
    if report.duplicates_dropped > 0 {
        let copies = count(report.duplicates_dropped, "copy");
        about.push(format!("{copies} in resumed or forked sessions counted once."));
    }
    if !report.unlogged.is_empty() {
        let tokens: u64 = report.unlogged.iter().map(|part| part.total_tokens).sum();
        about.push(format!(
            "{} more tokens are only in the agents' own totals (titles, compactions) and not counted.",
            thousands(tokens)
        ));
    }
    notes.push(about.join(" "));
    if let disputed @ 1.. = disputed(report) {
        let sessions = count(disputed, "session");
        notes.push(format!(
            "Another log has other figures for the same answers of {sessions}. `retro usage explain` shows which."
        ));
    }
    if verbose {
        notes.extend(incomplete(view, &report.incomplete));
    } else if !report.incomplete.is_empty() {
        let sessions = count(named(&report.incomplete), "session");
        notes.push(format!("The logs of {sessions} leave something open. --verbose names them."));
    }
    notes
}

/// Why amounts are lower bounds, apart from unread sessions.
fn why_bounds(report: &Report) -> Vec<String> {
    let mut why = Vec::new();
    if !report.unpriced_models.is_empty() {
        let named: Vec<String> = report
            .unpriced_models
            .iter()
            .map(|model| {
                let name = if model.model == "unknown" {
                    "a model that the log does not name"
                } else {
                    &model.model
                };
                format!("{} ({})", one_line(name, 60), count(model.responses, "response"))
            })
            .collect();
        why.push(format!("no price is known for {}", named.join(", ")));
    }
    if report.lower_bound_responses > 0 {
        let estimate = match report.totals.estimated_cost_usd {
            Some(usd) => format!(" (about {} with their output estimated)", money(Some(usd), true)),
            None => String::new(),
        };
        let responses = count(report.lower_bound_responses, "response");
        let or = match disputed(report) {
            0 => "",
            _ => " or with other figures in another log",
        };
        why.push(format!("{responses} logged before their end{or}{estimate}"));
    }
    why
}

/// Sessions with a response that two logs report differently.
fn disputed(report: &Report) -> u64 {
    report.incomplete.iter().filter(|one| one.reason == DISPUTED).count() as u64
}

fn named(open: &[Incomplete]) -> u64 {
    let sessions: std::collections::BTreeSet<_> =
        open.iter().map(|one| (&one.agent, &one.session_id)).collect();
    sessions.len() as u64
}

/// Gaps in the logs: one line per reason, with the sessions.
fn incomplete(view: &UsageView, open: &[Incomplete]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for one in open {
        let id = view.short_ids.get(&one.session_id).unwrap_or(&one.session_id);
        reasons.entry(&one.reason).or_default().push(format!("{} {id}", one.agent));
    }
    reasons
        .into_iter()
        .map(|(reason, sessions)| format!("Open: {reason}: {}.", sessions.join(", ")))
        .collect()
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
