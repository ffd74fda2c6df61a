//! Sessions and records of any size: what waits on a shelf comes back, windows tell
//! nothing twice, and a record too large to hold still says what it is. For every
//! agent.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod home;

use home::{Home, Source, parse, settled};
use retro_agents::script::Script;
use retro_agents::{AGENTS, Agent, Folding, Limits, Settled, Shelf, Shelved, Told};
use retro_model::{Event, GapReason, SessionKey};
use std::collections::{BTreeSet, HashSet};
use std::io;
use std::path::PathBuf;

/// A shelf in memory.
#[derive(Default)]
struct Board(Vec<u8>);

impl Shelf for Board {
    fn put(&mut self, bytes: &[u8]) -> io::Result<Shelved> {
        let at = Shelved { offset: self.0.len() as u64, length: bytes.len() as u64 };
        self.0.extend_from_slice(bytes);
        Ok(at)
    }

    fn get(&mut self, at: Shelved) -> io::Result<Vec<u8>> {
        Ok(self.0[at.offset as usize..(at.offset + at.length) as usize].to_vec())
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear();
        Ok(())
    }
}

fn bounded(agent: &dyn Agent, id: &str, sources: &[Source], limits: Limits) -> Settled {
    let session = SessionKey::new(agent.name(), id);
    let mut sources = sources.to_vec();
    sources.sort_by(|a, b| (&a.key, a.revision).cmp(&(&b.key, b.revision)));
    let rewritten: HashSet<_> =
        sources.iter().filter(|source| source.revision > 1).map(|source| source.key.clone()).collect();
    let mut events: Vec<Event> = Vec::new();
    let mut keep = |event: Box<_>| -> io::Result<()> {
        events.push(*event);
        Ok(())
    };
    let mut board = Board::default();
    let mut folding = Folding::bounded(agent, &session, rewritten, &mut board, limits, &mut keep);
    for source in &sources {
        let parsed = parse(agent, &session, source);
        folding.end_source(parsed.bytes);
        folding.take(&parsed.part, parsed.out).unwrap();
    }
    let Told { coverage, gaps, facts } = folding.finish().unwrap();
    Settled { events, coverage, gaps, facts }
}

