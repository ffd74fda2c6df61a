//! One number for one thing: every figure that two commands show is the same in both.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use serde_json::Value;
use std::collections::BTreeMap;

/// What the commands say, as JSON.
struct Said {
    list: Vec<Value>,
    digests: Vec<Value>,
    outcome: Value,
    all_outcomes: Value,
    report: Value,
    status: Value,
    usage: Value,
}

impl Said {
    fn of(machine: &Machine) -> Said {
        let rows = |value: &Value, name: &str| value[name].as_array().unwrap().clone();
        let list = rows(&machine.json(&["list", "--limit", "0"]), "sessions");
        let digests =
            list.iter().map(|session| machine.json(&["digest", text(session, "session_id")])).collect();
        Said {
            digests,
            outcome: machine.json(&["outcome"]),
            all_outcomes: machine.json(&["outcome", "--all"]),
            report: machine.json(&["report"]),
            status: machine.json(&[]),
            usage: machine.json(&["usage", "session"]),
            list,
        }
    }

    fn real(&self) -> impl Iterator<Item = &Value> {
        self.digests.iter().filter(|digest| digest["quality"]["real"] == true)
    }
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} of {value}"))
}

/// The value of a reading: digests write a bare one where there is nothing more to say.
fn value<'v>(digest: &'v Value, signal: &str) -> &'v Value {
    match &digest["readings"][signal] {
        Value::Object(fields) => fields.get("v").unwrap_or(&Value::Null),
        bare => bare,
    }
}

fn reading(digest: &Value, signal: &str) -> Option<u64> {
    value(digest, signal).as_u64()
}

fn sum_of(counts: &Value) -> u64 {
    counts.as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum()
}

/// Of the sessions, only each third is asked for by itself, since each answer is a process.
const STEP: usize = 3;

/// All values of a name, however deep.
fn all<'v>(value: &'v Value, name: &str, found: &mut Vec<&'v Value>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get(name));
            fields.values().for_each(|field| all(field, name, found));
        }
        Value::Array(items) => items.iter().for_each(|item| all(item, name, found)),
        _ => {}
    }
}

#[test]
fn what_two_commands_show_is_the_same() {
    let machine = Machine::with_demo();
    let said = Said::of(&machine);
    assert!(said.list.len() > 20);

    // Ended well, of how many, and what is left out.
    let mut ended: BTreeMap<&str, u64> = BTreeMap::new();
    for digest in said.real() {
        *ended.entry(text(&digest["outcome"], "value")).or_default() += 1;
    }
    let ended = serde_json::to_value(&ended).unwrap();
    assert_eq!(said.outcome["counts"], ended);
    assert_eq!(said.report["outcomes"], ended);
    let real = said.real().count() as u64;
    assert_eq!(sum_of(&said.outcome["counts"]), real);
    assert_eq!(said.report["real"].as_u64(), Some(real));
    assert_eq!(real + sum_of(&said.outcome["left_out"]), said.list.len() as u64);
    assert_eq!(said.all_outcomes["left_out"], serde_json::json!({}));
    assert_eq!(sum_of(&said.all_outcomes["counts"]), said.list.len() as u64);

    // Sessions, in all and by agent.
    assert_eq!(said.report["sessions"].as_u64(), Some(said.list.len() as u64));
    let by_agent = |sessions: &[Value]| {
        let mut agents: BTreeMap<String, u64> = BTreeMap::new();
        for session in sessions {
            *agents.entry(text(session, "agent").to_owned()).or_default() += 1;
        }
        serde_json::to_value(&agents).unwrap()
    };
    assert_eq!(said.report["agents"], by_agent(&said.list));
    let with_children = machine.json(&["list", "--limit", "0", "--children"]);
    assert_eq!(said.status["captured"], by_agent(with_children["sessions"].as_array().unwrap()));

    // Sums of the report.
    let sum = |signal: &str| said.digests.iter().filter_map(|digest| reading(digest, signal)).sum::<u64>();
    assert_eq!(said.report["active_seconds"].as_u64(), Some(sum("active_seconds")));
    assert_eq!(said.report["commits"].as_u64(), Some(sum("git_commits_made_during")));
    let usd = |value: &Value| value.as_f64().unwrap_or(0.0);
    let listed: f64 = said.list.iter().map(|session| usd(&session["cost_usd"])).sum();
    assert!((usd(&said.report["cost_usd"]) - listed).abs() < 1e-6);
    assert!((usd(&said.usage["totals"]["cost_usd"]) - listed).abs() < 1e-6);

    for (session, digest) in said.list.iter().zip(&said.digests).step_by(STEP) {
        let id = text(session, "session_id");
        let shown = machine.json(&["show", id]);
        assert_eq!(session["outcome"], digest["outcome"]["value"], "{id}");
        assert_eq!(session["outcome"], shown["session"]["outcome"], "{id}");
        assert_eq!(session["turns"], shown["session"]["turns"], "{id}");
        assert_eq!(session["cost_usd"], digest["cost_usd"], "{id}");
        assert_eq!(session["cost_complete"], digest["cost_complete"], "{id}");
        let signals = machine.json(&["signal", "show", id]);
        for row in signals["readings"].as_array().unwrap() {
            let signal = text(row, "signal");
            if !digest["readings"][signal].is_null() {
                assert_eq!(value(digest, signal), &row["value"], "{id} {signal}");
            }
        }
        // Sub-agents that are sessions of their own are counted with their root.
        if digest["children"].as_array().is_none_or(Vec::is_empty) {
            let mut figures = Vec::new();
            all(&shown["entries"], "figures", &mut figures);
            let failed: u64 = figures.iter().filter_map(|turn| turn["failed_calls"].as_u64()).sum();
            assert_eq!(Some(failed), reading(digest, "failed_command_count"), "{id}");
        }
    }
}
