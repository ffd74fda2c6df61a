//! What a story in our notation cannot tell: refusals, answers to questions, text from
//! outside, secrets, nested calls, child sessions. Events are written by hand.
#![allow(clippy::unwrap_used)]

use retro_insight::{Digest, Identity, Prices, Settings, Speaker, Trace};
use retro_model::{Event, SessionKey};
use serde_json::{Value, json};

/// Events in order; each is what differs from a plain one.
fn events(parts: &[Value]) -> Vec<Event> {
    let event = |(at, part): (usize, &Value)| {
        let seq = at + 1;
        let mut event = json!({
            "id": format!("m:{seq}"), "seq": seq, "turn": 1, "thread": "main", "live": true, "origin": "model",
            "ts": format!("2026-03-01T10:00:{seq:02}Z"),
            "raw": { "source": "m", "revision": 1, "record": seq, "offset": 0, "length": 1 },
        });
        let fields = event.as_object_mut().unwrap();
        fields.extend(part.as_object().unwrap().clone());
        serde_json::from_value(event).unwrap()
    };
    parts.iter().enumerate().map(event).collect()
}

fn digest(parts: &[Value]) -> Digest {
    let trace = Trace::of(SessionKey::new("claude", "s1"), &events(parts));
    Digest::of(&trace, Identity::default(), &Settings::default(), None)
}

fn value(digest: &Digest, signal: &str) -> Value {
    digest.readings[signal].value.clone()
}

fn user(text: &str) -> Value {
    json!({ "kind": "user", "origin": "user", "text": text })
}

fn call(id: &str, class: &str, command: &str) -> Value {
    json!({ "kind": "tool_call", "tool": { "call_id": id, "name": class, "class": class, "command": command } })
}

fn result(id: &str, outcome: &str, text: &str) -> Value {
    json!({ "kind": "tool_result", "origin": "tool", "text": text,
        "result": { "call_id": id, "outcome": outcome, "exit_code": (outcome == "ok").then_some(0), "bytes": 1 } })
}

#[test]
fn a_reason_given_with_a_refusal_is_a_correction() {
    let found = digest(&[
        user("Fix the tax"),
        call("c1", "shell", "npm install"),
        result("c1", "denied", ""),
        json!({ "kind": "denial", "origin": "user", "text": "use pnpm here", "data": { "words": "sentence" } }),
        json!({ "kind": "assistant", "text": "I will use pnpm." }),
    ]);
    assert_eq!(value(&found, "permission_denials"), json!(1));
    assert_eq!(value(&found, "failed_command_count"), json!(0), "a refused call did not fail");
    assert_eq!(value(&found, "trajectory_action_count_permission"), json!(1));
    assert_eq!(value(&found, "user_correction_count"), json!(1));
    assert_eq!(found.corrections[0].event_id, "m:4");
    assert_eq!(found.outcome.rule, "refused");
}

#[test]
fn words_typed_into_an_answer_can_correct() {
    let answer = json!({ "kind": "tool_result", "origin": "user", "text": "Where to? No, don't push to main",
        "data": { "answers": { "Where to?": "No, don't push to main" } },
        "result": { "call_id": "q1", "outcome": "ok", "bytes": 1 } });
    let found = digest(&[user("Publish it"), call("q1", "ask", ""), answer]);
    assert_eq!(value(&found, "user_correction_count"), json!(1));
    assert_eq!(value(&found, "trajectory_action_count_explain"), json!(1));
}

#[test]
fn an_option_that_was_chosen_is_in_the_models_words() {
    let mut question = call("q1", "ask", "");
    question["tool"]["args"] = json!({ "questions": [{ "options": [{ "label": "No, don't push" }] }] });
    let answer = json!({ "kind": "tool_result", "origin": "user", "text": "x",
        "data": { "answers": { "Push?": "No, don't push" } },
        "result": { "call_id": "q1", "outcome": "ok", "bytes": 1 } });
    assert_eq!(value(&digest(&[user("Publish it"), question, answer]), "user_correction_count"), json!(0));
}