/// The sources of a script's session, as the agent would log it.
fn logged(agent: &dyn Agent, script: &Script) -> Vec<Source> {
    let home = tempfile::tempdir().unwrap();
    for (path, bytes) in agent.write(script) {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    Home::read(agent, home.path()).sessions.remove(&script.session).unwrap()
}

fn story() -> Script {
    let mut text = String::from("@ session 00000000-0000-4000-8000-00000000000a\n@ cwd /home/dev/shop\n");
    for turn in 0..30 {
        text.push_str(&format!(
            "> Prompt {turn} with a good many words in it, so that it is worth putting away for a while\n\
             ? A thought of turn {turn}\n$ make step-{turn}\n| output of a command\n| in two lines\n\
             : src/file-{turn}.rs\n| fn main() {{}}\n~ src/file-{turn}.rs\n- old\n+ new\n\
             & Look for callers of {turn}\n.   $ grep -r {turn}\n.   < Two callers.\n< Done with {turn}.\n"
        ));
    }
    Script::parse(&text).unwrap()
}

#[test]
fn what_waited_on_the_shelf_comes_back() {
    for agent in AGENTS {
        let sources = logged(*agent, &story());
        let id = &story().session;
        let limits = Limits { held_bytes: 0, ..Limits::default() };
        assert_eq!(bounded(*agent, id, &sources, limits), settled(*agent, id, &sources), "{}", agent.name());
    }
}

#[test]
fn windows_tell_everything_once_and_say_where_they_meet() {
    for agent in AGENTS {
        let sources = logged(*agent, &story());
        let id = &story().session;
        let whole = settled(*agent, id, &sources);
        for window_drafts in [200, 400] {
            let parts = bounded(*agent, id, &sources, Limits { window_drafts, held_bytes: 2_000 });
            let ids = |settled: &Settled| -> BTreeSet<String> {
                settled.events.iter().map(|event| event.id.to_string()).collect()
            };
            let name = agent.name();
            assert_eq!(ids(&parts).len(), parts.events.len(), "{name}: an event twice");
            assert!(parts.gaps.iter().any(|gap| gap.reason == GapReason::Oversized), "{name}");
            assert_eq!(parts.coverage.records, whole.coverage.records, "{name}");
            assert_eq!(parts.facts, whole.facts, "{name}");
            let seqs: Vec<u64> = parts.events.iter().map(|event| event.seq).collect();
            assert!(seqs.iter().copied().eq(1..=parts.events.len() as u64), "{name}");
            // Grok tells one thing in several files, which only one window can join.
            if name != "grok" {
                let differs: Vec<String> = ids(&parts).symmetric_difference(&ids(&whole)).cloned().collect();
                assert!(differs.is_empty(), "{name}: {differs:?}");
                let turns = |settled: &Settled| -> BTreeSet<(String, u32)> {
                    settled.events.iter().map(|event| (event.id.to_string(), event.turn)).collect()
                };
                assert_eq!(turns(&parts), turns(&whole), "{name}");
            }
        }
    }
}

#[test]
fn the_corpus_settles_the_same_with_a_shelf() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS").map(PathBuf::from) else {
        println!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let folders = |path: PathBuf| -> Vec<PathBuf> {
        std::fs::read_dir(path).into_iter().flatten().map(|entry| entry.unwrap().path()).collect()
    };
    let mut sessions = 0;
    for agent in AGENTS {
        let of_agent = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(agent.name()))
        };
        for set in folders(corpus.join("genuine")).into_iter().filter(of_agent) {
            for scenario in folders(set) {
                for (id, sources) in &Home::read(*agent, &scenario.join("home")).sessions {
                    let limits = Limits { held_bytes: 0, ..Limits::default() };
                    let shelved = bounded(*agent, id, sources, limits);
                    assert!(shelved == settled(*agent, id, sources), "{} {id}", scenario.display());
                    sessions += 1;
                }
            }
        }
    }
    println!("{sessions} sessions");
    assert!(sessions > 100);
}

#[test]
fn a_record_too_large_to_hold_says_what_it_is() {
    let huge = "A line of the file.\n".repeat(500_000);
    let script = format!(
        "@ session 00000000-0000-4000-8000-00000000000b\n@ cwd /home/dev/shop\n> First\n: big.txt\n| {}\n< Read it.\n> Second\n< Yes.\n",
        huge.trim_end().replace('\n', "\n| ")
    );
    let small = script.replace(&huge.trim_end().replace('\n', "\n| "), "A line of the file.");
    let (script, small): (Script, Script) = (Script::parse(&script).unwrap(), Script::parse(&small).unwrap());
    for agent in AGENTS {
        let id = &script.session;
        let large = settled(*agent, id, &logged(*agent, &script));
        let small = settled(*agent, id, &logged(*agent, &small));
        let meaning = |settled: &Settled| -> Vec<String> {
            let shape = |event: &Event| {
                let outcome = event.result.as_ref().map(|result| result.outcome);
                format!("{} {:?} {:?} {:?}", event.id, event.kind, event.origin, outcome)
            };
            settled.events.iter().map(shape).collect()
        };
        assert_eq!(meaning(&large), meaning(&small), "{}", agent.name());
        assert!(large.gaps.iter().any(|gap| gap.reason == GapReason::Oversized), "{}", agent.name());
        let cut: Vec<&Event> = large.events.iter().filter(|event| event.truncated).collect();
        assert!(!cut.is_empty(), "{}", agent.name());
        for event in &large.events {
            assert!(event.text.as_ref().is_none_or(|text| text.len() <= 70_000), "{}", event.id);
        }
    }
}
