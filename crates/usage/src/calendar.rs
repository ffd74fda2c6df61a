//! Days, weeks and months in the time zone of the query.
//!
//! Each response is assigned to a day in that zone, so a day may have 23 or 25 hours. Consecutive
//! responses mostly share a day: the last day is cached with its bounds, and the zone is consulted
//! only outside them.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use retro_model::Timestamp;

/// Finds the day of an instant.
pub(crate) struct Days {
    tz: TimeZone,
    last: Option<(i64, i64, Date)>,
}

impl Days {
    pub(crate) fn new(tz: &TimeZone) -> Days {
        Days { tz: tz.clone(), last: None }
    }

    pub(crate) fn day(&mut self, ts: Timestamp) -> Date {
        let ms = ts.as_millis();
        if let Some((start, end, day)) = self.last
            && (start..end).contains(&ms)
        {
            return day;
        }
        let zoned = ts.to_jiff().to_zoned(self.tz.clone());
        let start = zoned.start_of_day();
        let end = zoned.tomorrow().and_then(|tomorrow| tomorrow.start_of_day());
        self.last = match (start, end) {
            (Ok(start), Ok(end)) => {
                Some((start.timestamp().as_millisecond(), end.timestamp().as_millisecond(), zoned.date()))
            }
            _ => None,
        };
        zoned.date()
    }
}

/// The first day of the week of a day.
pub(crate) fn week(day: Date, start: Weekday) -> Date {
    let back = i64::from(start.until(day.weekday()));
    day.checked_sub(back.days()).unwrap_or(day)
}

/// The first day of the month of a day.
pub(crate) fn month(day: Date) -> Date {
    day.first_of_month()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Around clock changes, the cached day is equal to the zone's.
        #[test]
        fn remembering_a_day_changes_no_day(
            hours in proptest::collection::vec(0..24 * 365i64, 1..60),
            zone in proptest::sample::select(vec!["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]),
        ) {
            let tz = TimeZone::get(zone).unwrap();
            let mut days = Days::new(&tz);
            for hour in hours {
                let ts = Timestamp::from_millis(1_767_225_600_000 + hour * 3_600_000 + 1_799_999).unwrap();
                prop_assert_eq!(days.day(ts), ts.to_jiff().to_zoned(tz.clone()).date());
            }
        }
    }
}
