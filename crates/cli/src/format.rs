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
    fn counts_agree_with_their_noun() {
        assert_eq!(count(1, "session"), "1 session");
        assert_eq!(count(12_345, "session"), "12,345 sessions");
    }
}
