//! What a session cost, handed in by those who know ledger and price table.

/// Costs in dollars. Never part of a digest: prices change.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Prices {
    /// The session with its sub-agents; nothing where a price is not known.
    pub total_usd: Option<f64>,
    /// Its sub-agents alone.
    pub below_usd: Option<f64>,
    /// Whether every response has a price.
    pub complete: bool,
}
