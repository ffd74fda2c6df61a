//! Counting as another program does, on purpose.
//!
//! Two programs that read the same logs rarely say the same number, and a
//! difference that nobody can explain is worth nothing. So each habit of
//! counting that was seen to make one is a switch here: with it on, our own
//! arithmetic counts that way. What the switches do not explain stays
//! unexplained. All of them are off in everything that retro itself says.
//!
//! Some habits look at things that a row does not hold. Whoever turns a switch
//! on tells them beside the row, in [`Told`].

use retro_model::{LedgerRow, SessionKey, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

use crate::count::{Counted, decide};

/// Habits of counting. The default is ours: none of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Switches {
    /// Rows whose model the log does not name are priced as `gpt-5`.
    pub assumed_model: bool,
    /// Only what Codex broadcasts as `token_count` counts, so the last answer of
    /// a program that was killed does not.
    pub broadcasts_only: bool,
    /// Logs that were compressed are not read.
    pub plain_files_only: bool,
    /// The first answers of a child are taken for its parent's as long as each
    /// comes in the same second as the one before, or in the next; but not those
    /// of a child whose log holds answers of another one, which tell themselves.
    pub replay_by_clock: bool,
    /// A copy without the server's request id counts like an answer of its own.
    pub requestless_copies: bool,
    /// Lines that are not written without spaces are not read.
    pub tight_lines_only: bool,
}

/// A switch by its name, for those who try one after the other.
pub struct Reason {
    /// The field's name, in words.
    pub name: &'static str,
    /// What counting so does, in one sentence.
    pub about: &'static str,
    /// Turns it on.
    pub turn_on: fn(&mut Switches),
}

/// The model that [`Switches::assumed_model`] assumes.
const ASSUMED_MODEL: &str = "gpt-5";

impl Switches {
    /// Every switch, sorted by name.
    pub const REASONS: &'static [Reason] = &[
        Reason {
            name: "assumed model",
            about: "an answer whose model the log does not name is priced as gpt-5",
            turn_on: |switches| switches.assumed_model = true,
        },
        Reason {
            name: "broadcasts only",
            about: "an answer that Codex recorded but had no time to broadcast is left out",
            turn_on: |switches| switches.broadcasts_only = true,
        },
        Reason {
            name: "plain files only",
            about: "compressed logs are not read",
            turn_on: |switches| switches.plain_files_only = true,
        },
        Reason {
            name: "replay by clock",
            about: "answers of a Codex fork or sub-agent that come quickly are taken for its parent's",
            turn_on: |switches| switches.replay_by_clock = true,
        },
        Reason {
            name: "requestless copies",
            about: "copies that a resume of Claude Code 1.0 made without request id count again",
            turn_on: |switches| switches.requestless_copies = true,
        },
        Reason {
            name: "tight lines only",
            about: "lines with spaces between names and values are not read",
            turn_on: |switches| switches.tight_lines_only = true,
        },
    ];

    /// All of them on.
    pub fn all() -> Switches {
        let mut switches = Switches::default();
        Switches::REASONS.iter().for_each(|reason| (reason.turn_on)(&mut switches));
        switches
    }
}

/// What the log tells of an answer beyond its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Told {
    /// When the child began whose log this is; none where it is no child's.
    pub child_since: Option<Timestamp>,
    /// It stands in a compressed log.
    pub compressed: bool,
    /// It has no request id of the server's.
    pub requestless: bool,
    /// Its line has spaces between names and values.
    pub spaced: bool,
    /// When it was broadcast, where that is another line than the row's own.
    pub broadcast_at: Option<Timestamp>,
    /// It was recorded and never broadcast.
    pub unbroadcast: bool,
}

/// Decides which rows count, with these habits. With none it is [`decide`].
pub fn decide_as(rows: Vec<(SessionKey, LedgerRow, Told)>, switches: &Switches) -> Counted {
    let replayed = if switches.replay_by_clock { replayed(&rows) } else { BTreeMap::new() };
    let mut kept = Vec::with_capacity(rows.len());
    for (session, mut row, told) in rows {
        let left_out = (switches.plain_files_only && told.compressed)
            || (switches.tight_lines_only && told.spaced)
            || (switches.broadcasts_only && told.unbroadcast)
            || replayed.get(&session).is_some_and(|until| row.ts.is_some_and(|ts| ts <= *until));
        if left_out {
            continue;
        }
        if switches.requestless_copies && told.requestless {
            row.key = format!("{} in {session} at {}", row.key, row.event);
        }
        if switches.assumed_model && row.model.is_none() {
            row.model = Some(ASSUMED_MODEL.to_owned());
        }
        kept.push((session, row));
    }
    decide(kept)
}

/// Of each child, up to when its answers are taken for its parent's.
fn replayed(rows: &[(SessionKey, LedgerRow, Told)]) -> BTreeMap<SessionKey, Timestamp> {
    let mut owners: BTreeMap<&str, BTreeSet<&SessionKey>> = BTreeMap::new();
    for (session, row, _) in rows {
        owners.entry(&row.key).or_default().insert(session);
    }
    let shared = owners.into_values().filter(|sessions| sessions.len() > 1);
    let sharing: BTreeSet<&SessionKey> = shared.flatten().collect();
    let mut children: BTreeMap<&SessionKey, Vec<Quick>> = BTreeMap::new();
    for (session, row, told) in rows.iter().filter(|(session, ..)| !sharing.contains(session)) {
        if let (Some(since), Some(ts)) = (told.child_since, row.ts) {
            let seen = told.broadcast_at.unwrap_or(ts);
            children.entry(session).or_default().push(Quick { ts, seen, since });
        }
    }
    let second = |ts: Timestamp| ts.as_millis().div_euclid(1_000);
    let mut replayed = BTreeMap::new();
    for (session, mut answers) in children {
        answers.sort();
        let mut last = None;
        for Quick { ts, seen, since } in answers {
            if second(seen) - second(last.unwrap_or(since)) > 1 {
                break;
            }
            last = Some(seen);
            replayed.insert(session.clone(), ts);
        }
    }
    replayed
}

