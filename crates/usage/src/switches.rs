//! Counts like another program, on purpose.
//!
//! Two programs that read the same logs rarely report the same number, and an unexplained
//! difference is worth nothing. For that reason each known difference in counting is a switch here:
//! with it on, our own arithmetic counts that way. Differences without a switch stay unexplained.
//! All switches are off in retro's own reports.
//!
//! Some switches need facts that are not in a row. The caller passes them beside the row, in
//! [`Told`].

use retro_model::{LedgerRow, SessionKey, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

use crate::Prices;
use crate::count::{Counted, decide};

/// A difference in counting. By default all are off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// A cache write costs 1.25 times the input price if it has no published price.
    AssumedCachePrice,
    /// Rows whose model the log does not name are priced as `gpt-5`.
    AssumedModel,
    /// Only responses that Codex broadcasts as `token_count` count, so the last response of a
    /// killed program does not.
    BroadcastsOnly,
    /// Responses of a sub-agent that are only in progress records do not count.
    LogsOnly,
    /// Models without a price in the other program cost nothing.
    MissingPrices,
    /// Compressed logs are not read.
    PlainFilesOnly,
    /// A child whose log begins with two broadcasts within a second is assumed to repeat its
    /// parent, as long as each response follows within a second of the one before. A child whose
    /// log has marked copies of another one is excluded.
    ReplayByClock,
    /// A copy without the server's request id counts like a response of its own.
    RequestlessCopies,
    /// Lines with spaces between tokens are not read.
    TightLinesOnly,
}

impl Switch {
    /// Every switch, sorted by name.
    pub const ALL: [Switch; 9] = [
        Switch::AssumedCachePrice,
        Switch::AssumedModel,
        Switch::BroadcastsOnly,
        Switch::LogsOnly,
        Switch::MissingPrices,
        Switch::PlainFilesOnly,
        Switch::ReplayByClock,
        Switch::RequestlessCopies,
        Switch::TightLinesOnly,
    ];

    /// Its name in words, and its effect on the figures.
    pub fn reason(self) -> (&'static str, &'static str) {
        match self {
            Switch::AssumedCachePrice => (
                "assumed cache price",
                "writing to a cache costs 1.25 times input where no price for it is published",
            ),
            Switch::AssumedModel => {
                ("assumed model", "an answer whose model the log does not name is priced as gpt-5")
            }
            Switch::BroadcastsOnly => {
                ("broadcasts only", "an answer that Codex recorded but had no time to broadcast is left out")
            }
            Switch::LogsOnly => (
                "logs only",
                "answers of a sub-agent whose log is gone, which progress records of its parent still have, are left out",
            ),
            Switch::MissingPrices => (
                "missing prices",
                "an answer of a model that the other program has no price of costs nothing",
            ),
            Switch::PlainFilesOnly => ("plain files only", "compressed logs are not read"),
            Switch::ReplayByClock => (
                "replay by clock",
                "the first answers of a Codex fork or sub-agent, if at most a second apart, are taken for its parent's",
            ),
            Switch::RequestlessCopies => (
                "requestless copies",
                "copies that a resume of Claude Code 1.0 made without request id count again",
            ),
            Switch::TightLinesOnly => {
                ("tight lines only", "lines with spaces between names and values are not read")
            }
        }
    }
}

/// The model that [`Switch::AssumedModel`] assumes.
const ASSUMED_MODEL: &str = "gpt-5";

/// The longest pause between responses that [`Switch::ReplayByClock`] attributes to a parent.
pub const REPLAY_PAUSE_MS: i64 = 1_000;

/// Facts about a response that are in the log but not in its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Told {
    /// Time of the first broadcast, if this is a child's log that begins with two of them at most
    /// [`REPLAY_PAUSE_MS`] apart. `None` in any other log.
    pub burst_since: Option<Timestamp>,
    /// True if it is in a compressed log.
    pub compressed: bool,
    /// True if it is in a progress record.
    pub in_progress: bool,
    /// True if it has no request id of the server.
    pub requestless: bool,
    /// True if its line has spaces between names and values.
    pub spaced: bool,
    /// When it was broadcast, if that is on another line than the row's own.
    pub broadcast_at: Option<Timestamp>,
    /// True if it was recorded and never broadcast.
    pub unbroadcast: bool,
    /// True if the other program has no price for its model.
    pub unpriced: bool,
}

