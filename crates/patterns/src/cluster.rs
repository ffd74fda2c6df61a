//! Merges the signs of all sessions into recurring candidates.
//!
//! A function of the set of signs: the result does not depend on their order or the pieces in which
//! they arrived. Loci are processed in order of their first occurrence, and each joins the first
//! earlier one that it is near to. Therefore a candidate keeps its key while more signs are found.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;
use retro_model::Timestamp;
use retro_search::embed::{BuiltIn, Embedder};

use crate::candidate::{Candidate, Member, MemberImpact, resolutions};
use crate::corpus::Corpus;
use crate::detectors::by_name;
use crate::near::{Blocks, Spot, is_near};
use crate::sign::{Evidence, Polarity, SessionSigns, Sign};
use crate::terms::name_of;

/// The most pieces of evidence per session.
const EVIDENCE_MAX: usize = 4;
/// The least number of sessions of a recurrence.
const SESSIONS_MIN: usize = 2;

/// A group about whole sessions joins another group if they share this part of their sessions.
const SAME_SESSIONS: f64 = 0.75;

/// The recurring candidates, and the sessions they come from.
#[derive(Debug, Clone, Default)]
pub struct Clusters {
    /// The candidates, by key.
    pub candidates: Vec<Candidate>,
    /// Sessions that were examined: real work, with sub-agents counted under their root.
    pub sessions: usize,
    /// Typical values of these sessions.
    pub corpus: Corpus,
}

/// Merges the signs of all sessions.
pub fn cluster(sessions: &[SessionSigns]) -> Clusters {
    let corpus = Corpus::of(sessions);
    let real: Vec<&SessionSigns> = sessions.iter().filter(|session| session.real).collect();
    let looked: BTreeSet<(&str, &str)> = real.iter().map(|session| session.root()).collect();
    let mut loci: BTreeMap<&str, Vec<(&SessionSigns, &Sign)>> = BTreeMap::new();
    for session in real.into_iter().filter(|session| !corpus.is_check(session)) {
        for sign in session.signs.iter().filter(|sign| corpus.counts(sign, session)) {
            loci.entry(&sign.locus).or_default().push((session, sign));
        }
    }
    let groups = together(&loci);
    let mut found: Vec<Vec<(&SessionSigns, &Sign)>> = groups
        .into_iter()
        .map(|group| group.into_iter().filter_map(|locus| loci.get(locus)).flatten().copied().collect())
        .collect();
    found.iter_mut().for_each(|seen| seen.sort_by(|a, b| order(a).cmp(&order(b))));
    found.retain(|seen| roots(seen).len() >= SESSIONS_MIN);
    let found = joined(found);
    let mut candidates: Vec<Candidate> = found.iter().filter_map(|seen| candidate(seen, &corpus)).collect();
    candidates.sort_by(|a, b| a.key.cmp(&b.key));
    Clusters { candidates, sessions: looked.len(), corpus }
}

type Seen<'a> = (&'a SessionSigns, &'a Sign);

/// A total order over signs that does not depend on their arrival.
fn order<'a>(seen: &Seen<'a>) -> (Option<Timestamp>, [&'a str; 5], &'a [String], &'a [Evidence], u32) {
    let (session, sign) = *seen;
    let names: [&str; 5] = [&session.agent, &session.session_id, &sign.kind, &sign.locus, &sign.title];
    (session.started_at, names, &sign.terms, &sign.evidence, sign.times)
}

fn roots<'a>(seen: &[Seen<'a>]) -> BTreeSet<(&'a str, &'a str)> {
    seen.iter().map(|(session, _)| session.root()).collect()
}

