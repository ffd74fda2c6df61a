//! Passes decisions on: a command receives each as one line of JSON. The queue keeps those that it
//! did not accept.
//!
//! A decision enters the queue before it is sent and leaves it afterwards. After a stop in between
//! it is sent again, with the id by which the receiver recognizes it.

use retro_store::Store;
use std::process::Command;
use std::time::Duration;

use super::QUEUE;
use crate::headless::process;
use crate::{Config, Error, World};

/// Time limit of a sink for one decision.
const LIMIT: Duration = Duration::from_secs(10);

/// The result of flushing the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flushed {
    /// Decisions that the sink accepted.
    pub sent: usize,
    /// Decisions left in the queue.
    pub left: usize,
    /// The reason why some are left.
    pub problem: Option<String>,
}

/// Sends the queued decisions in order, until the sink fails.
pub fn flush(world: &World, config: &Config, store: &Store) -> Result<Flushed, Error> {
    let _lock = store.lock(&|| world.stopping())?.ok_or(Error::Interrupted)?;
    flush_held(config, store)
}

/// Like [`flush`], for a caller that holds the lock.
pub(super) fn flush_held(config: &Config, store: &Store) -> Result<Flushed, Error> {
    let (waiting, _) = QUEUE.read(store)?;
    let mut flushed = Flushed { left: waiting.len(), ..Flushed::default() };
    let sink = &config.curate.value.sink;
    let Some((program, arguments)) = sink.split_first() else {
        flushed.problem = Some("no sink is configured: `curate.sink` names one".to_owned());
        return Ok(flushed);
    };
    for decision in waiting {
        let mut line = serde_json::to_string(&decision).unwrap_or_default();
        line.push('\n');
        let mut command = Command::new(program);
        command.args(arguments);
        if let Some(problem) = problem(process::run(command, line, LIMIT), program) {
            flushed.problem = Some(problem);
            return Ok(flushed);
        }
        QUEUE.change(store, |waiting| (waiting.id != decision.id).then(|| waiting.clone()))?;
        flushed.sent += 1;
        flushed.left -= 1;
    }
    Ok(flushed)
}

/// The reason why a sink did not accept a decision.
fn problem(ended: std::io::Result<process::Ended>, program: &str) -> Option<String> {
    match ended {
        Err(error) => Some(format!("cannot run {program}: {error}")),
        Ok(ended) => match ended.status {
            None => Some(format!("{program} took more than {} seconds", LIMIT.as_secs())),
            Some(status) if status.success() => None,
            Some(status) => Some(format!("{program} ended with {status}")),
        },
    }
}
