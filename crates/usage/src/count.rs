//! Decides which rows of all sessions count.
//!
//! Resume, fork and branch copy responses into other files, so several ledgers contain the same
//! response, with equal keys. The ledger it is counted in is decided by an order over the contents
//! of the rows (evidence first), never by the order of arrival: any order of the same rows gives
//! the same result. Equal figures under different keys are different responses.

mod includes;
mod unlogged;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use retro_model::{EventId, Exactness, LedgerRow, RowKind, SessionKey, Timestamp, Tokens};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::cost::SYNTHETIC;
pub use unlogged::Unlogged;

/// The position of a row.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Place {
    /// The session that contains it.
    pub session: SessionKey,
    /// The event within the session.
    pub event: EventId,
}

/// A row that counts in totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedRow {
    /// The session in which it is counted.
    pub session: Arc<SessionKey>,
    /// The gross row, with the first time and the fullest figures of its key. Shared, because most
    /// are unchanged.
    pub row: Arc<LedgerRow>,
    /// The row that the figures come from, if not this one.
    pub figures_from: Option<Box<Place>>,
    pub(crate) net: Option<Box<LedgerRow>>,
}

impl CountedRow {
    /// The row without the answers of other sessions that its figure contains.
    pub fn own_row(&self) -> &LedgerRow {
        self.net.as_deref().unwrap_or(&self.row)
    }
}

/// A row that repeats another and is not counted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// Position of the copy.
    pub place: Place,
    /// The common key.
    pub key: String,
    /// The row that counts instead.
    pub twin: Place,
    /// The time of the copy.
    pub ts: Option<Timestamp>,
    /// The model of the copy.
    pub model: Option<String>,
}

/// A question that a session's figures leave open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Incomplete {
    /// The name of the agent.
    pub agent: String,
    /// The id of the session.
    pub session_id: String,
    /// The missing or unresolved part, for people.
    pub reason: String,
}

impl Incomplete {
    pub(crate) fn of(session: &SessionKey, reason: impl Into<String>) -> Incomplete {
        Incomplete { agent: session.agent.clone(), session_id: session.id.clone(), reason: reason.into() }
    }
}

/// The rows that count, and those that do not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// Responses and compactions, which make up the totals. Sorted by session and event.
    pub rows: Vec<CountedRow>,
    /// Calls outside the conversation: reported, never in totals.
    pub side: Vec<CountedRow>,
    /// Rows that repeat another.
    pub duplicates: Vec<Duplicate>,
    /// Use in the agent's own totals beyond the responses in its log.
    pub unlogged: Vec<Unlogged>,
    /// Problems that could not be resolved.
    pub incomplete: Vec<Incomplete>,
    /// Lines that the program wrote itself. They are not responses, and are never counted.
    pub synthetic_rows: u64,
    /// Rows that mark positions where a log cannot show all of its use.
    pub open: Vec<SharedRow>,
}

/// A row and its session. Both are shared.
pub type SharedRow = (Arc<SessionKey>, Arc<LedgerRow>);

/// Decides which rows count. The order of `rows` does not matter.
pub fn decide<S, R>(rows: Vec<(S, R)>) -> Counted
where
    S: Into<Arc<SessionKey>>,
    R: Into<Arc<LedgerRow>>,
{
    let rows: Vec<SharedRow> = rows.into_iter().map(|(session, row)| (session.into(), row.into())).collect();
    let mut counted = Counted::default();
    // The indices are sorted, because fates are looked up by them. Rows are mostly in order
    // already.
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| match (rows.get(*a), rows.get(*b)) {
        (Some(a), Some(b)) => in_order(a, b),
        _ => a.cmp(b),
    });
    let (mut fates, disputed) = one_a_key(&rows, &order, &mut counted.duplicates);
    counted.duplicates.sort_by(|a, b| (&a.place, &a.key).cmp(&(&b.place, &b.key)));
    let mut totals = Vec::new();
    let mut rows: Vec<Option<SharedRow>> = rows.into_iter().map(Some).collect();
    counted.rows.reserve_exact(rows.len());
    for at in order {
        let Some((session, mut row)) = rows.get_mut(at).and_then(Option::take) else { continue };
        if row.kind == RowKind::Total {
            totals.push((SessionKey::clone(&session), Arc::unwrap_or_clone(row)));
            continue;
        }
        if row.kind.is_open() {
            counted.open.push((session, row));
            continue;
        }
        if is_synthetic(&row) {
            counted.synthetic_rows += 1;
            continue;
        }
        let mut figures_from = None;
        match fates.remove(&at) {
            None => {}
            Some(Fate::Repeats) => continue,
            Some(Fate::Repeated { ts, fuller, is_bound }) => {
                let row = Arc::make_mut(&mut row);
                row.ts = ts;
                if is_bound {
                    row.exactness = Exactness::LowerBound;
                }
                if let Some(fuller) = fuller {
                    row.tokens = fuller.tokens;
                    row.exactness = fuller.exactness;
                    row.text_bytes = row.text_bytes.max(fuller.text_bytes);
                    figures_from = Some(Box::new(fuller.place));
                }
            }
        }
        let into = if row.kind == RowKind::Side { &mut counted.side } else { &mut counted.rows };
        into.push(CountedRow { session, row, figures_from, net: None });
    }
    counted.incomplete = includes::subtract(&mut counted.rows);
    counted.incomplete.extend(disputed.iter().map(|session| Incomplete::of(session, DISPUTED)));
    counted.unlogged = unlogged::derive(totals, &counted.rows, &counted.duplicates);
    counted
}

