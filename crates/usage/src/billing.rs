//! Whether the user pays by use, and the name of the amounts.
//!
//! No log of the known agents proves that a response was billed by use. Logs contain tokens, and
//! costs that the program itself calculated at list price. Therefore every amount is a *list price*
//! until the user says otherwise, and no report claims that a user with a plan has spent it.

use serde::{Deserialize, Serialize};

/// How the user pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// A fixed price, or not configured.
    #[default]
    Plan,
    /// A price per token.
    Api,
}

impl Billing {
    /// Parses its name in the configuration.
    pub fn named(name: &str) -> Option<Billing> {
        match name {
            "plan" => Some(Billing::Plan),
            "api" => Some(Billing::Api),
            _ => None,
        }
    }

    /// The word for an amount in reports.
    pub fn word(self) -> &'static str {
        match self {
            Billing::Plan => "list price",
            Billing::Api => "cost",
        }
    }
}
