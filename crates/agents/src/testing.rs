//! Internals of this crate that only tests of other crates use.

mod elsewhere;
pub mod months;
pub mod recurring;

use retro_model::Edit;

use crate::patch;

/// The files that a `*** Begin Patch` text asks to change.
pub fn patch_edits(patch: &str) -> Vec<Edit> {
    patch::edits(patch)
}

/// The patch inside a shell script that applies one.
pub fn patch_in_script(script: &str) -> Option<&str> {
    patch::in_script(script)
}

/// Lines added and removed by a unified diff.
pub fn diff_lines(diff: &str) -> (u64, u64) {
    patch::diff_lines(diff)
}
