//! One number for one thing: every figure that two commands show, or a command and the page, is the
//! same in both.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use base64::Engine;
use machine::Machine;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

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

/// What a chunk of the page holds.
fn chunk(folder: &Path, name: &str) -> Value {
    let script = std::fs::read_to_string(folder.join(format!("data/{name}.js"))).unwrap();
    let packed = script.trim_end().strip_suffix("\")").unwrap().rsplit_once('"').unwrap().1;
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).unwrap();
    let mut json = vec![0; 16 * 1024 * 1024];
    let length = libdeflater::Decompressor::new().deflate_decompress(&bytes, &mut json).unwrap();
    serde_json::from_slice(&json[..length]).unwrap()
}

/// The rows of the page's lists, and the sum of the costs of all its cells.
fn rows_of_the_page(folder: &Path, meta: &Value) -> (Vec<Value>, i64) {
    let (mut rows, mut nano) = (Vec::new(), 0);
    for month in meta["months"].as_array().unwrap() {
        let month = chunk(folder, &format!("rows/{}", text(month, "month")));
        let columns = month["rows"].as_object().unwrap();
        for at in 0..columns["length"].as_u64().unwrap() as usize {
            let fields = columns.iter().filter(|(_, column)| column.is_array());
            let row = fields.map(|(name, column)| (name.clone(), column[at].clone()));
            rows.push(Value::Object(row.collect()));
        }
        nano += month["cells"]["nano"].as_array().unwrap().iter().filter_map(Value::as_i64).sum::<i64>();
    }
    (rows, nano)
}

#[test]
fn the_page_has_the_figures_of_the_commands() {
    let machine = Machine::with_demo();
    let said = Said::of(&machine);
    let folder = machine.root().with_file_name("page");
    machine.json(&["dashboard", "build", "--out", folder.to_str().unwrap()]);
    let meta = chunk(&folder, "meta");
    let (rows, nano) = rows_of_the_page(&folder, &meta);

    assert_eq!(meta["sessions"].as_u64(), Some(said.list.len() as u64));
    assert_eq!(rows.len(), said.list.len());
    // Asking leaves a little behind in the index.
    let status = machine.json(&[]);
    let health = &chunk(&folder, "health")["status"];
    for name in
        ["captured", "found", "unread", "only_here", "source_bytes", "store_bytes", "memories_waiting"]
    {
        assert_eq!(health[name], status[name], "{name}");
    }
    assert_eq!(meta["captured"], status["captured"]);
    assert_eq!(meta["limits"]["windows"], machine.json(&["usage", "limits"])["windows"]);
    let usd = said.report["cost_usd"].as_f64().unwrap();
    assert!((nano as f64 / 1e9 - usd).abs() < 1e-6, "{nano} {usd}");

    // Sums over the sessions that the page counts as real work.
    let sum = |name: &str| rows.iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    assert_eq!(Some(sum("added")), said.report["lines_added"].as_u64());
    assert_eq!(Some(sum("removed")), said.report["lines_removed"].as_u64());
    let real = |row: &&Value| row["real"] == true;
    assert_eq!(Some(rows.iter().filter(real).count() as u64), said.report["real"].as_u64());
    let well = rows.iter().filter(real).filter(|row| row["outcome"] == "success").count() as u64;
    assert_eq!(Some(well), said.outcome["counts"]["success"].as_u64());
    let seconds: u64 = rows.iter().filter_map(|row| row["active_ms"].as_u64()).map(|ms| ms / 1000).sum();
    assert_eq!(Some(seconds), said.report["active_seconds"].as_u64());

    for (session, digest) in said.list.iter().zip(&said.digests) {
        let id = text(session, "session_id");
        let row =
            rows.iter().find(|row| row["session_id"] == id).unwrap_or_else(|| panic!("{id} is missing"));
        for (name, value) in session.as_object().unwrap() {
            assert_eq!(&row[name], value, "{id} {name}");
        }
        let count = |name: &str| row[name].as_u64();
        assert_eq!(count("active_ms").map(|ms| ms / 1000), reading(digest, "active_seconds"), "{id}");
        assert_eq!(count("failed"), reading(digest, "failed_command_count"), "{id}");
        assert_eq!(row["real"], digest["quality"]["real"], "{id}");
        assert_eq!(row["reason"], digest["outcome"]["reason"], "{id}");
        for (name, list) in [("files", &digest["files"]), ("corrections", &digest["corrections"])] {
            assert_eq!(count(name), Some(list.as_array().map_or(0, Vec::len) as u64), "{id} {name}");
        }
        for name in ["added", "removed"] {
            assert_eq!(count(name), digest["lines"][name].as_u64(), "{id} {name}");
        }
    }
}
