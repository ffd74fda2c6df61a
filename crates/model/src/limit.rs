//! How much of a subscription's allowance was used, as a log told it last.

use serde::{Deserialize, Serialize};

use crate::{Address, Timestamp};

/// One window of an allowance at one time. Ordered by time first, so that of two
/// readings of one window the larger is the newer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LimitReading {
    /// When the log said so.
    pub ts: Timestamp,
    /// The record that said it.
    pub at: Address,
    /// Used, in hundredths of a percent.
    pub used_basis_points: u32,
    /// How long the window is.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_minutes: Option<u64>,
    /// When it is empty again.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub resets_at: Option<Timestamp>,
    /// The subscription, as the log names it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub plan: Option<String>,
}

impl LimitReading {
    /// A percentage as logs write it, as hundredths; nothing if it cannot be one.
    pub fn basis_points(percent: f64) -> Option<u32> {
        (0.0..=1_000_000.0).contains(&percent).then(|| (percent * 100.0).round() as u32)
    }

    /// Used, in percent.
    pub fn used_percent(&self) -> f64 {
        f64::from(self.used_basis_points) / 100.0
    }
}