/// Groups of equal or near loci, the first seen of each first.
fn together<'a>(loci: &BTreeMap<&'a str, Vec<Seen<'a>>>) -> Vec<Vec<&'a str>> {
    let model = BuiltIn::new().ok();
    let mut spots: Vec<(Option<Timestamp>, &str, Spot, &str)> = Vec::with_capacity(loci.len());
    for (locus, seen) in loci {
        let first = seen.iter().map(|(session, _)| session.started_at).min().flatten();
        let Some(earliest) = seen.iter().min_by(|a, b| order(a).cmp(&order(b))) else { continue };
        let mut spot = Spot::of(earliest.1);
        seen.iter().for_each(|(_, sign)| spot.add(sign));
        let said = earliest.1.evidence.first().map_or("", |evidence| evidence.text.as_str());
        spots.push((first, locus, spot, said));
    }
    spots.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let mut centres: Vec<Spot> = Vec::new();
    let mut groups: Vec<Vec<&str>> = Vec::new();
    let mut blocks = Blocks::new();
    for (_, locus, mut spot, said) in spots {
        if spot.family() == "correction" {
            let embedded = model.as_ref().and_then(|model| model.embed(&[said]).ok());
            spot.meaning = embedded.and_then(|mut vectors| vectors.pop());
        }
        let near = blocks.near(&spot);
        let centre =
            near.into_iter().find(|place| centres.get(*place).is_some_and(|centre| is_near(centre, &spot)));
        match centre.and_then(|place| groups.get_mut(place)) {
            Some(group) => group.push(locus),
            None => {
                blocks.add(&spot, centres.len());
                centres.push(spot);
                groups.push(vec![locus]);
            }
        }
    }
    groups
}

/// Merges groups that are based on the same calls: several detectors found one problem.
fn joined<'a>(mut found: Vec<Vec<Seen<'a>>>) -> Vec<Vec<Seen<'a>>> {
    // Groups about whole sessions come last, and join other groups of these sessions.
    found.sort_by(|a, b| {
        let by_size = b.len().cmp(&a.len()).then_with(|| a.first().map(order).cmp(&b.first().map(order)));
        is_of_sessions(a).cmp(&is_of_sessions(b)).then(by_size)
    });
    let mut events: HashMap<(&str, &str, &str), Vec<usize>> = HashMap::new();
    let mut all: Vec<Vec<Seen<'a>>> = Vec::new();
    for seen in found {
        // The sessions in which this group shares a call with each earlier group.
        let mut shared: BTreeMap<usize, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for (session, sign) in &seen {
            for evidence in &sign.evidence {
                let event = (session.agent.as_str(), session.session_id.as_str(), evidence.event_id.as_str());
                for place in events.get(&event).into_iter().flatten() {
                    shared.entry(*place).or_default().insert(session.root());
                }
            }
        }
        let own = roots(&seen);
        let on_calls = shared
            .into_iter()
            .filter(|(place, roots)| {
                let other = all.get(*place);
                let is_local = !is_of_sessions(&seen) && !other.is_some_and(|other| is_of_sessions(other));
                let is_alike = other.is_some_and(|other| polarity(other) == polarity(&seen));
                roots.len() >= SESSIONS_MIN && roots.len() * 2 >= own.len() && is_local && is_alike
            })
            .max_by_key(|(place, roots)| (roots.len(), std::cmp::Reverse(*place)));
        let place = match on_calls {
            Some((place, _)) => place,
            None if is_of_sessions(&seen) => same_sessions(&all, &seen).unwrap_or(all.len()),
            None => all.len(),
        };
        for (session, sign) in &seen {
            for evidence in &sign.evidence {
                let event = (session.agent.as_str(), session.session_id.as_str(), evidence.event_id.as_str());
                events.entry(event).or_default().push(place);
            }
        }
        match all.get_mut(place) {
            Some(other) => other.extend(seen),
            None => all.push(seen),
        }
    }
    all.iter_mut().for_each(|seen| seen.sort_by(|a, b| order(a).cmp(&order(b))));
    all
}

