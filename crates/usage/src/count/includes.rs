//! Subtracts the responses of sub-agents from a figure that contains them.
//!
//! Grok logs one figure per turn, and it contains every call of the sub-agents that ended in the
//! turn. Their own sessions log the same calls again (seen in 1.0.41). Each row of a child is
//! subtracted from exactly one row that names the child: the first one that ended after it. The
//! gross figure is subtracted, because the parent's figure also contains everything that the
//! child's contains.

use retro_model::{LedgerRow, SessionKey, Timestamp, Tokens};
use std::collections::{BTreeMap, BTreeSet};

use super::{CountedRow, Incomplete, of_session};

/// Sets the net row of every row that contains others. `rows` are sorted by session.
pub(crate) fn subtract(rows: &mut [CountedRow]) -> Vec<Incomplete> {
    let mut incomplete = BTreeSet::new();
    let mut contained: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (child, including) in including(rows) {
        let (start, of_child) = of_session(rows, &child);
        for (at, child_row) in (start..).zip(of_child) {
            let after: Vec<usize> = including
                .iter()
                .copied()
                .filter(|&by| rows.get(by).is_some_and(|by| ends_after(by, child_row)))
                .collect();
            let fits = |&&by: &&usize| rows.get(by).is_some_and(|by| by.row.model == child_row.row.model);
            match (after.iter().find(fits), after.first().and_then(|&by| rows.get(by))) {
                (Some(&by), _) => contained.entry(by).or_default().push(at),
                (None, Some(by)) => {
                    incomplete.insert(Incomplete::of(
                        &by.session,
                        format!("a turn contains session {} but has no figure for its model", child.id),
                    ));
                }
                (None, None) => {}
            }
        }
    }
    for (by, children) in contained {
        let parts: Vec<&LedgerRow> =
            children.iter().filter_map(|&at| rows.get(at)).map(|row| &*row.row).collect();
        let Some(whole) = rows.get(by) else { continue };
        match without(&whole.row, &parts) {
            Some(net) => {
                if let Some(row) = rows.get_mut(by) {
                    row.net = Some(Box::new(net));
                }
            }
            None => {
                let reason =
                    "a turn's figure is smaller than those of the sub-agents it contains; both are counted";
                incomplete.insert(Incomplete::of(&whole.session, reason));
            }
        }
    }
    incomplete.into_iter().collect()
}

/// For each child that is named, the rows that name it, in order of time.
fn including(rows: &[CountedRow]) -> BTreeMap<SessionKey, Vec<usize>> {
    let mut including: BTreeMap<SessionKey, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        for name in &row.row.includes {
            // A session of the same agent, by its id or by its whole key.
            let id = name.strip_prefix(&format!("{}/", row.session.agent)).unwrap_or(name);
            let child = SessionKey::new(&row.session.agent, id);
            if child != *row.session {
                including.entry(child).or_default().push(at);
            }
        }
    }
    for by in including.values_mut() {
        by.sort_by_key(|&at| (rows.get(at).and_then(|row| row.row.ts), at));
        by.dedup();
    }
    including
}

/// True if the turn ended after the child's row. A later row of a child is not in its figure.
fn ends_after(by: &CountedRow, child: &CountedRow) -> bool {
    let known = |ts: Option<Timestamp>| ts.map(Timestamp::as_millis);
    match (known(by.row.ts), known(child.row.ts)) {
        (Some(by), Some(child)) => by >= child,
        _ => true,
    }
}

/// The whole without its parts. `None` if a counter would fall below zero.
fn without(whole: &LedgerRow, parts: &[&LedgerRow]) -> Option<LedgerRow> {
    let sum = parts.iter().fold(Tokens::default(), |sum, part| sum.plus(&part.tokens));
    let mut net = LedgerRow { tokens: whole.tokens.minus(&sum)?, ..whole.clone() };
    net.calls = parts.iter().fold(whole.calls, |calls, part| calls.saturating_sub(part.calls));
    // A cost can be subtracted only if every part reports one.
    net.reported_cost_nano = parts.iter().fold(whole.reported_cost_nano, |cost, part| {
        cost?.checked_sub(part.reported_cost_nano?).filter(|cost| *cost >= 0)
    });
    Some(net)
}

