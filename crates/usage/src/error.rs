//! What can go wrong with a price table. Arithmetic does not fail: what has no
//! price is unknown, and says so.

/// A price table that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// The text is not the JSON that was expected.
    #[error("the price table cannot be read: {0}; check that the file is complete JSON")]
    Unreadable(#[from] serde_json::Error),
    /// A row or a list breaks a rule of the table.
    #[error("the price of {model:?} at {provider:?} {problem}; mend that row and try again")]
    Row {
        /// Model of the row.
        model: String,
        /// Provider of the row.
        provider: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An imported table holds no price at all.
    #[error("no prices found in the table; expected LiteLLM's model_prices_and_context_window.json")]
    NothingToImport,
}