/// When an answer of a child was recorded, when it was seen, and when the child began.
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

    fn at(second: &str) -> LedgerRow {
        row(second)
            .event(&format!("m:{}", &second[..2]))
            .at(&format!("2026-01-01T00:00:{second}Z"))
            .tokens(1, 1)
    }

    fn output(rows: &[(&str, LedgerRow, Told)], switches: Switches) -> u64 {
        let rows = rows.iter().map(|(id, row, told)| (session(id), row.clone(), *told)).collect();
        decide_as(rows, &switches).rows.iter().map(|counted| counted.row.output).sum()
    }

    #[test]
    fn reasons_are_sorted_few_and_each_turns_on_its_own() {
        assert!(Switches::REASONS.is_sorted_by_key(|reason| reason.name));
        assert!(Switches::REASONS.len() <= 10);
        let mut seen = vec![Switches::default()];
        for reason in Switches::REASONS {
            let mut switches = Switches::default();
            (reason.turn_on)(&mut switches);
            assert!(!seen.contains(&switches), "{}", reason.name);
            seen.push(switches);
        }
    }

    #[test]
    fn with_none_of_them_it_is_our_own_decision() {
        let told = Told {
            compressed: true,
            requestless: true,
            spaced: true,
            broadcast_at: Timestamp::parse("2026-01-01T00:00:00Z"),
            unbroadcast: true,
            child_since: Timestamp::parse("2026-01-01T00:00:00Z"),
        };
        let rows = vec![(session("a"), at("01")), (session("b"), at("01"))];
        let told = rows.iter().cloned().map(|(session, row)| (session, row, told)).collect();
        assert_eq!(decide_as(told, &Switches::default()), decide(rows));
    }

    #[test]
    fn what_another_program_does_not_read_is_left_out() {
        let rows = [
            ("s", at("01"), Told { compressed: true, ..Told::default() }),
            ("s", at("02").tokens(1, 10), Told { spaced: true, ..Told::default() }),
            ("s", at("03").tokens(1, 100), Told { unbroadcast: true, ..Told::default() }),
            ("s", at("04").tokens(1, 1_000), Told::default()),
        ];
        let off = Switches::default();
        assert_eq!(output(&rows, off), 1_111);
        assert_eq!(output(&rows, Switches { plain_files_only: true, ..off }), 1_110);
        assert_eq!(output(&rows, Switches { tight_lines_only: true, ..off }), 1_101);
        assert_eq!(output(&rows, Switches { broadcasts_only: true, ..off }), 1_011);
        assert_eq!(output(&rows, Switches::all()), 1_000);
    }

    #[test]
    fn copies_without_a_request_count_again() {
        let copy = Told { requestless: true, ..Told::default() };
        let rows = [("a", at("01"), Told::default()), ("b", at("01"), copy), ("c", at("01"), copy)];
        assert_eq!(output(&rows, Switches::default()), 1);
        assert_eq!(output(&rows, Switches { requestless_copies: true, ..Switches::default() }), 3);
    }

    #[test]
    fn quick_answers_of_a_child_are_taken_for_its_parents() {
        let child = Told { child_since: Timestamp::parse("2026-01-01T00:00:00.900Z"), ..Told::default() };
        let on = Switches { replay_by_clock: true, ..Switches::default() };
        let quick = [("c", at("01.000"), child), ("c", at("02.950"), child), ("c", at("03.999"), child)];
        assert_eq!(output(&quick, on), 0, "each in the next second");
        let slow = [("c", at("01.000"), child), ("c", at("03.000"), child), ("c", at("03.100"), child)];
        assert_eq!(output(&slow, on), 2, "a pause ends it for good");
        let late = Told { broadcast_at: Timestamp::parse("2026-01-01T00:00:01.900Z"), ..child };
        let later = Told { broadcast_at: Timestamp::parse("2026-01-01T00:00:02.100Z"), ..child };
        let seen_later = [("c", at("01.000"), late), ("c", at("01.500"), later), ("c", at("03.000"), child)];
        assert_eq!(output(&seen_later, on), 0, "the broadcast's time is what they see");
        let parent = [("p", at("01"), Told::default())];
        assert_eq!(output(&parent, on), 1);
        let forked = [("c", at("01"), child), ("c", at("02"), child), ("p", at("01"), Told::default())];
        assert_eq!(output(&forked, on), 2, "its copies tell themselves");
    }

    #[test]
    fn only_a_model_that_is_not_named_is_assumed() {
        let rows = vec![
            (session("s"), at("01"), Told::default()),
            (session("s"), at("02").model("m"), Told::default()),
        ];
        let counted = decide_as(rows, &Switches { assumed_model: true, ..Switches::default() });
        let models: Vec<_> = counted.rows.iter().map(|counted| counted.row.model.as_deref()).collect();
        assert_eq!(models, [Some("gpt-5"), Some("m")]);
    }
}