fn polarity(seen: &[Seen<'_>]) -> Option<Polarity> {
    seen.iter().map(|(_, sign)| sign.polarity).min()
}

/// True if signs are about whole sessions, and not about calls in them.
fn is_of_sessions(seen: &[Seen<'_>]) -> bool {
    seen.iter().all(|(_, sign)| sign.measure.is_some())
}

/// The first of these groups in nearly the same sessions. Two groups about whole sessions only need
/// to share half of them, because their limits differ.
fn same_sessions(all: &[Vec<Seen<'_>>], seen: &[Seen<'_>]) -> Option<usize> {
    let own = roots(seen);
    all.iter().position(|other| {
        let others = roots(other);
        let shared = own.intersection(&others).count();
        let is_near = match is_of_sessions(other) {
            true => shared * 2 >= own.len().min(others.len()),
            false => shared as f64 >= SAME_SESSIONS * (own.len() + others.len() - shared) as f64,
        };
        polarity(other) == polarity(seen) && shared >= SESSIONS_MIN && is_near
    })
}

fn candidate(seen: &[Seen<'_>], corpus: &Corpus) -> Option<Candidate> {
    let (_, first) = seen.iter().find(|(_, sign)| sign.measure.is_none()).or(seen.first())?;
    let mut by_root: BTreeMap<(&str, &str), Vec<Seen<'_>>> = BTreeMap::new();
    for one in seen {
        by_root.entry(one.0.root()).or_default().push(*one);
    }
    let mut members: Vec<Member> = by_root.into_values().filter_map(|seen| member(&seen, corpus)).collect();
    members.sort_by(|a, b| (a.at, &a.agent, &a.session_id).cmp(&(b.at, &b.agent, &b.session_id)));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for member in &members {
        for kind in &member.types {
            *counts.entry(kind.as_str()).or_default() += 1;
        }
    }
    let types: Vec<String> = counts.keys().map(|kind| (*kind).to_owned()).collect();
    let detector = |kind: &str| by_name(kind);
    let is_often = |count: usize| count >= SESSIONS_MIN && count * 2 >= members.len();
    let polarity = seen.iter().map(|(_, sign)| sign.polarity).min().unwrap_or(Polarity::Problem);
    let fits = |kind: &str| detector(kind).is_some_and(|detector| detector.polarity == polarity);
    let kind = counts
        .iter()
        .filter(|(kind, _)| fits(kind))
        .min_by_key(|(kind, count)| {
            (!is_often(**count), detector(kind).map_or(u8::MAX, |detector| detector.order))
        })
        .map(|(kind, _)| (*kind).to_owned())?;
    let mut loci: Vec<String> = seen.iter().map(|(_, sign)| name_of(&sign.locus)).collect();
    loci.sort();
    loci.dedup();
    let title = seen.iter().find(|(_, sign)| sign.kind == kind).map_or(&first.title, |(_, sign)| &sign.title);
    let family = first.locus.split(':').next().unwrap_or_default();
    Some(Candidate {
        key: format!("{family}-{}", name_of(&first.locus)),
        loci,
        polarity,
        kind,
        types,
        locus: first.locus.clone(),
        title: title.clone(),
        resolutions: resolutions(&members),
        members,
    })
}

fn member(seen: &[Seen<'_>], corpus: &Corpus) -> Option<Member> {
    let (session, _) = seen.first()?;
    let mut types: Vec<String> = seen.iter().map(|(_, sign)| sign.kind.clone()).collect();
    types.sort();
    types.dedup();
    // Of several signs from the same calls, the widest counts. Several loci are added.
    let mut by_locus: BTreeMap<&str, (u32, u64, u64)> = BTreeMap::new();
    for (_, sign) in seen {
        let (times, tokens, ms) = by_locus.entry(&sign.locus).or_default();
        let spent = corpus.above(sign, session);
        *times = (*times).max(sign.times);
        *tokens = (*tokens).max(spent.tokens);
        *ms = (*ms).max(spent.ms);
    }
    let sum = |value: fn(&(u32, u64, u64)) -> u64| by_locus.values().map(value).fold(0, u64::saturating_add);
    let mut impact = MemberImpact {
        tokens: sum(|(_, tokens, _)| *tokens).min(session.tokens),
        seconds: sum(|(_, _, ms)| *ms) / 1000,
        of_tokens: session.tokens,
    };
    // Where no calls are concerned, it is what the whole session used beyond others.
    if seen.iter().all(|(_, sign)| sign.measure.is_some() && sign.spent.calls == 0) {
        let (tokens, minutes) = corpus.excess(session);
        impact = MemberImpact { tokens, seconds: minutes * 60, of_tokens: session.tokens };
    }
    if seen.iter().all(|(_, sign)| sign.polarity == Polarity::Success) {
        impact = MemberImpact { of_tokens: session.tokens, ..MemberImpact::default() };
    }
    let mut evidence: Vec<Evidence> = Vec::new();
    for piece in seen.iter().flat_map(|(_, sign)| &sign.evidence) {
        if evidence.len() < EVIDENCE_MAX && !evidence.contains(piece) {
            evidence.push(piece.clone());
        }
    }
    let (agent, root) = session.root();
    Some(Member {
        agent: agent.to_owned(),
        session_id: root.to_owned(),
        repo: session.repo.clone(),
        at: session.started_at,
        times: by_locus.values().map(|(times, _, _)| *times).fold(0, u32::saturating_add).max(1),
        types,
        impact,
        evidence,
        remedy: seen.iter().find_map(|(_, sign)| sign.remedy.clone()),
        source: session.source.clone(),
    })
}
