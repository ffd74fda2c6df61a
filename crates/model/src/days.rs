//! Days as people name them: `today`, `yesterday`, `7d`, `2026-07`, `last week`.

use jiff::civil::{Date, Weekday};
use jiff::{Span, ToSpan};

/// A span of whole days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    /// Its first day.
    pub first: Date,
    /// Its last day.
    pub last: Date,
}

impl Days {
    /// Parses a span of days, relative to `today`. The error lists the accepted forms.
    pub fn parse(text: &str, today: Date) -> Result<Days, String> {
        days(text, today)
    }

    /// The month of a day.
    pub fn month(day: Date) -> Days {
        month(day)
    }
}

fn days(text: &str, today: Date) -> Result<Days, String> {
    let words = text.trim().to_lowercase().replace(['_', '-'], " ");
    let back = |days: i64| today.checked_sub(days.days()).unwrap_or(Date::MIN);
    let one = |day: Date| Days { first: day, last: day };
    let found = match words.as_str() {
        "today" => Some(one(today)),
        "yesterday" => Some(one(back(1))),
        "this week" => Some(week(today)),
        "last week" => Some(week(back(7))),
        "this month" => Some(month(today)),
        "last month" => today.first_of_month().yesterday().ok().map(month),
        "this year" => Some(year(today)),
        "last year" => today.first_of_year().yesterday().ok().map(year),
        _ => ago(&words, today).or_else(|| weekday(&words, today).map(one)).or_else(|| dated(text.trim())),
    };
    found.ok_or_else(|| {
        format!(
            "{text:?} names no day\nhint: a day looks like 2026-03-01, 2026-03, today, yesterday, 7d, monday or \
             'last week'"
        )
    })
}

/// Parses `7d`, `2w`, `3 months`, `10 days ago`: from then until today.
fn ago(words: &str, today: Date) -> Option<Days> {
    let words = words.strip_suffix(" ago").unwrap_or(words);
    let end = words.find(|c: char| !c.is_ascii_digit())?;
    let number: i64 = words[..end].parse().ok()?;
    let span = match words[end..].trim() {
        "d" | "day" | "days" => Span::new().try_days(number),
        "w" | "week" | "weeks" => Span::new().try_weeks(number),
        "m" | "month" | "months" => Span::new().try_months(number),
        "y" | "year" | "years" => Span::new().try_years(number),
        _ => return None,
    };
    Some(Days { first: today.checked_sub(span.ok()?).ok()?, last: today })
}

/// Parses `2026-03-01`, `20260301`, `2026-03`, `2026`.
fn dated(text: &str) -> Option<Days> {
    let digits: String = text.split('-').collect();
    let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<i16>().ok();
    if !is_plain {
        return None;
    }
    let part = |at: usize| i8::try_from(number(at..at + 2)?).ok();
    match digits.len() {
        8 => Date::new(number(0..4)?, part(4)?, part(6)?).ok().map(|day| Days { first: day, last: day }),
        6 => Date::new(number(0..4)?, part(4)?, 1).ok().map(month),
        4 => Date::new(number(0..4)?, 1, 1).ok().map(year),
        _ => None,
    }
}

/// The latest day with this name, today included.
fn weekday(name: &str, today: Date) -> Option<Date> {
    let names = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
    let at = names.iter().position(|day| name.len() >= 3 && day.starts_with(name))?;
    let wanted = Weekday::from_monday_one_offset(i8::try_from(at).ok()? + 1).ok()?;
    today.checked_sub(i64::from(wanted.until(today.weekday())).days()).ok()
}

fn week(day: Date) -> Days {
    let first = day.checked_sub(i64::from(Weekday::Monday.until(day.weekday())).days()).unwrap_or(day);
    Days { first, last: first.checked_add(6.days()).unwrap_or(first) }
}

fn month(day: Date) -> Days {
    Days { first: day.first_of_month(), last: day.last_of_month() }
}

fn year(day: Date) -> Days {
    Days { first: day.first_of_year(), last: day.last_of_year() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    fn span(text: &str) -> String {
        // This day is a Monday.
        match days(text, date(2026, 11, 16)) {
            Ok(days) => format!("{}..{}", days.first, days.last),
            Err(error) => error,
        }
    }

    #[test]
    fn days_are_named_as_people_name_them() {
        for (text, expected) in [
            ("today", "2026-11-16..2026-11-16"),
            ("Yesterday", "2026-11-15..2026-11-15"),
            ("7d", "2026-11-09..2026-11-16"),
            ("2 weeks ago", "2026-11-02..2026-11-16"),
            ("3m", "2026-08-16..2026-11-16"),
            ("2026-07", "2026-07-01..2026-07-31"),
            ("2026", "2026-01-01..2026-12-31"),
            ("2026-07-04", "2026-07-04..2026-07-04"),
            ("20260704", "2026-07-04..2026-07-04"),
            ("last week", "2026-11-09..2026-11-15"),
            ("last-month", "2026-10-01..2026-10-31"),
            ("this week", "2026-11-16..2026-11-22"),
            ("friday", "2026-11-13..2026-11-13"),
            ("mon", "2026-11-16..2026-11-16"),
        ] {
            assert_eq!(span(text), expected, "{text}");
        }
    }

    #[test]
    fn what_names_no_day_says_what_does() {
        for text in ["", "soon", "2026-13", "2026-02-30", "-7d", "99999999d", "7x", "1234567"] {
            assert!(span(text).contains("names no day\nhint: "), "{text}: {}", span(text));
        }
    }
}
