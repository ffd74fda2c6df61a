//! How far work is that lasts, for whoever waits for it.

/// The stage whose work is counted in passages.
const VECTORS: &str = "vectors";

/// How far a sync is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The stage at work.
    pub stage: &'static str,
    /// Sessions done, or passages.
    pub done: u64,
    /// Sessions in all, or passages.
    pub total: u64,
    /// Bytes kept so far.
    pub bytes: u64,
}

impl Progress {
    /// What is counted.
    pub fn unit(&self) -> &'static str {
        if self.stage == VECTORS { "passages" } else { "sessions" }
    }
}
