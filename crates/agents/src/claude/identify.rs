//! Finds the owner of a file from its contents.
//!
//! Used for three kinds of files: sub-agent logs of 2.0.x that are beside the main logs; small main
//! logs, which may hold no session at all (2.0.42 leaves empty ones behind, 1.0.117 some with only
//! a `summary`); and any file that a user points at.

use retro_model::{SourceKey, SourceKind};
use std::path::Path;

use crate::{Format, Json, Kindred, Owner, field};

/// A head of this many bytes may not be the whole file.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// Lines that are read before giving up.
const LINES_MAX: usize = 256;

pub(super) fn identify(path: &Path, head: &[u8]) -> Option<Kindred> {
    let stem = path.file_stem()?.to_str()?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    let signs = Signs::read(head);
    if let Some(agent) = stem.strip_prefix("agent-").filter(|_| extension == Some("jsonl")) {
        return signs.session.map(|session| log(Owner::Session(session), &format!("agent-{agent}")));
    }
    let own_name = is_session_id(stem) && extension == Some("jsonl");
    match signs {
        // A sub-agent's log under another name.
        Signs { session: Some(session), agent: Some(agent), main: false, .. } if !own_name => {
            Some(log(Owner::Session(session), &format!("agent-{agent}")))
        }
        Signs { is_claude: true, .. } if own_name => {
            Some(log(Owner::Session(stem.to_owned()), SourceKey::MAIN))
        }
        Signs { is_claude: true, session: Some(session), .. } => {
            Some(log(Owner::Session(session), SourceKey::MAIN))
        }
        // A file named like a session that is empty or has only titles of other sessions. Anything
        // else may be the beginning of a conversation, or a damaged one.
        Signs { other: false, .. } if own_name && head.len() < HEAD_BYTES_MAX => {
            Some(log(Owner::Shared(format!("{stem}.jsonl")), SourceKey::MAIN))
        }
        _ => None,
    }
}

fn log(owner: Owner, source: &str) -> Kindred {
    Kindred { owner, source: SourceKey::new(source), kind: SourceKind::Log, format: Format::JsonLines }
}

/// Signs of the owner, found in the records of a head.
#[derive(Default)]
struct Signs {
    /// The first session id.
    session: Option<String>,
    /// The first sub-agent id.
    agent: Option<String>,
    /// True if a conversation record is on the main thread.
    main: bool,
    /// True if only Claude Code writes one of the records.
    is_claude: bool,
    /// True if a line is more than the title of another session.
    other: bool,
}

impl Signs {
    fn read(head: &[u8]) -> Signs {
        let mut signs = Signs::default();
        for line in head.split_inclusive(|byte| *byte == b'\n').take(LINES_MAX) {
            let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
            match serde_json::from_slice::<Json<'_>>(&line[start..]) {
                Ok(record) => signs.see(&record),
                // A last line that is still being written is not evidence yet.
                Err(_) => signs.other |= line.ends_with(b"\n") && !line.iter().all(u8::is_ascii_whitespace),
            }
        }
        signs
    }

    fn see(&mut self, record: &Json<'_>) {
        if self.session.is_none() {
            self.session = field::some(record, "sessionId").map(str::to_owned);
        }
        let kind = field::text(record, "type").unwrap_or_default();
        self.other |= kind != "summary";
        if !matches!(kind, "user" | "assistant" | "system" | "attachment" | "progress") {
            return;
        }
        // Other programs write similar records. A message with `content` and its own uuid is Claude
        // Code's.
        let content = match kind {
            "user" | "assistant" => {
                record.get("message").and_then(|message| message.get("content")).is_some()
            }
            "attachment" => record.get("attachment").is_some(),
            "progress" => record.get("data").is_some(),
            _ => record.get("isSidechain").is_some(),
        };
        if !content || field::some(record, "uuid").is_none() {
            return;
        }
        self.is_claude = true;
        if !field::is(record, "isSidechain") {
            self.main = true;
        } else if self.agent.is_none() {
            self.agent = field::some(record, "agentId").map(str::to_owned);
        }
    }
}

/// True if the name has the form of a uuid.
fn is_session_id(stem: &str) -> bool {
    stem.len() == 36
        && stem.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "00000000-0000-4000-8000-00000000000a";

    fn owner(path: &str, head: &str) -> Option<(Owner, String)> {
        identify(Path::new(path), head.as_bytes()).map(|kindred| (kindred.owner, kindred.source.to_string()))
    }

    fn session(id: &str, source: &str) -> Option<(Owner, String)> {
        Some((Owner::Session(id.into()), source.into()))
    }

    #[test]
    fn a_log_without_a_conversation_is_no_session() {
        let file = format!("/p/{ID}.jsonl");
        let shared = Some((Owner::Shared(format!("{ID}.jsonl")), "m".to_owned()));
        assert_eq!(owner(&file, ""), shared);
        assert_eq!(owner(&file, "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"u\"}\n"), shared);
        let long = format!("{{\"type\":\"summary\",\"summary\":\"{}\"}}\n", "x".repeat(HEAD_BYTES_MAX));
        assert_eq!(owner(&file, &long), None);
        let prompt =
            "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"other\",\"message\":{\"content\":\"hi\"}}";
        assert_eq!(owner(&file, prompt), session(ID, "m"));
        assert_eq!(owner(&file, "{\"type\":\"mode\",\"mode\":\"normal\"}\n"), None);
        assert_eq!(owner(&file, "{\"type\":\"user\"\n"), None);
        assert_eq!(owner(&file, "{\"type\":\"summ"), shared);
    }

    #[test]
    fn the_contents_of_a_flat_sub_agent_log_name_its_session() {
        let line = "{\"type\":\"assistant\",\"isSidechain\":true,\"agentId\":\"1f\",\"uuid\":\"u\",\"sessionId\":\"s1\",\"message\":{\"content\":[]}}\n";
        assert_eq!(owner("/p/agent-1f.jsonl", line), session("s1", "agent-1f"));
        assert_eq!(owner("/p/agent-1f.jsonl", ""), None);
        assert_eq!(owner("/tmp/copy.jsonl", line), session("s1", "agent-1f"));
    }

    #[test]
    fn any_file_with_claude_records_is_known() {
        let ours =
            "\0\0{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s1\",\"message\":{\"content\":\"hi\"}}";
        assert_eq!(owner("/d/backup.txt", ours), session("s1", "m"));
        let alike = "{\"type\":\"user\",\"uuid\":\"u\",\"sessionId\":\"s1\",\"message\":{\"parts\":[]}}";
        assert_eq!(owner("/d/backup.jsonl", alike), None);
        assert_eq!(owner(&format!("/d/{ID}.jsonl"), alike), None);
        assert_eq!(owner("/d/x.jsonl", "not json"), None);
    }
}
