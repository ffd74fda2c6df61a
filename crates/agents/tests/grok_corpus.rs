//! Grok against recorded sessions, where there are some (see `corpus`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod corpus;
mod home;

use corpus::{assert_none, corpus, wrong};
use home::{Home, Source, settled};
use retro_agents::{Agent, Settled, by_name};
use retro_model::{Event, Kind, LinkKind, Origin, Outcome, Usage};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

fn grok() -> &'static dyn Agent {
    by_name("grok").unwrap()
}

/// A recorded scenario: its name, its sessions, what happened and what was billed.
struct Scenario {
    name: String,
    home: Home,
    truth: Value,
    ledger: Vec<Value>,
}

fn scenarios(corpus: &Path) -> Vec<Scenario> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(corpus.join("genuine").join("grok"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let read = |folder: &PathBuf| {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        Scenario {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            home: Home::read(grok(), &folder.join("home")),
            truth: serde_json::from_str(&text("truth.json")).unwrap(),
            ledger: text("ledger.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        }
    };
    folders.iter().map(read).collect()
}

/// Every session of the corpus.
fn all_sessions(corpus: &Path) -> Vec<(String, String, Vec<Source>)> {
    let mut all = Vec::new();
    for scenario in scenarios(corpus) {
        assert!(scenario.home.unreadable.is_empty(), "{:?}", scenario.home.unreadable);
        all.extend(
            scenario.home.sessions.into_iter().map(|(id, sources)| (scenario.name.clone(), id, sources)),
        );
    }
    all
}

/// Words behind each `before` that a plain search of the bytes finds.
fn ids_behind(bytes: &[u8], before: &str) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    text.match_indices(before)
        .filter_map(|(at, _)| text[at + before.len()..].split('"').next())
        .filter(|id| id.starts_with("toolu_") || id.starts_with("call_"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn calls_and_results_join_as_a_plain_search_says() {
    let Some(corpus) = corpus() else { return };
    let totals = Mutex::new((0, 0));
    assert_none(wrong(&all_sessions(&corpus), |(scenario, id, sources), wrong| {
        let mut asked = BTreeSet::new();
        let mut answered = BTreeSet::new();
        for source in sources {
            asked.extend(ids_behind(&source.bytes, "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\""));
            answered.extend(ids_behind(&source.bytes, "\"type\":\"tool_result\",\"tool_call_id\":\""));
            let text = String::from_utf8_lossy(&source.bytes);
            let closed = text.lines().filter(|line| {
                line.contains("\"status\":\"completed\"") || line.contains("\"status\":\"failed\"")
            });
            closed.for_each(|line| {
                answered.extend(ids_behind(
                    line.as_bytes(),
                    "\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"",
                ))
            });
        }
        let both: BTreeSet<_> = asked.intersection(&answered).cloned().collect();
        let settled = settled(grok(), id, sources);
        let calls: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.tool.as_ref()?.call_id.clone())).collect();
        let results: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.result.as_ref()?.call_id.clone())).collect();
        for call in both.iter().filter(|call| !calls.contains(*call) || !results.contains(*call)) {
            wrong.push(format!("{scenario} {id}: {call} is not joined"));
        }
        let mut totals = totals.lock().unwrap();
        totals.0 += both.iter().filter(|call| calls.contains(*call) && results.contains(*call)).count();
        totals.1 += both.len();
    }));
    let (joined, found) = totals.into_inner().unwrap();
    println!("joined {joined} of {found} found by search");
    assert!(found > 70);
}

/// Differences that the log cannot know, by scenario and what differs.
fn is_known_difference(scenario: &str, what: &str) -> bool {
    match what {
        // Two were billed, and the log shows one.
        "compactions" => scenario == "23-autocompact",
        _ => false,
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn settle_all(scenario: &Scenario) -> BTreeMap<&str, Settled> {
    scenario.home.sessions.iter().map(|(id, sources)| (id.as_str(), settled(grok(), id, sources))).collect()
}

#[test]
fn recorded_scenarios_are_told_as_they_happened() {
    let Some(corpus) = corpus() else { return };
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        let sessions = settle_all(scenario);
        let events: Vec<&Event> = sessions
            .values()
            .flat_map(|session| &session.events)
            .filter(|event| event.copy_of.is_none())
            .collect();
        let mut differs = |what: &str, ours: String, truth: String| {
            if ours != truth && !is_known_difference(name, what) {
                wrong.push(format!("{name}: {what}: ours {ours}, truth {truth}"));
            }
        };
        let mut typed: Vec<String> = strings(&scenario.truth["user_prompts"]);
        typed.retain(|prompt| !prompt.starts_with("/compact"));
        typed.sort();
        let mut typed: Vec<String> =
            typed.iter().map(|prompt| retro_text::redact(prompt).to_string()).collect();
        let mut prompts: Vec<String> = events
            .iter()
            .filter(|event| event.kind == Kind::User && event.origin == Origin::User)
            .map(|event| event.text.as_ref().map_or_else(String::new, |text| text.to_string()))
            .collect();
        typed.sort();
        prompts.sort();
        differs("prompts", format!("{prompts:?}"), format!("{typed:?}"));

        let count = |kind| events.iter().filter(|event| event.kind == kind).count();
        differs(
            "compactions",
            count(Kind::Compaction).to_string(),
            scenario.truth["compactions"].to_string(),
        );
        for event in events.iter().filter(|event| event.kind == Kind::Compaction) {
            let told = event.text.as_ref().is_some_and(|text| text.contains("Summary:"));
            differs("summary", told.to_string(), "true".into());
        }
        let interrupted = scenario.truth["interrupted"] == true;
        differs("interrupted", (count(Kind::Interruption) > 0).to_string(), interrupted.to_string());

        let mut results: HashMap<&str, &Event> = HashMap::new();
        for event in &events {
            if let Some(result) = &event.result {
                // The first: the end of a background command only repeats how it ended.
                results.entry(&result.call_id).or_insert(event);
            }
        }
        let mut calls: Vec<&Event> = events.iter().copied().filter(|event| event.tool.is_some()).collect();
        for truth in scenario.truth["tool_calls"].as_array().unwrap() {
            let args = retro_text::redact_json(truth["args"].clone());
            let same = |event: &&Event| {
                let tool = event.tool.as_ref().unwrap();
                tool.name == truth["name"] && tool.args.as_ref() == Some(&args)
            };
            let Some(at) = calls.iter().position(same) else {
                differs("call", "none".into(), truth.to_string());
                continue;
            };
            let call = calls.remove(at).tool.as_ref().unwrap();
            let id = &call.call_id;
            let Some(result) = results.get(id.as_str()).and_then(|event| event.result.as_ref()) else {
                differs("no result", "none".into(), id.clone());
                continue;
            };
            if result.outcome != Outcome::Interrupted {
                let failed = matches!(result.outcome, Outcome::Failed | Outcome::Denied);
                differs("failed", format!("{id} {failed}"), format!("{id} {}", truth["failed"]));
            } else if !interrupted {
                differs("cut off", format!("{id} was"), format!("{id} was not"));
            }
            differs(
                "exit code",
                format!("{id} {:?}", result.exit_code),
                format!("{id} {:?}", truth["exit_code"].as_i64()),
            );
            let edited: Vec<String> = result.edits.iter().map(|edit| edit.path.to_string()).collect();
            let wanted = strings(&truth["files_edited"]);
            let same = edited.len() == wanted.len()
                && wanted
                    .iter()
                    .all(|path| edited.iter().any(|edit| edit.ends_with(path.trim_start_matches("./"))));
            if !same {
                differs("edited", format!("{id} {edited:?}"), format!("{id} {wanted:?}"));
            }
        }
        let beyond: Vec<_> = calls.iter().map(|event| &event.tool.as_ref().unwrap().name).collect();
        differs("calls beyond", format!("{beyond:?}"), "[]".into());

        let models: BTreeSet<_> =
            sessions.values().flat_map(|session| session.facts.models.clone()).collect();
        let truth: BTreeSet<_> = strings(&scenario.truth["models"]).into_iter().collect();
        differs("models", format!("{models:?}"), format!("{truth:?}"));
        let mut parents: BTreeMap<String, String> = BTreeMap::new();
        for (id, session) in &sessions {
            for link in &session.facts.links {
                match link.kind {
                    LinkKind::Child => parents.insert(link.session_id.clone(), (*id).to_owned()),
                    LinkKind::ForkedFrom => parents.insert((*id).to_owned(), link.session_id.clone()),
                    _ => None,
                };
            }
        }
        let known: BTreeSet<&str> = sessions.keys().copied().collect();
        let lonely = known.len() - parents.keys().filter(|id| known.contains(id.as_str())).count();
        let roots = match name.as_str() {
            "04-subagent" | "08-fork" | "26-hooks" => known.len() - 1,
            _ => known.len(),
        };
        differs("roots", lonely.to_string(), roots.to_string());
    }));
}

