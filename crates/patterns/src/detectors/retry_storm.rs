//! # What
//! The same command fails three times or more in a row, and no file is changed in between.
//! # Why
//! Trying again without changing anything costs time and tokens, and seldom helps.
//! # How
//! Follows each command on its thread until it passes or a file is changed. Three failures make
//! a storm. It is about the error that the command reports, else about the command.
//! # Limits
//! Commands that only ask how something is, such as waiting for a server, are none.

use hashbrown::HashMap;
use retro_text::calls::{same_command, understand};
use retro_text::fingerprint;

use super::{Detector, always, faults, sign, usual};
use crate::session::Session;
use crate::sign::{Polarity, Sign};
use crate::terms::shortened;

pub(super) const DETECTOR: Detector = Detector {
    name: "retry_storm",
    title: "a command fails again and again, and nothing is changed",
    polarity: Polarity::Problem,
    order: 3,
    source: include_str!("retry_storm.rs"),
    detect,
    counts: always,
    usual: usual::once,
};

/// The number of consecutive failures that is a storm.
const STORM_MIN: usize = 3;

fn detect(session: &Session<'_>) -> Vec<Sign> {
    let mut storms: Vec<Vec<usize>> = Vec::new();
    let mut open: HashMap<u32, Vec<(retro_text::calls::Call, Vec<usize>)>> = HashMap::new();
    for (place, act) in session.acts.iter().enumerate() {
        let open = open.entry(act.beat.thread).or_default();
        if act.changes() {
            storms.extend(open.drain(..).map(|(_, places)| places));
            continue;
        }
        let Some(command) = act.call.command.as_deref().filter(|_| !act.looks) else { continue };
        let call = understand(command);
        let known = open.iter().position(|(other, _)| same_command(&call, other));
        match (act.call.is_failed(), known) {
            (true, Some(at)) => open.iter_mut().skip(at).take(1).for_each(|(_, places)| places.push(place)),
            (true, None) => open.push((call, vec![place])),
            (false, Some(at)) => storms.push(open.swap_remove(at).1),
            (false, None) => {}
        }
    }
    storms.extend(open.into_values().flatten().map(|(_, places)| places));
    storms.retain(|places| places.len() >= STORM_MIN);
    storms.sort();
    let seen = faults::seen(session);
    let mut signs: Vec<Sign> = Vec::new();
    for places in storms {
        let Some(sign) = storm(session, &seen, &places) else { continue };
        match signs.iter_mut().find(|known| known.locus == sign.locus) {
            Some(known) => known.times += sign.times,
            None => signs.push(sign),
        }
    }
    signs
}

fn storm(session: &Session<'_>, seen: &[faults::Seen<'_>], places: &[usize]) -> Option<Sign> {
    let of_error = seen
        .iter()
        .find(|seen| places.iter().filter(|place| seen.places.contains(place)).count() * 2 > places.len());
    if let Some(seen) = of_error.filter(|seen| !seen.fault.asserts) {
        return Some(seen.sign(session, Polarity::Problem));
    }
    let act = session.acts.get(*places.first()?)?;
    let command = act.call.command.as_deref()?;
    // A test fails as expected until the code is written.
    if of_error.is_some() || act.call.is_validation() {
        return None;
    }
    let locus = format!("command:{}", fingerprint::normal(command).to_lowercase());
    let mut sign = sign(
        Polarity::Problem,
        locus,
        format!("\"{}\" fails again and again", shortened(command, 80).replace('"', "'")),
    );
    sign.times = u32::try_from(places.len()).unwrap_or(u32::MAX);
    sign.evidence = places
        .iter()
        .filter_map(|place| session.acts.get(*place))
        .take(3)
        .map(|act| session.did(act))
        .collect();
    sign.remedy = places.last().and_then(|last| session.remedy(*last)).and_then(|(found, _)| found.remedy);
    sign.spent = session.spent(places.iter().copied());
    Some(sign)
}
