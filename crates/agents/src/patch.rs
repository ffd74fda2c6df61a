//! Patches as agents write them: which files a patch asks to change, and how many lines.
//!
//! There are two notations. A model writes the `*** Begin Patch` form: its line counts are the
//! requested ones. A program reports a unified diff: its counts are the actual ones. Both are read
//! leniently: a part that makes no sense is skipped, since a broken patch is still worth recording.

use retro_model::{Edit, EditKind};
use retro_text::redact;

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";

/// The files that a `*** Begin Patch` text asks to change.
pub(crate) fn edits(patch: &str) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut open = false;
    for line in patch.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        let header = line.trim_end();
        if header == BEGIN {
            open = true;
        } else if header == END {
            open = false;
        } else if let Some((kind, path)) = file_header(header) {
            // Some models omit the first line. A file header is proof enough.
            open = true;
            let removed = (kind != EditKind::Delete).then_some(0);
            edits.push(Edit { path: redact(path), to: None, kind, added: Some(0), removed });
        } else if let Some(edit) = edits.last_mut().filter(|_| open) {
            if let Some(to) = header.strip_prefix("*** Move to: ").map(str::trim).filter(|to| !to.is_empty())
            {
                edit.to = Some(redact(to));
                edit.kind = EditKind::Move;
            } else {
                count(edit, line);
            }
        }
    }
    edits
}

fn file_header(line: &str) -> Option<(EditKind, &str)> {
    let headers = [
        ("*** Add File: ", EditKind::Create),
        ("*** Update File: ", EditKind::Update),
        ("*** Delete File: ", EditKind::Delete),
    ];
    headers.into_iter().find_map(|(head, kind)| {
        let path = line.strip_prefix(head)?.trim();
        (!path.is_empty()).then_some((kind, path))
    })
}

fn count(edit: &mut Edit, line: &str) {
    let slot = match line.as_bytes().first() {
        Some(b'+') => &mut edit.added,
        Some(b'-') => &mut edit.removed,
        _ => return,
    };
    if let Some(lines) = slot {
        *lines += 1;
    }
}

/// The patch in a shell script that passes one to `apply_patch`, by heredoc or as an argument.
pub(crate) fn in_script(script: &str) -> Option<&str> {
    let start = script.find(BEGIN)?;
    let before = script.get(..start)?;
    if !before.contains("apply_patch") && !before.contains("applypatch") {
        return None;
    }
    let patch = script.get(start..)?;
    let end = patch.find(END).map_or(patch.len(), |at| at + END.len());
    patch.get(..end)
}

/// Counts the lines that a unified diff adds and removes. File headers do not count.
pub(crate) fn diff_lines(diff: &str) -> (u64, u64) {
    let mut in_hunk = false;
    let (mut added, mut removed) = (0, 0);
    for line in diff.lines() {
        if line.starts_with("@@") {
            in_hunk = true;
        } else if line.starts_with("diff ")
            || (!in_hunk && (line.starts_with("--- ") || line.starts_with("+++ ")))
        {
            in_hunk = false;
        } else if line.starts_with('+') {
            added += 1;
        } else if line.starts_with('-') {
            removed += 1;
        }
    }
    (added, removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Told = (String, Option<String>, EditKind, Option<u64>, Option<u64>);

    fn told(patch: &str) -> Vec<Told> {
        let line = |edit: Edit| {
            (edit.path.to_string(), edit.to.map(|to| to.to_string()), edit.kind, edit.added, edit.removed)
        };
        edits(patch).into_iter().map(line).collect()
    }

    #[test]
    fn every_file_is_told_with_its_lines() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+one\n+two\n*** Update File: src/b c.rs\n*** Move to: src/d.rs\n@@ fn x\n keep\n-old\n+new\n+er\n*** Delete File: gone.md\n*** End Patch\n";
        assert_eq!(
            told(patch),
            [
                ("a.rs".into(), None, EditKind::Create, Some(2), Some(0)),
                ("src/b c.rs".into(), Some("src/d.rs".into()), EditKind::Move, Some(2), Some(1)),
                ("gone.md".into(), None, EditKind::Delete, Some(0), None),
            ]
        );
    }

    #[test]
    fn a_patch_without_its_ends_is_still_read() {
        assert_eq!(told("*** Update File: a\r\n@@\r\n-x\r\n+y\r\n").len(), 1);
        assert_eq!(told("*** Begin Patch\n+stray\n*** Update File:   \n*** End Patch"), []);
        assert_eq!(told("no patch at all\n+ but a plus"), []);
    }

    #[test]
    fn a_patch_is_found_in_the_script_that_applies_it() {
        let script =
            "cd w && apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nEOF\necho done";
        assert_eq!(in_script(script), Some("*** Begin Patch\n*** Delete File: a\n*** End Patch"));
        assert_eq!(in_script("echo '*** Begin Patch'"), None);
        assert_eq!(in_script("apply_patch < file"), None);
    }

    #[test]
    fn lines_of_a_diff_are_counted_without_its_headers() {
        assert_eq!(diff_lines("--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n keep\n-old\n+new\n+++ plus\n"), (2, 1));
        assert_eq!(diff_lines(""), (0, 0));
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_harm(text in "(\\*\\*\\* (Add|Update|Delete) File: |[+@-]|\\PC|\n){0,60}") {
            let files = text.lines().filter(|line| file_header(line.trim_end()).is_some()).count();
            prop_assert_eq!(edits(&text).len(), files);
        }
    }
}
