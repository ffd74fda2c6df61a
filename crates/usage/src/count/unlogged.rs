//! Use in an agent's own total beyond the responses in its log.
//!
//! Claude Code (2.1.325) writes a running total for each session and model. It includes calls that
//! leave no line: compactions, titles, searches, broken streams. Unlogged use is the last total,
//! minus the carried-over part, minus the responses of the session whose figures are final; if that
//! is positive. It is reported separately and is never part of totals.
//!
//! A fork starts with its parent's total; a branch starts at zero. The rows of both look alike, so
//! the total itself decides: it was carried over if the first total of the fork is nowhere below
//! the parent's. In doubt the figure is too low, never too high.

use retro_model::{EventId, Exactness, LedgerRow, SessionKey, Thread, Tokens, Usage};
use serde::Serialize;
use std::collections::BTreeMap;

use super::{CountedRow, Duplicate, of_session};

/// Use that is in a session's total and not in its log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unlogged {
    /// The session of the total.
    pub session: SessionKey,
    /// The model, as logged.
    pub model: String,
    /// The unlogged tokens.
    pub tokens: Tokens,
    /// The total it was derived from.
    pub event: EventId,
}

impl Unlogged {
    /// A row that can be priced. The number of requests is unknown.
    pub(crate) fn as_row(&self) -> LedgerRow {
        let mut row = LedgerRow::of(String::new(), self.event.clone(), Thread::main(), &Usage::default());
        row.tokens = self.tokens;
        row.model = Some(self.model.clone());
        row.calls = 0;
        row
    }
}

/// Tokens by model.
type ByModel = BTreeMap<String, Tokens>;
/// The totals of one session: event by event, in order.
type Totals = BTreeMap<EventId, ByModel>;

/// Derives the unlogged use. `rows` are those that count. Both slices are sorted by session.
pub(crate) fn derive(
    totals: Vec<(SessionKey, LedgerRow)>,
    rows: &[CountedRow],
    duplicates: &[Duplicate],
) -> Vec<Unlogged> {
    if totals.is_empty() {
        return Vec::new();
    }
    let mut all_totals: BTreeMap<SessionKey, Totals> = BTreeMap::new();
    for (session, row) in totals {
        let by_model = all_totals.entry(session).or_default().entry(row.event.clone()).or_default();
        // Of two figures for one position the larger counts, because a total only grows.
        let figure = by_model.entry(plain(row.model.as_deref())).or_default();
        let other = row.tokens;
        if (other.total(), other.output) > (figure.total(), figure.output) {
            *figure = other;
        }
    }
    let mut unlogged = Vec::new();
    for (session, totals) in &all_totals {
        let Some((event, last)) = totals.last_key_value() else { continue };
        let carried = carried_over(session, totals, &all_totals, rows, duplicates);
        let answered = answered(of_session(rows, session).1.iter());
        for (model, total) in last {
            let known = |by_model: &ByModel| by_model.get(model).copied().unwrap_or_default();
            let tokens = total.minus_or_zero(&known(&carried)).minus_or_zero(&known(&answered));
            if tokens.total() > 0 || tokens.web_searches > 0 {
                let (session, model, event) = (session.clone(), model.clone(), event.clone());
                unlogged.push(Unlogged { session, model, tokens, event });
            }
        }
    }
    unlogged
}

/// The model's name in responses: totals append the size of the context window.
fn plain(model: Option<&str>) -> String {
    let model = model.unwrap_or_default();
    model.strip_suffix("[1m]").unwrap_or(model).to_owned()
}

/// The sum of rows with final figures.
fn answered<'r>(rows: impl Iterator<Item = &'r CountedRow>) -> ByModel {
    let mut sums = ByModel::new();
    for row in rows.filter(|row| row.row.exactness == Exactness::Exact) {
        let sum = sums.entry(plain(row.row.model.as_deref())).or_default();
        *sum = sum.plus(&row.row.tokens);
    }
    sums
}

