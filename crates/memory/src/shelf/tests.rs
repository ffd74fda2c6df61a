//! A person's decision applies to the words it was about, whatever is found later.
#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::candidate::{Repository, Risk, Span, Voice};
use crate::memory::Utility;

const THINGS: [&str; 8] = ["pnpm", "yarn", "ruff", "tabs", "vitest", "docker", "rebase", "uv"];

/// A stated rule: its session, its subject, and whether it is wanted.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Said {
    session: usize,
    event: usize,
    thing: usize,
    is_wanted: bool,
}

impl Said {
    fn words(self) -> String {
        let thing = THINGS[self.thing];
        if self.is_wanted { format!("always use {thing} here") } else { format!("never use {thing} here") }
    }
}

/// The wording and order of rules in one version of the methods.
#[derive(Debug, Clone, Copy)]
struct Version {
    tells: usize,
    is_backwards: bool,
    names_subjects: bool,
    kind: Kind,
}

const FIRST: Version =
    Version { tells: 0, is_backwards: false, names_subjects: true, kind: Kind::RepoConvention };

/// The findings of a version in all sessions, in the order of adding.
fn mined(said: &[Said], version: Version) -> Vec<(String, Candidate)> {
    let mut all = Vec::new();
    for session in 0..4 {
        let mut rules: Vec<&Said> = said.iter().filter(|said| said.session == session).collect();
        if version.is_backwards {
            rules.reverse();
        }
        for (at, rule) in rules.into_iter().enumerate() {
            all.push((format!("s{session}"), candidate(rule, at + 1, version)));
        }
    }
    all.sort_by(|a, b| before(&a.1, &b.1));
    all
}

fn candidate(said: &Said, number: usize, version: Version) -> Candidate {
    let (words, thing) = (said.words(), THINGS[said.thing]);
    let text = match version.tells {
        0 => format!("The user said: \"{words}\""),
        1 => format!("What is wanted here: \"{words}\""),
        _ => words.clone(),
    };
    let list = |wanted| if wanted == said.is_wanted { vec![thing] } else { vec![] };
    let session = format!("s{}", said.session);
    Candidate {
        id: format!("{session}:user_rules:{}", &words_hash(&text)[..10]),
        number,
        method: "user_rules".to_owned(),
        kind: version.kind,
        text,
        when_to_use: format!("{thing} comes up"),
        do_not_use_when: None,
        evidence_refs: vec![format!("m:{}", said.event)],
        spans: vec![Span { event_id: format!("m:{}", said.event), text: words, voice: Voice::User }],
        confidence: 0.8,
        priority: 3,
        scope: Scope::Repo,
        scope_reason: String::new(),
        risk: Risk::Low,
        structured: Some(json!({ "wants": list(true), "rejects": list(false) })),
        origin_repo: Some("/home/dev/shop".to_owned()),
        repository: Repository::default(),
        origin: Voice::User,
        subject: if version.names_subjects { format!("rule:{thing}") } else { String::new() },
        stance: if said.is_wanted { thing.to_owned() } else { String::new() },
        keywords: vec![thing.to_owned()],
        files: Vec::new(),
        seen: 1,
        worked: 0,
        source_hash: String::new(),
        created_at: Timestamp::from_millis(1_000_000 + 1000 * (said.session * 50 + said.event) as i64),
        expires_at: None,
    }
}

fn folded(mined: &[(String, Candidate)], written: &[Memory], decisions: &[Decision]) -> Shelf {
    let mut shelf = Shelf::new();
    shelf.decided(decisions);
    mined.iter().for_each(|(session, candidate)| shelf.add("claude", session, candidate));
    written.iter().for_each(|memory| shelf.write(memory.clone()));
    shelf.apply(decisions, &[]);
    shelf
}

fn about(memory: &Memory, event: &str) -> Decision {
    Decision {
        memory_id: memory.id.clone(),
        event: event.to_owned(),
        about: Some(Box::new(as_found(memory))),
        ..Decision::default()
    }
}

fn forgot(memory: &Memory) -> Vec<Decision> {
    let ids = memory.origins.iter().map(|origin| origin.candidate.clone()).chain([memory.id.clone()]);
    ids.map(|memory_id| Decision {
        memory_id,
        event: "memory_forgotten".to_owned(),
        words_hash: Some(words_hash(&memory.text)),
        ..Decision::default()
    })
    .collect()
}

