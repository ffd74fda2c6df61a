//! Replays the past: the memories that would have been shown, and whether they were right.

use retro_agents::by_name;
use retro_engine::stages::mine as stage;
use retro_engine::{Config, World, read};
use retro_memory::{
    Episode, Found, Listener, Memory, Past, Replay, WEIGHTS, Weights, filters, methods, mine,
};
use retro_model::{SessionKey, Timestamp};
use retro_store::Store;
use serde::Serialize;

use crate::Error;

/// The result of a replay.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayView {
    /// `retro.memory.replay/1`.
    pub schema: &'static str,
    /// Figures and rows of the replay.
    #[serde(flatten)]
    pub replay: Replay,
    /// Sessions that could not be read.
    pub unread: usize,
}

impl ReplayView {
    /// The texts of the memories shown to a session.
    pub fn texts_shown(&self, memories: &[Memory], session_id: &str) -> Vec<String> {
        let rows = self.replay.rows.iter();
        let shown = rows.filter(|row| row.session_id == session_id && row.verdict != "missed");
        let of = |id: &String| {
            memories.iter().find(|memory| {
                memory.id == *id || memory.origins.iter().any(|origin| origin.candidate == *id)
            })
        };
        let found = shown.flat_map(|row| &row.memory_ids).filter_map(of);
        found.map(|memory| format!("{} {}", memory.text, memory.when_to_use)).collect()
    }
}

/// Replays all sessions in order of time. Each sees only memories from earlier sessions. Sessions
/// before `since` are mined but not judged.
pub fn replay(
    world: &World,
    config: &Config,
    store: &Store,
    since: Option<Timestamp>,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<ReplayView, Error> {
    Ok(Told::read(world, config, store, since, progress)?.replay(&WEIGHTS))
}

/// All sessions, read once for several replays.
pub struct Told {
    pasts: Vec<Past>,
    found: Vec<Found>,
    unread: usize,
}

impl Told {
    /// Reads and mines every session.
    pub fn read(
        world: &World,
        config: &Config,
        store: &Store,
        since: Option<Timestamp>,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<Told, Error> {
        let keys = store.session_keys()?;
        let wanted: Vec<_> =
            config.mining.value.methods.iter().filter_map(|name| methods::by_name(name)).collect();
        let mut told = Told { pasts: Vec::new(), found: Vec::new(), unread: 0 };
        for (at, key) in keys.iter().enumerate() {
            if world.stopping() {
                return Err(retro_engine::Error::Interrupted.into());
            }
            progress(at, keys.len());
            let Some(episode) = episode(config, store, key)? else {
                told.unread += 1;
                continue;
            };
            if !episode.quality.real {
                continue;
            }
            let mined = mine::mine(&episode, &wanted, &filters::for_all());
            let of = |candidate| (key.agent.clone(), key.id.clone(), candidate);
            told.found.extend(mined.into_iter().flat_map(|mined| mined.candidates).map(of));
            let past = Past::of(&episode);
            if past.prompts.last().is_some_and(|prompt| prompt.at >= since) || since.is_none() {
                told.pasts.push(past);
            }
        }
        Ok(told)
    }

    /// Replays the sessions with these weights.
    pub fn replay(&self, weights: &Weights) -> ReplayView {
        let replay = retro_memory::replay(&self.pasts, self.found.clone(), weights);
        ReplayView { schema: "retro.memory.replay/1", replay, unread: self.unread }
    }
}

/// A session as methods see it. `None` if it cannot be read.
pub fn episode(config: &Config, store: &Store, key: &SessionKey) -> Result<Option<Episode>, Error> {
    let (Some(agent), Some(file)) = (by_name(&key.agent), store.session(key)?) else { return Ok(None) };
    let mut listener = Listener::new(key.clone());
    let mut take = |event: Box<retro_model::Event>| {
        listener.push(&event);
        Ok(())
    };
    match read::stream(store, agent, key, &|| false, &mut take) {
        Ok(_) => {
            let content = retro_engine::stamp::content(store, &file)?;
            Ok(Some(stage::episode(listener, config, &file.facts, &content)))
        }
        Err(error) if error.is_of_one_session() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
