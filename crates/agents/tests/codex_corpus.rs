//! Codex against recorded sessions, where they are at hand.
//!
//! `RETRO_CORPUS` names a folder with `genuine/codex*/<scenario>/` (a home, what
//! truly happened, and what the model server billed) and `public-codex/home`.
//! Without it every test says so and passes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::{Home, codex, read};
use home::{Source, adds_up, parse_cut, settled, settled_drafts};
use retro_agents::{Format, settle};
use retro_model::{Event, Kind, LinkKind, Origin, Outcome, SessionKey, SourceKey, ToolClass};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

const SETS: [&str; 7] =
    ["codex", "codex-0.130.0", "codex-0.80.0", "codex-0.42.0", "codex-0.29.0", "codex-0.20.0", "codex-0.8.0"];

fn corpus() -> Option<PathBuf> {
    let folder = std::env::var_os("RETRO_CORPUS").map(PathBuf::from);
    if folder.is_none() {
        println!("skipped: RETRO_CORPUS is not set");
    }
    folder
}

/// A recorded scenario: its name, its threads, what happened and what was billed.
struct Scenario {
    name: String,
    folder: PathBuf,
    home: Home,
    truth: Value,
    ledger: Vec<Value>,
}

fn scenarios(corpus: &Path) -> Vec<Scenario> {
    let mut all = Vec::new();
    for set in SETS {
        let entries = std::fs::read_dir(corpus.join("genuine").join(set)).unwrap();
        let mut folders: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        folders.sort();
        for folder in folders {
            let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
            all.push(Scenario {
                name: format!("{set}/{}", folder.file_name().unwrap().to_string_lossy()),
                home: read(&folder.join("home")),
                truth: serde_json::from_str(&text("truth.json")).unwrap(),
                ledger: text("ledger.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
                folder,
            });
        }
    }
    all
}

/// Runs a check over all items on every core and gathers what it finds wrong.
fn wrong<T: Sync>(items: &[T], check: impl Fn(&T, &mut Vec<String>) + Sync) -> Vec<String> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(at) else { return };
                    let mut mine = Vec::new();
                    check(item, &mut mine);
                    found.lock().unwrap().extend(mine);
                }
            });
        }
    });
    let mut found = found.into_inner().unwrap();
    found.sort();
    found
}

fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

/// Every thread of the corpus, recorded and public.
fn all_sessions(corpus: &Path) -> Vec<(String, String, Vec<Source>)> {
    let mut all: Vec<(String, String, Vec<Source>)> = Vec::new();
    for scenario in scenarios(corpus) {
        assert!(scenario.home.unreadable.is_empty(), "{:?}", scenario.home.unreadable);
        let sessions = scenario.home.sessions.into_iter();
        all.extend(sessions.map(|(id, sources)| (scenario.name.clone(), id, sources)));
    }
    let public = read(&corpus.join("public-codex").join("home"));
    all.extend(public.sessions.into_iter().map(|(id, sources)| ("public".to_owned(), id, sources)));
    all
}

#[test]
fn every_record_is_understood_and_accounted_for() {
    let Some(corpus) = corpus() else { return };
    let sessions = all_sessions(&corpus);
    let totals = Mutex::new(BTreeMap::<&str, [u64; 6]>::new());
    let wrong = wrong(&sessions, |(scenario, id, sources), wrong| {
        let settled = settled(codex(), id, sources);
        let coverage = settled.coverage;
        if !adds_up(&coverage) {
            wrong.push(format!("{scenario} {id}: {coverage:?} does not add up"));
        }
        let records: usize = sources
            .iter()
            .map(|source| match source.format {
                Format::JsonLines => source.bytes.split(|b| *b == b'\n').filter(|line| !line.trim_ascii().is_empty()).count(),
                _ => 1,
            })
            .sum();
        if coverage.records != records as u64 {
            wrong.push(format!("{scenario} {id}: {} records of {records}", coverage.records));
        }
        for event in settled.events.iter().filter(|event| event.kind == Kind::Unknown) {
            wrong.push(format!("{scenario} {id}#{}: unknown {:?}", event.id, event.data));
        }
        let ids: HashSet<_> = settled.events.iter().map(|event| &event.id).collect();
        if ids.len() != settled.events.len() {
            wrong.push(format!("{scenario} {id}: an event id is given twice"));
        }
        let set = if scenario == "public" { "public" } else { "genuine" };
        let mut totals = totals.lock().unwrap();
        let now =
            [coverage.records, coverage.mapped, coverage.folded, coverage.noted, coverage.unknown, coverage.malformed];
        for (sum, now) in totals.entry(set).or_default().iter_mut().zip(now) {
            *sum += now;
        }
    });
    let totals = totals.into_inner().unwrap();
    println!("records, mapped, folded, noted, unknown, malformed: {totals:?}");
    assert_none(wrong);
    assert_eq!((totals["public"][0], totals["public"][5], totals["genuine"][5]), (21_587, 0, 0));
}

