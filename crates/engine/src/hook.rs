//! Capture at the moment an agent calls us: one transcript, no waiting.
//!
//! A hook must never hold up the agent: if the lock is taken it leaves a job in
//! the queue, and whatever goes wrong is the next sync's matter.

use retro_agents::{AGENTS, Agent, by_name};
use retro_store::{Job, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};

use crate::discover::{SessionFiles, roots};
use crate::exclude::Excluder;
use crate::sync::{Batcher, SyncReport};
use crate::{Config, Error, World, from};
use retro_agents::Owner;
use retro_model::SessionKey;

/// What an agent told its hook.
pub struct Call {
    /// The agent that called.
    pub agent: &'static dyn Agent,
    /// The transcript it named, if it did.
    pub transcript: Option<PathBuf>,
    /// The session it named, if it did.
    pub session_id: Option<String>,
}

/// Reads a hook's input. None if no agent we know is behind it.
pub fn read_call(world: &World, config: &Config, input: &str) -> Option<Call> {
    let json: Value = serde_json::from_str(input).ok()?;
    let text = |names: [&str; 2]| names.iter().find_map(|name| json.get(*name)?.as_str());
    let transcript = text(["transcript_path", "transcriptPath"]).map(PathBuf::from);
    let session_id = text(["session_id", "sessionId"])
        .or_else(|| json.get("thread-id").and_then(Value::as_str))
        .map(str::to_owned);
    let agent = caller(world, config, &json, transcript.as_deref())?;
    Some(Call { agent, transcript, session_id })
}

/// Grok runs other agents' hooks too and is told by its own variable; the rest
/// by the root that holds the transcript, or by the shape of Codex' notification.
fn caller(
    world: &World,
    config: &Config,
    json: &Value,
    transcript: Option<&Path>,
) -> Option<&'static dyn Agent> {
    if (world.env)("GROK_SESSION_ID").is_some() {
        return by_name("grok");
    }
    match transcript {
        Some(path) => AGENTS
            .iter()
            .copied()
            .find(|agent| roots(world, config, *agent).iter().any(|root| path.starts_with(root))),
        None if json.get("thread-id").is_some() => by_name("codex"),
        None => None,
    }
}

/// Leaves a job for the next sync.
pub fn enqueue(world: &World, config: &Config, call: &Call) -> Result<(), Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    store.enqueue(&job(call))?;
    Ok(())
}

fn job(call: &Call) -> Job {
    Job {
        agent: Some(call.agent.name().to_owned()),
        path: call.transcript.clone(),
        session_id: call.session_id.clone(),
    }
}

/// Captures the transcript's new bytes if the lock is free, else leaves a job.
pub fn capture(world: &World, config: &Config, call: &Call) -> Result<(), Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let file = call.transcript.as_deref().and_then(|path| from::one_file(call.agent, path));
    let session = file.and_then(|file| match &file.owner {
        Owner::Session(id) => {
            let key = SessionKey::new(call.agent.name(), id.clone());
            Some(SessionFiles { key, agent: call.agent, files: vec![file] })
        }
        _ => None,
    });
    let free = store.try_lock()?;
    let (Some(session), Some(lock)) = (session, free) else {
        return Ok(store.enqueue(&job(call))?);
    };
    if Excluder::new(config).excludes(&session) {
        return Ok(());
    }
    let index = store.index()?;
    let places = index.places_of(&session.key)?;
    let mut report = SyncReport::default();
    let mut batcher = Batcher {
        world,
        store: &store,
        index: &index,
        places: &places,
        progress: &|_| {},
        report: &mut report,
    };
    batcher.one(&session, lock)
}
