//! Jobs that hooks leave while another process is writing: one small file each, without a lock, for
//! the next writer.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

use crate::files::{Worth, entries};
use crate::head::random_hex;
use crate::layout::QUEUE;
use crate::{Error, Store};

const ENDING: &str = ".json";

/// A request to look for changes. The fewer fields are set, the more must be read.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// Look only at this agent.
    pub agent: Option<String>,
    /// Look only at this file.
    pub path: Option<PathBuf>,
    /// Look only at this session.
    pub session_id: Option<String>,
}

/// Identifies a queued job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(PathBuf);

impl Store {
    /// Leaves a job for the next writer.
    pub fn enqueue(&self, job: &Job) -> Result<(), Error> {
        let path = self.root().join(QUEUE).join(format!("{}{ENDING}", random_hex(12)));
        // JSON cannot hold a path that is not text. Without the path, the whole agent is read.
        let nameable = job.path.clone().filter(|path| path.to_str().is_some());
        let job = Job { path: nameable, ..job.clone() };
        let bytes = serde_json::to_vec(&job).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.files.put(&path, &bytes, Worth::Cache)
    }

    /// The queued jobs, in no particular order. An unreadable one, say after a power cut, asks for
    /// everything.
    pub fn jobs(&self) -> Result<Vec<(JobId, Job)>, Error> {
        let mut jobs = Vec::new();
        for entry in entries(&self.root().join(QUEUE))? {
            let is_job = entry.name.as_deref().is_some_and(|name| name.ends_with(ENDING));
            if is_job && entry.is_file {
                let job = fs::read(&entry.path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
                jobs.push((JobId(entry.path), job.unwrap_or_default()));
            }
        }
        Ok(jobs)
    }

    /// Removes a job that was done.
    pub fn done(&self, id: &JobId) -> Result<(), Error> {
        self.files.remove(&id.0, Worth::Cache).map(drop)
    }
}
