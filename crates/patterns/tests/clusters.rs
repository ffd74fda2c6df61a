//! What is put together over sessions, and that neither order nor pieces show.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use proptest::prelude::*;
use retro_model::Timestamp;
use retro_patterns::{Evidence, Polarity, Remedy, SessionSigns, Sign, Spent, Voice, cluster, rank};

fn sign(kind: &str, locus: &str, terms: &[&str], names: &[&str], event: u32) -> Sign {
    let sorted = |list: &[&str]| {
        let mut list: Vec<String> = list.iter().map(|term| (*term).to_owned()).collect();
        list.sort();
        list
    };
    Sign {
        kind: kind.to_owned(),
        polarity: if kind == "error_then_recovery" || kind == "clean_pass" {
            Polarity::Success
        } else {
            Polarity::Problem
        },
        locus: locus.to_owned(),
        terms: sorted(terms),
        names: sorted(names),
        own: false,
        title: format!("{kind} of {locus}"),
        times: 1,
        measure: None,
        evidence: vec![Evidence {
            event_id: format!("m:{event}"),
            text: terms.join(" "),
            voice: Voice::User,
        }],
        remedy: None,
        spent: Spent { calls: 2, tokens: 100, ms: 1000 },
    }
}

fn session(agent: &str, id: u32, signs: Vec<Sign>) -> SessionSigns {
    SessionSigns {
        agent: agent.to_owned(),
        session_id: format!("s{id}"),
        repo: Some("shop".to_owned()),
        real: true,
        started_at: Timestamp::from_millis(1_772_000_000_000 + i64::from(id) * 86_400_000),
        tokens: 1000,
        minutes: 5,
        signs,
        ..SessionSigns::default()
    }
}

#[test]
fn the_same_in_two_agents_is_one_and_comes_first() {
    let error = || sign("recurring_error", "error:1", &["cannot", "find", "module"], &["sharp"], 3);
    let other = || sign("recurring_error", "error:2", &["permission", "deni", "socket"], &[], 9);
    let sessions = [
        session("claude", 1, vec![error(), other()]),
        session("codex", 2, vec![error()]),
        session("claude", 3, vec![other()]),
        session("claude", 4, vec![other()]),
    ];
    let found = cluster(&sessions);
    assert_eq!(found.candidates.len(), 2);
    let ranked = rank(found.candidates, Timestamp::from_millis(1_773_000_000_000).unwrap());
    assert!(ranked[0].candidate.is_cross_agent() && !ranked[1].candidate.is_cross_agent());
    assert!(ranked[1].score > ranked[0].score, "{}", ranked[0].why);
}

#[test]
fn several_detectors_over_the_same_sessions_are_one_candidate_with_types() {
    let of = |id| {
        let mut recovered = sign("error_then_recovery", "error:1", &["cannot", "find", "module"], &[], 3);
        let step = Evidence { event_id: "m:7".into(), text: "ran npm ci".into(), voice: Voice::Model };
        recovered.remedy = Some(Remedy { steps: vec![step] });
        let storm = sign("retry_storm", "command:npm start", &[], &[], 3);
        session(
            "claude",
            id,
            vec![sign("recurring_error", "error:1", &["cannot", "find", "module"], &[], 3), recovered, storm],
        )
    };
    let found = cluster(&[of(1), of(2)]).candidates;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].types, ["error_then_recovery", "recurring_error", "retry_storm"]);
    assert_eq!((found[0].kind.as_str(), found[0].polarity), ("retry_storm", Polarity::Problem));
    assert_eq!((found[0].resolutions[0].text.as_str(), found[0].resolutions[0].times), ("ran npm ci", 2));
}

#[test]
fn corrections_in_other_words_are_one_and_others_are_not() {
    let said = |id, words: &[&str]| {
        session("claude", id, vec![sign("correction_repeated", &format!("correction:{id}"), words, &[], 2)])
    };
    let sessions = [
        said(1, &["date-fn", "moment"]),
        said(2, &["date-fn", "moment", "library"]),
        said(3, &["comment", "function"]),
    ];
    let found = cluster(&sessions).candidates;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].members.len(), 2);
}

#[test]
fn names_may_differ_in_an_environment_and_not_in_code_that_was_written() {
    let terms = &["cannot", "connect", "find", "instance", "server"];
    let one = sign("recurring_error", "error:1", terms, &["redis"], 3);
    let two = sign("recurring_error", "error:2", terms, &["cache"], 3);
    let found = |a: &Sign, b: &Sign| {
        cluster(&[session("claude", 1, vec![a.clone()]), session("claude", 2, vec![b.clone()])])
            .candidates
            .len()
    };
    assert_eq!(found(&one, &two), 1);
    let own = Sign { own: true, ..two };
    assert_eq!(found(&one, &own), 0);
}

