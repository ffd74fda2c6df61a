//! What holds for every agent of the registry.
//!
//! The pieces and the order in which a session arrives make no difference, settling
//! needs no words, no damage stops the reading, every row of the mapping table is shown
//! by a record, and a figure that cannot be read is never zero. An agent adds its odd
//! session and its fixtures as a [`Sample`]. With `RETRO_CORPUS` set, the same is tried
//! with the recorded sessions of each agent.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod claude;
mod codex;
#[path = "../codex_home/mod.rs"]
mod codex_home;
#[path = "../corpus/mod.rs"]
mod corpus;
mod grok;
#[path = "../grok_log/mod.rs"]
mod grok_log;
#[path = "../home/mod.rs"]
mod home;

use corpus::{assert_none, recorded, wrong};
use home::{Home, Seeded, Source, adds_up, parse_cut, settled, settled_drafts};
use proptest::prelude::*;
use retro_agents::script::{Script, Step};
use retro_agents::{AGENTS, Agent, Draft, Format, Row, Settled, settle};
use retro_model::{Exactness, GapReason, Kind, SessionKey};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The session of a script: an id that begins with its time, as some agents want it.
const SESSION: &str = "00000000-0000-7000-8000-00000000000a";

/// What the tests need to know of an agent.
struct Sample {
    agent: &'static dyn Agent,
    /// The session that these sources are.
    session: &'static str,
    /// What no script can express.
    odd: Vec<Source>,
    /// Records as the program would write them: what a test leaves out is added.
    source: fn(&str, Vec<Value>) -> Source,
    /// For each row of the mapping table what its drafts become, and the records.
    fixtures: &'static str,
    /// A log with one response whose input is this figure and whose output is 5.
    response: fn(Value) -> Source,
    /// The name of that figure.
    input: &'static str,
}

fn samples() -> [Sample; 3] {
    [claude::sample(), codex::sample(), grok::sample()]
}

impl Sample {
    fn settled(&self, sources: &[Source]) -> Settled {
        settled(self.agent, self.session, sources)
    }
}

#[test]
fn every_agent_has_a_sample() {
    let names: Vec<&str> = samples().iter().map(|sample| sample.agent.name()).collect();
    assert_eq!(names, AGENTS.iter().map(|agent| agent.name()).collect::<Vec<_>>());
}

/// The sessions of a script, written as the agent would and found again.
fn written(agent: &'static dyn Agent, script: &Script) -> BTreeMap<String, Vec<Source>> {
    let home = tempfile::tempdir().unwrap();
    for (path, bytes) in agent.write(script) {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Home::read(agent, home.path()).sessions
}

fn step() -> impl Strategy<Value = Step> {
    let words = "[a-zäß😀 ]{0,12}";
    let leaf = prop_oneof![
        words.prop_map(Step::User),
        words.prop_map(Step::Assistant),
        words.prop_map(Step::Thinking),
        words.prop_map(Step::Compaction),
        words.prop_map(Step::Title),
        "[a-z]{1,5}".prop_map(Step::Model),
        Just(Step::Interrupt),
        ("[a-z ]{1,9}", words, 0..3i64).prop_map(|(command, output, exit_code)| Step::Shell {
            command,
            output,
            exit_code
        }),
        ("[a-z/]{1,9}", words).prop_map(|(path, content)| Step::Read { path, content }),
        ("[a-z]{1,9}", prop::collection::vec(words, 0..3), prop::collection::vec(words, 0..3))
            .prop_map(|(path, removed, added)| Step::Edit { path, removed, added }),
    ];
    leaf.prop_recursive(2, 12, 4, move |inner| {
        (words, prop::collection::vec(inner, 0..4)).prop_map(|(task, steps)| Step::Subagent { task, steps })
    })
}

pub(crate) fn script() -> impl Strategy<Value = Script> {
    prop::collection::vec(step(), 0..12).prop_map(|steps| Script {
        steps,
        session: SESSION.to_owned(),
        ..Script::parse("").unwrap()
    })
}

/// The session with every source cut at these places (taken modulo its length), and
/// the sources settled in an order that starts at `turn`.
fn pieced(agent: &dyn Agent, id: &str, sources: &[Source], cuts: &[usize], turn: usize) -> Settled {
    let session = SessionKey::new(agent.name(), id);
    let mut parsed: Vec<_> = sources
        .iter()
        .map(|source| {
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut % (source.bytes.len() + 1)).collect();
            cuts.sort_unstable();
            parse_cut(agent, &session, source, &cuts)
        })
        .collect();
    let turn = turn % parsed.len();
    parsed.rotate_left(turn);
    settle(agent, &session, parsed)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_and_order_of_a_script_give_the_same_stream(
        script in script(), cuts in prop::collection::vec(any::<usize>(), 0..5), turn in any::<usize>(),
    ) {
        for agent in AGENTS {
            for (id, sources) in written(*agent, &script) {
                prop_assert_eq!(pieced(*agent, &id, &sources, &cuts, turn), settled(*agent, &id, &sources));
            }
        }
    }

    #[test]
    fn what_is_written_is_understood_whole(script in script()) {
        for agent in AGENTS {
            for (id, sources) in written(*agent, &script) {
                let settled = settled(*agent, &id, &sources);
                prop_assert!(adds_up(&settled.coverage));
                let lost = (settled.coverage.unknown, settled.coverage.malformed, settled.gaps.len());
                prop_assert_eq!(lost, (0, 0, 0), "{} {}", agent.name(), id);
            }
            prop_assert_eq!(agent.write(&script), agent.write(&script));
        }
    }

    #[test]
    fn any_split_and_order_of_an_odd_session_give_the_same_stream(
        cuts in prop::collection::vec(any::<usize>(), 0..6), turn in any::<usize>(),
    ) {
        for sample in samples() {
            let whole = sample.settled(&sample.odd);
            prop_assert_eq!(pieced(sample.agent, sample.session, &sample.odd, &cuts, turn), whole);
        }
    }

    #[test]
    fn no_damage_stops_the_reading(
        of in any::<usize>(), at in any::<usize>(), byte in any::<u8>(), cut in any::<usize>(),
    ) {
        for sample in samples() {
            let mut sources = sample.odd.clone();
            let of = of % sources.len();
            let length = sources[of].bytes.len();
            sources[of].bytes[at % length] = byte;
            prop_assert!(adds_up(&sample.settled(&sources).coverage));
            sources[of].bytes.truncate(cut % length);
            prop_assert!(adds_up(&sample.settled(&sources).coverage));
        }
    }
}

