//! Instants of time from logs.

use jiff::fmt::temporal::DateTimeParser;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An instant in milliseconds. Written as RFC 3339 in UTC. Never invented: a log line without a
/// readable time has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since 1970. `None` beyond the range of the calendar.
    pub fn from_millis(millis: i64) -> Option<Self> {
        jiff::Timestamp::from_millisecond(millis).ok().map(|t| Timestamp(t.as_millisecond()))
    }

    /// Parses RFC 3339 with a zone. A local time without a zone is rejected, not read as UTC.
    pub fn parse(text: &str) -> Option<Self> {
        static PARSER: DateTimeParser = DateTimeParser::new();
        PARSER.parse_timestamp(text).ok().map(|t| Timestamp(t.as_millisecond()))
    }

    /// Milliseconds since 1970.
    pub fn as_millis(self) -> i64 {
        self.0
    }

    /// The same instant as a `jiff` timestamp.
    pub fn to_jiff(self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    }
}

impl From<jiff::Timestamp> for Timestamp {
    fn from(t: jiff::Timestamp) -> Self {
        Timestamp(t.as_millisecond())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.to_jiff())
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Timestamp::parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not a time")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_in_utc_with_milliseconds() {
        let t = Timestamp::parse("2026-03-01T12:00:00+02:00").unwrap();
        assert_eq!(t.to_string(), "2026-03-01T10:00:00.000Z");
    }

    #[test]
    fn what_is_no_instant_has_no_time() {
        for text in ["", "5", "2026-03-01T12:00:00", "yesterday", "99999-01-01T00:00:00Z"] {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
