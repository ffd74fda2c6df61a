//! Wrong types in known fields: every value of every record replaced by others in
//! turn, each in a session of its own.

use retro_model::{GapReason, Kind, SessionKey, ToolClass};
use serde_json::{Value, json};
use std::collections::HashSet;

use crate::mutants::{Mutant, survive};
use crate::support::Machine;
use crate::{File, ID, lines, logged, loggers, nth, replaced, retold, story, write};

/// One of each: told some thousand times.
const STORY: &str = "> Fix it\n? Hm.\n$ ls\n| x\n~ a\n- old\n+ new\n< Done.\n";

/// What a value is replaced by: a value of each other type; a number by odd ones too.
fn replacements(value: &Value) -> Vec<Value> {
    let others = vec![json!(null), json!(true), json!(-1), json!("x"), json!([]), json!({})];
    let odd = vec![json!(u64::MAX), json!(i64::MIN), json!(1e300), json!(0.5)];
    if value.is_number() { [others, odd].concat() } else { others }
}

/// Every value of every record by every type. Of records of one shape, such as the
/// counts of tokens, one stands for all.
fn mutants(files: &[File]) -> Vec<Mutant> {
    let mut mutants = Vec::new();
    let mut shapes = HashSet::new();
    for (file, log) in files.iter().enumerate().filter(|(_, file)| file.is_log()) {
        for (line, text) in lines(&log.bytes).into_iter().enumerate() {
            let record: Value = serde_json::from_slice(text).unwrap();
            let pointers = pointers(&record);
            let kinds: Vec<&Value> = pointers
                .iter()
                .filter(|at| at.ends_with("ype") || at.ends_with("Update"))
                .filter_map(|at| record.pointer(at))
                .collect();
            if !shapes.insert((file, pointers.clone(), format!("{kinds:?}"))) {
                continue;
            }
            for pointer in pointers {
                for value in replacements(record.pointer(&pointer).unwrap()) {
                    let mut record = record.clone();
                    let place = record.pointer_mut(&pointer).unwrap();
                    let gone = std::mem::replace(place, value).to_string();
                    mutants.push(Mutant { file, line, gone, bytes: format!("{record}\n").into_bytes() });
                }
            }
        }
    }
    mutants
}

/// The places of all values in a record, its own first.
fn pointers(record: &Value) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut at = 0;
    while let Some(pointer) = all.get(at).cloned() {
        match record.pointer(&pointer).unwrap() {
            Value::Object(fields) => {
                let escaped = |name: &String| name.replace('~', "~0").replace('/', "~1");
                all.extend(fields.keys().map(|name| format!("{pointer}/{}", escaped(name))));
            }
            Value::Array(items) => all.extend((0..items.len()).map(|n| format!("{pointer}/{n}"))),
            _ => {}
        }
        at += 1;
    }
    all
}

#[test]
fn values_of_other_types_spoil_no_other_record() {
    for agent in &loggers() {
        let files = logged(*agent, STORY);
        let mutants = mutants(&files);
        println!("{}: {} mutants", agent.name(), mutants.len());
        assert!(mutants.len() > 500);
        // Every one of them is JSON: there is no gap but for a figure that is none.
        survive(*agent, &files, &mutants, |gaps| gaps.iter().all(|gap| gap.reason == GapReason::Figure));
    }
}

/// A tool and a model that nobody has heard of: called `other`, linked to its
/// result, counted under its name.
#[test]
fn unknown_tools_and_models_keep_their_names() {
    for agent in &loggers() {
        let files = story(*agent);
        let machine = Machine::new();
        write(&machine, &files);
        machine.sync();
        let clean = machine.events(&SessionKey::new(agent.name(), ID));
        let is_shell = |event: &&retro_model::Event| {
            event.tool.as_ref().is_some_and(|tool| tool.class == ToolClass::Shell)
        };
        let tool = clean.iter().find(is_shell).unwrap().tool.clone().unwrap().name;
        let model = clean.iter().find_map(|event| event.model.clone()).unwrap();
        let mut novel = retold(&files, &nth(1));
        for file in novel.iter_mut().filter(|file| file.is_log()) {
            file.bytes = replaced(&file.bytes, format!("\"{tool}\"").as_bytes(), b"\"frobnicate\"");
            file.bytes = replaced(&file.bytes, model.as_bytes(), b"zorp-9");
        }
        write(&machine, &novel);
        let report = machine.sync();
        assert_eq!((report.ingested, report.failed, report.gaps), (1, 0, 0), "{}", agent.name());
        let key = SessionKey::new(agent.name(), nth(1));
        let events = machine.events(&key);
        let call =
            events.iter().find(|event| event.tool.as_ref().is_some_and(|tool| tool.name == "frobnicate"));
        let call = call.unwrap_or_else(|| panic!("{}: the call is lost", agent.name())).tool.clone().unwrap();
        assert!(
            events
                .iter()
                .any(|event| event.result.as_ref().is_some_and(|result| result.call_id == call.call_id))
        );
        assert!(call.class == ToolClass::Other || call.command.is_some(), "{}: {call:?}", agent.name());
        let rows = machine.store().index().unwrap().responses_of(&key).unwrap();
        assert!(
            !rows.is_empty() && rows.iter().all(|row| row.model.as_deref() == Some("zorp-9")),
            "{}",
            agent.name()
        );
        assert!(events.iter().all(|event| event.kind != Kind::Unknown), "{}", agent.name());
    }
}
