//! The used and remaining shares of subscriptions, as a table with a bar per window.

use retro::model::Timestamp;
use retro::views::{LimitWindow, LimitsView};

use crate::context::{Context, Exit, Failure, Outcome};
use crate::format::{are, count, span, time};
use crate::table::{Column, Table};

/// Width of a bar.
const BAR_COLUMNS: usize = 20;

pub fn tell(context: &Context, view: &LimitsView) -> Outcome {
    let exit = if view.windows.is_empty() { Exit::Findings } else { Exit::Done };
    if context.global.json {
        context.print_json(view)?;
        return Ok(exit);
    }
    if !view.windows.is_empty() {
        show(context, view)?;
    }
    for none in &view.without {
        context.say(&format!("{}: {}.", none.agent, none.reason));
    }
    if view.windows.is_empty() && view.without.is_empty() {
        context.say("No session names a limit yet. `retro sync` reads what is new.");
    }
    if view.unread_sessions > 0 {
        context.say(&format!(
            "{} {} not read yet. `retro sync` reads them.",
            count(view.unread_sessions, "session"),
            are(view.unread_sessions)
        ));
    }
    Ok(exit)
}

fn show(context: &Context, view: &LimitsView) -> Result<(), Failure> {
    let rows: Vec<Vec<String>> = view.windows.iter().map(|window| row(window, view.at)).collect();
    let columns = [
        Column::left("allowance").shrinks(12),
        Column::left("window"),
        Column::left("").spare(2),
        Column::right("used"),
        Column::right("left").spare(1),
        Column::left("resets").wraps(16),
        Column::left("as of").spare(3),
    ];
    context.table(&Table::new(columns).rows(rows))
}

fn row(window: &LimitWindow, now: Timestamp) -> Vec<String> {
    let percent = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}%"));
    let plan = window.plan.as_ref().map_or(String::new(), |plan| format!(" ({plan})"));
    let resets = match (window.ended, window.resets_at) {
        (true, _) => "has reset since, no newer figure".to_owned(),
        (false, Some(at)) => format!("{}, in {}", time(Some(at)), span(now, at)),
        (false, None) => "-".to_owned(),
    };
    // Most accounts have one allowance, named after the agent.
    let name = window.window.strip_prefix(&format!("{}/", window.agent)).unwrap_or(&window.window);
    vec![
        format!("{}{plan} {name}", window.agent),
        window.window_minutes.map_or("-".to_owned(), length),
        window.used_percent.map_or(String::new(), bar),
        match window.ended {
            true => format!("was {}", percent(Some(window.read_percent))),
            false => percent(window.used_percent),
        },
        percent(window.left_percent),
        resets,
        format!("{} ago", span(window.read_at, now)),
    ]
}

fn bar(percent: f64) -> String {
    let full = ((percent / 100.0 * BAR_COLUMNS as f64).round() as usize).min(BAR_COLUMNS);
    format!("{}{}", "▇".repeat(full), "░".repeat(BAR_COLUMNS - full))
}

/// `5 hours`, `7 days`.
fn length(minutes: u64) -> String {
    match minutes {
        m if m >= 2 * 1440 && m.is_multiple_of(1440) => count(m / 1440, "day"),
        m if m >= 60 && m.is_multiple_of(60) => count(m / 60, "hour"),
        m => count(m, "minute"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_whatever_is_used() {
        for percent in [0.0, 3.0, 50.0, 100.0, 140.0] {
            assert_eq!(bar(percent).chars().count(), BAR_COLUMNS, "{percent}");
        }
        assert_eq!(bar(50.0).chars().filter(|c| *c == '▇').count(), BAR_COLUMNS / 2);
    }

    #[test]
    fn windows_are_named_in_whole_units() {
        let lengths = [300, 10_080, 1440, 90, 1].map(length);
        assert_eq!(lengths, ["5 hours", "7 days", "24 hours", "90 minutes", "1 minute"]);
    }
}
