//! The digest of a quiet session: how it went, with every reading that needs no price.

use retro_agents::Agent;
use retro_insight::{Digest, GitFacts, Identity, Settings, Trace};
use retro_model::{Event, Facts, LinkKind, SessionKey};
use retro_store::{DIGESTS, Store};
use serde_json::Value;

use super::{Input, Making, Product, Put, Stage, Subject, Truth, When, Work};
use crate::platform::project_name;
use crate::{Config, Error, read};

pub(crate) const STAGE: Stage = Stage {
    name: "digest",
    version: retro_insight::VERSION,
    when: When::Quiet,
    help: "how a quiet session went: outcome, signals, errors, corrections",
    inputs: &[Input::Events, Input::Children, Input::Facts, Input::Config(settings_text)],
    work: Work::Events(make),
    truth: Some(Truth::in_files(restore)),
    document: Some(&DIGESTS),
    ..Stage::PLAIN
};

/// The parts of the configuration that a digest depends on.
fn settings_text(config: &Config) -> String {
    format!("{} {:?}", config.insight.value.text, config.domains.value)
}

fn make(subject: &Subject<'_>) -> Result<Box<dyn Making>, Error> {
    let settings = settings(subject.config, &subject.file.facts, false);
    Ok(Box::new(Digesting {
        trace: Trace::new(subject.key.clone()),
        identity: identity(subject.key, &subject.file.facts, subject.content),
        settings,
        store: subject.store.clone(),
        agent: subject.agent,
        family: subject.lookup.family.clone(),
    }))
}

/// The settings of a session's digest.
pub fn settings(config: &Config, facts: &Facts, still_running: bool) -> Settings {
    let cwd = facts.cwd.as_ref().map(|(_, cwd)| cwd.as_str());
    let project = cwd.and_then(project_name);
    Settings {
        thresholds: config.insight.value.thresholds.clone(),
        own: config.insight.value.own.clone(),
        domain: project.and_then(|project| config.domain(&project).map(str::to_owned)),
        still_running,
    }
}

/// The identity of a session in its digest.
pub fn identity(key: &SessionKey, facts: &Facts, content: &str) -> Identity {
    let title = [&facts.title_user, &facts.title_agent, &facts.title_prompt];
    let parent = facts.links.iter().find(|link| link.kind == LinkKind::Parent);
    Identity {
        agent: key.agent.clone(),
        session_id: key.id.clone(),
        title: title.into_iter().flatten().next().map(|(_, title)| title.to_string()),
        cwd: facts.cwd.as_ref().map(|(_, cwd)| cwd.to_string()),
        branch: facts
            .branch
            .as_ref()
            .map(|(_, branch)| branch.to_string())
            .filter(|branch| !branch.is_empty()),
        models: facts.models.iter().cloned().collect(),
        parent: parent.map(|link| link.session_id.clone()),
        raw: content.to_owned(),
    }
}

struct Digesting {
    trace: Trace,
    identity: Identity,
    settings: Settings,
    store: Store,
    agent: &'static dyn Agent,
    family: Vec<SessionKey>,
}

impl Making for Digesting {
    fn event(&mut self, event: &Event) -> Result<(), Error> {
        self.trace.push(event);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Product, Error> {
        let Digesting { mut trace, identity, settings, store, agent, family } = *self;
        let key = trace.key.clone();
        fold(&mut trace, &store, agent, &family)?;
        let facts = super::facts::kept(&store, &key)?;
        let digest = Digest::of(&trace, identity, &settings, GitFacts::of(&facts));
        store.put_object(&DIGESTS, &key, &digest)?;
        Ok(product(key, &digest, &facts, trace.commits.len() as u64))
    }
}

/// The product for a stored digest: it makes the facts due when git must be asked.
fn product(key: SessionKey, digest: &Digest, facts: &[GitFacts], commits: u64) -> Product {
    let ask = digest.identity.cwd.is_some().then(|| GitFacts::next_ms(facts, commits, digest.ended_at));
    let put: Put = Box::new(move |index| match ask.flatten() {
        Some(at_ms) => index.put_due(&key, "facts", at_ms, false),
        None => index.clear_due(&key, "facts"),
    });
    Product { output: output_of(digest), put: Some(put), ..Product::default() }
}

fn restore(subject: &Subject<'_>, _: &Value) -> Result<Product, Error> {
    let Some(digest) = subject.store.object::<Digest>(&DIGESTS, subject.key)? else {
        return Ok(Product::default());
    };
    let facts = super::facts::kept(subject.store, subject.key)?;
    let commits = digest.commits.len() as u64 + digest.left_out.get("commits").copied().unwrap_or(0);
    Ok(product(subject.key.clone(), &digest, &facts, commits))
}

/// The output of the stage: a name of the digest, and the outcome for lists.
pub(crate) fn output_of(digest: &Digest) -> String {
    let text = serde_json::to_vec(digest).unwrap_or_default();
    let hash: String = blake3::hash(&text).to_hex().chars().take(32).collect();
    format!("{hash} {}", digest.outcome.value.as_str())
}

/// The outcome in the output of the stage.
pub fn outcome_in(output: &str) -> Option<&str> {
    output.split_once(' ').map(|(_, outcome)| outcome)
}

/// Adds the child sessions to the trace of their root. A child that is missing, evicted or
/// unreadable adds nothing.
pub(crate) fn fold(
    trace: &mut Trace,
    store: &Store,
    agent: &dyn Agent,
    family: &[SessionKey],
) -> Result<(), Error> {
    for key in family {
        let is_there =
            store.session(key)?.is_some_and(|file| file.evicted_at.is_none() && !file.sources.is_empty());
        if !is_there {
            continue;
        }
        let mut child = Trace::new(key.clone());
        let mut take = |event: Box<Event>| {
            child.push(&event);
            Ok(())
        };
        match read::stream(store, agent, key, &|| false, &mut take) {
            Ok(_) => trace.fold(child),
            // The error is reported with the child's own session. Capturing the child makes the
            // root due again.
            Err(error) if error.is_of_one_session() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Computes the digest of a session from its captured bytes. Writes nothing.
pub fn compute(
    store: &Store,
    config: &Config,
    agent: &dyn Agent,
    key: &SessionKey,
    family: &[SessionKey],
    still_running: bool,
) -> Result<Digest, Error> {
    let file = store.session(key)?.ok_or_else(|| Error::NoSession(key.to_string()))?;
    let mut trace = Trace::new(key.clone());
    let mut take = |event: Box<Event>| {
        trace.push(&event);
        Ok(())
    };
    read::stream(store, agent, key, &|| false, &mut take)?;
    fold(&mut trace, store, agent, family)?;
    let content = crate::stamp::content(store, &file)?;
    let settings = settings(config, &file.facts, still_running);
    let facts = super::facts::kept(store, key)?;
    Ok(Digest::of(&trace, identity(key, &file.facts, &content), &settings, GitFacts::of(&facts)))
}

/// All sessions below one.
pub fn family(index: &retro_store::Index, key: &SessionKey) -> Result<Vec<SessionKey>, Error> {
    crate::family::family(index, key)
}