/// Decides which rows count, with these switches on. With none it is [`decide`].
pub fn decide_as(rows: Vec<(SessionKey, LedgerRow, Told)>, on: &[Switch]) -> Counted {
    let has = |switch| on.contains(&switch);
    let replayed = if has(Switch::ReplayByClock) { replayed(&rows) } else { BTreeMap::new() };
    let mut kept = Vec::with_capacity(rows.len());
    for (session, mut row, told) in rows {
        let left_out = (has(Switch::PlainFilesOnly) && told.compressed)
            || (has(Switch::TightLinesOnly) && told.spaced)
            || (has(Switch::BroadcastsOnly) && told.unbroadcast)
            || (has(Switch::LogsOnly) && told.in_progress)
            || replayed.get(&session).is_some_and(|until| row.ts.is_some_and(|ts| ts <= *until));
        if left_out {
            continue;
        }
        if has(Switch::RequestlessCopies) && told.requestless {
            row.key = format!("{} in {session} at {}", row.key, row.event);
        }
        if has(Switch::AssumedModel) && row.model.is_none() {
            row.model = Some(ASSUMED_MODEL.to_owned());
        }
        if has(Switch::MissingPrices) && told.unpriced {
            row.model = None;
        }
        kept.push((session, row));
    }
    decide(kept)
}

/// The prices with these switches on.
pub fn prices_as(prices: &Prices, on: &[Switch]) -> Prices {
    let mut prices = prices.clone();
    if on.contains(&Switch::AssumedCachePrice) {
        for row in &mut prices.rows {
            for rates in row.above.iter_mut().map(|step| &mut step.rates).chain([&mut row.rates]) {
                rates.cache_write_5m.get_or_insert(rates.input.saturating_mul(5) / 4);
            }
        }
    }
    prices
}

/// For each child, the time up to which its responses are attributed to its parent.
fn replayed(rows: &[(SessionKey, LedgerRow, Told)]) -> BTreeMap<SessionKey, Timestamp> {
    let mut owners: BTreeMap<&str, BTreeSet<&SessionKey>> = BTreeMap::new();
    for (session, row, _) in rows {
        owners.entry(&row.key).or_default().insert(session);
    }
    let shared = owners.into_values().filter(|sessions| sessions.len() > 1);
    let sharing: BTreeSet<&SessionKey> = shared.flatten().collect();
    let mut children: BTreeMap<&SessionKey, Vec<Quick>> = BTreeMap::new();
    for (session, row, told) in rows.iter().filter(|(session, ..)| !sharing.contains(session)) {
        if let (Some(since), Some(ts)) = (told.burst_since, row.ts) {
            let seen = told.broadcast_at.unwrap_or(ts);
            children.entry(session).or_default().push(Quick { ts, seen, since });
        }
    }
    let mut replayed = BTreeMap::new();
    for (session, mut answers) in children {
        answers.sort();
        let mut last = None;
        for Quick { ts, seen, since } in answers {
            let pause_ms = seen.as_millis() - last.unwrap_or(since).as_millis();
            if !(0..=REPLAY_PAUSE_MS).contains(&pause_ms) {
                break;
            }
            last = Some(seen);
            replayed.insert(session.clone(), ts);
        }
    }
    replayed
}