#[test]
fn a_cut_at_any_byte_is_made_good_by_the_rest() {
    for sample in samples() {
        let whole = sample.settled(&sample.odd);
        for cut in (0..sample.odd[0].bytes.len()).step_by(7) {
            let pieced = pieced(sample.agent, sample.session, &sample.odd, &[cut], 0);
            assert_eq!(pieced, whole, "{} cut at {cut}", sample.agent.name());
        }
    }
}

#[test]
fn settling_reads_no_words() {
    let bare = |draft: &mut Draft| {
        draft.event.text = None;
        draft.event.data = None;
        if let Some(call) = &mut draft.event.tool {
            call.args = None;
            call.command = None;
        }
    };
    for Sample { agent, session, odd, .. } in samples() {
        let key = SessionKey::new(agent.name(), session);
        let mut drafts: Vec<Draft> =
            odd.iter().flat_map(|source| parse_cut(agent, &key, source, &[]).out.drafts).collect();
        drafts.sort_by(|a, b| (&a.id().source, a.id().revision).cmp(&(&b.id().source, b.id().revision)));
        drafts.iter_mut().for_each(bare);
        agent.settle(&key, &mut drafts);
        let (mut with_words, _) = settled_drafts(agent, session, &odd);
        with_words.iter_mut().for_each(bare);
        assert_eq!(drafts.len(), with_words.len());
        for (without, with) in drafts.iter().zip(&with_words) {
            assert_eq!(without.event, with.event);
            assert_eq!(without.hint.fold_only, with.hint.fold_only, "{} {}", agent.name(), with.id());
        }
    }
}

#[test]
fn a_session_is_resumed_from_its_folder() {
    for agent in AGENTS {
        let resume = |id: &str, cwd| agent.resume(id, cwd);
        let plain = resume("a1", None).unwrap();
        assert_eq!(resume("a1", Some("/w/it's here")), Some(format!(r"cd '/w/it'\''s here' && {plain}")));
        assert_eq!((resume("a\nb", None), resume("--last", None), resume("a", Some(""))), (None, None, None));
    }
}

