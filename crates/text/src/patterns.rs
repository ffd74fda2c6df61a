//! Patterns for the output of programs.

use regex::bytes::RegexSet;

/// Patterns over bytes, in which `\s`, `\b` and their kind know ASCII alone. They are made in a
/// small part of the time that those over all alphabets take, which counts where a hook
/// waits, and stay fast on lines with other characters in them.
pub(crate) fn of_bytes(patterns: &[&str]) -> Option<RegexSet> {
    RegexSet::new(patterns.iter().map(|pattern| format!("(?-u){pattern}"))).ok()
}
