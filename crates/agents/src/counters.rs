//! Reading the token counters of a response.
//!
//! An absent counter counts as zero. A counter with a value that is not a count (a string, a
//! fraction, a negative or too large number) is unknown, not zero. The response is then a lower
//! bound, and a gap names the field.

use retro_model::{Exactness, Gap, GapReason, Usage};

use crate::{Json, Out, Record};

/// The counters of one response, and which of them could not be read.
pub(crate) struct Counters<'r> {
    from: &'r Json<'r>,
    unread: Vec<String>,
}

impl<'r> Counters<'r> {
    /// The counters in this object.
    pub(crate) fn of(from: &'r Json<'r>) -> Counters<'r> {
        Counters { from, unread: Vec::new() }
    }

    /// A counter that is always a number if present.
    pub(crate) fn count(&mut self, name: &str) -> u64 {
        self.read(self.from.get(name), || name.to_owned())
    }

    /// A counter that may also be `null`, which counts as zero.
    pub(crate) fn maybe(&mut self, name: &str) -> u64 {
        self.read(self.from.get(name).filter(|value| !value.is_null()), || name.to_owned())
    }

    /// A counter of an inner object. The object may be absent or `null` too.
    pub(crate) fn within(&mut self, outer: &str, name: &str) -> u64 {
        let Some(inner) = self.from.get(outer).filter(|inner| !inner.is_null()) else { return 0 };
        if !inner.is_object() {
            self.unread.push(format!("{outer}.{name}"));
            return 0;
        }
        self.read(inner.get(name).filter(|value| !value.is_null()), || format!("{outer}.{name}"))
    }

    fn read(&mut self, value: Option<&Json<'_>>, name: impl FnOnce() -> String) -> u64 {
        let Some(value) = value else { return 0 };
        value.as_u64().unwrap_or_else(|| {
            self.unread.push(name());
            0
        })
    }

    /// The usage made of these counters, with the names of those that could not be read.
    pub(crate) fn into_usage(self, usage: Usage) -> Counted {
        Counted { usage, unread: self.unread }
    }
}

/// Figures of a response that may lack some counters.
pub(crate) struct Counted {
    /// The counters that could be read.
    pub usage: Usage,
    unread: Vec<String>,
}

impl Counted {
    /// True if all counters could be read.
    pub(crate) fn is_whole(&self) -> bool {
        self.unread.is_empty()
    }

    /// The usage of this record's response. If counters are missing, it is a lower bound, and a gap
    /// is reported.
    pub(crate) fn of_record(mut self, record: &Record<'_>, out: &mut Out) -> Usage {
        if !self.unread.is_empty() {
            self.usage.exactness = Exactness::LowerBound;
            let detail = format!("not a token count: {}", self.unread.join(", "));
            let gap = Gap::at(record.address, record.offset, GapReason::Figure);
            out.gaps.push(Gap { detail: Some(detail), ..gap });
        }
        self.usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn what_is_there_and_is_no_count_is_noted() {
        let from =
            json!({ "a": 5, "b": "5", "c": null, "d": null, "e": { "x": 1, "y": -1 }, "f": null, "g": 7 });
        let mut counters = Counters::of(&from);
        assert_eq!((counters.count("a"), counters.count("absent"), counters.maybe("d")), (5, 0, 0));
        assert_eq!(
            (counters.within("e", "x"), counters.within("e", "z"), counters.within("f", "x")),
            (1, 0, 0)
        );
        assert!(counters.unread.is_empty());
        assert_eq!((counters.count("b"), counters.count("c"), counters.within("e", "y")), (0, 0, 0));
        // A number where an object should be: its parts are unknown.
        assert_eq!(counters.within("g", "x"), 0);
        assert_eq!(counters.unread, ["b", "c", "e.y", "g.x"]);
    }

    #[test]
    fn only_whole_numbers_that_fit_are_counts() {
        for odd in [json!(-1), json!(1.5), json!(1e10), json!(true), json!([]), json!({}), json!("7")] {
            let from = Json::from(serde_json::json!({ "n": odd }));
            let mut counters = Counters::of(&from);
            assert_eq!(counters.count("n"), 0);
            assert!(!counters.into_usage(Usage::default()).is_whole(), "{odd:?}");
        }
        let largest = json!({ "n": u64::MAX });
        assert_eq!(Counters::of(&largest).count("n"), u64::MAX);
    }
}
