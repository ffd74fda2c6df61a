//! A rollout that is being written: its lines, and the state that the next line needs.

use serde_json::Value;
use std::path::PathBuf;

use super::COPY;
use crate::script::Fork;

/// A rollout being written: the session's, a sub-agent's, or a fork's.
#[derive(Clone)]
pub(super) struct Log {
    pub(super) thread: String,
    pub(super) parent: Option<String>,
    pub(super) fork: Option<Origin>,
    pub(super) started_at: String,
    pub(super) lines: String,
    pub(super) ordinal: u64,
    /// The turn that is running, if any.
    pub(super) turn: Option<String>,
    /// The model that the log named last.
    pub(super) model: String,
    pub(super) last_answer: Value,
    /// Tokens of the thread so far: input, cached, output.
    pub(super) sum: [u64; 3],
}

/// Facts about the thread that a fork was made from.
#[derive(Clone)]
pub(super) struct Origin {
    pub(super) thread: String,
    pub(super) end_ordinal: u64,
    pub(super) end_byte: usize,
    /// Its records, if they are copied.
    pub(super) copied: Option<Box<Log>>,
}

impl Log {
    pub(super) fn new(thread: String, parent: Option<String>) -> Log {
        Log {
            thread,
            parent,
            fork: None,
            started_at: String::new(),
            lines: String::new(),
            ordinal: 0,
            turn: None,
            model: String::new(),
            last_answer: Value::Null,
            sum: [0; 3],
        }
    }

    /// Starts a thread that continues from here, with its counters.
    pub(super) fn forked(fork: &Fork, from: &Log) -> Log {
        let origin = Origin {
            thread: from.thread.clone(),
            end_ordinal: from.ordinal,
            end_byte: from.lines.len(),
            copied: (fork.way == COPY).then(|| Box::new(from.clone())),
        };
        Log {
            fork: Some(origin),
            ordinal: from.ordinal,
            sum: from.sum,
            ..Log::new(fork.session.clone(), None)
        }
    }

    /// Its path and bytes. Real file names have the local time, but here it is UTC.
    pub(super) fn file(&self, lines: String) -> (PathBuf, Vec<u8>) {
        let day = self.started_at.get(..10).unwrap_or("1970-01-01");
        let time = self.started_at.get(..19).unwrap_or("1970-01-01T00:00:00").replace(':', "-");
        let mut path = PathBuf::from(".codex").join("sessions");
        path.extend(day.split('-'));
        (path.join(format!("rollout-{time}-{}.jsonl", self.thread)), lines.into_bytes())
    }
}