#[test]
fn a_figure_that_cannot_be_read_is_a_gap_and_a_lower_bound() {
    let used = |sample: &Sample, input: Value| {
        let settled = sample.settled(&[(sample.response)(input)]);
        let usage: Vec<_> = settled.events.iter().filter_map(|event| event.usage.clone()).collect();
        let [usage] = usage.as_slice() else { panic!("{}: {usage:?}", sample.agent.name()) };
        (usage.tokens.input, usage.tokens.output, usage.exactness, settled.gaps)
    };
    let unread = [
        json!("123456"),
        json!(-1),
        json!(1.5),
        json!(1e10),
        json!(18_446_744_073_709_551_616_f64),
        Value::Null,
        json!(true),
        json!([]),
        json!({}),
    ];
    for sample in samples() {
        let name = sample.agent.name();
        for figure in [0, 7, u64::MAX] {
            assert_eq!(used(&sample, json!(figure)), (figure, 5, Exactness::Exact, vec![]), "{name}");
        }
        for figure in &unread {
            let (input, output, exactness, gaps) = used(&sample, figure.clone());
            assert_eq!((input, output, exactness), (0, 5, Exactness::LowerBound), "{name}: {figure}");
            let [gap] = gaps.as_slice() else { panic!("{name}: {figure}: {gaps:?}") };
            assert_eq!((&gap.reason, gap.line), (&GapReason::Figure, Some(1)), "{name}: {figure}");
            assert!(gap.detail.as_ref().unwrap().ends_with(sample.input), "{name}: {gap:?}");
        }
    }
}

/// A row of the mapping table, shown by records.
struct Fixture {
    row: String,
    /// What the drafts of that row become, in order.
    becomes: Vec<String>,
    sources: Vec<Source>,
}

/// Blocks of `row: what its drafts become` and records, each behind its source as
/// `@source ` where that is not the main log.
fn fixtures(sample: &Sample) -> Vec<Fixture> {
    let mut all: Vec<Fixture> = Vec::new();
    for block in sample.fixtures.split("\n\n") {
        let mut lines = block.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
        let Some((row, becomes)) = lines.next().and_then(|head| head.rsplit_once(": ")) else { continue };
        let mut sources: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for line in lines.map(str::trim) {
            let (key, record) = match line.strip_prefix('@') {
                Some(line) => line.split_once(' ').unwrap(),
                None => ("m", line),
            };
            sources.entry(key.to_owned()).or_default().push(serde_json::from_str(record).unwrap());
        }
        all.push(Fixture {
            row: row.to_owned(),
            becomes: becomes.split(' ').map(str::to_owned).collect(),
            sources: sources.into_iter().map(|(key, records)| (sample.source)(&key, records)).collect(),
        });
    }
    all
}

fn word(kind: Kind) -> String {
    serde_json::to_value(kind).unwrap().as_str().unwrap().to_owned()
}

/// What the drafts of the fixture's row became.
fn became(sample: &Sample, fixture: &Fixture) -> Vec<String> {
    let (drafts, folded) = settled_drafts(sample.agent, sample.session, &fixture.sources);
    let mut became: Vec<String> = drafts
        .iter()
        .filter(|draft| draft.hint.row == fixture.row)
        .map(|draft| if draft.hint.fold_only { "folded".to_owned() } else { word(draft.event.kind) })
        .collect();
    let without_draft = folded.get(fixture.row.as_str()).copied().unwrap_or(0);
    became.extend((0..without_draft).map(|_| "folded".to_owned()));
    became
}

#[test]
fn each_row_has_fixtures_for_all_it_may_become_and_nothing_else() {
    for sample in samples() {
        let fixtures = fixtures(&sample);
        for fixture in &fixtures {
            assert_eq!(became(&sample, fixture), fixture.becomes, "{}", fixture.row);
            assert!(sample.agent.mapping().iter().any(|row| row.record == fixture.row), "{}", fixture.row);
        }
        for Row { record, gives, may_fold, .. } in sample.agent.mapping() {
            let of_row = fixtures.iter().filter(|fixture| fixture.row == *record);
            let shown: BTreeSet<String> = of_row.flat_map(|fixture| fixture.becomes.clone()).collect();
            let mut allowed: BTreeSet<String> = gives.iter().map(|kind| word(*kind)).collect();
            if *may_fold {
                allowed.insert("folded".to_owned());
            }
            assert_eq!(shown, allowed, "{record}");
        }
    }
}

