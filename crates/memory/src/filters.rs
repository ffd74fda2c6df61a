//! The filters, which select candidates of a session. One file each.

mod grounded;
mod no_secrets;
mod risk_aware;
mod telling;

use crate::candidate::Candidate;
use crate::episode::Quotes;

/// The remaining candidates, and a remark on the dropped ones.
pub type Kept = (Vec<Candidate>, Option<String>);

/// A filter of candidates.
pub struct Filter {
    /// The filter's name.
    pub name: &'static str,
    /// Describes the dropped candidates, for people.
    pub title: &'static str,
    /// When and how it is applied.
    pub rule: Rule,
}

/// How a filter selects candidates and reports dropped ones.
pub enum Rule {
    /// Always applied, with access to the session's text.
    Check(fn(Vec<Candidate>, &Quotes) -> Kept),
    /// Applied only on request.
    Choice(fn(Vec<Candidate>) -> Kept),
}

/// Every filter, sorted by name.
pub static FILTERS: &[Filter] = &[grounded::FILTER, no_secrets::FILTER, risk_aware::FILTER, telling::FILTER];

/// Filters that a sync and `'*'` apply: findings that were not requested by name must also be
/// useful.
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

    /// A candidate with this text and one span of the event `e1`.
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
