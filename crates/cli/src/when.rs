//! Parses `--since` and `--until`. Every name of a day means a span of days: `--since` takes its
//! first day, `--until` its last.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use retro::model::{Days, Timestamp};

use crate::context::{Context, Failure};

/// From when to when a question is asked.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Between {
    /// From this day on: 2026-03-01, 2026-03, today, yesterday, 7d, monday, 'last week'
    #[arg(long, value_name = "DAY")]
    since: Option<String>,

    /// Up to and including this day
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
}

impl Between {
    /// The first and the last day asked for, in a zone.
    pub fn days(&self, context: &Context, tz: &TimeZone) -> Result<(Option<Date>, Option<Date>), Failure> {
        let today = today(context, tz);
        let read = |text: &Option<String>| {
            text.as_deref().map(|text| Days::parse(text, today)).transpose().map_err(Failure::Message)
        };
        let (since, until) =
            (read(&self.since)?.map(|days| days.first), read(&self.until)?.map(|days| days.last));
        if let (Some(since), Some(until)) = (since, until)
            && since > until
        {
            return Err(Failure::Message(format!("--since {since} is after --until {until}")));
        }
        Ok((since, until))
    }
}

/// The first day of the span that a user named, in this machine's time zone.
pub fn day(text: &str, context: &Context) -> Result<Date, Failure> {
    let today = today(context, &TimeZone::system());
    Days::parse(text, today).map(|days| days.first).map_err(Failure::Message)
}

/// The start of the span that a user named, in this machine's time zone.
pub fn since(text: &str, context: &Context) -> Result<Option<Timestamp>, Failure> {
    Ok(start(day(text, context)?, &TimeZone::system()))
}

/// Today's date in a time zone.
pub fn today(context: &Context, tz: &TimeZone) -> Date {
    context.world.now().to_jiff().to_zoned(tz.clone()).date()
}

/// The start of a day.
pub fn start(day: Date, tz: &TimeZone) -> Option<Timestamp> {
    day.to_zoned(tz.clone()).ok().map(|zoned| zoned.timestamp().into())
}

/// The end of a day.
pub fn end(day: Date, tz: &TimeZone) -> Option<Timestamp> {
    start(day.tomorrow().ok()?, tz)
}
