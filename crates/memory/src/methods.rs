//! The mining methods, one file each.
//!
//! To add a method, write its file and add its line to [`METHODS`].

mod asked_commands;
mod commands;
mod error_fix;
mod evidence;
mod memp_procedural;
mod reme_refine_poc;
mod repeatable;
mod repo_commands;
mod shell;
mod skill_pro;
mod steps;
mod turns;
mod user_rules;

pub(crate) use repeatable::is_of_session;

use crate::candidate::Candidate;
use crate::episode::Episode;

/// A local, deterministic method.
pub struct Method {
    /// The method's name.
    pub name: &'static str,
    /// Describes its findings, for people.
    pub title: &'static str,
    /// The candidates of a session. The caller assigns ids.
    pub mine: fn(&Episode) -> Vec<Candidate>,
}

/// The default method of `mine`.
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
