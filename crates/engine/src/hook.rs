//! Capture at the moment an agent calls us: one transcript, no waiting.
//!
//! A hook must never hold up the agent: if the lock is taken it leaves a job in
//! the queue, and whatever goes wrong is the next sync's matter.

use retro_agents::{AGENTS, Agent};
use retro_store::{Index, Job, Lock, Store};
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

/// Captures the session's new bytes if the lock is free, else leaves a job. With the lock
/// it also does what earlier calls left: a user may have installed nothing but hooks.
pub fn capture(world: &World, config: &Config, call: &Call) -> Result<(), Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let session = call.transcript.as_deref().and_then(|path| session_of(call.agent, path));
    let (Some(session), Some(lock)) = (session, store.try_lock()?) else {
        return Ok(store.enqueue(&job(call))?);
    };
    let index = store.index()?;
    take(world, config, &store, &index, &session, &lock)?;
    for (id, job) in store.jobs()? {
        let agent = job.agent.as_deref().and_then(retro_agents::by_name);
        let left = agent.zip(job.path.as_deref()).and_then(|(agent, path)| session_of(agent, path));
        // What names no transcript asks for a whole sync.
        if let Some(left) = left {
            if left.key != session.key {
                take(world, config, &store, &index, &left, &lock)?;
            }
            store.done(&id)?;
        }
    }
    Ok(())
}

/// Captures one session under a lock that is held already.
fn take(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    session: &SessionFiles,
    lock: &Lock,
) -> Result<(), Error> {
    if Excluder::new(config).verdict(session) != Verdict::Wanted {
        return Ok(());
    }
    let stamps = index.stamps_of(&session.key)?;
    let mut report = SyncReport::default();
    let mut batcher = Batcher {
        world,
        config,
        store,
        index,
        stamps: &stamps,
        until: Some("turns"),
        all: false,
        wait: Wait::Never,
        progress: &|_| {},
        report: &mut report,
    };
    batcher.batch(&[Work::Files(session)], lock, &|_| {})?;
    Ok(())
}

/// The session of a transcript: that file, and the logs of sub-agents in the folder of the
/// same name beside it.
fn session_of(agent: &'static dyn Agent, transcript: &Path) -> Option<SessionFiles> {
    let main = from::one_file(agent, transcript)?;
    let Owner::Session(id) = main.owner.clone() else { return None };
    let beside = walkdir::WalkDir::new(transcript.with_extension("")).max_depth(PARTS_DEPTH_MAX);
    let parts = beside.into_iter().flatten().filter(|entry| entry.file_type().is_file());
    let own = parts.take(PARTS_MAX).filter_map(|entry| from::one_file(agent, entry.path()));
    let own = own.filter(|file| matches!(&file.owner, Owner::Session(owner) if *owner == id));
    let files: Vec<_> = std::iter::once(main).chain(own).collect();
    Some(SessionFiles { key: SessionKey::new(agent.name(), id), agent, files, news: true })
}

/// How deep the parts of a session may be below its folder, and how many are looked at: a
/// hook has a moment, and the next sync sees all of them.
const PARTS_DEPTH_MAX: usize = 3;
const PARTS_MAX: usize = 500;

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
