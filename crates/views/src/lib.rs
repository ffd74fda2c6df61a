//! Questions about a store and this machine, and their answers.
//!
//! Every answer is a plain struct that can be serialized: `--json` prints it, and
//! tables and pages are made of it. **Invariant:** views only read. They capture nothing and
//! create nothing.

mod agents;
pub mod answers;
mod clock;
mod costs;
mod deletion;
mod digest_page;
mod doctor;
mod embed;
mod error;
mod events;
mod explain;
mod family;
mod files;
mod fix;
mod history;
mod ids;
mod insight;
mod judged;
mod limits;
mod list;
pub mod memory;
pub mod patterns;
mod raw;
pub mod readable;
mod report;
mod resolve;
mod search;
mod secrets;
pub mod session;
mod show;
mod stages;
mod status;
mod statusline;
mod transcript;
mod units;
mod unreadable;
mod usage;

pub use agents::{AgentView, AgentsView, agents};
pub use costs::Costs;
pub use digest_page::{Cure, DigestPage, digest_page};
pub use doctor::{Check, DoctorView, Health, Known, doctor, doctor_with, look_through};
pub use embed::{EmbedView, embed_status};
pub use error::Error;
pub use events::{each_event, events, source_slots, turn_of};
pub use explain::{
    Dropped, ExplainTotals, ExplainView, Explained, PartsUsd, RatesUsd, explain, explain_counted,
    source_places,
};
pub use files::{FilesView, TouchView, files};
pub use fix::{FixRow, FixView, FoundBy};
pub use history::History;
pub use insight::{
    DigestView, OutcomeView, OutcomesView, ReadingsView, SignalView, SignalsView, digest, outcomes, readings,
    signals,
};
pub use limits::{LimitWindow, LimitsView, NoLimits, limits};
pub use list::{ListOptions, ListView, SessionView, Sort, list};
pub use raw::{RawPart, feed_parts, raw_part, raw_parts};
pub use report::{CostBounds, Counted, Finding, RecurringError, ReportView, report};
pub use resolve::{agent, nearest, session, session_in, without_place};
pub use search::{
    ConversationView, HitView, Narrowed, Near, SearchQuestion, SearchView, Searched, Searching, Snippet,
    Target, open_search,
};
pub use secrets::{SecretView, SecretsView, secrets};
pub use show::{Artifacts, ReadView, ShowView, Shown, gap_line, markdown, show, show_priced};
pub use stages::{StageView, StagesView, stages};
pub use status::{RoomView, StatusView, status};
pub use statusline::{
    Amount, Asked, RunningBlock, StatusInput, StatusLimit, StatuslineView, statusline, statusline_alone,
};
pub use transcript::{
    Attached, Call, Entry, Prompt, Question, Said, Step, TurnFigures, Turns, call, children_of_calls,
    transcript, turn_figures,
};
pub use units::bytes;
pub use usage::{UsageView, usage};
