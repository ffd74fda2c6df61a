//! Mapping tables: the records that an agent writes, and the events that each becomes.
//!
//! Every agent has one sorted table, for people and for its parser.

use retro_model::Kind;

/// One line of a mapping table: a kind of record and its events.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// The record as the agent names it, e.g. `attachment/queued_command`.
    pub record: &'static str,
    /// The events it may give. Empty: folded, no event of its own.
    pub gives: &'static [Kind],
    /// True if a record of this row may also be folded without an event.
    pub may_fold: bool,
    /// A note for people who read the table.
    pub note: &'static str,
}

impl Row {
    /// A record that gives events.
    pub(crate) const fn gives(record: &'static str, gives: &'static [Kind], note: &'static str) -> Row {
        Row { record, gives, may_fold: false, note }
    }

    /// A record that gives events, or only completes an earlier event.
    pub(crate) const fn may_fold(record: &'static str, gives: &'static [Kind], note: &'static str) -> Row {
        Row { record, gives, may_fold: true, note }
    }

    /// A record that never has an event of its own.
    pub(crate) const fn folded(record: &'static str, note: &'static str) -> Row {
        Row { record, gives: &[], may_fold: true, note }
    }
}

/// The row `<family><name>` of a table, such as `system/` and `turn_duration`.
pub(crate) fn named(rows: &'static [Row], family: &str, name: &str) -> Option<&'static Row> {
    let compared = |row: &Row| {
        let (head, rest) = row.record.as_bytes().split_at(family.len().min(row.record.len()));
        head.cmp(family.as_bytes()).then_with(|| rest.cmp(name.as_bytes()))
    };
    rows.get(rows.binary_search_by(compared).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AGENTS;

    #[test]
    fn every_row_of_every_table_is_found_by_its_name() {
        for agent in AGENTS {
            assert!(agent.mapping().is_sorted_by_key(|row| row.record), "{}", agent.name());
            for row in agent.mapping() {
                let (family, name) = row.record.split_at(row.record.find('/').map_or(0, |at| at + 1));
                let found = named(agent.mapping(), family, name).map(|row| row.record);
                assert_eq!(found, Some(row.record), "{}", agent.name());
            }
            assert!(named(agent.mapping(), "", "no such record").is_none());
        }
    }
}
