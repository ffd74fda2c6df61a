//! Finds the owner of a file from its contents.
//!
//! Discovery knows every file by its path. This is used for small main logs and for any file that a
//! user points at: a copy of a session's file under any name.

use retro_model::SourceKey;
use std::path::Path;

use super::discover::form;
use crate::{Json, Kindred, Owner, field};

/// Lines that are read before giving up.
const LINES_MAX: usize = 256;

pub(super) fn identify(path: &Path, head: &[u8]) -> Option<Kindred> {
    let mut lines = head.split(|byte| *byte == b'\n').take(LINES_MAX).filter_map(|line| {
        let start = line.iter().position(|byte| *byte == b'{')?;
        serde_json::from_slice::<Json<'_>>(line.get(start..)?).ok()
    });
    let (session, part) = lines.find_map(|record| sign(&record)).or_else(|| {
        let document: Json<'_> = serde_json::from_slice(head.trim_ascii()).ok()?;
        sign(&document)
    })?;
    // A fork's log begins with lines of its parent, but `sessionId` is its own.
    let session = match own_folder(path) {
        Some(folder) => folder,
        None => session,
    };
    let (kind, format) = form(part);
    Some(Kindred { owner: Owner::Session(session), source: SourceKey::new(part), kind, format })
}

/// The session and part of a record that only Grok writes.
fn sign(record: &Json<'_>) -> Option<(String, &'static str)> {
    if let Some(params) = record.get("params") {
        let method = field::text(record, "method")?;
        let is_update =
            method.ends_with("session/update") && params.get("update")?.get("sessionUpdate").is_some();
        // Other clients of the protocol log such lines too, but only Grok's have these event ids.
        let is_grok = params.get("_meta")?.get("agentTimestampMs").is_some();
        let session = field::some(params, "sessionId")?;
        return (is_update && is_grok).then(|| (session.to_owned(), SourceKey::MAIN));
    }
    if field::text(record, "type") == Some("turn_started") && record.get("turn_number").is_some() {
        return field::some(record, "session_id").map(|session| (session.to_owned(), "events"));
    }
    if record.get("grok_home").is_some() || record.get("chat_format_version").is_some() {
        let session = record.get("info").and_then(|info| field::some(info, "id"))?;
        return Some((session.to_owned(), "summary"));
    }
    None
}

/// The session whose folder contains the file, if the folder is named like a session.
fn own_folder(path: &Path) -> Option<String> {
    let name = path.parent()?.file_name()?.to_str()?;
    let is_id = name.len() == 36
        && name.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_id.then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "00000000-0000-7000-8000-00000000000a";

    fn whose(path: &str, head: &str) -> Option<(Owner, String)> {
        identify(Path::new(path), head.as_bytes()).map(|kindred| (kindred.owner, kindred.source.to_string()))
    }

    #[test]
    fn a_copied_file_is_known_by_its_records() {
        let line = r#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan"},"_meta":{"agentTimestampMs":1}}}"#;
        assert_eq!(whose("/d/copy.txt", line), Some((Owner::Session("s1".into()), "m".into())));
        let broken = format!("{{\"half\n\0\0{line}\n");
        assert_eq!(whose("/d/copy.txt", &broken), Some((Owner::Session("s1".into()), "m".into())));
        assert_eq!(whose(&format!("/d/{ID}/x"), line), Some((Owner::Session(ID.into()), "m".into())));
        let turn = r#"{"ts":"","type":"turn_started","session_id":"s2","turn_number":0}"#;
        assert_eq!(whose("/d/e.jsonl", turn), Some((Owner::Session("s2".into()), "events".into())));
        let summary = "{\n \"info\": {\"id\": \"s3\"},\n \"chat_format_version\": 1\n}\n";
        assert_eq!(whose("/d/s.json", summary), Some((Owner::Session("s3".into()), "summary".into())));
    }

    #[test]
    fn what_others_write_is_not_taken() {
        let acp =
            r#"{"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"plan"}}}"#;
        assert_eq!(whose("/d/a.jsonl", acp), None);
        assert_eq!(whose("/d/a.jsonl", r#"{"type":"user","message":{}}"#), None);
        assert_eq!(whose("/d/a.jsonl", "not json"), None);
        assert_eq!(whose("/d/a.jsonl", ""), None);
    }
}
