//! One signal's value for one session.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The most events that a reading lists as evidence.
pub(crate) const EVIDENCE_MAX: usize = 8;

/// A signal's result for a session. A digest has a short form: a bare value if there are no other
/// fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The value, or null with a reason.
    pub value: Value,
    /// Why there is no value.
    pub reason: Option<String>,
    /// The confidence, from 0 to 1.
    pub confidence: f64,
    /// The first few events that are evidence.
    pub evidence: Vec<String>,
    /// Additional facts, by name.
    pub metadata: Map<String, Value>,
}

impl Reading {
    /// A reading with full confidence.
    pub(crate) fn of(value: impl Into<Value>) -> Reading {
        Reading {
            value: value.into(),
            reason: None,
            confidence: 1.0,
            evidence: Vec::new(),
            metadata: Map::new(),
        }
    }

    /// A number, rounded to four decimals.
    pub(crate) fn ratio(value: f64) -> Reading {
        Reading::of(rounded(value))
    }

    /// A ratio of two counts. No value if the whole is zero.
    pub(crate) fn share(part: usize, whole: usize, reason: &str) -> Reading {
        match whole {
            0 => Reading::none(reason),
            _ => Reading::ratio(part as f64 / whole as f64),
        }
    }

    /// A reading without a value, and the reason.
    pub(crate) fn none(reason: &str) -> Reading {
        Reading { reason: Some(reason.to_owned()), confidence: 0.0, ..Reading::of(Value::Null) }
    }

    /// A count, with the counted events as evidence.
    pub(crate) fn count<'a>(ids: impl IntoIterator<Item = &'a str>) -> Reading {
        let mut count = 0_u64;
        let mut evidence = Vec::new();
        for id in ids {
            count += 1;
            if evidence.len() < EVIDENCE_MAX {
                evidence.push(id.to_owned());
            }
        }
        Reading { evidence, ..Reading::of(count) }
    }

    pub(crate) fn sure(mut self, confidence: f64) -> Reading {
        self.confidence = confidence;
        self
    }

    pub(crate) fn because<'a>(mut self, ids: impl IntoIterator<Item = &'a str>) -> Reading {
        self.evidence = ids.into_iter().take(EVIDENCE_MAX).map(str::to_owned).collect();
        self
    }

    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Reading {
        self.metadata.insert(name.to_owned(), value.into());
        self
    }
}

/// Rounds to four decimals.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

/// The short form: `v` value, `r` reason, `c` confidence, `e` evidence, `m` metadata.
impl Serialize for Reading {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bare = self.reason.is_none()
            && self.confidence == 1.0
            && self.evidence.is_empty()
            && self.metadata.is_empty();
        if bare && !self.value.is_object() && !self.value.is_null() {
            return self.value.serialize(serializer);
        }
        let mut fields = Map::new();
        if !self.value.is_null() {
            fields.insert("v".into(), self.value.clone());
        }
        if let Some(reason) = &self.reason {
            fields.insert("r".into(), json!(reason));
        }
        let usual = if self.reason.is_some() { 0.0 } else { 1.0 };
        if self.confidence != usual {
            fields.insert("c".into(), json!(self.confidence));
        }
        if !self.evidence.is_empty() {
            fields.insert("e".into(), json!(self.evidence));
        }
        if !self.metadata.is_empty() {
            fields.insert("m".into(), Value::Object(self.metadata.clone()));
        }
        fields.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Reading {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Long {
            #[serde(default)]
            v: Value,
            #[serde(default)]
            r: Option<String>,
            c: Option<f64>,
            #[serde(default)]
            e: Vec<String>,
            #[serde(default)]
            m: Map<String, Value>,
        }
        let value = Value::deserialize(deserializer)?;
        if !value.is_object() {
            return Ok(Reading::of(value));
        }
        let long: Long = serde_json::from_value(value).map_err(serde::de::Error::custom)?;
        let usual = if long.r.is_some() { 0.0 } else { 1.0 };
        Ok(Reading {
            value: long.v,
            reason: long.r,
            confidence: long.c.unwrap_or(usual),
            evidence: long.e,
            metadata: long.m,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_form_comes_back() {
        let readings = [
            Reading::of(3_u64),
            Reading::of(true),
            Reading::of("a -> b"),
            Reading::none("cwd_missing"),
            Reading::count(["m:1", "m:2"]).sure(0.6).with("files", vec!["a"]),
            Reading::ratio(1.0 / 3.0),
        ];
        for reading in readings {
            let text = serde_json::to_string(&reading).unwrap();
            assert_eq!(serde_json::from_str::<Reading>(&text).unwrap(), reading, "{text}");
        }
        assert_eq!(serde_json::to_string(&Reading::of(0_u64)).unwrap(), "0");
    }
}
