//! Placeholder.
use super::Method;

pub(super) const METHOD: Method = Method { name: "reme_refine_poc", title: "patterns", mine: |_| Vec::new() };
