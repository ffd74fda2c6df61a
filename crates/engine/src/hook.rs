//! Capture at the moment an agent calls us: one transcript, no waiting.
//!
//! A hook must never hold up the agent: if the lock is taken it leaves a job in
//! the queue, and whatever goes wrong is the next sync's matter.

use retro_agents::{AGENTS, Agent};
use retro_store::{Job, Store};
use serde_json::Value;
use std::path::{Path, PathBuf};

use crate::discover::{SessionFiles, roots};
use crate::exclude::{Excluder, Verdict};
use crate::report::SyncReport;
use crate::sync::{Batcher, Job as Work, Wait};
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

/// An agent may run the hooks of others and is then told by its own variable; else
/// the root that holds the transcript tells, or the shape of an input that names none.
fn caller(
    world: &World,
    config: &Config,
    json: &Value,
    transcript: Option<&Path>,
) -> Option<&'static dyn Agent> {
    let sets_variable =
        |agent: &dyn Agent| agent.hook_variable().is_some_and(|name| (world.env)(name).is_some());
    let holds = |agent: &dyn Agent, path: &Path| {
        roots(world, config, agent).iter().any(|root| path.starts_with(root))
    };
    let mut agents = AGENTS.iter().copied();
    agents.clone().find(|agent| sets_variable(*agent)).or_else(|| {
        agents.find(|agent| match transcript {
            Some(path) => holds(*agent, path),
            None => agent.is_hook_input(json),
        })
    })
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
            Some(SessionFiles { key, agent: call.agent, files: vec![file], news: true })
        }
        _ => None,
    });
    let free = store.try_lock()?;
    let (Some(session), Some(lock)) = (session, free) else {
        return Ok(store.enqueue(&job(call))?);
    };
    if Excluder::new(config).verdict(&session) != Verdict::Wanted {
        return Ok(());
    }
    let index = store.index()?;
    let stamps = index.stamps_of(&session.key)?;
    let mut report = SyncReport::default();
    let mut batcher = Batcher {
        world,
        config,
        store: &store,
        index: &index,
        stamps: &stamps,
        until: Some("turns"),
        all: false,
        wait: Wait::Never,
        progress: &|_| {},
        report: &mut report,
    };
    batcher.batch(&[Work::Files(&session)], &lock, &|_| {})?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn caller_of(variables: &'static [&'static str], input: &str) -> Option<&'static str> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join(".claude")).unwrap();
        let mut world = World::at(home.path());
        world.env = Arc::new(|name| variables.contains(&name).then(|| "x".to_owned()));
        let config = Config::for_root(home.path().join("store"));
        let input = input.replace("HOME", &home.path().display().to_string());
        read_call(&world, &config, &input).map(|call| call.agent.name())
    }

    #[test]
    fn an_agent_is_told_by_its_variable_its_root_or_its_input() {
        let transcript = r#"{"session_id":"s1","transcript_path":"HOME/.claude/projects/p/s1.jsonl"}"#;
        assert_eq!(caller_of(&[], transcript), Some("claude"));
        assert_eq!(caller_of(&["GROK_SESSION_ID"], transcript), Some("grok"));
        assert_eq!(caller_of(&[], r#"{"type":"agent-turn-complete","thread-id":"t1"}"#), Some("codex"));
        assert_eq!(caller_of(&[], r#"{"transcript_path":"/elsewhere/s1.jsonl"}"#), None);
        assert_eq!(caller_of(&[], "{}"), None);
        assert_eq!(caller_of(&[], "no JSON"), None);
    }
}
