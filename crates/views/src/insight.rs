//! How sessions went: digests, readings, outcomes.

use retro_agents::by_name;
use retro_engine::signals::{Row, rows};
use retro_engine::stages::{QUIET_MINUTES, digest as stage};
use retro_engine::{Config, World};
use retro_insight::{Digest, Group, Method, SIGNALS, Sort};
use retro_model::{SessionKey, Timestamp};
use retro_store::{DIGESTS, Store};
use serde::Serialize;
use std::collections::BTreeMap;

use crate::{Costs, Error, ListOptions, SessionView, list};

/// The registry of signals.
#[derive(Debug, Clone, Serialize)]
pub struct SignalsView {
    /// `retro.signal.list/1`.
    pub schema: &'static str,
    /// Every signal, by name.
    pub signals: Vec<SignalView>,
}

/// One signal.
#[derive(Debug, Clone, Serialize)]
pub struct SignalView {
    /// Its name.
    pub id: String,
    /// What it is about.
    pub group: Group,
    /// What its value looks like.
    pub kind: Sort,
    /// How it is found.
    pub method: Method,
    /// What its value counts.
    pub unit: &'static str,
    /// Its name for people.
    pub title: String,
}

/// Lists signals, of one group or of all.
pub fn signals(config: &Config, group: Option<Group>) -> SignalsView {
    let of_retro = SIGNALS.iter().map(|signal| SignalView {
        id: signal.id.to_owned(),
        group: signal.group,
        kind: signal.kind,
        method: signal.method,
        unit: signal.unit,
        title: signal.title.to_owned(),
    });
    let own = config.insight.value.own.iter().map(|own| SignalView {
        id: own.name.clone(),
        group: own.group,
        kind: Sort::Numeric,
        method: Method::Heuristic,
        unit: "count",
        title: "A signal of your own".to_owned(),
    });
    let mut signals: Vec<SignalView> = of_retro.chain(own).collect();
    signals.retain(|signal| group.is_none_or(|group| group == signal.group));
    signals.sort_by(|a, b| a.id.cmp(&b.id));
    SignalsView { schema: "retro.signal.list/1", signals }
}

/// A digest with its name.
#[derive(Debug, Clone, Serialize)]
pub struct DigestView {
    /// `retro.digest/1`.
    pub schema: &'static str,
    /// The digest.
    #[serde(flatten)]
    pub digest: Digest,
}

/// The digest of a session: the one that is kept if it is of the captured bytes, else one
/// that is made now. Writes nothing.
pub fn digest(world: &World, config: &Config, store: &Store, key: &SessionKey) -> Result<DigestView, Error> {
    let view = |digest| DigestView { schema: "retro.digest/1", digest };
    let file = store.session(key)?.ok_or_else(|| retro_engine::Error::NoSession(key.to_string()))?;
    let kept = store.object::<Digest>(&DIGESTS, key)?;
    if let Some(digest) = kept.filter(|_| file.evicted_at.is_some()) {
        return Ok(view(digest));
    }
    let index = store.index_if_there()?;
    let content = retro_engine::stamp::content(store, &file)?;
    let kept = store.object::<Digest>(&DIGESTS, key)?;
    let is_current =
        |digest: &Digest| digest.version == retro_insight::VERSION && digest.identity.raw == content;
    if let Some(digest) = kept.filter(is_current) {
        return Ok(view(digest));
    }
    let Some(agent) = by_name(&key.agent) else {
        return Err(retro_engine::Error::NoSession(key.to_string()).into());
    };
    let (family, changed_ms) = match &index {
        Some(index) => {
            let row = index.session_row(key)?;
            (stage::family(index, key)?, row.map_or(0, |row| row.mtime_ns / 1_000_000))
        }
        None => (Vec::new(), 0),
    };
    let growing = world.now().as_millis().saturating_sub(changed_ms) < QUIET_MINUTES * 60_000;
    Ok(view(stage::compute(store, config, agent, key, &family, growing)?))
}

/// Readings of one session.
#[derive(Debug, Clone, Serialize)]
pub struct ReadingsView {
    /// `retro.signal.show/1`.
    pub schema: &'static str,
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// One for each signal, by name.
    pub readings: Vec<Row>,
}

/// Every reading of a session, those that need a price included.
pub fn readings(
    world: &World,
    config: &Config,
    store: &Store,
    key: &SessionKey,
) -> Result<ReadingsView, Error> {
    let digest = digest(world, config, store, key)?.digest;
    let prices = Costs::of(world, config, store).and_then(|costs| costs.of_session(key));
    let readings = rows(&digest, config, prices.as_ref());
    Ok(ReadingsView {
        schema: "retro.signal.show/1",
        agent: key.agent.clone(),
        session_id: key.id.clone(),
        readings,
    })
}

/// Sessions by how they ended.
#[derive(Debug, Clone, Serialize)]
pub struct OutcomesView {
    /// `retro.outcome/1`.
    pub schema: &'static str,
    /// How many ended in each way.
    pub counts: BTreeMap<&'static str, u64>,
    /// Sessions that are not counted since they were no real work, by the rule that says so.
    pub left_out: BTreeMap<String, u64>,
    /// Newest first.
    pub sessions: Vec<OutcomeView>,
    /// Sessions that fit and have no digest yet.
    pub undigested: u64,
}

/// How one session ended.
#[derive(Debug, Clone, Serialize)]
pub struct OutcomeView {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// The shortest beginning of the id that names the session.
    pub short_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Whether it was real work.
    pub real: bool,
    /// How it ended.
    pub outcome: retro_insight::Outcome,
}

/// Sessions with their digests.
pub(crate) fn digested(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
) -> Result<(Vec<(SessionView, Digest)>, u64), Error> {
    let listed = list(world, config, options)?;
    let mut with = Vec::new();
    let mut without = 0;
    for session in listed.sessions.into_iter().filter(|session| session.captured) {
        let key = SessionKey::new(session.agent.clone(), session.session_id.clone());
        match store.object::<Digest>(&DIGESTS, &key)? {
            Some(digest) => with.push((session, digest)),
            None => without += 1,
        }
    }
    Ok((with, without))
}

/// Real sessions by how they ended, with the evidence; all sessions if `all` are asked for.
pub fn outcomes(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
    all: bool,
) -> Result<OutcomesView, Error> {
    let (digested, undigested) = digested(world, config, store, options)?;
    let (mut counts, mut left_out) = (BTreeMap::new(), BTreeMap::new());
    let mut sessions = Vec::new();
    for (session, digest) in digested {
        if !all && !digest.quality.real {
            *left_out.entry(digest.quality.rule).or_default() += 1;
            continue;
        }
        *counts.entry(digest.outcome.value.as_str()).or_default() += 1;
        sessions.push(OutcomeView {
            agent: session.agent,
            session_id: session.session_id,
            short_id: session.short_id,
            title: session.title,
            project: session.project,
            ended_at: session.ended_at,
            real: digest.quality.real,
            outcome: digest.outcome,
        });
    }
    Ok(OutcomesView { schema: "retro.outcome/1", counts, left_out, sessions, undigested })
}
