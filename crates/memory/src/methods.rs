//! The methods: what can be mined of a session, one file each.
//!
//! To add a method, write its file and add its line to [`METHODS`].

mod asked_commands;
mod commands;
mod error_fix;
mod evidence;
mod memp_procedural;
mod reme_refine_poc;
mod repo_commands;
mod shell;
mod skill_pro;
mod steps;
mod turns;
mod user_rules;

use crate::candidate::Candidate;
use crate::episode::Episode;

/// One method that runs here and always gives the same.
pub struct Method {
    /// Its name.
    pub name: &'static str,
    /// What it finds, for people.
    pub title: &'static str,
    /// The candidates of a session; ids are given later.
    pub mine: fn(&Episode) -> Vec<Candidate>,
}

/// The method that `mine` uses when none is named.
pub const DEFAULT: &str = "reme_refine_poc";

/// Every local method, sorted by name.
pub static METHODS: &[Method] = &[
    asked_commands::METHOD,
    error_fix::METHOD,
    memp_procedural::METHOD,
    reme_refine_poc::METHOD,
    repo_commands::METHOD,
    skill_pro::METHOD,
    user_rules::METHOD,
];

/// The local method with this name.
pub fn by_name(name: &str) -> Option<&'static Method> {
    METHODS.iter().find(|method| method.name == name)
}
