//! The timeline of a session, for the page to draw.
//!
//! Unusually long pauses are shortened, with their true length on the mark. Everything else keeps
//! its proportions.

use serde::Serialize;

use retro::views::session::time::{Doing, Span, name};

/// Maximum stretches on the page.
const SPANS_MAX: usize = 2_000;

/// Maximum lanes on the page.
const LANES_MAX: usize = 12;

/// A pause is shortened if it is longer than this, and ten times as long as the usual one.
const CUT_MS: i64 = 60_000;

/// Length of a shortened pause on the timeline.
const CUT_SHOWN_MS: i64 = 5_000;

/// The timeline's data.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Ribbon {
    /// First timestamp, in milliseconds since 1970.
    pub from: i64,
    /// Last timestamp, in milliseconds since 1970.
    pub to: i64,
    /// Shortened pauses, as pairs of start and end.
    pub cuts: Vec<(i64, i64)>,
    /// One lane per line of work.
    pub lanes: Vec<Lane>,
    /// Length of a shortened pause, in milliseconds.
    pub cut_ms: i64,
}

/// One line of work.
#[derive(Debug, Clone, Serialize)]
pub struct Lane {
    /// The line's number.
    pub line: usize,
    /// Start and end relative to the ribbon's `from`, and the activity.
    pub spans: Vec<(i64, i64, String)>,
}

/// Arranges the lines of a session as lanes.
pub fn ribbon(lines: &[Vec<Span>]) -> Ribbon {
    let all = || lines.iter().flatten();
    let (Some(from), Some(to)) = (all().map(|span| span.from).min(), all().map(|span| span.to).max()) else {
        return Ribbon::default();
    };
    let mut order: Vec<usize> =
        (0..lines.len()).filter(|at| lines.get(*at).is_some_and(|l| !l.is_empty())).collect();
    // The session itself first, then the lines by working time.
    order.sort_by_key(|at| {
        let length =
            |at: usize| lines.get(at).map_or(0, |spans| retro::views::session::time::active_ms(spans));
        (*at != 0, -length(*at))
    });
    order.truncate(LANES_MAX);
    let budget = SPANS_MAX / order.len().max(1);
    let lanes =
        order.iter().filter_map(|at| Some(Lane { line: *at, spans: joined(lines.get(*at)?, from, budget) }));
    Ribbon { from, to, cuts: cuts(lines), lanes: lanes.collect(), cut_ms: CUT_SHOWN_MS }
}

/// Unusually long stretches in which no line was working.
fn cuts(lines: &[Vec<Span>]) -> Vec<(i64, i64)> {
    let mut busy: Vec<(i64, i64)> = lines
        .iter()
        .flatten()
        .filter(|span| span.doing.is_work() || span.doing == Doing::Unknown)
        .map(|span| (span.from, span.to))
        .collect();
    busy.sort_unstable();
    let mut gaps = Vec::new();
    let mut end: Option<i64> = None;
    for (from, to) in busy {
        if let Some(end) = end.filter(|end| *end < from) {
            gaps.push((end, from));
        }
        end = Some(end.map_or(to, |end| end.max(to)));
    }
    let mut lengths: Vec<i64> = gaps.iter().map(|(from, to)| to - from).collect();
    lengths.sort_unstable();
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or(0);
    let bar = if lengths.len() > 4 { CUT_MS.max(10 * median) } else { CUT_MS };
    gaps.retain(|(from, to)| to - from > bar);
    gaps
}

/// Merges adjacent stretches of one kind, and drops the shortest if there are too many.
fn joined(spans: &[Span], start: i64, most: usize) -> Vec<(i64, i64, String)> {
    let mut joined: Vec<(i64, i64, Doing)> = Vec::new();
    for span in spans {
        match joined.last_mut() {
            Some((_, to, doing)) if *doing == span.doing && *to == span.from => *to = span.to,
            _ => joined.push((span.from, span.to, span.doing)),
        }
    }
    if joined.len() > most {
        let mut lengths: Vec<i64> = joined.iter().map(|(from, to, _)| to - from).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let bar = lengths.get(most).copied().unwrap_or(0);
        joined.retain(|(from, to, _)| to - from > bar);
    }
    joined.into_iter().map(|(from, to, doing)| (from - start, to - start, name(doing))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: i64, to: i64, doing: Doing) -> Span {
        Span { from, to, doing, turn: 1, is_shared: false }
    }

    #[test]
    fn long_pauses_are_cut_and_say_so() {
        let line = vec![
            span(0, 1_000, Doing::Model),
            span(1_000, 7_200_000, Doing::Waiting),
            span(7_200_000, 7_203_000, Doing::Model),
        ];
        let ribbon = ribbon(&[line]);
        assert_eq!(ribbon.cuts, [(1_000, 7_200_000)]);
        assert_eq!(ribbon.lanes[0].spans.len(), 3);
    }

    #[test]
    fn no_session_is_too_long_to_draw() {
        let line: Vec<Span> = (0..9_000)
            .map(|n| span(n * 10, n * 10 + 10, if n % 2 == 0 { Doing::Model } else { Doing::Child }))
            .collect();
        assert!(ribbon(&[line]).lanes[0].spans.len() <= SPANS_MAX);
    }
}