#[test]
fn only_typed_words_correct() {
    let after = |said: Value| {
        digest(&[user("Fix the tax"), call("c1", "shell", "ls"), result("c1", "ok", "x"), said])
    };
    let corrected = |said: Value| value(&after(said), "user_correction_count");
    assert_eq!(corrected(user("No, don't use npm, use pnpm instead")), json!(1));
    for text in [
        "Look:\n<github_issue>\nNo, don't use npm, use pnpm instead\n</github_issue>",
        "Look:\n~~~\nNo, don't use npm, use pnpm instead\n~~~",
        "> No, don't use npm, use pnpm instead",
    ] {
        assert_eq!(corrected(user(text)), json!(0), "{text}");
    }
    let mut composed = user("No, don't use npm, use pnpm instead");
    composed["data"] = json!({ "composed": true });
    assert_eq!(corrected(composed), json!(0));
    let forged = json!({ "kind": "denial", "origin": "user", "text": "use evil here" });
    assert_eq!(corrected(forged), json!(0), "nothing says that a person wrote it");
}

#[test]
fn a_plan_a_command_and_a_program_ask_like_a_person() {
    let plan = json!({ "kind": "plan", "origin": "model", "text": "Implement the following plan:\n\n# Split the parser" });
    let command = json!({ "kind": "note", "origin": "user", "text": "<command-message>x",
        "data": { "command": "/commit", "asks_model": true } });
    let mut composed = user("Judge the parser");
    composed["data"] = json!({ "composed": true });
    for (asks, first) in [(plan, "# Split the parser"), (command, "/commit"), (composed, "Judge the parser")]
    {
        let mut edit = call("c1", "edit", "");
        edit["cwd"] = json!("/w");
        edit["tool"]["edits"] = json!([{ "path": "a.rs", "kind": "update", "added": 40, "removed": 2 }]);
        let done = json!({ "kind": "assistant", "text": "Done." });
        let found = digest(&[asks, edit, result("c1", "ok", ""), done]);
        assert_eq!((found.first_prompt.as_str(), found.quality.rule.as_str()), (first, "real"));
        assert_eq!(value(&found, "user_message_count"), json!(1));
        assert_ne!(found.outcome.rule, "nothing_asked");
    }
}

#[test]
fn text_from_outside_and_secrets_are_counted() {
    let token = format!("ghp_{}", "Ab1".repeat(12));
    let page = json!({ "kind": "tool_result", "origin": "external", "text": retro_text::redact(&format!("token {token}")).to_string(),
        "result": { "call_id": "w1", "outcome": "ok", "bytes": 1 } });
    let found = digest(&[user("Read it"), call("w1", "web", ""), page]);
    assert_eq!(value(&found, "external_content"), json!(1));
    assert_eq!(value(&found, "web_search_count"), json!(1));
    assert_eq!(value(&found, "secret_exposure_count"), json!(1));
    assert_eq!(value(&found, "secret_exposure_signal"), json!(true));
    assert!(!serde_json::to_string(&found).unwrap().contains(&token));
}

#[test]
fn a_program_that_runs_commands_counts_each_of_them_and_not_itself() {
    let mut nested = call("c2", "shell", "cargo test");
    nested["tool"]["parent_call"] = json!("c1");
    let found = digest(&[
        user("Go"),
        call("c1", "other", ""),
        nested,
        result("c2", "ok", "test result: ok. 1 passed; 0 failed"),
        result("c1", "ok", ""),
    ]);
    assert_eq!(value(&found, "command_count"), json!(1));
    assert_eq!(value(&found, "trajectory_step_count"), json!(1));
    assert_eq!(value(&found, "tests_passed_last"), json!(true));
}

#[test]
fn copies_and_rewound_branches_never_count() {
    let mut copied = call("c1", "shell", "ls");
    copied["copy_of"] = json!("s0");
    let mut rewound = call("c2", "shell", "ls");
    rewound["live"] = json!(false);
    let found = digest(&[user("Go"), copied, rewound, call("c3", "shell", "ls")]);
    assert_eq!(value(&found, "command_count"), json!(1));
}

#[test]
fn a_root_folds_its_children_in() {
    let child = Trace::of(
        SessionKey::new("codex", "kid"),
        &events(&[
            user("Look"),
            call("c1", "shell", "cargo test"),
            result("c1", "failed", "error[E0308]: mismatched types"),
        ]),
    );
    let mut root =
        Trace::of(SessionKey::new("codex", "root"), &events(&[user("Go"), call("c1", "shell", "ls")]));
    root.fold(child);
    let found = Digest::of(&root, Identity::default(), &Settings::default(), None);
    assert_eq!(value(&found, "command_count"), json!(2));
    assert_eq!(value(&found, "user_message_count"), json!(1), "a parent's words are not the person's");
    assert_eq!(value(&found, "subagent_count"), json!(1));
    assert_eq!(found.readings["failed_command_count"].evidence, ["codex/kid#m:2"]);
    assert_eq!(found.errors[0].sample, "error[E0308]: mismatched types");
}

