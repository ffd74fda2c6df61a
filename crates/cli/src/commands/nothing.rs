//! The message for a period without sessions.

use jiff::civil::Date;
use retro::engine::Config;
use retro::views::ListOptions;

use crate::context::{Context, Failure};
use crate::format;

/// `No session from 2026-11-09 to 2026-11-15. The newest is of 2026-07-12.` `None` if no period was
/// given, or if nothing matches outside it either.
pub fn in_time(
    context: &Context,
    config: &Config,
    options: &ListOptions,
    (since, until): (Option<Date>, Option<Date>),
) -> Result<Option<String>, Failure> {
    let span = match (since, until) {
        (None, None) => return Ok(None),
        (Some(since), Some(until)) if since == until => format!("on {since}"),
        (Some(since), Some(until)) => format!("from {since} to {until}"),
        (Some(since), None) => format!("since {since}"),
        (None, Some(until)) => format!("until {until}"),
    };
    let options = ListOptions { since: None, before: None, limit: None, ..options.clone() };
    let view = retro::views::list(&context.world, config, &options)?;
    let first = view.sessions.iter().filter_map(|session| session.started_at).min();
    let newest = view.sessions.iter().filter_map(|session| session.ended_at).max();
    Ok(first.zip(newest).map(|(first, newest)| {
        let (first, newest) = (format::day(first), format::day(newest));
        let is_before = since.is_some_and(|since| newest < since.to_string());
        let is_after = until.is_some_and(|until| first > until.to_string());
        let which = match (is_before, is_after) {
            (_, true) => format!(" The oldest is of {first}."),
            (true, _) => format!(" The newest is of {newest}."),
            _ => format!(" There are sessions from {first} to {newest}."),
        };
        format!("No session {span}.{which}")
    }))
}
