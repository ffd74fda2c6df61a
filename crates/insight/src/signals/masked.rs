//! # What
//! How many checks failed although the command ended well.
//! # Why
//! `cargo test | tail` and `npm test || true` end with success. An agent that looks at the
//! exit code alone goes on over a red test.
//! # How
//! Tests, builds, type checks and linters whose exit state says success while the runner's
//! own summary in the output says failure.
//! # Limits
//! Only summaries of runners that are known. Output that the agent cut away is not seen.

use super::Looked;
use crate::Reading;

pub(crate) const DOC: &str = include_str!("masked.rs");

pub(crate) fn masked_failures(looked: &Looked<'_>) -> Reading {
    Reading::count(looked.ids(|call| call.masked))
}