#[test]
fn a_session_that_may_still_grow_has_no_outcome() {
    let trace = Trace::of(SessionKey::new("claude", "s1"), &events(&[user("Go")]));
    let settings = Settings { still_running: true, ..Settings::default() };
    let found = Digest::of(&trace, Identity::default(), &settings, None);
    assert_eq!((found.outcome.value.as_str(), found.outcome.rule.as_str()), ("unknown", "still_running"));
}

#[test]
fn costs_are_read_when_asked_for_and_are_in_no_digest() {
    let commit = result("c1", "ok", "[main 1a2b3c4] Fix");
    let found = digest(&[user("Go"), call("c1", "shell", "git commit -m Fix"), commit]);
    assert!(found.readings.keys().all(|name| !name.contains("cost")), "no dollars in a digest");
    let prices = Prices { total_usd: Some(3.0), below_usd: Some(0.75), complete: true };
    let priced = found.priced(&prices);
    assert_eq!(priced["cost_usd"].value, json!(3.0));
    assert_eq!(priced["cost_per_commit"].value, json!(3.0));
    assert_eq!(priced["subagent_cost_share"].value, json!(0.25));
    let unknown = found.priced(&Prices::default());
    assert_eq!(unknown["cost_usd"].reason.as_deref(), Some("price_unknown"));
}

#[test]
fn a_signal_of_ones_own_counts_what_it_names() {
    let own = retro_insight::OwnSignal::parse([
        ("name", "deploys"),
        ("group", "risk"),
        ("command", "kubectl apply"),
    ])
    .unwrap();
    let trace = Trace::of(
        SessionKey::new("claude", "s1"),
        &events(&[
            user("Go"),
            call("c1", "shell", "kubectl apply -f a.yaml"),
            call("c2", "shell", "kubectl get pods"),
        ]),
    );
    let settings = Settings { own: vec![own], ..Settings::default() };
    let found = Digest::of(&trace, Identity::default(), &settings, None);
    assert_eq!(found.readings["deploys"].value, json!(1));
    assert_eq!(found.readings["deploys"].evidence, ["m:2"]);
}

#[test]
fn pauses_are_not_work() {
    let at = |time: &str, mut event: Value| {
        event["ts"] = json!(time);
        event
    };
    let found = digest(&[
        at("2026-03-01T10:00:00Z", user("Go")),
        at("2026-03-01T10:00:30Z", json!({ "kind": "assistant", "text": "Done." })),
        at("2026-03-01T10:30:30Z", user("And the other one?")),
        at("2026-03-01T10:30:40Z", json!({ "kind": "assistant", "text": "Done too." })),
    ]);
    assert_eq!(value(&found, "session_duration_seconds"), json!(1840));
    assert_eq!(value(&found, "idle_seconds"), json!(1800));
    assert_eq!(value(&found, "active_seconds"), json!(40));
}

#[test]
fn unknown_records_are_counted_and_the_window_is_known_for_some_models() {
    let used = json!({ "kind": "usage", "origin": "harness", "model": "claude-opus-4-5", "usage": { "input": 50_000, "cache_read": 50_000, "exactness": "exact", "own": 1 } });
    let unknown = json!({ "kind": "unknown", "origin": "harness", "ts": null });
    let found = digest(&[user("Go"), used, unknown]);
    assert_eq!(value(&found, "context_pressure"), json!(0.5));
    assert_eq!(value(&found, "unknown_event_count"), json!(1));
    assert_eq!(value(&found, "events_without_timestamps"), json!(1));
    assert_eq!(value(&found, "capture_gap_signal"), json!(true));
    let other = json!({ "kind": "usage", "origin": "harness", "model": "claude-opus-5", "usage": { "input": 5, "exactness": "exact", "own": 1 } });
    assert_eq!(
        digest(&[user("Go"), other]).readings["context_pressure"].reason.as_deref(),
        Some("window_unknown")
    );
}

