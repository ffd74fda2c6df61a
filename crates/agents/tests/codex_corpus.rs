//! Codex over recorded and public threads, where there are some (see `corpus`): what
//! other records add stays in its place.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod corpus;
mod home;

use codex_home::corpus::{all_sessions, scenarios};
use codex_home::{codex, read};
use corpus::{assert_none, corpus, wrong};
use home::{Source, adds_up, settled};
use retro_model::{Event, Kind, LinkKind, Origin, SourceKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Mutex;

/// Ids of calls on lines of these types that a plain search of the bytes finds.
fn call_ids(bytes: &[u8], types: &[&str]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_of = |line: &&str| types.iter().any(|kind| line.contains(&format!("\"type\":\"{kind}\"")));
    let id = |line: &str| Some(line.split_once("\"call_id\":\"")?.1.split_once('"')?.0.to_owned());
    text.lines().filter(is_of).filter_map(id).collect()
}

#[test]
fn calls_and_results_join_as_a_plain_search_says() {
    let Some(corpus) = corpus() else { return };
    let sessions = all_sessions(&corpus);
    let totals = Mutex::new((0, 0));
    assert_none(wrong(&sessions, |(scenario, id, sources), wrong| {
        let mut asked = BTreeSet::new();
        let mut answered = BTreeSet::new();
        for source in sources {
            asked.extend(call_ids(
                &source.bytes,
                &["function_call", "custom_tool_call", "local_shell_call", "tool_search_call"],
            ));
            answered.extend(call_ids(
                &source.bytes,
                &["function_call_output", "custom_tool_call_output", "tool_search_output"],
            ));
        }
        let both: BTreeSet<_> = asked.intersection(&answered).cloned().collect();
        let settled = settled(codex(), id, sources);
        let calls: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.tool.as_ref()?.call_id.clone())).collect();
        let results: BTreeSet<_> =
            settled.events.iter().filter_map(|event| Some(event.result.as_ref()?.call_id.clone())).collect();
        for call in both.iter().filter(|id| !calls.contains(*id) || !results.contains(*id)) {
            wrong.push(format!("{scenario} {id}: {call} is not joined"));
        }
        let joined = both.iter().filter(|id| calls.contains(*id) && results.contains(*id)).count();
        let mut totals = totals.lock().unwrap();
        totals.0 += joined;
        totals.1 += both.len();
    }));
    println!("joined, found by search: {:?}", totals.into_inner().unwrap());
}

#[test]
fn a_migrated_rollout_tells_the_same_and_nothing_twice() {
    let Some(corpus) = corpus() else { return };
    let folder = corpus.join("genuine/codex/23-migrate");
    let after = read(&folder.join("home"));
    let (id, sources) = after.sessions.iter().next().unwrap();
    let name = sources[0].path.file_name().unwrap();
    let before = folder.join("before-migration/sessions/2026/11/15").join(name);
    let first = Source { bytes: std::fs::read(before).unwrap(), ..sources[0].clone() };
    let second = Source { revision: 2, ..sources[0].clone() };
    let alone = settled(codex(), id, std::slice::from_ref(&first));
    let both = settled(codex(), id, &[first, second.clone()]);
    let second_alone = settled(codex(), id, &[Source { revision: 1, ..second }]);
    let told = |events: &[Event]| -> Vec<_> {
        let result =
            |event: &Event| event.result.as_ref().map(|result| (result.outcome, result.edits.clone()));
        events
            .iter()
            .map(|event| (event.kind, event.text.clone(), event.usage.clone(), result(event)))
            .collect()
    };
    assert_eq!(told(&alone.events), told(&second_alone.events));
    assert_eq!(both.events, alone.events);
    assert!(adds_up(&both.coverage));
}

#[test]
fn the_database_adds_names_branches_and_edges() {
    let Some(corpus) = corpus() else { return };
    let facts = |scenario: &str| {
        let home = read(&corpus.join("genuine/codex").join(scenario).join("home"));
        let has_state =
            |sources: &Vec<Source>| sources.iter().any(|source| source.key == SourceKey::new("state"));
        home.sessions
            .into_iter()
            .filter(|(_, sources)| has_state(sources))
            .map(|(id, sources)| settled(codex(), &id, &sources))
            .collect::<Vec<_>>()
    };
    let renamed = facts("22-zst-rename");
    assert_eq!(renamed.len(), 2);
    assert_eq!(renamed.iter().filter(|session| session.facts.title_user.is_some()).count(), 1);
    let tree = facts("04-subagent");
    let links =
        |kind| tree.iter().flat_map(|session| &session.facts.links).filter(|link| link.kind == kind).count();
    assert_eq!((tree.len(), links(LinkKind::Parent), links(LinkKind::Child)), (3, 2, 2));
    // Its only row is in the write-ahead log.
    assert_eq!(facts("14b-sigkill").len(), 1);
    let archived = facts("21-archive");
    let is_archived = |event: &Event| event.data.as_ref().is_some_and(|data| data.get("archived").is_some());
    assert_eq!(archived.iter().filter(|session| session.events.iter().any(is_archived)).count(), 1);
}

