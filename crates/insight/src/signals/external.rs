//! # What
//! How many results brought text from outside: web pages, MCP servers, fetched documents.
//! # Why
//! Such text may hold instructions that nobody of the project wrote.
//! # How
//! Events whose words are of origin `external`.
//! # Limits
//! A file that was downloaded by a shell command and read later counts as local.

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("external.rs");

pub(crate) fn external_content(looked: &Looked<'_>) -> Reading {
    Reading::of(looked.trace.external_count).because(looked.trace.external.iter().map(String::as_str))
}
