//! Claude Code against recorded sessions, where there are some (see `corpus`).
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod billed;
mod corpus;
mod home;

use corpus::{assert_none, corpus, wrong};
use home::{Home, Source, settled};
use retro_agents::{Agent, Format, by_name};
use retro_model::{Event, Exactness, Kind, Origin, Outcome};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const SETS: [&str; 4] = ["claude", "claude-2.0.42", "claude-2.1.63", "claude-old"];

fn claude() -> &'static dyn Agent {
    by_name("claude").unwrap()
}

/// A recorded scenario: its name, its sessions, what happened and what was billed.
struct Scenario {
    name: String,
    home: Home,
    truth: Value,
    ledger: Vec<Value>,
}

fn scenarios(corpus: &Path) -> Vec<Scenario> {
    let mut all = Vec::new();
    for set in SETS {
        let mut folders: Vec<PathBuf> =
            std::fs::read_dir(corpus.join("genuine").join(set)).unwrap().map(|e| e.unwrap().path()).collect();
        folders.sort();
        for folder in folders {
            let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
            all.push(Scenario {
                name: format!("{set}/{}", folder.file_name().unwrap().to_string_lossy()),
                home: Home::read(claude(), &folder.join("home")),
                truth: serde_json::from_str(&text("truth.json")).unwrap(),
                ledger: text("ledger.jsonl")
                    .lines()
                    .map(|line| serde_json::from_str(line).unwrap())
                    .collect(),
            });
        }
    }
    all
}

/// Every session of the corpus, recorded and public.
fn all_sessions(corpus: &Path) -> Vec<(String, String, Vec<Source>)> {
    let mut all: Vec<(String, String, Vec<Source>)> = Vec::new();
    for scenario in scenarios(corpus) {
        assert!(scenario.home.unreadable.is_empty(), "{:?}", scenario.home.unreadable);
        all.extend(
            scenario.home.sessions.into_iter().map(|(id, sources)| (scenario.name.clone(), id, sources)),
        );
    }
    let public = Home::read(claude(), &corpus.join("public-claude").join("home"));
    all.extend(public.sessions.into_iter().map(|(id, sources)| ("public".to_owned(), id, sources)));
    all
}

/// Ids of calls (`"id"` of a `tool_use`) or results (`tool_use_id`) that a plain
/// search of the bytes finds.
fn call_ids(bytes: &[u8], before: &str) -> BTreeSet<String> {
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
    let sessions = all_sessions(&corpus);
    let totals = Mutex::new((0, 0));
    assert_none(wrong(&sessions, |(scenario, id, sources), wrong| {
        let mut asked = BTreeSet::new();
        let mut answered = BTreeSet::new();
        for source in sources.iter().filter(|source| source.format == Format::JsonLines) {
            asked.extend(call_ids(&source.bytes, "\"type\":\"tool_use\",\"id\":\""));
            answered.extend(call_ids(&source.bytes, "\"tool_use_id\":\""));
        }
        let both: BTreeSet<_> = asked.intersection(&answered).cloned().collect();
        let settled = settled(claude(), id, sources);
        let calls: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.tool.as_ref()?.call_id.clone())).collect();
        let results: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.result.as_ref()?.call_id.clone())).collect();
        let joined = both.iter().filter(|id| calls.contains(*id) && results.contains(*id)).count();
        for id in both.iter().filter(|id| !calls.contains(*id) || !results.contains(*id)) {
            wrong.push(format!("{scenario}: {id} is not joined"));
        }
        let mut totals = totals.lock().unwrap();
        totals.0 += joined;
        totals.1 += both.len();
    }));
    println!("joined, found by search: {:?}", totals.into_inner().unwrap());
}

/// What happened more than once in a scenario because sessions copy each other
/// is one thing: told by the ids the program gave it.
fn once<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<&'e Event> {
    let mut seen = HashSet::new();
    events
        .filter(|event| match &event.native.uuid {
            Some(uuid) => seen.insert((uuid.clone(), event.id.part.clone())),
            None => true,
        })
        .collect()
}

/// A text without what stands between two signs.
fn without(text: &str, open: char, close: char) -> String {
    let mut parts = text.split(open);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.split_once(close).map_or(part, |(_, rest)| rest));
    }
    out
}

/// Differences that the log cannot know, by scenario and what differs.
fn is_known_difference(scenario: &str, what: &str) -> bool {
    match what {
        // 1.0.117 logs the output of a failed command without its exit code.
        "exit code of a failure" => scenario.starts_with("claude-old/"),
        // A call that a SIGKILL ended has no result at all.
        "no result" => scenario == "claude/14-interrupt",
        // /compact in a resumed headless run of 1.0.117 leaves a file with only a
        // summary line, and no boundary.
        "compactions" => matches!(scenario, "claude-old/06-compaction" | "claude-old/21-hooks"),
        _ => false,
    }
}