#[test]
fn streams_of_exec_belong_to_their_thread_and_add_only_errors() {
    let Some(corpus) = corpus() else { return };
    assert_none(wrong(&scenarios(&corpus), |scenario, wrong| {
        let name = &scenario.name;
        let streams = scenario.folder.join("exec-json");
        if !streams.is_dir() {
            return;
        }
        let read = codex_home::read_at(&scenario.folder, Some(streams.display().to_string()));
        let is_old = !name.starts_with("codex/")
            && !name.starts_with("codex-0.130")
            && !name.starts_with("codex-0.80");
        for (path, reason) in &read.unreadable {
            if !is_old || reason != "unsupported: no thread id" {
                wrong.push(format!("{name}: {} {reason}", path.display()));
            }
        }
        if is_old {
            if read.unreadable.is_empty() || !read.sessions.is_empty() {
                wrong.push(format!("{name}: {:?}", read.sessions.keys()));
            }
            return;
        }
        for (id, streams) in read.sessions {
            let alone = settled(codex(), &id, &streams);
            if alone.coverage.unknown + alone.coverage.malformed > 0 || !adds_up(&alone.coverage) {
                wrong.push(format!("{name} {id}: {:?}", alone.coverage));
            }
            // An ephemeral run has nothing else.
            let Some(rollout) = scenario.home.sessions.get(&id) else {
                if !alone.events.iter().any(|event| event.kind == Kind::Assistant) {
                    wrong.push(format!("{name} {id}: nothing was said"));
                }
                continue;
            };
            let without = settled(codex(), &id, rollout);
            let with = settled(codex(), &id, &[rollout.clone(), streams].concat());
            let added = with.events.iter().filter(|event| event.id.source == SourceKey::new("exec"));
            let others = added.clone().filter(|event| event.kind != Kind::Error).count();
            if others > 0 || with.events.len() != without.events.len() + added.count() {
                wrong.push(format!("{name} {id}: {others} events beyond errors"));
            }
        }
    }));
}

#[test]
fn public_sessions_have_the_prompts_and_outcomes_that_were_counted() {
    let Some(corpus) = corpus() else { return };
    let public = read(&corpus.join("public-codex").join("home"));
    let sessions: Vec<(String, Vec<Source>)> = public.sessions.into_iter().collect();
    let counted = Mutex::new(BTreeMap::<String, usize>::new());
    assert_none(wrong(&sessions, |(id, sources), _| {
        let settled = settled(codex(), id, sources);
        let names: HashMap<&str, &str> = settled
            .events
            .iter()
            .filter_map(|event| event.tool.as_ref().map(|call| (call.call_id.as_str(), call.name.as_str())))
            .collect();
        let mut counted = counted.lock().unwrap();
        let mut add = |what: String| *counted.entry(what).or_default() += 1;
        for event in &settled.events {
            match event.kind {
                Kind::User if event.origin == Origin::User => add("prompts".into()),
                Kind::User => add(format!("prompts of {:?}", event.origin)),
                Kind::Assistant
                | Kind::Usage
                | Kind::Compaction
                | Kind::Interruption
                | Kind::Rewind
                | Kind::Reasoning
                | Kind::Session => {
                    add(format!("{:?}", event.kind));
                }
                Kind::ToolResult => {
                    let result = event.result.as_ref().unwrap();
                    let name = names.get(result.call_id.as_str()).copied().unwrap_or("?");
                    if matches!(name, "exec_command" | "shell" | "shell_command" | "apply_patch") {
                        add(format!("{name} {:?}", result.outcome));
                    }
                }
                _ => {}
            }
        }
    }));
    let counted = counted.into_inner().unwrap();
    println!("{counted:#?}");
    let of = |what: &str| counted.get(what).copied().unwrap_or(0);
    // 348 in all; one is the task of a sub-agent.
    assert_eq!((of("prompts"), of("prompts of Agent")), (347, 1));
    assert_eq!((of("Assistant"), of("Usage"), of("Compaction")), (1368, 3301, 7));
    // Of 62 commands left running 58 ended in a later call.
    assert_eq!(of("exec_command Unknown"), 4);
    assert_eq!((of("Interruption"), of("Rewind"), of("Session"), of("Reasoning")), (17, 1, 51, 2419));
}
