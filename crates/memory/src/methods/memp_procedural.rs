//! Placeholder.
use super::Method;

pub(super) const METHOD: Method =
    Method { name: "memp_procedural", title: "the whole session as one procedure", mine: |_| Vec::new() };
