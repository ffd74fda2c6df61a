//! The names of files and sources.
//!
//! A rollout names its thread: `rollout-<local time>-<thread>.jsonl`. Going back
//! to an earlier message (0.166) starts a second file of the same thread,
//! `…-<thread>_<rollout>.jsonl`; the thread's first file is the main source, and
//! each further one a source named by its rollout id.

use retro_model::{SourceKey, SourceKind};
use retro_text::redact;

use crate::words::id;
use crate::{Encoding, Format, TitleOf};

/// The source with the output of `codex exec --json`.
pub(super) const EXEC: &str = "exec";

/// The source with the thread's row of the program's database.
pub(super) const STATE: &str = "state";

/// A rollout, by its file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rollout<'n> {
    /// The id of the thread.
    pub thread: &'n str,
    /// The key of its source.
    pub source: &'n str,
    /// The compression of the file.
    pub encoding: Encoding,
}

/// Parses the name of a rollout.
pub(super) fn rollout(file_name: &str) -> Option<Rollout<'_>> {
    let (stem, encoding) = log_stem(file_name)?;
    let rest = stem.strip_prefix("rollout-")?;
    // `YYYY-MM-DDThh-mm-ss-` comes before the ids.
    let ids = rest
        .get(20..)
        .filter(|_| rest.as_bytes().get(10) == Some(&b'T') && rest.as_bytes().get(19) == Some(&b'-'))?;
    let (thread, rollout) = match ids.split_once('_') {
        Some((thread, rollout)) => (thread, Some(rollout)),
        None => (ids, None),
    };
    if !is_uuid(thread) || rollout.is_some_and(|rollout| !is_uuid(rollout)) {
        return None;
    }
    Some(Rollout { thread, source: rollout.unwrap_or(SourceKey::MAIN), encoding })
}

/// The name of a log without its extensions, and its compression.
pub(super) fn log_stem(file_name: &str) -> Option<(&str, Encoding)> {
    if let Some(stem) = file_name.strip_suffix(".jsonl.zst") {
        return Some((stem, Encoding::Zstd));
    }
    file_name.strip_suffix(".jsonl").map(|stem| (stem, Encoding::Plain))
}

/// True for the form of a uuid.
pub(super) fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// How a source of this name grows, and its format.
pub(super) fn form(source: &str) -> (SourceKind, Format) {
    match source {
        STATE => (SourceKind::State, Format::Json),
        _ => (SourceKind::Log, Format::JsonLines),
    }
}

/// The titles in the list of threads (`session_index.jsonl`). The last one of a thread counts.
pub(super) fn titles(name: &str, bytes: &dyn Fn() -> Vec<u8>) -> Vec<TitleOf> {
    if !name.ends_with("session_index.jsonl") {
        return Vec::new();
    }
    let bytes = bytes();
    let rows = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    let title = |row: serde_json::Value| {
        let text = |name: &str| row.get(name).and_then(serde_json::Value::as_str);
        let (of, title) = (text("id")?, text("thread_name")?);
        (!title.trim().is_empty()).then(|| TitleOf { of: id(of), is_leaf: false, title: redact(title) })
    };
    rows.filter_map(title).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: &str = "00000000-0000-7000-8000-00000000000a";
    const ROLLOUT: &str = "00000000-0000-7000-8000-00000000000b";

    #[test]
    fn a_rollout_names_its_thread() {
        let name = format!("rollout-2026-03-01T10-00-00-{THREAD}.jsonl");
        let first = rollout(&name).unwrap();
        assert_eq!((first.thread, first.source), (THREAD, "m"));
        let name = format!("rollout-2026-03-01T10-00-00-{THREAD}_{ROLLOUT}.jsonl.zst");
        let back = rollout(&name).unwrap();
        assert_eq!((back.thread, back.source), (THREAD, ROLLOUT));
        assert_eq!(back.encoding, Encoding::Zstd);
        for other in [
            "rollout-2026-03-01T10-00-00-my-session.jsonl".to_owned(),
            format!("rollout-2026-03-01T10-00-00-{THREAD}_x.jsonl"),
            format!("rollout-{THREAD}.jsonl"),
            format!("{THREAD}.jsonl"),
            "rollout-é026-03-01T10-00-00-x.jsonl".to_owned(),
            "history.jsonl".to_owned(),
        ] {
            assert_eq!(rollout(&other), None, "{other}");
        }
    }
}
