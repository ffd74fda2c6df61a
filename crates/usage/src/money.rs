//! Money in whole billionths of a dollar, so that sums are exact and do not
//! depend on their order.

use serde::{Deserialize, Serialize};
use std::fmt;

/// An amount in billionths of a US dollar. JSON has the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NanoUsd(pub i64);

/// Billionths in a dollar.
const NANOS_A_DOLLAR: i64 = 1_000_000_000;

impl NanoUsd {
    /// The amount of zero dollars.
    pub const ZERO: NanoUsd = NanoUsd(0);

    /// The sum. `None` beyond nine billion dollars.
    pub fn checked_add(self, other: NanoUsd) -> Option<NanoUsd> {
        self.0.checked_add(other.0).map(NanoUsd)
    }

    /// From trillionths, rounded to the nearest billionth, halves up. `None` beyond nine billion
    /// dollars.
    pub(crate) fn from_pico(pico: u128) -> Option<NanoUsd> {
        let pico = pico.checked_add(500)?;
        // Nearly every amount fits 64 bits, which divide many times faster.
        match u64::try_from(pico) {
            Ok(pico) => i64::try_from(pico / 1000).ok().map(NanoUsd),
            Err(_) => i64::try_from(pico / 1000).ok().map(NanoUsd),
        }
    }

    /// Dollars, for JSON. Rounded to a float, so never add these up.
    pub fn to_usd(self) -> f64 {
        self.0 as f64 / NANOS_A_DOLLAR as f64
    }
}

/// Formats `$1,234.56`. Below a dollar, as many of four decimals as are not zero: `$0.0042`.
impl fmt::Display for NanoUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nano = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        if nano > 0 && nano < 50_000 {
            return write!(f, "{}<$0.0001", sign);
        }
        // Ten-thousandths if the amount is below a dollar, else cents.
        let unit = if nano < NANOS_A_DOLLAR.unsigned_abs() { 100_000 } else { 10_000_000 };
        let nano = nano.saturating_add(unit / 2) / unit * unit;
        let (dollars, rest) = (nano / NANOS_A_DOLLAR.unsigned_abs(), nano % NANOS_A_DOLLAR.unsigned_abs());
        let decimals = match rest / 100_000 {
            parts if parts % 100 == 0 => format!("{:02}", parts / 100),
            parts if parts % 10 == 0 => format!("{:03}", parts / 10),
            parts => format!("{parts:04}"),
        };
        write!(f, "{sign}${}.{decimals}", thousands(dollars))
    }
}

fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_as_people_write_them() {
        for (nano, text) in [
            (0, "$0.00"),
            (1_234_560_000_000, "$1,234.56"),
            (1_234_567_890_000_000, "$1,234,567.89"),
            (4_200_000, "$0.0042"),
            (420_000_000, "$0.42"),
            (421_300_000, "$0.4213"),
            (999_960_000, "$1.00"),
            (999_994_999_999, "$999.99"),
            (999_995_000_000, "$1,000.00"),
            (49_999, "<$0.0001"),
            (50_000, "$0.0001"),
            (-1_500_000_000, "-$1.50"),
        ] {
            assert_eq!(NanoUsd(nano).to_string(), text, "{nano}");
        }
        assert_eq!(NanoUsd(i64::MAX).to_string(), "$9,223,372,036.85");
    }

    #[test]
    fn sums_are_checked_and_trillionths_rounded() {
        assert_eq!(NanoUsd(i64::MAX).checked_add(NanoUsd(1)), None);
        assert_eq!(NanoUsd(2).checked_add(NanoUsd(3)), Some(NanoUsd(5)));
        assert_eq!(NanoUsd::from_pico(1_499), Some(NanoUsd(1)));
        assert_eq!(NanoUsd::from_pico(1_500), Some(NanoUsd(2)));
        assert_eq!(NanoUsd::from_pico(u128::MAX), None);
    }

    #[test]
    fn json_holds_the_number_of_billionths() {
        assert_eq!(serde_json::to_string(&NanoUsd(1_500_000_000)).unwrap(), "1500000000");
        assert_eq!(serde_json::from_str::<NanoUsd>("7").unwrap(), NanoUsd(7));
        assert_eq!(NanoUsd(1_500_000_000).to_usd(), 1.5);
    }
}
