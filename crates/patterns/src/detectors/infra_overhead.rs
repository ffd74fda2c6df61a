//! # What
//! A large part of a session's work goes into containers, clusters, services or versions of tools.
//! # Why
//! An environment that has to be repaired by hand each time wants a script.
//! # How
//! Counts calls of tools in the bucket `infra`. They are overhead where there are at least six of
//! them and they make up two fifths of all calls that do something.
//! # Limits
//! Where files of the infrastructure itself are changed, or the request names the tool, it is the
//! task and no overhead. Buckets are set in `[detect.buckets]`.

use std::collections::BTreeMap;

use super::{Detector, always, sign, usual};
use crate::buckets::INFRA;
use crate::session::Session;
use crate::sign::{Polarity, Sign};

pub(super) const DETECTOR: Detector = Detector {
    name: "infra_overhead",
    title: "much of the work is keeping the environment running",
    polarity: Polarity::Problem,
    order: 10,
    source: include_str!("infra_overhead.rs"),
    detect,
    counts: always,
    usual: usual::none,
};

const CALLS_MIN: usize = 6;

/// Words in the names of files that describe an environment.
const FILES: &[&str] = &[
    "dockerfile",
    "compose",
    ".tf",
    "helm",
    "k8s",
    "kube",
    "deploy",
    "ansible",
    "nix",
    ".github",
    "vagrant",
];

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let is_infra = |tool: &str| session.buckets.holds(INFRA, tool);
    let places: Vec<usize> = (0..session.acts.len())
        .filter(|place| {
            session.acts.get(*place).is_some_and(|act| act.call.command.is_some() && is_infra(act.tool()))
        })
        .collect();
    let doing = session.acts.iter().filter(|act| !act.looks || is_infra(act.tool())).count();
    if places.len() < CALLS_MIN || places.len() * 5 < doing * 2 {
        return Vec::new();
    }
    let mut programs: BTreeMap<&str, usize> = BTreeMap::new();
    let program = |tool: &str| tool.split([' ', '-']).next().unwrap_or_default().to_owned();
    for place in &places {
        if let Some(act) = session.acts.get(*place) {
            *programs.entry(act.tool().split([' ', '-']).next().unwrap_or_default()).or_default() += 1;
        }
    }
    let Some((main, _)) = programs.into_iter().max_by_key(|(name, count)| (*count, std::cmp::Reverse(*name)))
    else {
        return Vec::new();
    };
    let asked = session.trace.requests().any(|(_, text)| {
        let text = text.to_lowercase();
        text.contains(main) || FILES.iter().any(|word| text.contains(word))
    });
    let edits = session.acts.iter().filter(|act| act.changes()).flat_map(|act| &act.call.edits);
    let is_task = asked
        || edits.into_iter().any(|edit| {
            let path = edit.path.to_lowercase();
            FILES.iter().any(|word| path.contains(word))
        });
    if is_task {
        return Vec::new();
    }
    let mut sign = sign(
        Polarity::Problem,
        format!("infra:{}", program(main)),
        format!("much of the work is keeping {main} running"),
    );
    sign.times = u32::try_from(places.len()).unwrap_or(u32::MAX);
    sign.evidence = places
        .iter()
        .take(4)
        .filter_map(|place| session.acts.get(*place))
        .map(|act| session.did(act))
        .collect();
    sign.spent = session.spent(places);
    vec![sign]
}