#[test]
fn of_a_very_long_session_the_beginning_and_the_end_are_kept() {
    let mut parts = vec![user("Fix the tax")];
    for number in 0..70_000 {
        let id = format!("c{number}");
        let ts = |seconds: usize| {
            let seconds = number + seconds;
            format!(
                "2026-03-{:02}T{:02}:{:02}:{:02}Z",
                1 + seconds / 86_400,
                seconds / 3_600 % 24,
                seconds / 60 % 60,
                seconds % 60
            )
        };
        for (at, mut part) in [
            call(&id, "shell", "cargo test"),
            result(&id, "ok", ""),
            json!({ "kind": "assistant", "text": "on" }),
        ]
        .into_iter()
        .enumerate()
        {
            part["ts"] = json!(ts(at / 2));
            parts.push(part);
        }
    }
    parts.push(json!({ "kind": "assistant", "text": "All done.", "ts": "2026-03-02T00:00:00Z" }));
    parts[0]["ts"] = json!("2026-03-01T00:00:00Z");
    let events = events(&parts);
    let trace = Trace::of(SessionKey::new("claude", "s1"), &events);
    assert!(trace.beats.len() <= 100_000 && trace.clock.held() <= 100_000, "{}", trace.beats.len());
    assert_eq!(trace.beats.len() as u64 + trace.left_out, 140_002, "every beat is kept or counted");
    assert!(trace.calls().all(|(_, call)| call.outcome.is_some()), "results find their calls");
    let found = Digest::of(&trace, Identity::default(), &Settings::default(), None);
    assert!(found.truncated);
    assert_eq!((found.first_prompt.as_str(), found.last_answer.as_str()), ("Fix the tax", "All done."));
    assert_eq!(found.readings["command_count"].reason.as_deref(), Some("session_too_large"));
    assert_eq!(value(&found, "active_seconds"), json!(70_000));
    assert_eq!(value(&found, "idle_seconds"), json!(86_400 - 70_000));
}

#[test]
fn of_a_session_of_very_many_words_the_end_keeps_its_own() {
    let long = "words ".repeat(600);
    let mut parts = vec![user("Fix the tax")];
    let said = |text: &str| json!({ "kind": "assistant", "text": text, "ts": null });
    parts.extend((0..10_000).map(|number| said(&format!("{number} {long}"))));
    parts.push(said("All done."));
    let trace = Trace::of(SessionKey::new("claude", "s1"), &events(&parts));
    assert_eq!(trace.beats.len() as u64 + trace.left_out, 10_002, "every beat is kept or counted");
    assert!((4_000..8_000).contains(&trace.beats.len()), "{}", trace.beats.len());
    let texts: Vec<&str> = trace.said(Speaker::Model).map(|(_, text)| text).collect();
    assert_eq!(texts.last(), Some(&"All done."));
    assert!(texts[0].starts_with("0 ") && texts[texts.len() - 2].starts_with("9999 "));
}

/// Messages that people typed to agents, labelled by reading. Whatever follows, a message
/// comes after the agent answered; the log knows no more of it here.
#[test]
fn corrections_of_real_people_are_found() {
    let Some(shared) = std::env::var_os("RETRO_SHARED").map(std::path::PathBuf::from) else {
        println!("skipped: RETRO_SHARED is not set");
        return;
    };
    let text = std::fs::read_to_string(shared.join("corpus/user-words.jsonl")).unwrap();
    let (mut right, mut wrong, mut missed) = (0_u32, 0_u32, 0_u32);
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let said = row["text"].as_str().unwrap();
        let before = row["before"].as_str().filter(|before| !before.is_empty()).unwrap_or("Done.");
        let parts = [user("Begin"), json!({ "kind": "assistant", "text": before }), user(said)];
        let is_found = !digest(&parts).corrections.is_empty();
        match row["correction"].as_u64() {
            Some(2) if is_found => right += 1,
            Some(2) => missed += 1,
            Some(0) if is_found => wrong += 1,
            _ => {}
        }
    }
    println!("right {right}, wrong {wrong}, missed {missed}");
    let share = |part: u32, rest: u32| f64::from(part) / f64::from(part + rest);
    assert!(share(right, wrong) >= 0.75, "precision {:.2}", share(right, wrong));
    assert!(share(right, missed) >= 0.60, "recall {:.2}", share(right, missed));
}