#[test]
fn recorded_scenarios_are_told_as_they_happened() {
    let Some(corpus) = corpus() else { return };
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        let sessions: Vec<_> =
            scenario.home.sessions.iter().map(|(id, sources)| settled(claude(), id, sources)).collect();
        let events = once(sessions.iter().flat_map(|session| &session.events));
        let mut differs = |what: &str, ours: String, truth: String| {
            if ours != truth && !is_known_difference(name, what) {
                wrong.push(format!("{name}: {what}: ours {ours}, truth {truth}"));
            }
        };

        let strings = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        // The truth names an image behind its prompt, and secrets by their kind.
        let mut typed: Vec<String> = strings(&scenario.truth["user_prompts"])
            .iter()
            .filter(|prompt| !prompt.starts_with("/compact"))
            .map(|prompt| without(&prompt.replace("[image]", ""), '<', '>'))
            .collect();
        typed.sort();
        let mut prompts: Vec<String> = events
            .iter()
            .filter(|event| event.kind == Kind::User && event.origin == Origin::User)
            .filter(|event| event.data.as_ref().is_none_or(|data| data.get("shell").is_none()))
            .map(|event| event.text.as_ref().map_or_else(String::new, |text| without(text, '[', ']')))
            .collect();
        prompts.sort();
        differs("prompts", format!("{prompts:?}"), format!("{typed:?}"));

        let count = |kind| events.iter().filter(|event| event.kind == kind).count();
        differs(
            "compactions",
            count(Kind::Compaction).to_string(),
            scenario.truth["compactions"].to_string(),
        );
        let interrupted = scenario.truth["interrupted"] == true;
        differs("interrupted", (count(Kind::Interruption) > 0).to_string(), interrupted.to_string());

        for (child, parent) in scenario.truth["parent"].as_object().into_iter().flatten() {
            // Only /branch says in the file where it comes from.
            if name == "claude/27-branch" {
                let at = scenario.home.sessions.keys().position(|id| id == child).unwrap();
                let links: Vec<_> =
                    sessions[at].facts.links.iter().map(|link| link.session_id.as_str()).collect();
                differs("parent", format!("{links:?}"), format!("[{parent}]"));
            }
        }

        let mut results: HashMap<&str, &Event> = HashMap::new();
        for event in &events {
            if let Some(result) = &event.result {
                // The first: a later one of the same call only repeats how it ended.
                results.entry(&result.call_id).or_insert(event);
            }
        }
        let mut calls: BTreeMap<&str, &Event> =
            events.iter().filter_map(|event| Some((event.tool.as_ref()?.call_id.as_str(), *event))).collect();
        for call in scenario.truth["tool_calls"].as_array().unwrap() {
            let id = call["id"].as_str().unwrap();
            let Some(made) = calls.remove(id) else {
                differs("call", "none".into(), call.to_string());
                continue;
            };
            let by_main = call["by"] == "main";
            differs("made by main", made.thread.is_main().to_string(), by_main.to_string());
            let Some(result) = results.get(id).and_then(|event| event.result.as_ref()) else {
                differs("no result", "none".into(), id.to_owned());
                continue;
            };
            if result.outcome != Outcome::Interrupted {
                let failed = matches!(result.outcome, Outcome::Failed | Outcome::Denied);
                differs("failed", format!("{id} {failed}"), format!("{id} {}", call["failed"]));
            } else if !interrupted {
                differs("cut off", format!("{id} was"), format!("{id} was not"));
            }
            if let Some(code) = call["exit_code"].as_i64() {
                differs(
                    if code == 0 { "exit code" } else { "exit code of a failure" },
                    format!("{id} {:?}", result.exit_code),
                    format!("{id} {:?}", Some(code)),
                );
            }
            if name.contains("/18-denied") && call["failed"] == true {
                differs("denied", format!("{id} {:?}", result.outcome), format!("{id} Denied"));
            }
            let edited: Vec<String> = result.edits.iter().map(|edit| edit.path.to_string()).collect();
            let wanted = strings(&call["files_edited"]);
            let same = edited.len() == wanted.len()
                && wanted
                    .iter()
                    .all(|path| edited.iter().any(|edit| edit.ends_with(path.trim_start_matches("./"))));
            if !same {
                differs("edited", format!("{id} {edited:?}"), format!("{id} {wanted:?}"));
            }
        }
        differs("calls beyond", format!("{:?}", calls.keys()), "[]".into());
    }));
}