/// Orders by session, then by position.
fn in_order((session_a, a): &SharedRow, (session_b, b): &SharedRow) -> Ordering {
    let sessions = match Arc::ptr_eq(session_a, session_b) {
        true => Ordering::Equal,
        false => session_a.cmp(session_b),
    };
    sessions.then_with(|| (&a.event, &a.key).cmp(&(&b.event, &b.key)))
}

fn is_synthetic(row: &LedgerRow) -> bool {
    row.model.as_deref() == Some(SYNTHETIC)
}

/// The rows of one session, and the index of the first. `rows` are sorted by session.
pub(crate) fn of_session<'r>(rows: &'r [CountedRow], session: &SessionKey) -> (usize, &'r [CountedRow]) {
    let start = rows.partition_point(|row| *row.session < *session);
    let rest = rows.get(start..).unwrap_or_default();
    (start, rest.get(..rest.partition_point(|row| *row.session == *session)).unwrap_or_default())
}

/// The fate of a row that shares its key with others.
enum Fate {
    /// Another row counts.
    Repeats,
    /// This row counts, with the first time and the fullest figures of its key. It is a lower bound
    /// if another row has more and is not a fuller copy of the same response.
    Repeated { ts: Option<Timestamp>, fuller: Option<Box<Fuller>>, is_bound: bool },
}

/// The note for a response that two logs have with different figures.
pub const DISPUTED: &str = "another log has other figures for the same answer, and those of its owner count";

/// Figures of a copy that are fuller than those of the counted row.
struct Fuller {
    tokens: Tokens,
    exactness: Exactness,
    text_bytes: u64,
    place: Place,
}

/// Finds the rows that share a key, and the one that counts. Also returns the sessions of counted
/// rows that other rows contradict.
fn one_a_key(
    rows: &[SharedRow],
    order: &[usize],
    duplicates: &mut Vec<Duplicate>,
) -> (HashMap<usize, Fate>, BTreeSet<Arc<SessionKey>>) {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(rows.len());
    let mut repeated: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &at in order {
        let Some((_, row)) = rows.get(at) else { continue };
        if row.kind == RowKind::Total || row.kind.is_open() || is_synthetic(row) {
            continue;
        }
        match first.entry(&row.key) {
            Entry::Occupied(known) => repeated.entry(*known.get()).or_default().push(at),
            Entry::Vacant(free) => {
                free.insert(at);
            }
        }
    }
    let (mut fates, mut disputed) = (HashMap::new(), BTreeSet::new());
    for (first, others) in repeated {
        let mut group: Vec<(usize, &SharedRow)> =
            others.into_iter().chain([first]).filter_map(|at| Some((at, rows.get(at)?))).collect();
        group.sort_by(|(_, a), (_, b)| before(a, b));
        let Some(((winner_at, winner), copies)) = group.split_first() else { continue };
        for (at, (session, row)) in copies {
            fates.insert(*at, Fate::Repeats);
            duplicates.push(Duplicate {
                place: Place { session: SessionKey::clone(session), event: row.event.clone() },
                key: row.key.clone(),
                twin: Place { session: SessionKey::clone(&winner.0), event: winner.1.event.clone() },
                ts: row.ts,
                model: row.model.clone(),
            });
        }
        // The first of the fullest, so that the winner keeps its own figures on a tie.
        let fullest = copies
            .iter()
            .fold(*winner, |best, (_, other)| if is_fuller(&other.1, &best.1) { other } else { best });
        let fuller = (!std::ptr::eq(fullest, *winner)).then(|| {
            Box::new(Fuller {
                tokens: fullest.1.tokens,
                exactness: fullest.1.exactness,
                text_bytes: fullest.1.text_bytes,
                place: Place { session: SessionKey::clone(&fullest.0), event: fullest.1.event.clone() },
            })
        });
        let ts = group.iter().filter_map(|(_, (_, row))| row.ts).min();
        let contradict = || copies.iter().filter(|(_, other)| is_other(&other.1, &winner.1));
        if contradict().next().is_some() {
            disputed.insert(winner.0.clone());
        }
        let is_bound = contradict().any(|(_, other)| other.1.tokens.total() > fullest.1.tokens.total());
        fates.insert(*winner_at, Fate::Repeated { ts, fuller, is_bound });
    }
    (fates, disputed)
}