/// The initial total of a fork.
fn carried_over(
    session: &SessionKey,
    totals: &Totals,
    all_totals: &BTreeMap<SessionKey, Totals>,
    rows: &[CountedRow],
    duplicates: &[Duplicate],
) -> ByModel {
    let start = duplicates.partition_point(|copy| copy.place.session < *session);
    let copies: Vec<&Duplicate> = duplicates
        .iter()
        .skip(start)
        .take_while(|copy| copy.place.session == *session)
        .filter(|copy| copy.twin.session != *session)
        .filter(|copy| copy.place.event.source.is_main() && copy.twin.event.source.is_main())
        .collect();
    // The parent is the session that owns the newest common response.
    let Some(newest) = copies.iter().max_by_key(|copy| &copy.place.event) else { return ByModel::new() };
    let parent = &newest.twin;
    let next = of_session(rows, &parent.session)
        .1
        .iter()
        .filter(|row| row.row.event.source.is_main())
        .map(|row| &row.row.event)
        .find(|event| **event > parent.event);
    let at_fork = all_totals.get(&parent.session).and_then(|totals| match next {
        Some(next) => totals.range(..next).next_back(),
        None => totals.last_key_value(),
    });
    let carried = match at_fork {
        Some((_, by_model)) => by_model.clone(),
        // The parent left no total: use at least the copied responses.
        None => {
            let twin = |copy: &&Duplicate| {
                let owner = of_session(rows, &copy.twin.session).1;
                owner.iter().find(|row| row.row.key == copy.key)
            };
            answered(copies.iter().filter_map(twin))
        }
    };
    let first = totals.first_key_value().map(|(_, by_model)| by_model);
    let holds = |(model, carried): (&String, &Tokens)| {
        first.and_then(|first| first.get(model)).is_some_and(|first| first.minus(carried).is_some())
    };
    if carried.iter().all(holds) { carried } else { ByModel::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide;
    use crate::testing::{Say, row, session};
    use retro_model::RowKind;

    fn total(event: &str, input: u64, output: u64) -> LedgerRow {
        let mut row = row("total").model("m").event(event).tokens(input, output);
        row.kind = RowKind::Total;
        row
    }

    fn answer(key: &str, event: &str, own: u8, input: u64, output: u64) -> LedgerRow {
        row(key).model("m").event(event).own(own).at("2026-01-01T00:00:00Z").tokens(input, output)
    }

    fn beyond(rows: Vec<(SessionKey, LedgerRow)>) -> Vec<(String, u64, u64)> {
        let counted = decide(rows);
        let of = |unlogged: &Unlogged| {
            (unlogged.session.id.clone(), unlogged.tokens.input, unlogged.tokens.output)
        };
        counted.unlogged.iter().map(of).collect()
    }

    #[test]
    fn the_last_total_less_the_final_answers() {
        let mut cut = answer("c", "m:4", 3, 7, 1);
        cut.exactness = Exactness::LowerBound;
        let rows = vec![
            (session("s"), answer("a", "m:1", 3, 10, 5)),
            (session("s"), total("m:2", 10, 5)),
            (session("s"), answer("b", "m:3", 3, 20, 6)),
            (session("s"), cut),
            (session("s"), total("m:5", 50, 14)),
        ];
        assert_eq!(beyond(rows), [("s".into(), 20, 3)]);
    }

    #[test]
    fn a_total_that_its_answers_explain_leaves_nothing() {
        let rows = vec![(session("s"), answer("a", "m:1", 3, 10, 5)), (session("s"), total("m:2", 10, 5))];
        assert_eq!(beyond(rows), []);
        let behind = vec![(session("s"), answer("a", "m:1", 3, 10, 5)), (session("s"), total("m:2", 8, 5))];
        assert_eq!(beyond(behind), [], "a total written before the last answer");
    }

    /// The parent used 2 unlogged before the fork and 1 after it; the fork 4.
    fn forked(carries: bool) -> Vec<(SessionKey, LedgerRow)> {
        let base = if carries { 12 } else { 0 };
        vec![
            (session("p"), answer("a", "m:1", 3, 10, 10)),
            (session("p"), total("m:2", 12, 12)),
            (session("p"), answer("b", "m:3", 3, 100, 100)),
            (session("p"), total("m:4", 113, 113)),
            (session("f"), answer("a", "m:1", 0, 10, 10)),
            (session("f"), answer("c", "m:2", 3, 5, 5)),
            (session("f"), total("m:3", base + 9, base + 9)),
        ]
    }

    #[test]
    fn a_fork_does_not_repeat_its_parents_total() {
        assert_eq!(beyond(forked(true)), [("f".into(), 4, 4), ("p".into(), 3, 3)]);
    }

    #[test]
    fn a_branch_starts_at_zero() {
        assert_eq!(beyond(forked(false)), [("f".into(), 4, 4), ("p".into(), 3, 3)]);
    }

    #[test]
    fn a_parent_without_a_total_is_carried_as_far_as_its_answers_show() {
        let rows: Vec<_> = forked(true)
            .into_iter()
            .filter(|(key, row)| key.id == "f" || row.kind != RowKind::Total)
            .collect();
        assert_eq!(beyond(rows), [("f".into(), 6, 6)]);
    }
}
