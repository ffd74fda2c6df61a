//! How much room raw bytes may take.

use std::path::Path;
use toml::{Table, Value};

use super::{ConfigError, wrong};

const GIB: u64 = 1 << 30;

/// Settings of retention.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retention {
    /// Bytes of `raw/` above which analyzed sessions are evicted, the least recently active first.
    pub raw_soft_cap_bytes: u64,
    /// Bytes of `raw/` above which any session is evicted.
    pub raw_hard_cap_bytes: u64,
    /// Age in days above which an analyzed session is evicted. `None` sets no limit.
    pub raw_max_age_days: Option<u32>,
    /// Size in bytes of the permanent files above which retro warns. It removes none of them.
    pub distilled_cap_bytes: u64,
    /// Free bytes below which capturing stops. 0 sets no limit; `None` means the smaller of 5 % of
    /// the disk and 1 GiB.
    pub min_free_bytes: Option<u64>,
    /// True if a limit on raw bytes was set, so that a sync may act on it.
    pub is_set: bool,
}

impl Default for Retention {
    fn default() -> Self {
        Retention {
            raw_soft_cap_bytes: 4 * GIB,
            raw_hard_cap_bytes: 6 * GIB,
            raw_max_age_days: None,
            distilled_cap_bytes: GIB,
            min_free_bytes: None,
            is_set: false,
        }
    }
}

/// Reads `[retention]`.
pub(super) fn read(path: &Path, section: &Table) -> Result<Retention, ConfigError> {
    let mut retention = Retention::default();
    for (name, value) in section {
        let key = format!("retention.{name}");
        let bytes = || bytes_of(value).ok_or_else(|| wrong(path, &key, SIZE));
        match name.as_str() {
            "raw_soft_cap_bytes" => retention.raw_soft_cap_bytes = bytes()?,
            "raw_hard_cap_bytes" => retention.raw_hard_cap_bytes = bytes()?,
            "distilled_cap_bytes" => retention.distilled_cap_bytes = bytes()?,
            "min_free_bytes" => retention.min_free_bytes = Some(bytes()?),
            "raw_max_age_days" => {
                let days = value.as_integer().and_then(|days| u32::try_from(days).ok());
                let days = days.ok_or_else(|| wrong(path, &key, "a number of days, or 0 for no limit"))?;
                retention.raw_max_age_days = Some(days).filter(|days| *days > 0);
            }
            // `keys::check` has already refused every other key.
            _ => {}
        }
        retention.is_set |= name.starts_with("raw_");
    }
    // If only one cap was set, the other one gives way.
    let has = |name: &str| section.contains_key(name);
    if retention.raw_soft_cap_bytes > retention.raw_hard_cap_bytes {
        match (has("raw_soft_cap_bytes"), has("raw_hard_cap_bytes")) {
            (true, false) => retention.raw_hard_cap_bytes = retention.raw_soft_cap_bytes,
            (false, true) => retention.raw_soft_cap_bytes = retention.raw_hard_cap_bytes,
            _ => return Err(wrong(path, "retention.raw_soft_cap_bytes", "at most raw_hard_cap_bytes")),
        }
    }
    Ok(retention)
}

const SIZE: &str = "a number of bytes, or a size such as \"4GiB\" or \"500MB\"";

/// Bytes as a number, or as a string with a unit.
fn bytes_of(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(bytes) => u64::try_from(*bytes).ok(),
        Value::String(text) => size(text),
        _ => None,
    }
}

/// `4GiB`, `1.5 GB`, `800 MB`, `1024`: units of 1000, or of 1024 where the name has an `i`.
pub fn size(text: &str) -> Option<u64> {
    let text = text.trim();
    let unit_at = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(unit_at);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "kib" => 1 << 10,
        "m" | "mb" => 1_000_000,
        "mib" => 1 << 20,
        "g" | "gb" => 1_000_000_000,
        "gib" => GIB,
        "t" | "tb" => 1_000_000_000_000,
        "tib" => 1 << 40,
        _ => return None,
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(factor);
    }
    let value: f64 = number.parse().ok()?;
    let bytes = value * factor as f64;
    (bytes.is_finite() && bytes >= 0.0 && bytes < u64::MAX as f64).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Retention, String> {
        let table: Table = text.parse().unwrap();
        read(Path::new("c.toml"), &table).map_err(|error| error.to_string())
    }

    #[test]
    fn sizes_are_written_as_people_write_them() {
        for (text, bytes) in [
            ("4GiB", Some(4 << 30)),
            ("4 gib", Some(4 << 30)),
            ("1.5 GB", Some(1_500_000_000)),
            ("800MB", Some(800_000_000)),
            ("1024", Some(1024)),
            ("0", Some(0)),
            ("4 GiBi", None),
            ("-1GB", None),
            ("GB", None),
            ("99999999999TB", None),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
    }

    #[test]
    fn a_cap_alone_moves_the_other_and_two_that_contradict_are_refused() {
        let retention = of("raw_soft_cap_bytes = '8GiB'").unwrap();
        assert_eq!((retention.raw_hard_cap_bytes, retention.is_set), (8 << 30, true));
        let retention = of("raw_hard_cap_bytes = '1GiB'").unwrap();
        assert_eq!(retention.raw_soft_cap_bytes, 1 << 30);
        let error = of("raw_soft_cap_bytes = 2\nraw_hard_cap_bytes = 1").unwrap_err();
        assert!(error.contains("at most raw_hard_cap_bytes"), "{error}");
        assert!(!of("min_free_bytes = 0").unwrap().is_set);
        assert_eq!(of("raw_max_age_days = 45").unwrap().raw_max_age_days, Some(45));
        assert!(of("raw_soft_cap_bytes = '4 potatoes'").unwrap_err().contains("4GiB"));
    }
}
