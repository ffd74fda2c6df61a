//! How sizes, times and counts read.

use jiff::tz::TimeZone;
use retro::model::Timestamp;

/// Bytes with a unit: `1.2 MB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{count} B"),
        _ if value < 9.95 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// An instant in the user's zone: `2026-03-01 10:00`.
pub fn time(ts: Option<Timestamp>) -> String {
    match ts {
        Some(ts) => ts.to_jiff().to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        None => "-".to_owned(),
    }
}

/// How long it is from one instant to another, in two units at most: `2h 14m`.
/// Nothing is negative: what is not later is now.
pub fn span(from: Timestamp, to: Timestamp) -> String {
    let minutes = to.as_millis().saturating_sub(from.as_millis()).max(0) / 60_000;
    match (minutes / 1440, minutes / 60 % 24, minutes % 60) {
        (0, 0, minutes) => format!("{minutes}m"),
        (0, hours, minutes) => format!("{hours}h {minutes}m"),
        (days, hours, _) => format!("{days}d {hours}h"),
    }
}

/// A count with its noun: `1 session`, `2 sessions`.
pub fn count(number: u64, noun: &str) -> String {
    match number {
        1 => format!("1 {noun}"),
        _ => format!("{} {noun}s", thousands(number)),
    }
}

/// A number with separators: `12,345`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
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
    }
}
