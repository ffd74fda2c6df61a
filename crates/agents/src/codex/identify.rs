//! Finds the owner of a file from its contents.
//!
//! Used for logs that are not named like a rollout, for small rollouts, which may hold no session
//! at all, and for any file that a user points at.

use retro_model::SourceKey;
use std::path::Path;

use super::names;
use crate::{Json, Kindred, Owner, field};

/// A head of this many bytes may not be the whole file.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Lines that are read before giving up.
const LINES_MAX: usize = 8;

/// The kind of a log, from its first lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Signs {
    /// A rollout: its thread, and the key of its source.
    Rollout(String, String),
    /// The output of `codex exec --json` for this thread.
    Stream(String),
    /// The same output up to 0.42, which does not name the thread.
    Nameless,
    /// No records at all.
    Nothing,
    /// A log of another program.
    Foreign,
}

pub(super) fn identify(path: &Path, head: &[u8]) -> Option<Kindred> {
    let file_name = path.file_name()?.to_str()?;
    let named = names::rollout(file_name);
    let (owner, source) = match (signs(head), named) {
        // A file that was created and never written to.
        (Signs::Nothing, Some(_)) if head.len() < HEAD_BYTES_MAX => {
            (Owner::Shared(file_name.to_owned()), SourceKey::main())
        }
        (_, Some(rollout)) => (Owner::Session(rollout.thread.to_owned()), SourceKey::new(rollout.source)),
        (Signs::Rollout(thread, source), None) => (Owner::Session(thread), SourceKey::new(&source)),
        (Signs::Stream(thread), None) => (Owner::Session(thread), SourceKey::new(names::EXEC)),
        (Signs::Nameless | Signs::Nothing | Signs::Foreign, None) => return None,
    };
    let (kind, format) = names::form(source.as_str());
    Some(Kindred { owner, source, kind, format })
}

pub(super) fn signs(head: &[u8]) -> Signs {
    let mut seen = false;
    for line in head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).take(LINES_MAX)
    {
        let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
        let record = line.get(start..).unwrap_or_default();
        if let Ok(record) = serde_json::from_slice::<Json<'_>>(record) {
            seen = true;
            if let Some(signs) = sign(&record) {
                return signs;
            }
        } else if let Some(thread) = cut_meta(record) {
            return Signs::Rollout(thread, SourceKey::MAIN.to_owned());
        }
    }
    if seen || head.contains(&b'{') { Signs::Foreign } else { Signs::Nothing }
}

fn sign(record: &Json<'_>) -> Option<Signs> {
    let payload = record.get("payload");
    match field::text(record, "type") {
        Some("session_meta") => {
            let meta = payload?;
            let thread = field::some(meta, "id")?;
            Some(Signs::Rollout(thread.to_owned(), source(meta, thread)))
        }
        Some("thread.started") => {
            field::some(record, "thread_id").map(|thread| Signs::Stream(thread.to_owned()))
        }
        Some(_) => None,
        // The header of a bare file (0.8 - 0.29).
        None if record.get("instructions").is_some() && record.get("timestamp").is_some() => {
            field::some(record, "id")
                .map(|thread| Signs::Rollout(thread.to_owned(), SourceKey::MAIN.to_owned()))
        }
        None if record.get("msg").is_some_and(Json::is_object) && record.get("id").is_some() => {
            Some(Signs::Nameless)
        }
        None => None,
    }
}

/// The source of a renamed rollout. The id of a second file of a thread is only in its name, but
/// its time distinguishes it as well.
fn source(meta: &Json<'_>, thread: &str) -> String {
    let base = meta.get("history_base").and_then(|base| field::some(base, "thread_id"));
    let went_back = base == Some(thread) && meta.get("forked_from_id").is_none_or(Json::is_null);
    field::some(meta, "timestamp").filter(|_| went_back).unwrap_or(SourceKey::MAIN).to_owned()
}

/// The thread in a `session_meta` that is longer than the head, because it has the system prompt
/// and, in the desktop app, the schemas of all tools.
fn cut_meta(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(line);
    if !text.contains("\"type\":\"session_meta\"") {
        return None;
    }
    let (_, rest) = text.split_once("\"payload\":{")?;
    let (_, rest) = rest.split_once("\"id\":\"")?;
    let (thread, _) = rest.split_once('"')?;
    names::is_uuid(thread).then(|| thread.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "00000000-0000-7000-8000-00000000000a";
    const OTHER: &str = "00000000-0000-7000-8000-00000000000b";

    fn owner(name: &str, head: &str) -> Option<(Owner, String)> {
        identify(Path::new(name), head.as_bytes()).map(|kindred| (kindred.owner, kindred.source.to_string()))
    }

    fn session(id: &str, source: &str) -> Option<(Owner, String)> {
        Some((Owner::Session(id.into()), source.into()))
    }

    fn meta(id: &str) -> String {
        format!(
            "{{\"timestamp\":\"2026-03-01T10:00:00Z\",\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\"}}}}\n"
        )
    }

    #[test]
    fn the_name_of_a_rollout_tells_and_its_contents_need_not() {
        let file = format!("rollout-2026-03-01T10-00-00-{ID}.jsonl");
        assert_eq!(owner(&file, &meta(OTHER)), session(ID, "m"));
        assert_eq!(owner(&file, "\n\n"), Some((Owner::Shared(file.clone()), "m".into())));
        let back = format!("rollout-2026-03-01T10-00-00-{ID}_{OTHER}.jsonl");
        assert_eq!(owner(&back, &meta(ID)), session(ID, OTHER));
    }

    #[test]
    fn contents_tell_where_the_name_does_not() {
        assert_eq!(owner("backup.jsonl", &meta("s1")), session("s1", "m"));
        let header = "{\"id\":\"s2\",\"timestamp\":\"2025-07-01T10:00:00Z\",\"instructions\":null}\n";
        assert_eq!(owner("old.jsonl", header), session("s2", "m"));
        let stream = "{\"type\":\"thread.started\",\"thread_id\":\"s3\"}\n";
        assert_eq!(owner("run.jsonl", stream), session("s3", "exec"));
        assert_eq!(signs(b"{\"model\":\"x\"}\n{\"prompt\":\"y\"}\n{\"id\":\"0\",\"msg\":{\"type\":\"task_started\"}}\n"), Signs::Nameless);
        assert_eq!(owner("other.jsonl", "{\"type\":\"user\",\"sessionId\":\"x\"}"), None);
        assert_eq!(owner("empty.jsonl", ""), None);
    }

    #[test]
    fn a_first_line_longer_than_the_head_still_names_its_thread() {
        let long = meta(ID)
            .replace("\"id\"", "\"session_id\":\"x\",\"id\"")
            .replace("}}\n", ",\"base_instructions\":\"…");
        assert_eq!(owner("backup.jsonl", &long), session(ID, "m"));
    }

    #[test]
    fn a_renamed_further_file_is_not_the_main_one() {
        let base = format!(
            "{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{ID}\",\"timestamp\":\"2026-03-01T10:00:00Z\",\"history_base\":{{\"thread_id\":\"{ID}\"}}}}}}"
        );
        assert_eq!(owner("x.jsonl", &base), session(ID, "2026-03-01T10%3A00%3A00Z"));
    }
}