#[test]
fn the_mapping_table_holds_for_every_record() {
    let Some(corpus) = corpus() else { return };
    let rows: HashMap<&str, &retro_agents::Row> = codex().mapping().iter().map(|row| (row.record, row)).collect();
    let sessions = all_sessions(&corpus);
    assert_none(wrong(&sessions, |(scenario, id, sources), wrong| {
        let (drafts, folded) = settled_drafts(codex(), id, sources);
        for row in folded.keys().filter(|row| !rows.get(**row).is_some_and(|row| row.may_fold)) {
            wrong.push(format!("{scenario} {id}: {row} was folded"));
        }
        let mut said = HashSet::new();
        for draft in &drafts {
            let Some(row) = rows.get(draft.hint.row) else {
                wrong.push(format!("{scenario} {id}#{}: no row {}", draft.id(), draft.hint.row));
                continue;
            };
            let first = draft.hint.identity.as_ref().is_none_or(|identity| said.insert(identity.clone()));
            if draft.hint.fold_only && first && !row.may_fold {
                wrong.push(format!("{scenario} {id}#{}: {} was folded", draft.id(), row.record));
            }
            if !draft.hint.fold_only && !row.gives.contains(&draft.event.kind) {
                wrong.push(format!("{scenario} {id}#{}: {} gave {:?}", draft.id(), row.record, draft.event.kind));
            }
        }
    }));
}

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
            asked.extend(call_ids(&source.bytes, &["function_call", "custom_tool_call", "local_shell_call", "tool_search_call"]));
            answered.extend(call_ids(&source.bytes, &["function_call_output", "custom_tool_call_output", "tool_search_output"]));
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
            "codex-0.29.0/14-interrupt" | "codex-0.29.0/14b-sigkill" | "codex-0.42.0/14-interrupt" | "codex-0.42.0/14b-sigkill"
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
                inner.tool.as_ref().is_some_and(|call| call.parent_call.as_deref() == Some(id) && call.call_id.starts_with("exec-"))
            });
            let nested = inside.filter_map(|inner| results.get(inner.tool.as_ref()?.call_id.as_str()).copied()).collect();
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
        wanted if wanted["command"].is_string() && tool.name != "exec" => {
            tool.command.as_ref().is_some_and(|command| wanted["command"].as_str() == Some(&unmarked(command)))
        }
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
        let events: Vec<&Event> =
            sessions.iter().flat_map(|session| &session.events).filter(|event| event.copy_of.is_none()).collect();
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
        differs("compactions", count(Kind::Compaction).to_string(), scenario.truth["compactions"].to_string());
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
            let with_nested: Vec<_> =
                std::iter::once(result).chain(call.nested.iter().filter_map(|event| event.result.as_ref())).collect();
            if result.outcome == Outcome::Interrupted {
                // Neither failed nor ok, whatever the truth says of it.
                let cut = truth["failed"] == false || is_known_difference(name, "interrupted");
                differs("cut off", "true".to_owned(), cut.to_string());
            } else if truth["note"] == "still running when the call returns" {
                // How the command ended was told by a later call, and completes this one.
                differs("polled", format!("{:?}", result.outcome), format!("{:?}", Outcome::Failed));
            } else {
                let failed = with_nested.iter().any(|result| matches!(result.outcome, Outcome::Failed | Outcome::Denied));
                differs("failed", format!("{id} {failed}"), format!("{id} {}", truth["failed"]));
            }
            if let Some(code) = truth["exit_code"].as_i64() {
                let ours = with_nested.iter().any(|result| result.exit_code == Some(code));
                differs("exit code", format!("{id} {code} {ours}"), format!("{id} {code} true"));
            }
            let edited: Vec<String> =
                with_nested.iter().flat_map(|result| &result.edits).flat_map(|edit| edit.to.iter().chain([&edit.path])).map(ToString::to_string).collect();
            let wanted = strings(&truth["files_edited"]);
            let same = edited.len() == wanted.len()
                && wanted.iter().all(|path| edited.iter().any(|edit| edit.ends_with(path.trim_start_matches("./"))));
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
            let is_above = |link: &&retro_model::Link| matches!(link.kind, LinkKind::Parent | LinkKind::ForkedFrom);
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