/// The times at which a child's response was recorded and seen, and that of the first one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Quick {
    ts: Timestamp,
    seen: Timestamp,
    since: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Say, row, session};
    use crate::{Mode, NanoUsd, cost};

    fn at(second: &str) -> LedgerRow {
        row(second)
            .event(&format!("m:{}", &second[..2]))
            .at(&format!("2026-01-01T00:00:{second}Z"))
            .tokens(1, 1)
    }

    fn output(rows: &[(&str, LedgerRow, Told)], on: &[Switch]) -> u64 {
        let rows = rows.iter().map(|(id, row, told)| (session(id), row.clone(), *told)).collect();
        decide_as(rows, on).rows.iter().map(|counted| counted.row.tokens.output).sum()
    }

    #[test]
    fn switches_are_sorted_by_name_and_few() {
        assert!(Switch::ALL.is_sorted_by_key(|switch| switch.reason().0));
        assert!(Switch::ALL.len() <= 10);
    }

    #[test]
    fn with_none_of_them_it_is_our_own_decision() {
        let told = Told {
            burst_since: Timestamp::parse("2026-01-01T00:00:00Z"),
            compressed: true,
            in_progress: true,
            requestless: true,
            spaced: true,
            broadcast_at: Timestamp::parse("2026-01-01T00:00:00Z"),
            unbroadcast: true,
            unpriced: true,
        };
        let rows = vec![(session("a"), at("01")), (session("b"), at("01"))];
        let told = rows.iter().cloned().map(|(session, row)| (session, row, told)).collect();
        assert_eq!(decide_as(told, &[]), decide(rows));
        let prices = Prices::embedded().unwrap();
        assert_eq!(prices_as(&prices, &[]), prices);
    }

    #[test]
    fn what_another_program_does_not_read_is_left_out() {
        let rows = [
            ("s", at("01"), Told { compressed: true, ..Told::default() }),
            ("s", at("02").tokens(1, 10), Told { spaced: true, ..Told::default() }),
            ("s", at("03").tokens(1, 100), Told { unbroadcast: true, ..Told::default() }),
            ("s", at("04").tokens(1, 1_000), Told::default()),
            ("s", at("05").tokens(1, 10_000), Told { in_progress: true, ..Told::default() }),
        ];
        assert_eq!(output(&rows, &[]), 11_111);
        assert_eq!(output(&rows, &[Switch::LogsOnly]), 1_111);
        assert_eq!(output(&rows, &[Switch::PlainFilesOnly]), 11_110);
        assert_eq!(output(&rows, &[Switch::TightLinesOnly]), 11_101);
        assert_eq!(output(&rows, &[Switch::BroadcastsOnly]), 11_011);
        assert_eq!(output(&rows, &Switch::ALL), 1_000);
    }

    #[test]
    fn copies_without_a_request_count_again() {
        let copy = Told { requestless: true, ..Told::default() };
        let rows = [("a", at("01"), Told::default()), ("b", at("01"), copy), ("c", at("01"), copy)];
        assert_eq!(output(&rows, &[]), 1);
        assert_eq!(output(&rows, &[Switch::RequestlessCopies]), 3);
    }

    #[test]
    fn quick_answers_of_a_child_are_taken_for_its_parents() {
        let child = Told { burst_since: Timestamp::parse("2026-01-01T00:00:01Z"), ..Told::default() };
        let on = [Switch::ReplayByClock];
        let quick = [("c", at("01.000"), child), ("c", at("01.950"), child), ("c", at("02.950"), child)];
        assert_eq!(output(&quick, &on), 0, "each within a second");
        let slow = [("c", at("01.000"), child), ("c", at("02.001"), child), ("c", at("02.100"), child)];
        assert_eq!(output(&slow, &on), 2, "a pause ends it for good");
        let late = Told { broadcast_at: Timestamp::parse("2026-01-01T00:00:01.900Z"), ..child };
        let later = Told { broadcast_at: Timestamp::parse("2026-01-01T00:00:02.100Z"), ..child };
        let seen_later = [("c", at("01.000"), late), ("c", at("01.500"), later), ("c", at("03.000"), child)];
        assert_eq!(output(&seen_later, &on), 0, "the broadcast's time is what they see");
        let parent = [("p", at("01"), Told::default())];
        assert_eq!(output(&parent, &on), 1);
        let forked = [("c", at("01"), child), ("c", at("02"), child), ("p", at("01"), Told::default())];
        assert_eq!(output(&forked, &on), 2, "its copies tell themselves");
    }

    #[test]
    fn a_model_is_assumed_where_none_is_named_and_forgotten_where_it_has_no_price() {
        let unpriced = Told { unpriced: true, ..Told::default() };
        let rows = vec![
            (session("s"), at("01"), Told::default()),
            (session("s"), at("02").model("m"), Told::default()),
            (session("s"), at("03").model("n"), unpriced),
        ];
        let counted = decide_as(rows, &[Switch::AssumedModel, Switch::MissingPrices]);
        let models: Vec<_> = counted.rows.iter().map(|counted| counted.row.model.as_deref()).collect();
        assert_eq!(models, [Some("gpt-5"), Some("m"), None]);
    }

    #[test]
    fn only_a_cache_price_that_is_not_published_is_assumed() {
        let prices = prices_as(&Prices::embedded().unwrap(), &[Switch::AssumedCachePrice]);
        let written = |model: &str| {
            let mut row = row("k").model(model).at("2026-11-15T00:00:00Z").tokens(0, 0);
            row.tokens.cache_write_unsplit = 100_000;
            cost(&row, &prices, Mode::Calculate).nano.map(NanoUsd::to_usd)
        };
        assert_eq!(written("gpt-5.5"), Some(0.625));
        assert_eq!(written("claude-3-haiku"), Some(0.03));
    }
}
