//! The filters: which candidates of a session are kept, one file each.
//!
//! To add a filter, write its file and add its line to [`FILTERS`].

mod grounded;
mod no_secrets;
mod risk_aware;

use crate::candidate::Candidate;
use crate::episode::Quotes;

/// One filter.
pub struct Filter {
    /// Its name.
    pub name: &'static str,
    /// What it drops, for people.
    pub title: &'static str,
    /// Keeps what passes, and says what it dropped.
    pub keep: fn(Vec<Candidate>, &Quotes) -> (Vec<Candidate>, Option<String>),
}

/// Every filter, sorted by name.
pub static FILTERS: &[Filter] = &[grounded::FILTER, no_secrets::FILTER, risk_aware::FILTER];

/// The filter with this name.
pub fn by_name(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name)
}
