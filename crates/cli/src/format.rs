//! Formats sizes, times and counts.

use jiff::tz::TimeZone;
use retro::model::Timestamp;
pub use retro::views::bytes;

/// An instant in the user's zone: `2026-03-01 10:00`.
pub fn time(ts: Option<Timestamp>) -> String {
    match ts {
        Some(ts) => ts.to_jiff().to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        None => "-".to_owned(),
    }
}

/// A day in the user's zone: `2026-03-01`.
pub fn day(ts: Timestamp) -> String {
    ts.to_jiff().to_zoned(TimeZone::system()).strftime("%Y-%m-%d").to_string()
}

/// The time of day in the user's zone: `10:00`.
pub fn clock(ts: Timestamp) -> String {
    ts.to_jiff().to_zoned(TimeZone::system()).strftime("%H:%M").to_string()
}

/// The time from one instant to another, in two units at most: `2h 14m`. Zero if the second is not
/// later.
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let minutes = to.as_millis().saturating_sub(from.as_millis()).max(0) / 60_000;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) => format!("{hours}h {minutes}m"),
        (days, hours, _) => format!("{days}d {hours}h"),
    }
}

/// A duration: `320 ms`, `2.4 s`, `64 s`, `5m 20s`, then as [`span`].
pub fn took(ms: u64) -> String {
    let seconds = (ms + 500) / 1000;
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..9_950 => format!("{:.1} s", ms as f64 / 1000.0),
        _ if seconds < 120 => format!("{seconds} s"),
        _ if seconds < 3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60) {
            (0, hours, minutes) => format!("{hours}h {minutes}m"),
            (days, hours, _) => format!("{days}d {hours}h"),
        },
    }
}

/// Dollars: `$0.07`, `$1,204.55`. With `≥` for a lower bound, `unknown` without any figure.
pub fn money(usd: Option<f64>, is_complete: bool) -> String {
    let Some(usd) = usd else { return "unknown".to_owned() };
    let cents = (usd * 100.0).round().max(0.0) as u64;
    let amount = format!("${}.{:02}", thousands(cents / 100), cents % 100);
    if is_complete { amount } else { format!("≥ {amount}") }
}

/// Tokens in three digits and a unit, for prose: `950`, `12.3k`, `4.1M`.
pub fn tokens(count: u64) -> String {
    let bound = if count == u64::MAX { "≥ " } else { "" };
    let mut value = count as f64;
    let mut unit = 0;
    const UNITS: [&str; 4] = ["", "k", "M", "G"];
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => count.to_string(),
        _ if value < 99.95 => format!("{value:.1}{}", UNITS[unit]),
        _ => format!("{bound}{value:.0}{}", UNITS[unit]),
    }
}

/// A count with its noun: `1 session`, `2 sessions`.
pub fn count(number: u64, noun: &str) -> String {
    match (number, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) if !noun.ends_with("ay") => format!("{} {stem}ies", thousands(number)),
        _ => format!("{} {noun}s", thousands(number)),
    }
}

/// The verb that fits a count: `1 session is`, `2 sessions are`.
pub fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// A number with separators: `12,345`. The largest number is where sums stop: it is a bound.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    if number == u64::MAX {
        out.push_str("≥ ");
    }
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_digits() {
        let sizes = [0, 999, 1000, 9_940, 99_900, 999_600, 1_500_000_000];
        let read: Vec<String> = sizes.iter().map(|size| bytes(*size)).collect();
        assert_eq!(read, ["0 B", "999 B", "1.0 kB", "9.9 kB", "100 kB", "1.0 MB", "1.5 GB"]);
    }

    #[test]
    fn spans_have_two_units() {
        let at = |minutes: i64| Timestamp::from_millis(minutes * 60_000).unwrap();
        let read = [0, 59, 134, 1500, 60].map(|minutes| span(at(0), at(minutes)));
        assert_eq!(read, ["0m", "59m", "2h 14m", "1d 1h", "1h 0m"]);
        assert_eq!(span(at(5), at(0)), "0m");
    }

    #[test]
    fn counts_agree_with_their_noun() {
        assert_eq!(count(1, "session"), "1 session");
        assert_eq!(count(12_345, "session"), "12,345 sessions");
        assert_eq!([count(2, "copy"), count(2, "day")], ["2 copies", "2 days"]);
    }

    #[test]
    fn money_and_tokens_read_the_same_everywhere() {
        let read =
            [(Some(0.066), true), (Some(1204.5), false), (None, false)].map(|(usd, all)| money(usd, all));
        assert_eq!(read, ["$0.07", "≥ $1,204.50", "unknown"]);
        assert_eq!([999, 12_345, 4_100_000, 553_761_458].map(tokens), ["999", "12.3k", "4.1M", "554M"]);
    }

    #[test]
    fn a_sum_that_stopped_at_the_largest_number_is_a_bound() {
        assert_eq!(thousands(u64::MAX), "≥ 18,446,744,073,709,551,615");
        assert!(tokens(u64::MAX).starts_with("≥ 1844"), "{}", tokens(u64::MAX));
        assert!(!tokens(u64::MAX / 2).contains('≥') && !thousands(u64::MAX - 1).contains('≥'));
    }

    #[test]
    fn durations_have_one_style() {
        let read = [320, 2_400, 63_938, 320_000, 8_040_000, 90_000_000].map(took);
        assert_eq!(read, ["320 ms", "2.4 s", "64 s", "5m 20s", "2h 14m", "1d 1h"]);
    }
}
