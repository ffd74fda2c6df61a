//! `story-<agent>`: a session that the agent's own writer wrote, with any damage.
//!
//! Random bytes of a fuzzer seldom become a record that a parser accepts. Here they select changes
//! to valid records.

use arbitrary::Unstructured;
use retro_agents::script::Script;
use retro_agents::{AGENTS, Agent, Held};
use retro_engine::discover::discover;
use retro_engine::{Config, World};
use retro_model::SessionKey;
use retro_store::Stamps;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::session::{self, Source};
use crate::{Tried, mutate};

pub(crate) fn check(agent: &'static dyn Agent, bytes: &[u8]) -> Tried {
    let told = told(agent)?;
    let choices = &mut Unstructured::new(bytes);
    let (key, sources) = told.changed(choices)?;
    session::check(agent, &key, &sources);
    Ok(())
}

/// The logs that an agent's writer made of the stories.
#[derive(Default)]
pub(crate) struct Told {
    sessions: Vec<(SessionKey, Vec<Source>)>,
    /// Words of the agent's records: names, keys and short values.
    words: Vec<String>,
}

impl Told {
    /// One of the sessions, changed as the input selects.
    pub(crate) fn changed(
        &self,
        choices: &mut Unstructured<'_>,
    ) -> arbitrary::Result<(SessionKey, Vec<Source>)> {
        let (key, sources) = choices.choose(&self.sessions)?;
        let mut sources = sources.clone();
        mutate::mutate(&mut sources, &self.words, choices)?;
        Ok((key.clone(), sources))
    }
}

/// The logs that this agent's writer made of the stories, found by its discovery.
pub(crate) fn told(agent: &dyn Agent) -> Result<&'static Told, String> {
    static TOLD: LazyLock<BTreeMap<&str, Result<Told, String>>> = LazyLock::new(|| {
        let tell = |agent: &&dyn Agent| (agent.name(), tell(*agent).map_err(|error| error.to_string()));
        AGENTS.iter().map(tell).collect()
    });
    let told = TOLD.get(agent.name()).ok_or_else(|| format!("{} is not registered", agent.name()))?;
    told.as_ref().map_err(Clone::clone)
}

fn tell(agent: &dyn Agent) -> Result<Told, Box<dyn std::error::Error>> {
    let home = tempfile::tempdir()?;
    for story in STORIES {
        for (path, bytes) in agent.write(&Script::parse(story)?) {
            let path = home.path().join(path);
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(path, bytes)?;
        }
    }
    let world = World::at(home.path());
    let config = Config::for_root(home.path().join("store"));
    let mut found = discover(&world, &config, Some(agent.name()), &Stamps::default());
    found.sessions.sort_by(|a, b| a.key.cmp(&b.key));
    let mut told = Told::default();
    for session in found.sessions {
        let mut sources = Vec::new();
        for file in session.files {
            let bytes = match &file.held {
                Held::Rows { database, .. } => database.rows(&session.key.id, &file.source)?,
                Held::File { .. } => std::fs::read(&file.path)?,
                // A folder of files has no records.
                Held::Files { .. } => continue,
            };
            let path = file.path.strip_prefix(home.path()).unwrap_or(&file.path).to_owned();
            sources.push(Source { key: file.source, revision: 1, format: file.format, path, bytes });
        }
        told.sessions.push((session.key, sources));
    }
    told.words = words(agent, &told.sessions);
    Ok(told)
}

/// The vocabulary of the agent: the rows of its table, and the contents of its records.
fn words(agent: &dyn Agent, sessions: &[(SessionKey, Vec<Source>)]) -> Vec<String> {
    let mut words: BTreeSet<String> = BTreeSet::new();
    for row in agent.mapping() {
        words.extend(row.record.split('/').map(str::to_owned));
    }
    for source in sessions.iter().flat_map(|(_, sources)| sources) {
        for line in source.bytes.split(|byte| *byte == b'\n') {
            collect(&serde_json::from_slice(line).unwrap_or_default(), &mut words);
        }
    }
    words.into_iter().collect()
}

fn collect(value: &Value, words: &mut BTreeSet<String>) {
    /// Longer strings are content and not part of the format.
    const WORD_BYTES_MAX: usize = 40;
    match value {
        Value::String(text) if text.len() <= WORD_BYTES_MAX => {
            words.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, words)),
        Value::Object(fields) => {
            words.extend(fields.keys().cloned());
            fields.values().for_each(|field| collect(field, words));
        }
        _ => {}
    }
}

/// Stories with every step of the notation, and a small session.
const STORIES: &[&str] = &[
    "\
@ session 11111111-1111-4111-8111-111111111111
@ cwd /home/dev/shop
@ branch main
@ model model-a
> Fix the tax test
? Rounding, perhaps.
$ cargo test
| 1 failed
! 101
: src/tax.rs
| fn vat() {}
~ src/tax.rs
- old
+ new
& Look for callers
. $ grep -r vat
. | two
. < Two callers.
< Done.
@ title Fix tax
= So far the tax test was mended.
@ model model-b
> Thanks, now add docs
^
> Go on
< Added.
",
    "\
@ session 22222222-2222-4222-8222-222222222222
@ cwd /home/dev/notes
> Add a search box
< There is one now.
",
];
