//! The used part of a subscription's allowance, from the latest report in a log.

use serde::{Deserialize, Serialize};

use crate::{Address, Timestamp};

/// One window of an allowance at one time. Ordered by time first, so that of two readings of one
/// window the larger is the newer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LimitReading {
    /// The time of the report.
    pub ts: Timestamp,
    /// The record with the report.
    pub at: Address,
    /// The used part, in hundredths of a percent.
    pub used_basis_points: u32,
    /// Length of the window in minutes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_minutes: Option<u64>,
    /// The time when the window is empty again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resets_at: Option<Timestamp>,
    /// The subscription, as the log names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<String>,
}

impl LimitReading {
    /// Converts a percentage from a log to hundredths of a percent. `None` if it is out of range.
    pub fn basis_points(percent: f64) -> Option<u32> {
        (0.0..=1_000_000.0).contains(&percent).then(|| (percent * 100.0).round() as u32)
    }

    /// The used part, in percent.
    pub fn used_percent(&self) -> f64 {
        f64::from(self.used_basis_points) / 100.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Facts, SourceKey};

    fn reading(ms: i64, record: u64, used: f64) -> LimitReading {
        LimitReading {
            ts: Timestamp::from_millis(ms).unwrap(),
            at: Address { source: SourceKey::main(), revision: 1, record },
            used_basis_points: LimitReading::basis_points(used).unwrap(),
            window_minutes: Some(300),
            resets_at: None,
            plan: None,
        }
    }

    #[test]
    fn the_newest_reading_stays_in_whatever_order_they_come() {
        let readings = [reading(5, 9, 40.0), reading(7, 2, 12.25), reading(7, 1, 99.0)];
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [1, 0, 2]] {
            let mut facts = Facts::default();
            for at in order {
                let mut other = Facts::default();
                other.limit("w", &readings[at]);
                facts.merge(&other);
                facts.merge(&other);
            }
            assert_eq!(facts.limits["w"], readings[1]);
            assert_eq!(facts.limits["w"].used_percent(), 12.25);
        }
    }

    #[test]
    fn what_cannot_be_a_percentage_is_none() {
        for percent in [-1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(LimitReading::basis_points(percent), None, "{percent}");
        }
        assert_eq!(LimitReading::basis_points(100.0), Some(10_000));
    }
}
