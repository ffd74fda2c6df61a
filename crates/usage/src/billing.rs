//! Who pays by use, and what the figures are called.
//!
//! No log of the agents known here proves that an answer was billed by use: what
//! is logged is tokens, and costs that the program itself reckoned at list price.
//! So every amount is a *list price* until the user says otherwise, and a person
//! on a plan is never told to have spent it.

use serde::{Deserialize, Serialize};

/// How the user pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// A fixed sum, or nobody said.
    #[default]
    Plan,
    /// By use.
    Api,
}

impl Billing {
    /// By the name it has in the configuration.
    pub fn named(name: &str) -> Option<Billing> {
        match name {
            "plan" => Some(Billing::Plan),
            "api" => Some(Billing::Api),
            _ => None,
        }
    }

    /// What an amount is called.
    pub fn word(self) -> &'static str {
        match self {
            Billing::Plan => "list price",
            Billing::Api => "cost",
        }
    }
}
