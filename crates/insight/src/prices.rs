//! The cost of a session. The caller calculates it from the ledger and the price table.

/// Costs in dollars. Never part of a digest, because prices change.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prices {
    /// The session with its sub-agents. `None` if a price is unknown.
    pub total_usd: Option<f64>,
    /// The cost of its sub-agents alone.
    pub below_usd: Option<f64>,
    /// True if every response has a price.
    pub complete: bool,
}