/// True if an agent would see the memory.
fn is_shown(memory: &Memory) -> bool {
    memory.superseded_by.is_none() && matches!(memory.status, Status::Candidate | Status::Accepted)
}

fn said() -> impl Strategy<Value = Vec<Said>> {
    let one = (0..4_usize, 0..THINGS.len(), any::<bool>());
    prop::collection::vec(one, 1..10).prop_map(|all| {
        let of = |(event, (session, thing, is_wanted))| Said { session, event, thing, is_wanted };
        all.into_iter().enumerate().map(of).collect()
    })
}

fn version() -> impl Strategy<Value = Version> {
    let kinds = prop_oneof![Just(Kind::RepoConvention), Just(Kind::UserPreference)];
    (0..3_usize, any::<bool>(), any::<bool>(), kinds).prop_map(
        |(tells, is_backwards, names_subjects, kind)| Version { tells, is_backwards, names_subjects, kind },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Sessions continue, and another version of the methods reads them again: it finds more or
    /// fewer rules, in another order, under other ids, in other words.
    #[test]
    fn every_decision_is_kept(
        first in said(),
        later in said(),
        lost in prop::collection::vec(any::<bool>(), 10),
        picks in prop::collection::vec(0..4_usize, 10),
        version in version(),
    ) {
        let before_upgrade = folded(&mined(&first, FIRST), &[], &[]);
        let mut decisions = Vec::new();
        let (mut accepted, mut gone) = (Vec::new(), Vec::new());
        for (memory, pick) in before_upgrade.items().iter().filter(|memory| is_shown(memory)).zip(picks) {
            match pick {
                0 => {
                    decisions.push(about(memory, "memory_accepted"));
                    accepted.push(memory.text.clone());
                }
                1 => decisions.push(about(memory, "memory_rejected")),
                2 => decisions.extend(forgot(memory)),
                _ => continue,
            }
            if pick == 1 {
                gone.extend(memory.spans.iter().map(|span| (span.event_id.clone(), span.text.clone())));
            }
        }
        let later = later.into_iter().map(|said| Said { event: said.event + 20, ..said });
        let kept = first.iter().zip(&lost).filter(|(_, lost)| !**lost).map(|(said, _)| *said);
        let all: Vec<Said> = kept.chain(later).collect();
        let mined = mined(&all, version);
        let shelf = folded(&mined, &[], &decisions);
        for text in &accepted {
            let found: Vec<&Memory> = shelf.items().iter().filter(|memory| memory.text == *text).collect();
            let is_there = found.iter().any(|one| one.status == Status::Accepted && one.superseded_by.is_none());
            prop_assert!(is_there, "{text}: {found:?}");
        }
        for memory in shelf.items() {
            let is_accepted = memory.status == Status::Accepted;
            prop_assert!(!is_accepted || accepted.contains(&memory.text), "accepted by nobody: {}", memory.text);
            let of_gone = memory.spans.iter().any(|span| gone.contains(&(span.event_id.clone(), span.text.clone())));
            prop_assert!(!of_gone || !is_shown(memory), "rejected, and shown: {memory:?}");
            let is_forgotten = decisions.iter().any(|decision| {
                decision.words_hash.as_ref().is_some_and(|hash| *hash == words_hash(&memory.text))
            });
            prop_assert!(!is_forgotten, "forgotten: {}", memory.text);
        }
        // Reading the same data again changes nothing.
        let again = folded(&mined, &[], &decisions);
        prop_assert_eq!(again.items(), shelf.items());
    }
}

fn rule(session: usize, event: usize, thing: usize, is_wanted: bool) -> Said {
    Said { session, event, thing, is_wanted }
}

fn written(id: &str, text: &str) -> Memory {
    Memory {
        id: id.to_owned(),
        source: Source::Added,
        method: String::new(),
        status: Status::Accepted,
        text: text.to_owned(),
        when_to_use: "it comes up".to_owned(),
        kind: Kind::Case,
        scope: Scope::User,
        spans: Vec::new(),
        origins: Vec::new(),
        evidence_refs: Vec::new(),
        structured: None,
        subject: String::new(),
        stance: String::new(),
        utility: Utility::default(),
        ..Memory::mined(&candidate(&rule(0, 1, 0, true), 1, FIRST), "claude", "s0")
    }
}

#[test]
fn a_rule_that_says_the_opposite_of_an_accepted_one_has_to_be_looked_at() {
    let first = mined(&[rule(0, 1, 0, true)], FIRST);
    let accepted = about(&folded(&first, &[], &[]).items()[0], "memory_accepted");
    let shelf = folded(&mined(&[rule(0, 1, 0, true), rule(1, 2, 0, false)], FIRST), &[], &[accepted]);
    let [old, new] = shelf.items() else { panic!("{:?}", shelf.items()) };
    assert_eq!((old.status, &old.superseded_by), (Status::Accepted, &None));
    assert_eq!(new.status, Status::NeedsReview);
}

#[test]
fn what_a_person_wrote_is_there_to_the_word() {
    let notes = [
        ("a", "Run the migration on a copy first."),
        ("b", "Do not run the migration on a copy first."),
        ("c", "Port 8080 is for staging."),
        ("d", "Port 8081 is for staging."),
        ("e", "Use npm, not pnpm, here."),
    ];
    let notes = notes.map(|(id, text)| written(id, text));
    let shelf = folded(&mined(&[rule(0, 1, 0, true)], FIRST), &notes, &[]);
    for note in &notes {
        let found = shelf.get(&note.id).unwrap();
        assert_eq!((&found.text, &found.superseded_by), (&note.text, &None));
    }
    let mined = &shelf.items()[0];
    assert_eq!((mined.status, mined.superseded_by.as_deref()), (Status::Candidate, Some("e")));
}

#[test]
fn a_note_with_the_id_of_another_memory_gets_an_id_of_its_own() {
    let found = mined(&[rule(0, 1, 0, true)], FIRST);
    let id = found[0].1.id.clone();
    let mut note = written(&id, "Something else.");
    note.source = Source::Authored;
    let shelf = folded(&found, &[note], &[]);
    let reject = about(shelf.get(&id).unwrap(), "memory_rejected");
    let shelf = folded(&found, &[written(&id, "Something else.")], &[reject]);
    let statuses: Vec<_> = shelf.items().iter().map(|memory| (memory.source, memory.status)).collect();
    assert_eq!(statuses, [(Source::Mined, Status::Rejected), (Source::Added, Status::Accepted)]);
}

#[test]
fn a_decision_that_cannot_be_read_hides_what_it_is_about() {
    let found = mined(&[rule(0, 1, 0, true)], FIRST);
    let mut odd = about(&folded(&found, &[], &[]).items()[0], "memory_rejected");
    odd.event = "memory_rejecteD".to_owned();
    assert!(!odd.is_known());
    assert_eq!(folded(&found, &[], &[odd]).items()[0].status, Status::NeedsReview);
}

#[test]
fn what_was_forgotten_can_be_written_again() {
    let at = |millis| Timestamp::from_millis(millis);
    let mut note = written("own", "Port 8080 is for staging.");
    note.created_at = at(1000);
    let mut gone = forgot(&note);
    gone.iter_mut().for_each(|decision| decision.created_at = at(2000));
    assert!(folded(&[], std::slice::from_ref(&note), &gone).items().is_empty());
    note.created_at = at(3000);
    assert_eq!(folded(&[], &[note], &gone).items().len(), 1);
}

#[test]
fn a_rule_in_two_wordings_is_counted_as_often_as_it_was_said() {
    let words = ["no, guest names come from the list", "guest names come from the list, as everywhere"];
    let mut shelf = Shelf::new();
    for session in 0..9 {
        let mut one = candidate(&rule(session, session + 1, 0, true), 1, FIRST);
        let said = words[session % 2];
        one.id = format!("s{session}:user_rules:{}", words_hash(said).get(..10).unwrap());
        one.text = format!("The user said: \"{said}\"");
        one.subject = format!("rule:{said}");
        one.stance = String::new();
        one.keywords.clear();
        one.structured = Some(json!({ "shaped": true }));
        one.spans.iter_mut().for_each(|span| span.text = said.to_owned());
        shelf.add("claude", &format!("s{session}"), &one);
    }
    let open: Vec<&Memory> = shelf.items().iter().filter(|memory| memory.superseded_by.is_none()).collect();
    assert_eq!(open.iter().map(|memory| memory.seen).collect::<Vec<_>>(), [9]);
    assert_eq!(open[0].origins.len(), 9);
}
