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

/// One signal of the registry.
#[derive(Debug, Clone, Serialize)]
pub struct SignalView {
    /// The signal's name.
    pub id: String,
    /// The aspect of a session that it measures.
    pub group: Group,
    /// The kind of its value.
    pub kind: Sort,
    /// How it is computed.
    pub method: Method,
    /// The unit of its value.
    pub unit: &'static str,
    /// A short title.
    pub title: String,
}

/// Lists the signals of one group, or all.
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

/// The result of `retro digest`.
#[derive(Debug, Clone, Serialize)]
pub struct DigestView {
    /// `retro.digest/1`.
    pub schema: &'static str,
    /// The session's digest.
    #[serde(flatten)]
    pub digest: Digest,
}

/// The digest of a session: the stored one if it covers all captured bytes, else a new one. Writes
/// nothing.
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
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// One per signal, by name.
    pub readings: Vec<Row>,
}

/// Every reading of a session, including those that need a price.
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

/// Sessions by outcome.
#[derive(Debug, Clone, Serialize)]
pub struct OutcomesView {
    /// `retro.outcome/1`.
    pub schema: &'static str,
    /// The number of sessions with each outcome.
    pub counts: BTreeMap<&'static str, u64>,
    /// Sessions without real work, which are not counted, by the rule that excluded them.
    pub left_out: BTreeMap<String, u64>,
    /// The sessions, newest first.
    pub sessions: Vec<OutcomeView>,
    /// Matching sessions that have no digest yet.
    pub undigested: u64,
}

/// The outcome of one session.
#[derive(Debug, Clone, Serialize)]
pub struct OutcomeView {
    /// retro's name for the agent.
    pub agent: String,
    /// The agent's session id.
    pub session_id: String,
    /// The shortest unique prefix of the id.
    pub short_id: String,
    /// The session's title.
    pub title: Option<String>,
    /// The session's project.
    pub project: Option<String>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// True if it was real work.
    pub real: bool,
    /// How it ended.
    pub outcome: retro_insight::Outcome,
}

/// Gives sessions with their digests to `take`, one by one: together they may be larger than
/// memory. Says how many sessions have no digest.
pub(crate) fn each_digest(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
    mut take: impl FnMut(SessionView, Digest),
) -> Result<u64, Error> {
    let listed = list(world, config, options)?;
    let mut without = 0;
    for session in listed.sessions.into_iter().filter(|session| session.captured) {
        let key = SessionKey::new(session.agent.clone(), session.session_id.clone());
        match store.object::<Digest>(&DIGESTS, &key)? {
            Some(digest) => take(session, digest),
            None => without += 1,
        }
    }
    Ok(without)
}

/// Real sessions by outcome, with the evidence. If `all` is set, includes all sessions.
pub fn outcomes(
    world: &World,
    config: &Config,
    store: &Store,
    options: &ListOptions,
    all: bool,
) -> Result<OutcomesView, Error> {
    let (mut counts, mut left_out) = (BTreeMap::new(), BTreeMap::new());
    let mut sessions = Vec::new();
    let undigested = each_digest(world, config, store, options, |session, digest| {
        if !all && !digest.quality.real {
            *left_out.entry(digest.quality.rule).or_default() += 1;
            return;
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
    })?;
    Ok(OutcomesView { schema: "retro.outcome/1", counts, left_out, sessions, undigested })
}
