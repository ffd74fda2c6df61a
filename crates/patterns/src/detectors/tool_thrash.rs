//! # What
//! A session changes from one tool to another of the same use and back, or runs one command over
//! and over without changing anything.
//! # Why
//! The agent does not know which tool this repository uses, or waits for something blindly.
//! # How
//! Tools of one bucket take each other's place: three of them in one session, or two with four
//! changes between them, and at least one failure. The same command six times with no change of a
//! file in between counts too.
//! # Limits
//! Looking at files and searching are healthy and count only where the call is the same each time.
//! Buckets are set in `[detect.buckets]`.

use std::collections::BTreeMap;

use super::{Detector, always, sign, usual};
use crate::session::Session;
use crate::sign::{Polarity, Sign};
use crate::terms::shortened;

pub(super) const DETECTOR: Detector = Detector {
    name: "tool_thrash",
    title: "tools of the same use are tried in turn",
    polarity: Polarity::Problem,
    order: 7,
    source: include_str!("tool_thrash.rs"),
    detect,
    counts: always,
    usual: usual::once,
};

const TOOLS_MIN: usize = 3;
const CHANGES_MIN: usize = 4;
const SAME_MIN: usize = 6;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let mut signs = alternating(session);
    signs.extend(same(session));
    signs
}

fn alternating(session: &Session<'_>) -> Vec<Sign> {
    let mut buckets: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (place, act) in session.acts.iter().enumerate().filter(|(_, act)| act.call.command.is_some()) {
        if let Some(bucket) = session.buckets.alternatives(act.tool()) {
            buckets.entry(bucket).or_default().push(place);
        }
    }
    let program =
        |place: &usize| session.acts.get(*place).map_or("", |act| act.tool().split(' ').next().unwrap_or(""));
    let thrash = |(bucket, places): (&str, Vec<usize>)| {
        let tools: Vec<&str> = places.iter().map(program).collect();
        let changes = tools.windows(2).filter(|pair| matches!(pair, [a, b] if a != b)).count();
        let mut distinct = tools.clone();
        distinct.sort_unstable();
        distinct.dedup();
        let failed =
            places.iter().filter_map(|place| session.acts.get(*place)).any(|act| act.call.is_failed());
        let is_thrash = distinct.len() >= TOOLS_MIN || (distinct.len() == 2 && changes >= CHANGES_MIN);
        if !is_thrash || !failed {
            return None;
        }
        let title = format!("{} are tried in turn", distinct.join(", "));
        let mut sign = sign(Polarity::Problem, format!("thrash:{bucket}:{}", session.place()), title);
        sign.times = u32::try_from(changes).unwrap_or(u32::MAX);
        sign.evidence = places
            .iter()
            .take(4)
            .filter_map(|place| session.acts.get(*place))
            .map(|act| session.did(act))
            .collect();
        // The tool that passed last is the one that this repository uses.
        let passed = places
            .iter()
            .rev()
            .filter_map(|place| session.acts.get(*place))
            .find(|act| !act.call.is_failed() && !act.looks);
        sign.remedy = passed.map(|act| crate::Remedy { steps: vec![session.did(act)] });
        sign.spent = session.spent(places);
        Some(sign)
    };
    buckets.into_iter().filter_map(thrash).collect()
}

fn same(session: &Session<'_>) -> Vec<Sign> {
    let mut runs: BTreeMap<(u32, String), Vec<usize>> = BTreeMap::new();
    let mut found: Vec<(String, Vec<usize>)> = Vec::new();
    for (place, act) in session.acts.iter().enumerate() {
        if act.changes() {
            found.extend(
                std::mem::take(&mut runs).into_iter().map(|((_, command), places)| (command, places)),
            );
            continue;
        }
        // A failing command is a storm, not a thrash.
        let Some(command) = act.call.command.as_deref().filter(|_| !act.call.is_failed()) else { continue };
        runs.entry((act.beat.thread, command.to_owned())).or_default().push(place);
    }
    found.extend(runs.into_iter().map(|((_, command), places)| (command, places)));
    found.retain(|(_, places)| places.len() >= SAME_MIN);
    let one = |(command, places): (String, Vec<usize>)| {
        let quote = shortened(&command, 80).replace('"', "'");
        let locus = format!("thrash:{}", retro_text::fingerprint::normal(&command).to_lowercase());
        let mut sign = sign(Polarity::Problem, locus, format!("\"{quote}\" is run over and over"));
        sign.times = u32::try_from(places.len()).unwrap_or(u32::MAX);
        sign.evidence = places
            .iter()
            .take(3)
            .filter_map(|place| session.acts.get(*place))
            .map(|act| session.did(act))
            .collect();
        sign.spent = session.spent(places);
        sign
    };
    found.into_iter().map(one).collect()
}
