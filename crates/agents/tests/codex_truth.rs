//! Codex against what truly happened and what was truly billed in recorded
//! threads.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod billed;
mod codex_home;
mod corpus;
mod home;

use codex_home::codex;
use codex_home::corpus::scenarios;
use corpus::{assert_none, corpus, wrong};
use home::settled;
use retro_model::{Event, Kind, LinkKind, Origin, Outcome, ToolClass};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Mutex;

/// Differences that the log cannot know, by scenario and what differs.
fn is_known_difference(scenario: &str, what: &str) -> bool {
    match what {
        // Resuming with 0.29 copies the items of the old file into a new one without any mark; only
        // a look at both files tells. Their ids are equal, but prompts have none.
        // An ephemeral run has no file.
        "prompts" => matches!(scenario, "codex-0.29.0/07-resume" | "codex/25-mining-call"),
        "sessions" => scenario == "codex/25-mining-call",
        // 0.29 and 0.42 write the items of a round when it ends: a call that was cut off is not there.
        "call" => matches!(
            scenario,
            "codex-0.29.0/14-interrupt"
                | "codex-0.29.0/14b-sigkill"
                | "codex-0.42.0/14-interrupt"
                | "codex-0.42.0/14b-sigkill"
        ),
        "interrupted" => match scenario.split_once('/') {
            // Nothing is written when those versions are interrupted, or when any is killed.
            Some(("codex-0.29.0" | "codex-0.42.0", "14-interrupt")) | Some((_, "14b-sigkill")) => true,
            // Refusing an approval in the terminal looks exactly like an interruption.
            Some(("codex", "18b-denied-tui")) => true,
            _ => false,
        },
        // A call that a SIGKILL ended has no result at all.
        "no result" => scenario.ends_with("/14b-sigkill"),
        _ => false,
    }
}

struct Call<'e> {
    event: &'e Event,
    result: Option<&'e Event>,
    nested: Vec<&'e Event>,
}

/// The calls of the model, each with its result and those nested in it.
fn calls<'e>(events: &[&'e Event]) -> Vec<Call<'e>> {
    let results: HashMap<&str, &Event> =
        events.iter().filter_map(|event| Some((event.result.as_ref()?.call_id.as_str(), *event))).collect();
    let is_top = |event: &&&Event| {
        let call = event.tool.as_ref();
        event.origin == Origin::Model && call.is_some_and(|call| !call.call_id.starts_with("exec-"))
    };
    let mut seen = HashSet::new();
    events
        .iter()
        .filter(is_top)
        .filter(|event| seen.insert(event.tool.as_ref().unwrap().call_id.clone()))
        .map(|event| {
            let id = event.tool.as_ref().unwrap().call_id.as_str();
            let inside = events.iter().filter(|inner| {
                inner.tool.as_ref().is_some_and(|call| {
                    call.parent_call.as_deref() == Some(id) && call.call_id.starts_with("exec-")
                })
            });
            let nested = inside
                .filter_map(|inner| results.get(inner.tool.as_ref()?.call_id.as_str()).copied())
                .collect();
            Call { event, result: results.get(id).copied(), nested }
        })
        .collect()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A text as the truth writes it: secrets by their names, a dump by its length.
fn unmarked(text: &str) -> String {
    let dump = "z".repeat(100_000);
    let mut parts = text.split("[redacted:");
    let mut unmarked = parts.next().unwrap_or_default().replace(&dump, "<100000 x z>");
    for part in parts {
        let (rule, rest) = part.split_once(']').unwrap();
        unmarked.push_str(&format!("<{}>{rest}", rule.replace('-', "_")));
    }
    unmarked
}

/// Whether a call is the one that the truth means, as far as its arguments tell.
fn is_meant(call: &Call<'_>, truth: &Value) -> bool {
    let tool = call.event.tool.as_ref().unwrap();
    // Up to 0.29 a patch is handed to the shell.
    let is_patch = tool.class == ToolClass::Edit && truth["name"] == "apply_patch";
    if truth["name"] != tool.name.as_str() && !is_patch {
        return false;
    }
    let args = tool.args.as_ref().map(|args| unmarked(&args.to_string())).unwrap_or_default();
    match &truth["args"] {
        args if args["command"].is_array() => true,
        wanted if wanted["command"].is_string() && tool.name != "exec" => tool
            .command
            .as_ref()
            .is_some_and(|command| wanted["command"].as_str() == Some(&unmarked(command))),
        wanted if wanted["input"].is_string() && is_patch => args.contains(&wanted["input"].to_string()),
        wanted if wanted["id"].is_string() => args.contains(wanted["id"].as_str().unwrap()),
        wanted if wanted["path"].is_string() => args.contains(wanted["path"].as_str().unwrap()),
        _ => true,
    }
}

