//! The known kinds of secrets: tables of [`Rule`], one entry each, sorted by name.
//!
//! To add one, put a line into the table where it belongs and its examples into the file of that
//! name in `tests/examples`, and raise [`super::RULES_VERSION`]. A keyword should be rare in
//! ordinary text: each occurrence costs one match attempt.

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

use super::rule::Rule;

static TABLES: &[&[Rule]] = &[
    ai::RULES,
    build::RULES,
    cloud::RULES,
    code::RULES,
    data::RULES,
    identity::RULES,
    messaging::RULES,
    monitoring::RULES,
    payment::RULES,
    places::RULES,
    work::RULES,
];

/// Every rule, table by table.
pub(super) fn all() -> impl Iterator<Item = &'static Rule> {
    TABLES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keywords;
    use crate::secrets::marker;
    use std::collections::BTreeSet;

    #[test]
    fn tables_are_sorted_and_names_are_unique() {
        for table in TABLES {
            assert!(table.is_sorted_by_key(|rule| rule.name), "after {}", table[0].name);
        }
        let names: BTreeSet<_> = all().map(|rule| rule.name).collect();
        assert_eq!(names.len(), all().count());
    }

    #[test]
    fn names_fit_into_a_marker_and_keywords_are_not_too_short() {
        for rule in all() {
            assert!(rule.name.len() <= marker::NAME_BYTES_MAX, "{}", rule.name);
            assert!(
                rule.name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            );
            assert!(!rule.keywords.is_empty(), "{}", rule.name);
            assert!(
                rule.keywords
                    .iter()
                    .all(|word| word.len() >= keywords::LENGTH_MIN && word.len() <= rule.reach),
                "{}",
                rule.name
            );
        }
    }
}