/// What drafts became that their rows do not allow.
fn against_the_table(agent: &dyn Agent, id: &str, sources: &[Source]) -> Vec<String> {
    let rows: BTreeMap<&str, &Row> = agent.mapping().iter().map(|row| (row.record, row)).collect();
    let (drafts, folded) = settled_drafts(agent, id, sources);
    let may_fold = |row: &str| rows.get(row).is_some_and(|row| row.may_fold);
    let mut wrong: Vec<String> =
        folded.keys().filter(|row| !may_fold(row)).map(|row| format!("{row} was folded")).collect();
    let mut known = BTreeSet::new();
    for draft in &drafts {
        // A repeat is folded whatever its row says.
        let is_first = draft.hint.identity.as_ref().is_none_or(|identity| known.insert(identity));
        let row = draft.hint.row;
        if draft.hint.fold_only && is_first && !may_fold(row) {
            wrong.push(format!("{}: {row} was folded", draft.id()));
        }
        if !draft.hint.fold_only && !rows.get(row).is_some_and(|row| row.gives.contains(&draft.event.kind)) {
            wrong.push(format!("{}: {row} gave {:?}", draft.id(), draft.event.kind));
        }
    }
    wrong
}

#[test]
fn fixtures_leave_nothing_unaccounted_and_nothing_unknown_but_what_is_meant_to_be() {
    for sample in samples() {
        for fixture in fixtures(&sample) {
            let settled = sample.settled(&fixture.sources);
            assert!(adds_up(&settled.coverage), "{}: {:?}", fixture.row, settled.coverage);
            assert_eq!(settled.coverage.malformed, 0, "{}", fixture.row);
            let is_unknown = fixture.becomes.iter().any(|word| word == "unknown");
            assert_eq!(settled.coverage.unknown > 0, is_unknown, "{}", fixture.row);
            let wrong = against_the_table(sample.agent, sample.session, &fixture.sources);
            assert!(wrong.is_empty(), "{}: {wrong:?}", fixture.row);
        }
    }
}

#[test]
fn every_record_of_a_recorded_session_is_understood_and_accounted_for() {
    let lines = |source: &Source| {
        source.bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).count()
    };
    assert_none(wrong(&recorded(), |(agent, name, id, sources), wrong| {
        let Settled { coverage, events, .. } = settled(*agent, id, sources);
        if !adds_up(&coverage) {
            wrong.push(format!("{name} {id}: {coverage:?} does not add up"));
        }
        let records: usize = sources
            .iter()
            .map(|source| match source.format {
                Format::JsonLines => lines(source),
                Format::Json => usize::from(!source.bytes.is_empty()),
                Format::Opaque | Format::Files => 0,
            })
            .sum();
        if coverage.records != records as u64 {
            wrong.push(format!("{name} {id}: {} records of {records}", coverage.records));
        }
        if coverage.malformed > 0 && name.starts_with("genuine") {
            wrong.push(format!("{name} {id}: {} records cannot be read", coverage.malformed));
        }
        for event in events.iter().filter(|event| event.kind == Kind::Unknown) {
            wrong.push(format!("{name} {id}#{}: unknown {:?}", event.id, event.data));
        }
        let ids: BTreeSet<_> = events.iter().map(|event| &event.id).collect();
        if ids.len() != events.len() {
            wrong.push(format!("{name} {id}: an event id is given twice"));
        }
    }));
}

#[test]
fn the_mapping_table_holds_for_every_recorded_session() {
    assert_none(wrong(&recorded(), |(agent, name, id, sources), wrong| {
        let found = against_the_table(*agent, id, sources);
        wrong.extend(found.into_iter().map(|what| format!("{name} {id}: {what}")));
    }));
}

#[test]
fn any_split_and_order_of_a_recorded_session_give_the_same_stream() {
    assert_none(wrong(&recorded(), |(agent, name, id, sources), wrong| {
        let whole = settled(*agent, id, sources);
        let session = SessionKey::new(agent.name(), id.as_str());
        let seed = id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let mut random = Seeded(seed);
        for round in 0..2 {
            let mut pieces: Vec<_> = sources
                .iter()
                .map(|source| {
                    let mut cuts: Vec<usize> = if round == 0 && source.bytes.len() < 64 * 1024 {
                        // At every line end.
                        (1..=source.bytes.len()).filter(|at| source.bytes[at - 1] == b'\n').collect()
                    } else {
                        (0..4).map(|_| random.below(source.bytes.len() + 1)).collect()
                    };
                    cuts.sort_unstable();
                    parse_cut(*agent, &session, source, &cuts)
                })
                .collect();
            for at in (1..pieces.len()).rev() {
                pieces.swap(at, random.below(at + 1));
            }
            if settle(*agent, &session, pieces) != whole {
                wrong.push(format!("{name} {id}: cut with seed {seed}, the stream is another"));
            }
        }
    }));
}