/// Billed responses that a log cannot have, by the exceptions of the format.
fn is_never_logged(scenario: &str, billed: &Value) -> bool {
    let (set, name) = scenario.split_once('/').unwrap();
    billed["delivered"] == false
        // Made for the program itself, in a thread without a file.
        || billed["kind"] == "side"
        // No usage in rollouts at all.
        || matches!(set, "codex-0.8.0" | "codex-0.20.0" | "codex-0.29.0")
        || match (set, name) {
            // The items and tokens of a round are written when it ends.
            ("codex-0.42.0", "14-interrupt" | "14b-sigkill") => true,
            // Chat servers tell no usage to this version.
            ("codex-0.42.0", "01c-chat-wire") => true,
            // An ephemeral run has no file.
            ("codex", "25-mining-call") => true,
            _ => false,
        }
}

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
            for event in settled(codex(), id, sources).events.into_iter().filter(|event| event.usage.is_some()) {
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
            let written = usage.cache_write_5m + usage.cache_write_1h + usage.cache_write_unsplit;
            let figures = [usage.input, written, usage.cache_read, usage.output, usage.reasoning];
            (event.model.clone().unwrap_or_default(), figures)
        };
        let mut ours: Vec<(String, Figures)> = rows.iter().map(|(key, event)| (key.clone(), figures(event))).collect();
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
            match by_key.or_else(|| ours.iter().position(|(key, figures)| !key.contains(":resp_") && *figures == theirs)) {
                Some(at) => {
                    let (key, figures) = ours.remove(at);
                    if figures != theirs {
                        wrong.push(format!("{name}: {key}: ours {figures:?}, billed {theirs:?}"));
                    }
                    found[0] += 1;
                }
                None => {
                    found[1] += 1;
                    if !is_never_logged(name, billed) {
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
    assert!(exact > 0);
}

#[test]
fn any_split_and_any_order_give_the_same_stream() {
    let Some(corpus) = corpus() else { return };
    let sessions = all_sessions(&corpus);
    assert_none(wrong(&sessions, |(scenario, id, sources), wrong| {
        let whole = settled(codex(), id, sources);
        let seed = id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut random = home::Seeded(seed);
        let session = SessionKey::new("codex", id.as_str());
        let mut pieces: Vec<_> = sources
            .iter()
            .map(|source| {
                let mut cuts: Vec<usize> = (0..4).map(|_| random.below(source.bytes.len() + 1)).collect();
                cuts.sort_unstable();
                parse_cut(codex(), &session, source, &cuts)
            })
            .collect();
        pieces.reverse();
        let swap = random.below(pieces.len());
        pieces.swap(0, swap);
        if settle(codex(), &session, pieces) != whole {
            wrong.push(format!("{scenario} {id}: cut with seed {seed}, the stream is another"));
        }
    }));
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
    let alone = settled(codex(), id, &[first.clone()]);
    let both = settled(codex(), id, &[first, second.clone()]);
    let second_alone = settled(codex(), id, &[Source { revision: 1, ..second }]);
    let told = |events: &[Event]| -> Vec<_> {
        let result = |event: &Event| event.result.as_ref().map(|result| (result.outcome, result.edits.clone()));
        events.iter().map(|event| (event.kind, event.text.clone(), event.usage.clone(), result(event))).collect()
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
        let has_state = |sources: &Vec<Source>| sources.iter().any(|source| source.key == SourceKey::new("state"));
        home.sessions.into_iter().filter(|(_, sources)| has_state(sources)).map(|(id, sources)| settled(codex(), &id, &sources)).collect::<Vec<_>>()
    };
    let renamed = facts("22-zst-rename");
    assert_eq!(renamed.len(), 2);
    assert_eq!(renamed.iter().filter(|session| session.facts.title_user.is_some()).count(), 1);
    let tree = facts("04-subagent");
    let links = |kind| tree.iter().flat_map(|session| &session.facts.links).filter(|link| link.kind == kind).count();
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
        let is_old = !name.starts_with("codex/") && !name.starts_with("codex-0.130") && !name.starts_with("codex-0.80");
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
                Kind::Assistant | Kind::Usage | Kind::Compaction | Kind::Interruption | Kind::Rewind | Kind::Reasoning | Kind::Session => {
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
