//! `patch`: any text is read as a patch, as a diff and as a script with a patch in it.

use retro_agents::testing::{diff_lines, patch_edits, patch_in_script};
use retro_text::redact;

use crate::Tried;

pub(crate) fn check(bytes: &[u8]) -> Tried {
    let text = &*String::from_utf8_lossy(bytes);
    let lines = text.lines().count() as u64;
    let edits = patch_edits(text);
    assert!(edits.len() as u64 <= lines, "{} files in {lines} lines", edits.len());
    let mut counted = 0;
    for edit in &edits {
        counted += edit.added.unwrap_or(0) + edit.removed.unwrap_or(0);
        for path in [Some(&edit.path), edit.to.as_ref()].into_iter().flatten() {
            assert_eq!(redact(path), *path, "a path was not redacted");
            assert!(!path.contains('\n'), "{path:?} is more than a line");
        }
    }
    let (added, removed) = diff_lines(text);
    assert!(counted <= lines && added + removed <= lines, "more lines changed than there are");
    if let Some(patch) = patch_in_script(text) {
        assert!(text.contains(patch), "a patch stands in its script");
    }
    Ok(())
}
