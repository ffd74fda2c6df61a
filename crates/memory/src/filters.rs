//! The filters: which candidates of a session are kept, one file each.
//!
//! To add a filter, write its file and add its line to [`FILTERS`].

mod grounded;
mod no_secrets;
mod risk_aware;
mod telling;

use crate::candidate::Candidate;
use crate::episode::Quotes;

/// What is kept, and what there is to say about the rest.
pub type Kept = (Vec<Candidate>, Option<String>);

/// One filter.
pub struct Filter {
    /// Its name.
    pub name: &'static str,
    /// What it drops, for people.
    pub title: &'static str,
    /// When it is applied, and how.
    pub rule: Rule,
}

/// How a filter keeps what passes, and says what it dropped.
pub enum Rule {
    /// Always, with the words of the session in hand.
    Check(fn(Vec<Candidate>, &Quotes) -> Kept),
    /// Only when it is asked for.
    Choice(fn(Vec<Candidate>) -> Kept),
}

/// Every filter, sorted by name.
pub static FILTERS: &[Filter] = &[grounded::FILTER, no_secrets::FILTER, risk_aware::FILTER, telling::FILTER];

/// What nobody asked for by name is also asked to be of use: sync and `'*'` apply these.
pub fn for_all() -> Vec<&'static Filter> {
    by_name(telling::FILTER.name).into_iter().collect()
}

/// The filter with this name.
pub fn by_name(name: &str) -> Option<&'static Filter> {
    FILTERS.iter().find(|filter| filter.name == name)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::candidate::{Kind, Repository, Risk, Scope, Span, Voice};

    /// A candidate that says this, with one span of the event `e1`.
    pub(crate) fn candidate(id: &str, text: &str) -> Candidate {
        Candidate {
            id: id.to_owned(),
            number: 0,
            method: "m".to_owned(),
            kind: Kind::Case,
            text: text.to_owned(),
            when_to_use: text.to_owned(),
            do_not_use_when: None,
            evidence_refs: vec!["e1".to_owned()],
            spans: vec![Span { event_id: "e1".to_owned(), text: text.to_owned(), voice: Voice::Model }],
            confidence: 0.7,
            priority: 3,
            scope: Scope::Repo,
            scope_reason: String::new(),
            risk: Risk::Low,
            structured: None,
            origin_repo: None,
            repository: Repository::default(),
            origin: Voice::Model,
            subject: String::new(),
            stance: String::new(),
            keywords: Vec::new(),
            files: Vec::new(),
            seen: 1,
            worked: 0,
            source_hash: String::new(),
            created_at: None,
            expires_at: None,
        }
    }

    #[test]
    fn the_table_is_sorted_and_every_filter_is_found() {
        assert!(FILTERS.is_sorted_by_key(|filter| filter.name));
        for filter in FILTERS {
            assert!(by_name(filter.name).is_some_and(|found| found.name == filter.name));
        }
        assert!(by_name("none").is_none());
    }
}