/// Figures of a turn: input, read from the cache, written to it, output, reasoning.
type Figures = [u64; 5];

fn figures(usage: &Usage) -> Figures {
    [
        usage.tokens.input,
        usage.tokens.cache_read,
        usage.tokens.cache_write_unsplit,
        usage.tokens.output,
        usage.tokens.reasoning,
    ]
}

#[test]
fn tokens_are_those_that_were_billed() {
    let Some(corpus) = corpus() else { return };
    let sums = Mutex::new([0usize; 3]);
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        let sessions = settle_all(scenario);
        // Rows as the index would choose them: the surest of each key.
        let mut rows: BTreeMap<String, (&str, &Event)> = BTreeMap::new();
        for (id, session) in &sessions {
            let mut keys = HashSet::new();
            for event in session.events.iter().filter(|event| event.kind == Kind::Usage) {
                let key = event.response.clone().unwrap();
                if !keys.insert(key.clone()) {
                    wrong.push(format!("{name} {id}: {key} has two rows"));
                }
                let own = |event: &Event| event.usage.as_ref().map(|usage| usage.own);
                if rows.get(&key).is_none_or(|(_, old)| own(event) > own(old)) {
                    rows.insert(key, (id, event));
                }
            }
        }
        // A turn contains the turns of the sub-agents it names.
        let mut net: BTreeMap<String, (Figures, u64)> = BTreeMap::new();
        for (key, (_, event)) in &rows {
            let data = event.data.as_ref().unwrap();
            let mut own = figures(event.usage.as_ref().unwrap());
            let mut calls = data["calls"].as_u64().unwrap();
            for child in strings(&data["includes"]) {
                let of_child = rows.values().filter(|(id, other)| *id == child && other.model == event.model);
                for (_, other) in of_child {
                    for (own, contained) in own.iter_mut().zip(figures(other.usage.as_ref().unwrap())) {
                        *own -= contained;
                    }
                    calls -= other.data.as_ref().unwrap()["calls"].as_u64().unwrap();
                }
            }
            net.insert(key.clone(), (own, calls));
        }
        let mut billed: BTreeMap<String, (Figures, u64, String)> = BTreeMap::new();
        let mut unlogged = 0;
        for row in &scenario.ledger {
            let count = |column: &str| row[column].as_u64().unwrap_or(0);
            if row["kind"] != "main" || row["delivered"] != true || row["status"] != 200 {
                unlogged += 1;
                continue;
            }
            let text = |column: &str| row[column].as_str().unwrap_or_default().to_owned();
            let key = format!("grok:{}:{}:{}", text("session_hint"), text("request_id"), text("model"));
            let sum = billed.entry(key).or_insert(([0; 5], 0, text("api")));
            let written = count("cache_write_5m") + count("cache_write_1h");
            let now = [count("input"), count("cache_read"), written, count("output"), count("reasoning")];
            for (sum, now) in sum.0.iter_mut().zip(now) {
                *sum += now;
            }
            sum.1 += 1;
        }
        let mut exact = 0;
        let mut killed = 0;
        for (key, (mut figures, calls, api)) in billed {
            if api == "messages" {
                // That interface does not tell how much of the output was reasoning.
                figures[4] = 0;
            }
            match net.remove(&key) {
                Some(ours) if ours == (figures, calls) => exact += 1,
                Some(ours) => {
                    wrong.push(format!("{name}: {key}: ours {ours:?}, billed {:?}", (figures, calls)))
                }
                // A process that was killed wrote nothing of what its turn cost.
                None if name == "14-interrupt" => killed += 1,
                None => wrong.push(format!("{name}: {key} is not in the log")),
            }
        }
        for key in net.keys() {
            wrong.push(format!("{name}: {key} was never billed"));
        }
        for (sum, now) in sums.lock().unwrap().iter_mut().zip([exact, killed, unlogged]) {
            *sum += now;
        }
    }));
    let [exact, killed, unlogged] = sums.into_inner().unwrap();
    println!("turns exact {exact}, killed {killed}; answers that no log has {unlogged}");
    assert_eq!((exact, killed), (57, 2));
}

