//! Errors of a price table. Arithmetic does not fail: a cost without a price is unknown, and marked
//! as unknown.

/// A price table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// The text is not JSON of the expected form.
    #[error("the price table cannot be read: {0}; check that the file is complete JSON")]
    Unreadable(#[from] serde_json::Error),
    /// A row or a list breaks a rule of the table.
    #[error("the price of {model:?} at {provider:?} {problem}; mend that row and try again")]
    Row {
        /// Model of the row.
        model: String,
        /// Provider of the row.
        provider: String,
        /// The problem, for people.
        problem: String,
    },
    /// An imported table contains no prices.
    #[error("no prices found in the table; expected LiteLLM's model_prices_and_context_window.json")]
    NothingToImport,
}
