//! Progress of long work, for its callers.

/// The stage whose work is counted in passages.
const VECTORS: &str = "vectors";

/// Progress of a sync.
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
    /// The unit of the counts.
    pub fn unit(&self) -> &'static str {
        if self.stage == VECTORS { "passages" } else { "sessions" }
    }
}