#[test]
fn recorded_scenarios_are_told_as_they_happened() {
    let Some(corpus) = corpus() else { return };
    let totals = Mutex::new([0usize; 3]);
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        let sessions: Vec<_> =
            scenario.home.sessions.iter().map(|(id, sources)| settled(codex(), id, sources)).collect();
        // What is marked as a copy happened elsewhere.
        let events: Vec<&Event> = sessions
            .iter()
            .flat_map(|session| &session.events)
            .filter(|event| event.copy_of.is_none())
            .collect();
        let mut differs = |what: &str, ours: String, truth: String| {
            if ours != truth && !is_known_difference(name, what) {
                wrong.push(format!("{name}: {what}: ours {ours}, truth {truth}"));
            }
        };

        let mut typed = strings(&scenario.truth["user_prompts"]);
        typed.sort();
        let mut prompts: Vec<String> = events
            .iter()
            .filter(|event| event.kind == Kind::User && event.origin == Origin::User)
            .filter(|event| event.data.as_ref().is_none_or(|data| data.get("shell").is_none()))
            .map(|event| event.text.as_ref().map_or_else(String::new, |text| unmarked(text)))
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

        let mut ours = calls(&events);
        let mut found = 0;
        for truth in scenario.truth["tool_calls"].as_array().unwrap() {
            let Some(at) = ours.iter().position(|call| is_meant(call, truth)) else {
                differs("call", "none".into(), truth.to_string());
                continue;
            };
            let call = ours.remove(at);
            found += 1;
            let id = call.event.tool.as_ref().unwrap().call_id.clone();
            let Some(result) = call.result.and_then(|event| event.result.as_ref()) else {
                differs("no result", "none".into(), id);
                continue;
            };
            let with_nested: Vec<_> = std::iter::once(result)
                .chain(call.nested.iter().filter_map(|event| event.result.as_ref()))
                .collect();
            if result.outcome == Outcome::Interrupted {
                // Neither failed nor ok, whatever the truth says of it.
                let cut = truth["failed"] == false || is_known_difference(name, "interrupted");
                differs("cut off", "true".to_owned(), cut.to_string());
            } else if truth["note"] == "still running when the call returns" {
                // How the command ended was told by a later call, and completes this one.
                differs("polled", format!("{:?}", result.outcome), format!("{:?}", Outcome::Failed));
            } else {
                let failed = with_nested
                    .iter()
                    .any(|result| matches!(result.outcome, Outcome::Failed | Outcome::Denied));
                differs("failed", format!("{id} {failed}"), format!("{id} {}", truth["failed"]));
            }
            if let Some(code) = truth["exit_code"].as_i64() {
                let ours = with_nested.iter().any(|result| result.exit_code == Some(code));
                differs("exit code", format!("{id} {code} {ours}"), format!("{id} {code} true"));
            }
            let edited: Vec<String> = with_nested
                .iter()
                .flat_map(|result| &result.edits)
                .flat_map(|edit| edit.to.iter().chain([&edit.path]))
                .map(ToString::to_string)
                .collect();
            let wanted = strings(&truth["files_edited"]);
            let same = edited.len() == wanted.len()
                && wanted
                    .iter()
                    .all(|path| edited.iter().any(|edit| edit.ends_with(path.trim_start_matches("./"))));
            if !same {
                differs("edited", format!("{id} {edited:?}"), format!("{id} {wanted:?}"));
            }
        }
        // Looking for tools and on the web is the server's work, which the truth leaves out.
        let beyond: Vec<_> = ours
            .iter()
            .map(|call| call.event.tool.as_ref().unwrap())
            .filter(|call| !matches!(call.class, ToolClass::Search | ToolClass::Web))
            .map(|call| (&call.name, &call.call_id))
            .collect();
        differs("calls beyond", format!("{beyond:?}"), "[]".into());

        let told: BTreeSet<&String> = scenario.home.sessions.keys().collect();
        let known = strings(&scenario.truth["session_ids"]);
        differs("sessions", format!("{told:?}"), format!("{:?}", known.iter().collect::<BTreeSet<_>>()));
        for (child, parent) in scenario.truth["parent"].as_object().into_iter().flatten() {
            let at = scenario.home.sessions.keys().position(|id| id == child).unwrap();
            let is_above =
                |link: &&retro_model::Link| matches!(link.kind, LinkKind::Parent | LinkKind::ForkedFrom);
            let ours = sessions[at].facts.links.iter().find(is_above).map(|link| link.session_id.clone());
            // A review of 0.80 and 0.130 does not name its parent.
            if ours.is_some() || !name.ends_with("/04c-review") || name.starts_with("codex/") {
                differs("parent", format!("{ours:?}"), format!("{:?}", parent.as_str().map(str::to_owned)));
            }
        }
        let mut totals = totals.lock().unwrap();
        totals[0] += 1;
        totals[1] += prompts.len();
        totals[2] += found;
    }));
    println!("scenarios, prompts, calls: {:?}", totals.into_inner().unwrap());
}