#[cfg(test)]
mod tests {
    use crate::decide;
    use crate::testing::{Say, row};
    use retro_model::{LedgerRow, SessionKey};

    fn grok(id: &str) -> SessionKey {
        SessionKey::new("grok", id)
    }

    fn turn(key: &str, minute: u32, input: u64, includes: &[&str]) -> LedgerRow {
        let mut row = row(key).model("m").at(&format!("2026-01-01T00:{minute:02}:00Z")).tokens(input, input);
        row.event = format!("m:{minute}").parse().unwrap();
        row.calls = 4;
        row.reported_cost_nano = Some(i64::try_from(input).unwrap());
        row.includes = includes.iter().map(|id| (*id).to_owned()).collect();
        row
    }

    fn own(rows: Vec<(SessionKey, LedgerRow)>) -> (Vec<u64>, usize) {
        let counted = decide(rows);
        (counted.rows.iter().map(|row| row.own_row().tokens.input).collect(), counted.incomplete.len())
    }

    #[test]
    fn a_childs_answers_are_counted_in_the_child_alone() {
        let mut child = turn("c", 1, 30, &[]);
        child.calls = 2;
        let counted = decide(vec![(grok("p"), turn("p", 2, 100, &["c"])), (grok("c"), child)]);
        let parent = &counted.rows[1];
        assert_eq!(
            (parent.row.tokens.input, parent.own_row().tokens.input, parent.own_row().tokens.output),
            (100, 70, 70)
        );
        assert_eq!((parent.own_row().calls, parent.own_row().reported_cost_nano), (2, Some(70)));
        assert!(counted.incomplete.is_empty());
    }

    #[test]
    fn children_of_children_are_taken_out_once() {
        let rows = vec![
            (grok("a"), turn("a", 3, 100, &["b", "c"])),
            (grok("b"), turn("b", 2, 60, &["grok/c"])),
            (grok("c"), turn("c", 1, 25, &[])),
        ];
        assert_eq!(own(rows), (vec![40, 35, 25], 0));
    }

    #[test]
    fn a_child_that_went_on_later_is_taken_out_of_the_turn_it_ended_in() {
        let rows = vec![
            (grok("c"), turn("c1", 1, 10, &[])),
            (grok("c"), turn("c2", 3, 20, &[])),
            (grok("c"), turn("c3", 9, 30, &[])),
            (grok("p"), turn("p1", 2, 100, &["c"])),
            (grok("p"), turn("p2", 4, 100, &["c"])),
        ];
        assert_eq!(own(rows), (vec![10, 20, 30, 90, 80], 0));
    }

    #[test]
    fn what_does_not_fit_is_left_and_said() {
        let too_big = vec![(grok("p"), turn("p", 2, 10, &["c"])), (grok("c"), turn("c", 1, 30, &[]))];
        assert_eq!(own(too_big), (vec![30, 10], 1));
        let other_model = turn("c", 1, 5, &[]).model("other");
        assert_eq!(
            own(vec![(grok("p"), turn("p", 2, 10, &["c"])), (grok("c"), other_model)]),
            (vec![5, 10], 1)
        );
        let never_captured = vec![(grok("p"), turn("p", 2, 10, &["gone", "p"]))];
        assert_eq!(own(never_captured), (vec![10], 0));
    }

    #[test]
    fn a_cost_that_not_all_report_is_not_taken_apart() {
        let mut child = turn("c", 1, 30, &[]);
        child.reported_cost_nano = None;
        let counted = decide(vec![(grok("p"), turn("p", 2, 100, &["c"])), (grok("c"), child)]);
        assert_eq!(counted.rows[1].own_row().reported_cost_nano, None);
        // If the turn reports no cost, there is none, but the tokens are still subtracted.
        let mut rows = [("p", turn("p", 2, 100, &["c"])), ("c", turn("c", 1, 30, &[]))];
        for (_, row) in &mut rows {
            row.reported_cost_nano = None;
        }
        assert_eq!(own(rows.map(|(id, row)| (grok(id), row)).into()), (vec![30, 70], 0));
    }
}
