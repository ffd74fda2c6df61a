//! Walking an agent's folders, and what all agents report of files and folders
//! that cannot be read.

use retro_model::{SourceKey, SourceKind};
use std::borrow::Cow;
use std::path::Path;
use walkdir::WalkDir;

use crate::{Encoding, Format, Found, Owner, Stat};

/// A walk through links, in the order in which the file system tells: whoever
/// collects what is found puts it in order.
pub(crate) fn through(top: &Path) -> WalkDir {
    WalkDir::new(top).follow_links(true)
}

/// The path of a file below `root` as text, if it lies there. Asked for every file
/// of a machine, so it compares bytes and not components.
pub(crate) fn below<'p>(root: &Path, path: &'p Path) -> Option<Cow<'p, str>> {
    let rest = path.as_os_str().as_encoded_bytes().strip_prefix(root.as_os_str().as_encoded_bytes())?;
    Some(lossy(rest))
}

/// Bytes as text. Names are text nearly always, which is seen much faster than
/// [`String::from_utf8_lossy`] looks for what is not.
pub(crate) fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// The names in a path that [`below`] gave, as the walk joined them.
pub(crate) fn names(below: &str) -> Vec<&str> {
    below.split(std::path::MAIN_SEPARATOR).filter(|name| !name.is_empty()).collect()
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
    fn names_below_a_root() {
        let of = |root: &str, path: &str| {
            let below = below(Path::new(root), Path::new(path))?.into_owned();
            Some(names(&below).join(" "))
        };
        assert_eq!(of("/h/.x", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x/", "/h/.x/a/b.jsonl").as_deref(), Some("a b.jsonl"));
        assert_eq!(of("/h/.x", "/elsewhere/b.jsonl"), None);
    }
}
