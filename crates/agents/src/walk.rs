//! Walking an agent's folders, and what all agents report of files and folders
//! that cannot be read.

use retro_model::{SourceKey, SourceKind};
use std::path::Path;
use walkdir::WalkDir;

use crate::{Encoding, Format, Found, Owner, Stat};

/// A walk through links, the entries of each folder in the order of their names.
pub(crate) fn sorted(top: &Path) -> WalkDir {
    // Whole paths, though only their last names differ: to find those again for
    // each comparison was a fifth of the instructions of a sync without news.
    let walk = WalkDir::new(top).follow_links(true);
    walk.sort_by(|a, b| a.path().as_os_str().cmp(b.path().as_os_str()))
}

/// A file below `root` that is there and cannot be captured.
pub(crate) fn unreadable(root: &Path, path: &Path, reason: String) -> Found {
    let below = path.strip_prefix(root).unwrap_or(path);
    let name = below.to_string_lossy().into_owned();
    Found {
        source: SourceKey::new(&name),
        owner: Owner::Shared(name),
        kind: SourceKind::Document,
        format: Format::Opaque,
        encoding: Encoding::Plain,
        path: path.to_owned(),
        stat: Stat::default(),
        extra: false,
        unreadable: Some(reason),
        content: None,
    }
}

/// Why a walk could not go on somewhere.
pub(crate) fn why(error: &walkdir::Error) -> String {
    match (error.loop_ancestor(), error.io_error()) {
        (Some(above), _) => format!("a link that leads back to {}", above.display()),
        (None, Some(error)) => error.to_string(),
        (None, None) => "cannot be read".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_by_name_and_folders_with_what_they_hold() {
        let top = tempfile::tempdir().unwrap();
        for path in ["b/x", "b/a", "b.c", "a", "b-c/y"] {
            let path = top.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let walked: Vec<String> = sorted(top.path())
            .min_depth(1)
            .into_iter()
            .map(|entry| entry.unwrap().path().strip_prefix(top.path()).unwrap().display().to_string())
            .collect();
        assert_eq!(walked, ["a", "b", "b/a", "b/x", "b-c", "b-c/y", "b.c"]);
    }
}