/// The order of the rows of one key: the first one counts. The last criterion only distinguishes
/// rows at the same position.
fn before(a: &SharedRow, b: &SharedRow) -> Ordering {
    let ((session_a, a), (session_b, b)) = (a, b);
    let evidence = |row: &LedgerRow| (Reverse(row.own), row.ts.is_none(), row.ts);
    evidence(a)
        .cmp(&evidence(b))
        .then_with(|| session_a.cmp(session_b))
        .then_with(|| a.event.cmp(&b.event))
        .then_with(|| b.tokens.output.cmp(&a.tokens.output))
        .then_with(|| format!("{a:?}").cmp(&format!("{b:?}")))
}

/// True if another row has fuller figures of the same response. Only output grows while a response
/// streams: the same prompt to the same model with more output is a later state. With any other
/// difference it is not the same response, and the counted row keeps its own figures.
fn is_fuller(other: &LedgerRow, best: &LedgerRow) -> bool {
    let better = |row: &LedgerRow| (row.exactness == Exactness::Exact, row.tokens.output);
    !is_other(other, best) && better(other) > better(best)
}

/// True if two rows of one key have different prompts or models.
fn is_other(a: &LedgerRow, b: &LedgerRow) -> bool {
    let prompt = |row: &LedgerRow| Tokens { output: 0, reasoning: 0, web_searches: 0, ..row.tokens };
    prompt(a) != prompt(b) || a.model != b.model
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Say, row, session};
    use proptest::prelude::*;

    fn counted_in(counted: &Counted) -> Vec<(String, String, u64)> {
        counted.rows.iter().map(|c| (c.session.id.clone(), c.row.key.clone(), c.row.tokens.output)).collect()
    }

    #[test]
    fn a_resume_copy_under_a_new_session_counts_once_in_the_first() {
        // The copy of an old version has the time of the resume and no request id.
        let original = row("a").own(3).at("2025-06-01T10:00:00Z").tokens(10, 50);
        let copy = row("a").own(1).at("2025-06-02T09:00:00Z").tokens(10, 50);
        let new = row("b").own(3).event("m:2").at("2025-06-02T09:01:00Z").tokens(20, 5);
        let counted = decide(vec![(session("new"), copy), (session("new"), new), (session("old"), original)]);
        assert_eq!(counted_in(&counted), [("new".into(), "b".into(), 5), ("old".into(), "a".into(), 50)]);
        let [duplicate] = counted.duplicates.as_slice() else { panic!("{:?}", counted.duplicates) };
        assert_eq!((&duplicate.place.session, &duplicate.twin.session), (&session("new"), &session("old")));
    }

    #[test]
    fn a_fork_counts_its_own_by_evidence_and_else_by_time_and_name() {
        let same = |own| row("a").own(own).at("2026-01-01T00:00:00Z").tokens(1, 1);
        let by_evidence = decide(vec![(session("a-fork"), same(0)), (session("parent"), same(4))]);
        assert_eq!(counted_in(&by_evidence)[0].0, "parent");
        let by_name = decide(vec![(session("b"), same(3)), (session("a"), same(3))]);
        assert_eq!(counted_in(&by_name)[0].0, "a");
        let timed = decide(vec![(session("a"), row("k").own(3)), (session("b"), same(3))]);
        assert_eq!(timed.duplicates.len(), 0, "another key is another answer");
        let later = row("a").own(3).at("2026-01-02T00:00:00Z").tokens(1, 1);
        let by_time = decide(vec![(session("a"), later), (session("b"), same(3))]);
        assert_eq!(counted_in(&by_time)[0].0, "b");
    }

    #[test]
    fn equal_turns_in_a_row_are_two_answers() {
        let turn = |key: &str, event| row(key).event(event).at("2026-01-01T00:00:00Z").tokens(7, 7);
        let counted = decide(vec![(session("s"), turn("t1", "m:1")), (session("s"), turn("t2", "m:2"))]);
        assert_eq!((counted.rows.len(), counted.duplicates.len()), (2, 0));
    }

    #[test]
    fn the_fullest_figures_and_the_first_time_of_a_key_count() {
        let mut cut = row("a").own(4).at("2026-01-02T00:00:00Z").tokens(10, 3);
        cut.exactness = Exactness::LowerBound;
        let whole = row("a").own(0).event("m:9").at("2026-01-01T00:00:00Z").tokens(10, 900);
        let counted = decide(vec![(session("owner"), cut.clone()), (session("copy"), whole.clone())]);
        let [one] = counted.rows.as_slice() else { panic!() };
        assert_eq!((one.session.id.as_str(), one.row.tokens.output), ("owner", 900));
        assert_eq!(one.row.exactness, Exactness::Exact);
        assert_eq!(one.row.ts, Timestamp::parse("2026-01-01T00:00:00Z"));
        assert_eq!(one.figures_from.as_ref().unwrap().session, session("copy"));
        // A row with another prompt is not a fuller copy.
        let other = decide(vec![(session("owner"), cut), (session("copy"), whole.tokens(11, 900))]);
        assert_eq!((other.rows[0].row.tokens.output, &other.rows[0].figures_from), (3, &None));
    }

    #[test]
    fn two_logs_that_disagree_about_an_answer_are_mentioned_and_hide_no_cost() {
        let real = row("a").own(3).at("2026-01-02T00:00:00Z").tokens(150_000, 20);
        let smaller = row("a").own(3).at("2026-01-01T00:00:00Z").tokens(0, 20);
        let hidden = decide(vec![(session("victim"), real.clone()), (session("copy"), smaller)]);
        assert_eq!(hidden.rows[0].row.exactness, Exactness::LowerBound);
        assert_eq!(hidden.incomplete, [Incomplete::of(&session("copy"), DISPUTED)]);
        let larger = row("a").own(3).at("2026-01-01T00:00:00Z").tokens(1_000_000_000, 20);
        let blown_up = decide(vec![(session("victim"), real.clone()), (session("copy"), larger)]);
        assert_eq!(blown_up.rows[0].row.exactness, Exactness::Exact);
        assert_eq!(blown_up.incomplete.len(), 1, "what counts is more than another log has");
        let copy = row("a").own(1).event("m:7").at("2026-01-03T00:00:00Z").tokens(150_000, 20);
        assert!(decide(vec![(session("victim"), real), (session("copy"), copy)]).incomplete.is_empty());
    }

    #[test]
    fn totals_side_calls_and_synthetic_lines_are_not_answers() {
        let mut total = row("t").tokens(100, 100);
        total.kind = RowKind::Total;
        let mut side = row("s").event("m:2").tokens(5, 5);
        side.kind = RowKind::Side;
        let mut compaction = row("c").event("m:3").tokens(6, 6);
        compaction.kind = RowKind::Compaction;
        let synthetic = row("x").event("m:4").model(SYNTHETIC);
        let rows = [total, side, compaction, synthetic].map(|row| (session("s"), row));
        let counted = decide(rows.into());
        assert_eq!(counted_in(&counted), [("s".into(), "c".into(), 6)]);
        assert_eq!((counted.side.len(), counted.synthetic_rows), (1, 1));
    }

    fn any_row() -> impl Strategy<Value = (SessionKey, LedgerRow)> {
        (0..4u8, 0..5u8, 0..3u8, 1..4u64, proptest::option::of(0..3i64), 0..3u64, 0..8u8).prop_map(
            |(id, key, own, record, ts, output, kind)| {
                let mut row = row(&format!("k{key}")).own(own).tokens(1, output);
                row = row.event(&format!("m:{record}")).model(if output == 1 { "a" } else { "b" });
                row.ts = ts.and_then(Timestamp::from_millis);
                row.kind = match kind {
                    0 => RowKind::Total,
                    1 => RowKind::Side,
                    _ => RowKind::Main,
                };
                if kind == 2 {
                    row.includes = vec![format!("s{}", (id + 1) % 4)];
                }
                (session(&format!("s{id}")), row)
            },
        )
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same_and_nothing_counts_twice(
            (rows, mixed) in proptest::collection::vec(any_row(), 0..24)
                .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle()))
        ) {
            let answers = rows.iter().filter(|(_, row)| row.kind != RowKind::Total).count();
            let counted = decide(rows);
            prop_assert_eq!(&counted, &decide(mixed));
            let mut keys: Vec<_> =
                counted.rows.iter().chain(&counted.side).map(|counted| counted.row.key.as_str()).collect();
            prop_assert_eq!(keys.len() + counted.duplicates.len(), answers);
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), counted.rows.len() + counted.side.len());
        }
    }
}
