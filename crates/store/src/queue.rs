//! Jobs that hooks leave when somebody else is writing: one small file each,
//! without a lock, drained by the next writer.

use serde::{Deserialize, Serialize};
use std::fs;
use std::path::PathBuf;

use crate::files::{Worth, entries};
use crate::head::random_hex;
use crate::layout::QUEUE;
use crate::{Error, Store};

const ENDING: &str = ".json";

/// Something to look at. The less it says, the more has to be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Job {
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this file.
    pub path: Option<PathBuf>,
    /// Only this session.
    pub session_id: Option<String>,
}

/// Which job.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(PathBuf);

impl Store {
    /// Leaves a job for the next writer.
    pub fn enqueue(&self, job: &Job) -> Result<(), Error> {
        let path = self.root().join(QUEUE).join(format!("{}{ENDING}", random_hex(12)));
        // JSON cannot name a path that is no text; without it the whole agent is looked at.
        let nameable = job.path.clone().filter(|path| path.to_str().is_some());
        let job = Job { path: nameable, ..job.clone() };
        let bytes = serde_json::to_vec(&job).map_err(|error| Error::io("write", &path)(error.into()))?;
        self.files.put(&path, &bytes, Worth::Cache)
    }

    /// The jobs left, in no order that means anything. One that cannot be read,
    /// say after a power cut, asks for everything.
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
