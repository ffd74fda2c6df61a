//! The first step of finding patterns: the signs that detectors see in one quiet session.
//!
//! Signs are small and outlive the raw bytes: an evicted session keeps them unchanged.

use retro_insight::Settings;
use retro_model::{Event, SessionKey};
use retro_patterns::{Buckets, Listener, Origin};
use retro_store::Index;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Body, Input, Making, Product, Stage, Subject, Truth, When, Work, digest, from_kept, to_keep};
use crate::patterns::SIGNS;
use crate::platform::project_name;
use crate::stamp::short_hash;
use crate::{Config, Error};
use retro_model::LinkKind;

pub(crate) const STAGE: Stage = Stage {
    name: "detect",
    version: retro_patterns::VERSION,
    when: When::Quiet,
    help: "signs of what goes wrong or well in a quiet session",
    inputs: &[Input::Events, Input::Config(settings_text)],
    work: Work::Events(make),
    truth: Some(Truth { keep, restore }),
    ..Stage::PLAIN
};

/// The parts of the configuration that signs depend on.
fn settings_text(config: &Config) -> String {
    format!("{} {:?}", config.insight.value.text, config.detect.value.buckets)
}

/// Data kept of an evicted session.
#[derive(Default, Serialize, Deserialize)]
struct Rest {
    signs: Option<String>,
}

fn keep(index: &Index, key: &SessionKey) -> Result<Value, Error> {
    to_keep(&Rest { signs: index.body(key, SIGNS, "")? })
}

fn restore(subject: &Subject<'_>, kept: &Value) -> Result<Product, Error> {
    let rest: Rest = from_kept(subject, kept)?;
    Ok(product(rest.signs))
}

fn product(text: Option<String>) -> Product {
    let output = short_hash(text.as_deref().unwrap_or_default());
    Product { output, bodies: vec![Body { name: SIGNS, part: String::new(), text }], ..Product::default() }
}

struct Detecting {
    listener: Listener,
    settings: Settings,
    buckets: Buckets,
    origin: Origin,
}

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    let facts = &subject.file.facts;
    let parent = facts.links.iter().find(|link| link.kind == LinkKind::Parent);
    let origin = Origin {
        parent: parent.map(|link| link.session_id.clone()),
        repo: facts.cwd.as_ref().and_then(|(_, cwd)| project_name(cwd.as_str())),
        source: subject.content.to_owned(),
    };
    Ok(Box::new(Detecting {
        listener: Listener::new(subject.key.clone()),
        settings: digest::settings(subject.config, facts, false),
        buckets: subject.config.detect.value.buckets.clone(),
        origin,
    }))
}

impl Making for Detecting {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.listener.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let signs = self.listener.finish(&self.settings, &self.buckets, self.origin);
        Ok(product(serde_json::to_string(&signs).ok()))
    }
}
