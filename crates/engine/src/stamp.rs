//! Stamps name the inputs of a stage's result. Every check whether a result is current is here.

use retro_agents::{AGENTS, Agent};
use retro_model::{SourceKey, SourceKind};
use retro_store::{Made, SessionFile, Slot, Store};
use std::collections::BTreeMap;

use crate::stage::{Input, Stage, StampInputs, When};
use crate::{Config, Error};

/// The stamp that a current result of `stage` has. `made` holds the results of earlier stages.
pub(crate) fn stamp(stage: &Stage, inputs: StampInputs<'_>, made: &BTreeMap<String, Made>) -> String {
    let mut parts = vec![stage.version.to_string()];
    for input in stage.inputs {
        parts.push(match input {
            Input::Events => events(inputs.agent, inputs.content),
            Input::Raw => inputs.content.to_owned(),
            Input::Made(other) => made.get(*other).map_or(String::new(), |made| made.output.clone()),
            Input::Config(part) => part(inputs.config),
            Input::Children => inputs.children.to_owned(),
            Input::Facts => inputs.facts.to_owned(),
            // Consumers ask for changes instead.
            Input::Changes(_) => String::new(),
        });
    }
    if stage.when == When::AppendAndQuiet {
        parts.push(if inputs.is_quiet { "quiet" } else { "growing" }.to_owned());
    }
    short_hash(&parts.join("\n"))
}

/// The stamp of a consumer, which covers all sessions.
pub(crate) fn stamp_of_consumer(stage: &Stage, config: &Config) -> String {
    let settings = stage.inputs.iter().filter_map(|input| match input {
        Input::Config(part) => Some(part(config)),
        _ => None,
    });
    let rules = retro_text::secrets::RULES_VERSION.to_string();
    let parts: Vec<String> = [stage.version.to_string(), rules].into_iter().chain(settings).collect();
    short_hash(&parts.join("\n"))
}

/// Names the inputs of events: the parser, the rules for secrets, the bytes.
fn events(agent: &dyn Agent, content: &str) -> String {
    format!("{}.{}.{content}", agent.parser_version(), retro_text::secrets::RULES_VERSION)
}

/// Names everything whose change affects the stamps of all sessions. While it is the same, only
/// changed sessions must be checked.
pub(crate) fn made_with(stages: &[Stage], config: &Config) -> String {
    let mut parts: Vec<String> =
        AGENTS.iter().map(|agent| format!("{}{}", agent.name(), agent.parser_version())).collect();
    parts.push(retro_text::secrets::RULES_VERSION.to_string());
    for stage in stages {
        parts.push(format!("{}{}", stage.name, stage.version));
        parts.extend(stage.inputs.iter().filter_map(|input| match input {
            Input::Config(part) => Some(part(config)),
            _ => None,
        }));
    }
    short_hash(&parts.join("\n"))
}

/// Names the captured bytes of a session. A log only grows, so its length identifies its bytes,
/// however they are packed. A state file is named by its hash.
pub fn content(store: &Store, file: &SessionFile) -> Result<String, Error> {
    content_knowing(store, file, &|_, _| None)
}

/// Like [`content`], with known lengths of some revisions, whose raw files are not opened.
pub(crate) fn content_knowing(
    store: &Store,
    file: &SessionFile,
    known: &dyn Fn(&SourceKey, u32) -> Option<u64>,
) -> Result<String, Error> {
    let mut parts = Vec::new();
    for (source, entry) in &file.sources {
        for revision in 1..=entry.revisions {
            if let Some(end) = known(source, revision) {
                parts.push(format!("{source}~{revision}:{end}"));
                continue;
            }
            let slot = Slot::Session { key: file.key.clone(), source: source.clone(), revision };
            let commit = match store.archive(&slot).tail() {
                Ok(Some(commit)) => commit,
                Ok(None) => continue,
                // Unreadable bytes give no events.
                Err(retro_store::Error::Damaged { .. }) => {
                    parts.push(format!("{source}~{revision}:damaged"));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let mut part = format!("{source}~{revision}:{}", commit.end);
            if entry.kind == SourceKind::State {
                part.push_str(&format!("={}", blake3::Hash::from_bytes(commit.hash).to_hex()));
            }
            parts.push(part);
        }
    }
    Ok(short_hash(&parts.join("\n")))
}

/// A short name of a text.
pub(crate) fn short_hash(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().chars().take(32).collect()
}
