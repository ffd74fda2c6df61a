//! # What
//! The same file is changed again three times or more, each time after a check that failed.
//! # Why
//! The first changes were made without understanding what the check wants.
//! # How
//! Counts changes of a file that was changed before on the same thread, with a failed test,
//! build, type check or lint in between.
//! # Limits
//! The first red test of tests-first work comes before the first change and does not count.
//! Files of the same name in the same repository are taken for the same file.

use hashbrown::HashMap;

use super::{Detector, always, sign, usual};
use crate::session::Session;
use crate::sign::{Polarity, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "rework_loop",
    title: "a file is changed again and again while its check fails",
    polarity: Polarity::Problem,
    order: 4,
    source: include_str!("rework_loop.rs"),
    detect,
    counts: always,
    usual: usual::round,
};

/// The number of rounds that is a loop.
const ROUNDS_MIN: usize = 3;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let mut failures: HashMap<u32, Vec<usize>> = HashMap::new();
    // For each file: the number of failures at its last change, and the calls of each round.
    let mut files: HashMap<(u32, &str), (usize, Vec<usize>, usize)> = HashMap::new();
    for (place, act) in session.acts.iter().enumerate() {
        let failed = failures.entry(act.beat.thread).or_default();
        if act.call.is_validation() && act.call.is_failed() {
            failed.push(place);
        }
        if !act.changes() {
            continue;
        }
        for edit in &act.call.edits {
            match files.get_mut(&(act.beat.thread, edit.path.as_str())) {
                Some((before, rounds, _)) => {
                    if *before < failed.len() {
                        rounds.extend(failed.last().copied());
                        rounds.push(place);
                    }
                    *before = failed.len();
                }
                None => {
                    files.insert((act.beat.thread, edit.path.as_str()), (failed.len(), Vec::new(), place));
                }
            }
        }
    }
    let mut loops: Vec<(&str, Vec<usize>)> = files
        .into_iter()
        .filter(|(_, (_, rounds, _))| rounds.len() >= 2 * ROUNDS_MIN)
        .map(|((_, path), (_, rounds, first))| (path, [vec![first], rounds].concat()))
        .collect();
    loops.sort_by(|a, b| (b.1.len(), a.0).cmp(&(a.1.len(), b.0)));
    // Files that were changed together are one loop.
    let mut taken: Vec<usize> = Vec::new();
    let mut signs = Vec::new();
    for (path, places) in loops {
        if places.iter().filter(|place| taken.contains(place)).count() * 2 > places.len() {
            continue;
        }
        taken.extend(&places);
        signs.push(of(session, path, &places));
    }
    signs
}

fn of(session: &Session<'_>, path: &str, places: &[usize]) -> Sign {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let locus = format!("rework:{}:{}", session.place(), name.to_lowercase());
    let rounds = (places.len() - 1) / 2;
    let acts = || places.iter().filter_map(|place| session.acts.get(*place));
    let check = acts().find(|act| act.call.is_failed()).map_or("its check", |act| act.tool());
    let title = format!("{name} is changed again and again while {check} fails");
    let mut sign = sign(Polarity::Problem, locus, title);
    sign.times = u32::try_from(rounds).unwrap_or(u32::MAX);
    for act in acts().filter(|act| act.call.is_failed()).take(2) {
        let line = act.call.sample.as_deref().or(act.call.command.as_deref()).unwrap_or_default();
        sign.evidence.push(session.said(act, line));
    }
    let failed =
        places.iter().rev().find(|place| session.acts.get(**place).is_some_and(|act| act.call.is_failed()));
    sign.remedy = failed.and_then(|place| session.remedy(*place)).and_then(|(found, _)| found.remedy);
    let (first, last) = (places.first().copied().unwrap_or(0), places.last().copied().unwrap_or(0));
    sign.spent = session.spent(first..=last);
    sign
}
