//! Placeholder.
use super::Method;

pub(super) const METHOD: Method = Method { name: "skill_pro", title: "skills", mine: |_| Vec::new() };
