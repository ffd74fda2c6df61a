//! From text to findings: the raw text, and the text as a reader sees it.
//!
//! Rules match only plain text. The other readings are made here and passed to the same rules:
//! without escapes, colour codes and zero-width characters, with decoded URL characters, across the
//! ends of wrapped lines, and decoded from base64. Their findings are mapped back to the original
//! positions.

use super::readings::{self, Kind};
use super::rule::Judge;
use super::scan::Hit;
use super::{Finding, encoded, scan, wrapped};

/// Every secret in `text`, in order, without overlaps.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut hits = plain_and_encoded(text.as_bytes());
    for kind in [Kind::Escapes, Kind::Percents, Kind::Unseen] {
        for (at, line) in readings::lines(text.as_bytes(), kind) {
            for hit in plain_and_encoded(line.text()) {
                let place = line.place(&hit.span);
                hits.push(Hit { span: at + place.start..at + place.end, ..hit });
            }
        }
    }
    wrapped::add_hits(text.as_bytes(), &mut hits);
    merge(text, hits)
}

fn plain_and_encoded(text: &[u8]) -> Vec<Hit> {
    let mut hits = scan::hits(text);
    encoded::add_hits(text, &mut hits);
    hits
}

/// Merges overlapping findings under the name of the most trusted. Ends are widened to whole
/// characters, because patterns are over bytes.
fn merge(text: &str, mut hits: Vec<Hit>) -> Vec<Finding> {
    hits.sort_by_key(|hit| (hit.span.start, hit.judge));
    let mut merged: Vec<(Judge, Finding)> = Vec::new();
    for hit in hits {
        let (mut start, mut end) = (hit.span.start, hit.span.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        match merged.last_mut() {
            Some((judge, last)) if start < last.end => {
                last.end = last.end.max(end);
                if hit.judge < *judge {
                    (*judge, last.rule) = (hit.judge, hit.rule);
                }
            }
            _ => merged.push((hit.judge, Finding { rule: hit.rule, start, end })),
        }
    }
    merged.into_iter().map(|(_, finding)| finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_hits_become_one_under_the_surer_name() {
        let hit = |rule, judge, span| Hit { rule, judge, span };
        let hits =
            vec![hit("b", Judge::Value, 2..8), hit("a", Judge::Shape, 4..9), hit("c", Judge::Value, 9..10)];
        let merged = merge("0123456789", hits);
        assert_eq!(
            merged,
            [Finding { rule: "a", start: 2, end: 9 }, Finding { rule: "c", start: 9, end: 10 }]
        );
    }
}
