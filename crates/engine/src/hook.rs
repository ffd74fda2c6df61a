//! Captures a session when its agent calls us: one transcript, no waiting.
//!
//! A hook must never delay the agent: if the lock is taken it leaves a job in the queue, and the
//! next sync deals with any error.

use retro_agents::integration::HookInput;
use retro_agents::{AGENTS, Agent, Owner, Sightings};
use retro_store::{Index, Job, Lock, Store};
use std::path::{Path, PathBuf};

use crate::discover::{Keep, SessionFiles, Walked, from, roots};
use crate::exclude::{Excluder, Verdict};
use crate::report::SyncReport;
use crate::stages::STAGES;
use crate::sync::{Batcher, Job as Work, Wait};
use crate::{Config, Error, World};

/// The input of an agent's hook.
pub struct Call {
    /// The agent that called.
    pub agent: &'static dyn Agent,
    /// The transcript it named, if it did.
    pub transcript: Option<PathBuf>,
    /// The session it named, if it did.
    pub session_id: Option<String>,
}

/// Reads a hook's input. `None` if it comes from no known agent.
pub fn read_call(world: &World, config: &Config, input: &str) -> Option<Call> {
    let input = HookInput::read(input)?;
    let transcript = input.transcript.as_ref().map(PathBuf::from);
    let agent = caller(world, config, &input, transcript.as_deref())?;
    Some(Call { agent, transcript, session_id: input.session_id })
}

/// The agent that runs the hook. An agent may run the hooks of others and then sets its own
/// variable. Otherwise the root that holds the transcript decides, or the shape of an input without
/// a transcript.
fn caller(
    world: &World,
    config: &Config,
    input: &HookInput,
    transcript: Option<&Path>,
) -> Option<&'static dyn Agent> {
    let holds = |agent: &dyn Agent, path: &Path| {
        roots(world, config, agent).iter().any(|root| path.starts_with(root))
    };
    by_variable(&*world.env).or_else(|| {
        AGENTS.iter().copied().find(|agent| match transcript {
            Some(path) => holds(*agent, path),
            None => agent.is_hook_input(input),
        })
    })
}

/// The agent whose own variable is set. It runs this hook, even one written for another agent.
pub fn by_variable(env: &dyn Fn(&str) -> Option<String>) -> Option<&'static dyn Agent> {
    let is_set = |name: &str| env(name).is_some_and(|value| !value.is_empty());
    AGENTS.iter().copied().find(|agent| agent.hook_variable().is_some_and(is_set))
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

/// Captures the session's new bytes if the lock is free, otherwise leaves a job. With the lock it
/// also does the jobs of earlier calls, because a user may have installed nothing but hooks.
pub fn capture(world: &World, config: &Config, call: &Call) -> Result<(), Error> {
    let store = Store::open_or_create(&config.root.value, world.disk.clone())?;
    let Some(lock) = store.try_lock()? else {
        return Ok(store.enqueue(&job(call))?);
    };
    let index = store.index()?;
    let hook = Hook { world, config, store: &store, index: &index, lock: &lock };
    let transcript = call.transcript.as_deref();
    if !hook.take(call.agent, call.session_id.as_deref(), transcript)? {
        return Ok(store.enqueue(&job(call))?);
    }
    for (id, job) in store.jobs()? {
        let agent = job.agent.as_deref().and_then(retro_agents::by_name);
        // A job without a session asks for a whole sync.
        let Some(agent) = agent.filter(|_| job.path.is_some() || job.session_id.is_some()) else { continue };
        hook.take(agent, job.session_id.as_deref(), job.path.as_deref())?;
        store.done(&id)?;
    }
    Ok(())
}

/// A store whose lock is held.
struct Hook<'a> {
    world: &'a World,
    config: &'a Config,
    store: &'a Store,
    index: &'a Index,
    lock: &'a Lock,
}

impl Hook<'_> {
    /// Captures the new part of one session and of those that it started. Returns whether the
    /// session exists here.
    fn take(
        &self,
        agent: &'static dyn Agent,
        session_id: Option<&str>,
        transcript: Option<&Path>,
    ) -> Result<bool, Error> {
        let named = transcript.and_then(|path| named_by(agent, path)).or(session_id.map(str::to_owned));
        let Some(id) = named else { return Ok(false) };
        let walked = self.walk(agent, &id, transcript);
        let stamps = walked.all_seen().stamps(self.index)?;
        let mut found = walked.compared(self.config, &stamps, Keep::All);
        let is_named = |session: &SessionFiles| session.key.id == id;
        let is_here = found.sessions.iter().any(is_named);
        let excluder = Excluder::new(self.config);
        found.sessions.retain(|session| {
            let is_whole = session.files.iter().any(|file| file.source.is_main());
            session.news && (is_whole || is_named(session)) && excluder.verdict(session) == Verdict::Wanted
        });
        // The calling session comes first: time may not suffice for all.
        found.sessions.sort_by_key(|session| !is_named(session));
        let mut report = SyncReport::default();
        for session in &found.sessions {
            let mut batcher = Batcher {
                world: self.world,
                config: self.config,
                stages: STAGES,
                store: self.store,
                index: self.index,
                stamps: &stamps,
                until: Some("turns"),
                all: false,
                wait: Wait::Never,
                progress: &|_| {},
                report: &mut report,
            };
            let jobs = [Work::Files(session)];
            // The next sync says so, and captures it once there is room.
            if batcher.has_too_little_room(&jobs) {
                break;
            }
            batcher.batch(&jobs, self.lock, &|_, _| {})?;
        }
        Ok(is_here)
    }

    /// The files of a session below the roots of its agent, or below the root that holds the
    /// transcript, if that is known. A transcript elsewhere is captured by itself.
    fn walk(&self, agent: &'static dyn Agent, id: &str, transcript: Option<&Path>) -> Walked {
        let mut seen = Sightings::default();
        let mut is_below_any = false;
        for root in roots(self.world, self.config, agent) {
            if transcript.is_none_or(|path| path.starts_with(&root)) {
                agent.discover_session(&root, id, transcript, &mut seen);
                is_below_any = true;
            }
        }
        let alone = transcript.filter(|_| !is_below_any).and_then(|path| from::one_file(agent, path));
        Walked {
            seen: vec![(agent, seen)],
            chosen: alone.map(|file| (agent, file)).into_iter().collect(),
            ..Walked::default()
        }
    }
}

/// The session that a transcript belongs to, according to its contents.
fn named_by(agent: &dyn Agent, transcript: &Path) -> Option<String> {
    match from::one_file(agent, transcript)?.owner {
        Owner::Session(id) => Some(id),
        Owner::Shared(_) => None,
    }
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
