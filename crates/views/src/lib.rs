//! Questions about a store and this machine, and their answers.
//!
//! Every answer is a plain struct: the very one that `--json` prints and that a
//! table is made of. **Invariant:** views only read. They capture nothing and
//! create nothing.

mod agents;
mod doctor;
mod error;
mod events;
mod family;
mod history;
mod limits;
mod list;
mod resolve;
mod secrets;
mod show;
mod stages;
mod status;
mod statusline;
mod transcript;
mod usage;

pub use agents::{AgentView, AgentsView, agents};
pub use doctor::{Check, DoctorView, Health, doctor};
pub use error::Error;
pub use events::{each_event, events, source_slots};
pub use history::History;
pub use limits::{LimitWindow, LimitsView, NoLimits, limits};
pub use list::{ListOptions, ListView, SessionView, list};
pub use resolve::{agent, session, session_in};
pub use secrets::{SecretView, SecretsView, secrets};
pub use show::{Artifacts, ShowView, Shown, show};
pub use stages::{StageView, StagesView, stages};
pub use status::{StatusView, status};
pub use statusline::{
    Amount, Asked, RunningBlock, StatusInput, StatusLimit, StatuslineView, statusline, statusline_alone,
};
pub use transcript::{Entry, gap_line, markdown, transcript};
pub use usage::{Dropped, ExplainView, Explained, UsageView, explain, usage};
