//! What all agents report of files and folders that cannot be read.

use retro_model::{SourceKey, SourceKind};
use std::path::Path;

use crate::{Encoding, Format, Found, Owner, Stat};

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
