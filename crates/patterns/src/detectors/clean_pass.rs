//! # What
//! Work in one repository that passes its checks without a failure or a correction on the way.
//! # Why
//! The commands that such sessions run are what the next one should run.
//! # How
//! Of sessions with outcome `success` that changed files: nothing failed but what only looks, the
//! person corrected nothing, and a test, build, type check or lint passed after the last change.
//! Sessions of one repository with the same checks are one pattern.
//! # Limits
//! It does not say that the work was hard.

use super::{Detector, always, sign, usual};
use crate::session::Session;
use crate::sign::{Polarity, Remedy, Sign};
use retro_insight::OutcomeValue;
use retro_text::calls::Verdict;

pub(super) const DETECTOR: Detector = Detector {
    name: "clean_pass",
    title: "work that passes at once, and the commands that show it",
    polarity: Polarity::Success,
    order: 13,
    source: include_str!("clean_pass.rs"),
    detect,
    counts: always,
    usual: usual::none,
};

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let acts = &session.acts;
    let Some(last) = acts.iter().rposition(|act| act.changes()) else { return Vec::new() };
    let failed = acts.iter().any(|act| act.call.is_failed() && !act.looks);
    if failed
        || !session.corrections.is_empty()
        || session.outcome.value != OutcomeValue::Success
        || session.repo.is_none()
    {
        return Vec::new();
    }
    let passed = |place: &usize| {
        acts.get(*place).is_some_and(|act| act.call.is_validation() && act.call.verdict == Verdict::Passed)
    };
    let checks: Vec<usize> = (last + 1..acts.len()).filter(passed).collect();
    let mut tools: Vec<&str> =
        checks.iter().filter_map(|place| acts.get(*place)).map(|act| act.tool()).collect();
    tools.sort_unstable();
    tools.dedup();
    if tools.is_empty() {
        return Vec::new();
    }
    let place = session.place();
    let locus = format!("clean:{place}:{}", tools.join("+"));
    let mut typed: Vec<String> =
        checks.iter().filter_map(|place| acts.get(*place)).map(|act| act.typed()).collect();
    typed.sort();
    typed.dedup();
    let title = format!("work in {place} passes at once with {}", typed.join(", "));
    let mut sign = sign(Polarity::Success, locus, title);
    let steps: Vec<_> =
        checks.iter().filter_map(|place| acts.get(*place)).map(|act| session.did(act)).take(3).collect();
    sign.evidence = steps.clone();
    sign.remedy = Some(Remedy { steps });
    vec![sign]
}
