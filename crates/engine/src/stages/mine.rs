//! Mines a quiet session: runs every configured method over its events, once.

use retro_memory::filters;
use retro_memory::methods::{self, Method};
use retro_memory::{Episode, Findings, Listener, Past, Repository};
use retro_model::{Event, Facts, SessionKey};
use retro_store::{Index, Store};
use serde_json::Value;
use std::path::Path;

use super::{Body, Input, Making, Product, Stage, Subject, Truth, When, Work, digest, from_kept, to_keep};
use crate::memory::EXPOSURES;
use crate::mined::{self, FINDINGS, MINED, PAST, Rest, keep};
use crate::stamp::short_hash;
use crate::{Config, Error, repository};

pub(crate) const STAGE: Stage = Stage {
    name: mined::STAGE,
    version: 9,
    when: When::Quiet,
    help: "what a quiet session can teach: fixes, rules, commands, procedures",
    inputs: &[Input::Events, Input::Config(settings_text)],
    work: Work::Events(make),
    truth: Some(Truth { keep: keep_rest, restore }),
    ..Stage::PLAIN
};

/// The parts of the configuration that mining depends on.
fn settings_text(config: &Config) -> String {
    format!("{} {}", config.insight.value.text, config.mining.value.methods.join(","))
}

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    Ok(Box::new(Mining {
        listener: Listener::new(subject.key.clone()),
        facts: subject.file.facts.clone(),
        content: subject.content.to_owned(),
        store: subject.store.clone(),
        config: subject.config.clone(),
    }))
}

fn keep_rest(index: &Index, key: &SessionKey) -> Result<Value, Error> {
    let rest = Rest { past: index.body(key, PAST, "")?, findings: index.body(key, FINDINGS, "")? };
    to_keep(&rest)
}

fn restore(subject: &Subject<'_>, kept: &Value) -> Result<Product, Error> {
    let rest: Rest = from_kept(subject, kept)?;
    let mut bodies = Vec::new();
    for method in subject.store.mined_methods(subject.key)? {
        let found = subject.store.mined(&method, subject.key)?;
        let text = found.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        bodies.push(Body { name: MINED, part: method, text });
    }
    bodies.push(Body { name: PAST, part: String::new(), text: rest.past });
    let output = short_hash(&format!("{bodies:?}"));
    bodies.push(Body { name: FINDINGS, part: String::new(), text: rest.findings });
    Ok(Product { output, bodies, ..Product::default() })
}

struct Mining {
    listener: Listener,
    facts: Facts,
    content: String,
    store: Store,
    config: Config,
}

impl Making for Mining {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.listener.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let Mining { listener, facts, content, store, config } = *self;
        let episode = episode(listener, &config, &facts, &content);
        let wanted: Vec<&'static Method> =
            config.mining.value.methods.iter().filter_map(|name| methods::by_name(name)).collect();
        let run = if episode.quality.real { &wanted[..] } else { &[] };
        let findings = Findings::of(&episode, run);
        let mined = findings.choose(run, &filters::for_all()).unwrap_or_default();
        let mut bodies = Vec::new();
        let before = store.mined_methods(&episode.key)?;
        for method in &wanted {
            let found =
                mined.iter().find(|mined| mined.method == method.name && !mined.candidates.is_empty());
            let text = match found {
                Some(found) => Some(keep(&store, &episode.key, found)?),
                None => {
                    if before.contains(method.name) {
                        store.put_mined(method.name, &episode.key, None)?;
                    }
                    None
                }
            };
            bodies.push(Body { name: MINED, part: method.name.to_owned(), text });
        }
        let past = was_shown_something(&store, &episode.key)?
            .then(|| serde_json::to_string(&Past::of(&episode)).unwrap_or_default());
        bodies.push(Body { name: PAST, part: String::new(), text: past });
        let output = short_hash(&format!("{bodies:?}"));
        let findings = serde_json::to_string(&findings).unwrap_or_default();
        bodies.push(Body { name: FINDINGS, part: String::new(), text: Some(findings) });
        Ok(Product { output, bodies, ..Product::default() })
    }
}

/// The episode of a session, from the events that the listener heard.
pub fn episode(listener: Listener, config: &Config, facts: &Facts, content: &str) -> Episode {
    let settings = digest::settings(config, facts, false);
    let text = |value: &Option<(_, retro_text::Redacted<String>)>| {
        value.as_ref().map(|(_, text)| text.to_string()).filter(|text| !text.is_empty())
    };
    let cwd = text(&facts.cwd);
    // Only if the folder still exists. A clone elsewhere is recognized by its remote.
    let around = cwd.as_deref().map(|cwd| repository::around(Path::new(cwd)));
    let repository = Repository { branch: text(&facts.branch), ..around.unwrap_or_default() };
    listener.finish(&settings, cwd, repository, content.to_owned())
}

/// Whether memories were shown to a session.
fn was_shown_something(store: &Store, key: &SessionKey) -> Result<bool, Error> {
    if !EXPOSURES.is_there(store) {
        return Ok(false);
    }
    let (shown, _) = EXPOSURES.read(store)?;
    Ok(shown.iter().any(|exposure| exposure.session_id.as_deref() == Some(&key.id)))
}