#[test]
fn once_is_no_pattern_nor_is_a_session_with_its_sub_agents() {
    let error = || sign("recurring_error", "error:1", &["cannot", "find", "module"], &[], 3);
    let child = SessionSigns { parent: Some("s1".into()), ..session("claude", 2, vec![error()]) };
    assert!(cluster(&[session("claude", 1, vec![error()]), child]).candidates.is_empty());
}

#[test]
fn a_check_that_a_program_asks_for_again_and_again_is_none() {
    let error = || sign("recurring_error", "error:1", &["service", "unhealthy", "state"], &[], 3);
    let check = |id| SessionSigns { check: Some("same".into()), ..session("claude", id, vec![error()]) };
    assert!(cluster(&[check(1), check(2), check(3)]).candidates.is_empty());
}

fn any_sign() -> impl Strategy<Value = Sign> {
    let kinds = prop::sample::select(vec![
        "recurring_error",
        "retry_storm",
        "error_then_recovery",
        "correction_repeated",
        "abandoned",
    ]);
    let word = || {
        prop::sample::select(vec!["cannot", "connect", "server", "module", "port", "index", "lock", "moment"])
    };
    (kinds, 0..6_u32, prop::collection::btree_set(word(), 1..5), 0..4_u32).prop_map(
        |(kind, locus, words, event)| {
            let family = match kind {
                "correction_repeated" => "correction",
                "abandoned" => "abandoned",
                _ => "error",
            };
            let words: Vec<&str> = words.into_iter().collect();
            sign(kind, &format!("{family}:{locus}"), &words, &[], event)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn order_does_not_show(
        all in prop::collection::vec((0..2_usize, prop::collection::vec(any_sign(), 0..5)), 1..12),
        shuffle in prop::collection::vec(any::<u32>(), 12),
    ) {
        let sessions: Vec<SessionSigns> = all
            .into_iter()
            .enumerate()
            .map(|(id, (agent, signs))| session(["claude", "codex"][agent], u32::try_from(id).unwrap(), signs))
            .collect();
        let mut other: Vec<(u32, SessionSigns)> = shuffle.into_iter().zip(sessions.clone()).collect();
        other.sort_by_key(|(key, _)| *key);
        for (_, session) in &mut other {
            session.signs.reverse();
        }
        let other: Vec<SessionSigns> = other.into_iter().map(|(_, session)| session).collect();
        let of = |sessions: &[SessionSigns]| {
            let found = cluster(sessions).candidates;
            found.into_iter().map(|one| (one.key, one.loci, one.types, one.members.len(), one.resolutions)).collect::<Vec<_>>()
        };
        prop_assert_eq!(of(&sessions), of(&other));
    }
}

#[test]
fn impact_is_what_comparable_sessions_do_not_use() {
    // A command that fails is run all the same where it does not fail: one of two calls.
    let error = || sign("recurring_error", "error:1", &["cannot", "find", "module"], &["sharp"], 3);
    let found = cluster(&[session("claude", 1, vec![error()]), session("codex", 2, vec![error()])]);
    assert!(found.candidates[0].members.iter().all(|member| member.impact.tokens == 50));

    // Of a slow start, what is more than the median of the agent's own sessions.
    let start = |calls: u64| {
        let mut sign = sign("slow_start", "start:shop", &[], &[], 1);
        (sign.measure, sign.spent) = (Some(calls), Spent { calls: calls as u32, tokens: calls * 10, ms: 0 });
        sign
    };
    let with = |agent: &str, id: u32, calls: u64, signs: Vec<Sign>| SessionSigns {
        calls_to_edit: Some(calls),
        ..session(agent, id, signs)
    };
    let mut sessions: Vec<SessionSigns> = (0..12).map(|id| with("claude", id, 4, Vec::new())).collect();
    sessions.extend((20..32).map(|id| with("codex", id, 10, Vec::new())));
    sessions.push(with("claude", 40, 40, vec![start(40)]));
    sessions.push(with("codex", 41, 40, vec![start(40)]));
    let found = cluster(&sessions);
    let impact: Vec<u64> = found.candidates[0].members.iter().map(|member| member.impact.tokens).collect();
    assert_eq!(impact, [360, 300], "claude begins after 4 calls, codex after 10");
}