type Figures = (String, [u64; 5]);

#[test]
fn tokens_are_those_that_were_billed() {
    let Some(corpus) = corpus() else { return };
    let sums = Mutex::new([0usize; 2]);
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        // The surest row of each response, as the index would choose it.
        let mut rows: BTreeMap<String, Event> = BTreeMap::new();
        for (id, sources) in &scenario.home.sessions {
            let mut keys = HashSet::new();
            for event in
                settled(codex(), id, sources).events.into_iter().filter(|event| event.usage.is_some())
            {
                let key = event.response.clone().unwrap();
                if !keys.insert(key.clone()) {
                    wrong.push(format!("{name} {id}: {key} has two rows"));
                }
                let own = |event: &Event| event.usage.as_ref().map(|usage| usage.own);
                if rows.get(&key).is_none_or(|old| own(&event) > own(old)) {
                    rows.insert(key, event);
                }
            }
        }
        let figures = |event: &Event| -> Figures {
            let usage = event.usage.as_ref().unwrap();
            let written =
                usage.tokens.cache_write_5m + usage.tokens.cache_write_1h + usage.tokens.cache_write_unsplit;
            let figures = [
                usage.tokens.input,
                written,
                usage.tokens.cache_read,
                usage.tokens.output,
                usage.tokens.reasoning,
            ];
            (event.model.clone().unwrap_or_default(), figures)
        };
        let mut ours: Vec<(String, Figures)> =
            rows.iter().map(|(key, event)| (key.clone(), figures(event))).collect();
        let mut found = [0usize; 2];
        for billed in &scenario.ledger {
            let count = |name: &str| billed[name].as_u64().unwrap();
            let written = count("cache_write_5m") + count("cache_write_1h");
            let theirs: Figures = (
                billed["model"].as_str().unwrap().to_owned(),
                [count("input"), written, count("cache_read"), count("output"), count("reasoning")],
            );
            let named = format!("codex:{}", billed["response_id"].as_str().unwrap_or_default());
            let by_key = ours.iter().position(|(key, _)| *key == named);
            match by_key.or_else(|| {
                ours.iter().position(|(key, figures)| !key.contains(":resp_") && *figures == theirs)
            }) {
                Some(at) => {
                    let (key, figures) = ours.remove(at);
                    if figures != theirs {
                        wrong.push(format!("{name}: {key}: ours {figures:?}, billed {theirs:?}"));
                    }
                    found[0] += 1;
                }
                None => {
                    found[1] += 1;
                    if !billed::may_be_unlogged(name, billed) {
                        wrong.push(format!("{name}: not in the log: {billed}"));
                    }
                }
            }
        }
        for (key, figures) in ours {
            wrong.push(format!("{name}: {key} {figures:?} was never billed"));
        }
        let mut sums = sums.lock().unwrap();
        for (sum, now) in sums.iter_mut().zip(found) {
            *sum += now;
        }
    }));
    let [exact, absent] = sums.into_inner().unwrap();
    println!("exact {exact}, not logged {absent}");
    assert_eq!((exact, absent), (255, 67));
}