#[test]
fn tokens_are_those_that_were_billed() {
    let Some(corpus) = corpus() else { return };
    let sums = Mutex::new([0usize; 3]);
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        // The surest row of each response, as the index would choose it.
        let mut rows: HashMap<String, (String, Event)> = HashMap::new();
        for (id, sources) in &scenario.home.sessions {
            let mut keys = HashSet::new();
            for event in settled(claude(), id, sources).events {
                let Some(usage) = event.usage.as_ref().filter(|usage| !usage.total) else { continue };
                let key = event.response.clone().unwrap();
                if !keys.insert(key.clone()) {
                    wrong.push(format!("{name} {id}: {key} has two rows"));
                }
                let own = |event: &Event| event.usage.as_ref().map(|usage| usage.own);
                if rows.get(&key).is_none_or(|(_, old)| Some(usage.own) > own(old)) {
                    rows.insert(key, (id.clone(), event));
                }
            }
        }
        let mut found = [0usize; 3];
        for billed in scenario.ledger.iter().filter(|row| row["status"].as_i64().unwrap_or(200) == 200) {
            let key = format!("claude:{}", billed["response_id"].as_str().unwrap_or_default());
            let Some((session, event)) = rows.remove(&key) else {
                found[2] += 1;
                if !billed::may_be_unlogged(name, billed) {
                    wrong.push(format!("{name}: {key} is not in the log: {billed}"));
                }
                continue;
            };
            // A start-up call of 2.0.42 is made under an id that is then given up.
            if billed["kind"] == "main" && billed["session_hint"] != session.as_str() {
                wrong.push(format!("{name}: {key} is taken for {session}'s: {}", billed["session_hint"]));
            }
            let usage = event.usage.unwrap();
            let ours = [
                usage.tokens.input,
                usage.tokens.cache_write_5m,
                usage.tokens.cache_write_1h,
                usage.tokens.cache_read,
            ];
            let theirs = ["input", "cache_write_5m", "cache_write_1h", "cache_read"]
                .map(|c| billed[c].as_u64().unwrap());
            if ours != theirs || usage.tokens.cache_write_unsplit != 0 {
                wrong.push(format!("{name}: {key}: ours {ours:?}, billed {theirs:?}"));
            }
            let output = billed["output"].as_u64().unwrap();
            match usage.exactness {
                _ if usage.tokens.output == output => found[0] += 1,
                Exactness::LowerBound if usage.tokens.output < output => found[1] += 1,
                _ => wrong.push(format!(
                    "{name}: {key}: output {} ({:?}), billed {output}",
                    usage.tokens.output, usage.exactness
                )),
            }
            if event.model.as_deref() != billed["model"].as_str() {
                wrong.push(format!("{name}: {key}: model {:?}, billed {}", event.model, billed["model"]));
            }
        }
        for key in rows.keys() {
            wrong.push(format!("{name}: {key} was never billed"));
        }
        let mut sums = sums.lock().unwrap();
        for (sum, now) in sums.iter_mut().zip(found) {
            *sum += now;
        }
    }));
    let [exact, at_least, absent] = sums.into_inner().unwrap();
    println!("equal {exact}, lower bound {at_least}, not logged {absent}");
    assert_eq!((exact, at_least, absent), (314, 7, 66));
}

#[test]
fn public_sessions_have_the_prompts_and_rewinds_that_were_counted() {
    let Some(corpus) = corpus() else { return };
    let public = Home::read(claude(), &corpus.join("public-claude").join("home"));
    let sessions: Vec<(String, Vec<Source>)> = public.sessions.into_iter().collect();
    let counted = Mutex::new(BTreeMap::<&str, usize>::new());
    assert_none(wrong(&sessions, |(id, sources), _| {
        let settled = settled(claude(), id, sources);
        let mut counted = counted.lock().unwrap();
        for event in &settled.events {
            let is_prompt = event.kind == Kind::User && event.origin == Origin::User;
            let data = |name: &str| event.data.as_ref().is_some_and(|data| data.get(name).is_some());
            let what = match event.kind {
                Kind::User if is_prompt && data("queued") => "queued",
                Kind::User if is_prompt && data("shell") => "shell",
                Kind::User if is_prompt => "typed",
                Kind::Rewind => "rewinds",
                Kind::Denial => "denials",
                Kind::Interruption => "interruptions",
                Kind::Compaction => "compactions",
                _ => continue,
            };
            *counted.entry(what).or_default() += 1;
        }
        let words = settled.events.iter().filter(|event| {
            event.kind == Kind::Denial && event.origin == Origin::User && event.text.is_some()
        });
        *counted.entry("words in refusals").or_default() += words.count();
        let usage = settled.events.iter().filter_map(|event| event.usage.as_ref());
        for usage in usage {
            *counted.entry("responses").or_default() += 1;
            *counted.entry("lower bounds").or_default() +=
                usize::from(usage.exactness == Exactness::LowerBound);
            *counted.entry("fast").or_default() += usize::from(usage.tier.as_deref() == Some("fast"));
        }
    }));
    let counted = counted.into_inner().unwrap();
    println!("{counted:?}");
    // 316 typed on their own and 5 beside a result; 17 handed over from the queue, 1 only in it. 4,066 responses:
    // 3,932 in logs, 28 of them in a second one too, and 134 that only progress records have.
    let expected = [
        ("typed", 321),
        ("queued", 18),
        ("rewinds", 1),
        ("compactions", 4),
        ("interruptions", 15),
        ("words in refusals", 9),
        ("responses", 4094),
        ("lower bounds", 1459),
        ("fast", 137),
    ];
    for (what, count) in expected {
        assert_eq!(counted[what], count, "{what}");
    }
}
