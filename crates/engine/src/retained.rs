//! What a sweep of retention did, or would do.

use serde::Serialize;

/// The pass in which a session goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Pass {
    /// It is older than the limit.
    Age,
    /// `raw/` is above its soft cap.
    Soft,
    /// `raw/` is above its hard cap.
    Hard,
}

/// The limits in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CapsView {
    /// Bytes of `raw/` above which analyzed sessions go.
    pub raw_soft_cap_bytes: u64,
    /// Bytes of `raw/` above which any session goes.
    pub raw_hard_cap_bytes: u64,
    /// Days after which an analyzed session goes.
    pub raw_max_age_days: Option<u32>,
}

/// What went in one pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PassSum {
    /// Sessions.
    pub sessions: u64,
    /// Bytes of their raw files.
    pub bytes: u64,
}

/// What went in each pass.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Passes {
    /// By age.
    pub age: PassSum,
    /// For the soft cap.
    pub soft: PassSum,
    /// For the hard cap.
    pub hard: PassSum,
}

/// A session that went, or would go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EvictedSession {
    /// Our name of the agent.
    pub agent: String,
    /// The agent's id.
    pub session_id: String,
    /// Bytes of its raw files.
    pub bytes: u64,
    /// In which pass.
    pub pass: Pass,
    /// Whether it has its digest.
    pub analyzed: bool,
}

/// What stays of sessions for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Distilled {
    /// Its bytes.
    pub bytes: u64,
    /// The size above which it is worth a word.
    pub cap: u64,
    /// Whether it is above.
    pub alert: bool,
}

/// What a sweep did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Retained {
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Whether a sync sweeps by itself.
    pub enabled: bool,
    /// The limits.
    pub caps: CapsView,
    /// Bytes of `raw/` before.
    pub usage_before: u64,
    /// Bytes of `raw/` afterwards.
    pub final_usage: u64,
    /// Bytes of `raw/` that are free now.
    pub freed: u64,
    /// What went in each pass.
    pub passes: Passes,
    /// What went.
    pub evicted: Vec<EvictedSession>,
    /// Of these, sessions that had no digest and could not get one.
    pub data_loss: Vec<EvictedSession>,
    /// What stays of sessions for ever.
    pub distilled: Distilled,
    /// Why more than the soft cap is left, and what helps.
    pub needs: Vec<String>,
}
