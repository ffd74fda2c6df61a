//! Texts that hold a secret of each kind, and texts that look like it and hold
//! none, as recipes. One file a table of rules.

mod ai;
mod build;
mod cloud;
mod code;
mod data;
mod identity;
mod messaging;
mod monitoring;
mod payment;
mod places;
mod work;

/// A rule, recipes of texts that hold such a secret, recipes of texts that hold none.
pub(crate) type Example = (&'static str, &'static [&'static str], &'static [&'static str]);

/// The examples of each table of rules.
pub(crate) static TABLES: &[&[Example]] = &[
    ai::EXAMPLES,
    build::EXAMPLES,
    cloud::EXAMPLES,
    code::EXAMPLES,
    data::EXAMPLES,
    identity::EXAMPLES,
    messaging::EXAMPLES,
    monitoring::EXAMPLES,
    payment::EXAMPLES,
    places::EXAMPLES,
    work::EXAMPLES,
];

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Example> {
    TABLES.iter().copied().flatten()
}