/// What a base64 text stands for.
fn decoded(text: &str) -> String {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for value in text.chars().filter_map(|letter| ALPHABET.find(letter)) {
        bits = bits << 6 | value as u32;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn no_planted_secret_is_told() {
    let Some(corpus) = corpus() else { return };
    let scenarios = scenarios(&corpus);
    let scenario = scenarios.iter().find(|scenario| scenario.name == "15-secret").unwrap();
    let planted = scenario.truth["secrets_b64"].as_object().unwrap();
    assert!(!planted.is_empty());
    let sessions = settle_all(scenario);
    let told: String = sessions
        .values()
        .flat_map(|session| &session.events)
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    let facts: String =
        sessions.values().map(|session| serde_json::to_string(&session.facts).unwrap()).collect();
    for (name, secret) in planted {
        let secret = decoded(secret.as_str().unwrap());
        assert!(!told.contains(&secret) && !facts.contains(&secret), "{name} is told");
    }
}

#[test]
fn words_are_the_final_ones_and_in_order() {
    let Some(corpus) = corpus() else { return };
    let scenarios = scenarios(&corpus);
    let of = |name: &str| scenarios.iter().find(|scenario| scenario.name == name).unwrap();
    // A broken stream left half an answer before the whole one.
    for session in settle_all(of("12-api-errors")).values() {
        for event in session.events.iter().filter(|event| event.kind == Kind::Assistant) {
            let text = event.text.as_ref().unwrap();
            let half = text.len() / 3;
            let head: String = text.chars().take(half).collect();
            assert_eq!(text.matches(head.as_str()).count(), 1, "{}: said twice", event.id);
        }
    }
    assert_none(wrong(&scenarios, |scenario, wrong| {
        for (id, session) in settle_all(scenario) {
            let mut last = None;
            for event in session.events.iter().filter(|event| event.kind != Kind::Session) {
                if let Some(ts) = event.ts {
                    if last.is_some_and(|last| ts < last) {
                        wrong.push(format!("{} {id}#{}: {ts} after {last:?}", scenario.name, event.id));
                    }
                    last = Some(ts);
                }
            }
            let mut open = HashSet::new();
            for event in &session.events {
                if let Some(tool) = &event.tool {
                    open.insert(tool.call_id.clone());
                }
                if let Some(result) = event.result.as_ref().filter(|result| !open.contains(&result.call_id)) {
                    wrong.push(format!(
                        "{} {id}: result of {} before its call",
                        scenario.name, result.call_id
                    ));
                }
            }
        }
    }));
}
