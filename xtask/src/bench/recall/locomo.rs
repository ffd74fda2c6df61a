//! Conversations in LoCoMo's form: a list of samples with numbered sessions and questions.

use serde_json::Value;
use std::path::Path;

use crate::failure::Failure;

/// A conversation of many sessions, and what is asked about it.
pub(super) struct Conversation {
    pub(super) name: String,
    pub(super) sessions: Vec<Session>,
    pub(super) questions: Vec<Question>,
}

pub(super) struct Session {
    pub(super) number: u32,
    pub(super) lines: Vec<Line>,
}

pub(super) struct Line {
    /// Such as `D1:3`: the third line of the first session.
    pub(super) id: String,
    /// `speaker: text [caption of a picture]`
    pub(super) text: String,
}

pub(super) struct Question {
    pub(super) text: String,
    /// Ids of the lines that answer it.
    pub(super) evidence: Vec<String>,
    pub(super) category: u64,
}

/// Reads all conversations of a file.
pub(super) fn read(path: &Path) -> Result<Vec<Conversation>, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::at(path, error))?;
    let samples: Vec<Value> = serde_json::from_str(&text).map_err(|error| Failure::at(path, error))?;
    let conversations: Vec<Conversation> = samples.iter().enumerate().map(conversation).collect();
    match conversations.iter().all(|conversation| conversation.sessions.is_empty()) {
        true => Err(Failure::at(path, "holds no conversation")),
        false => Ok(conversations),
    }
}

/// The session of a line: `D1` of `D1:3`.
pub(super) fn session_of(id: &str) -> &str {
    id.split_once(':').map_or(id, |(session, _)| session)
}

fn conversation((at, sample): (usize, &Value)) -> Conversation {
    let name = sample["sample_id"].as_str().map_or_else(|| at.to_string(), str::to_owned);
    let parts = sample["conversation"].as_object().into_iter().flatten();
    let mut sessions: Vec<Session> = parts
        .filter_map(|(key, lines)| {
            let number = key.strip_prefix("session_")?.parse().ok()?;
            Some(Session { number, lines: lines.as_array()?.iter().filter_map(line).collect() })
        })
        .collect();
    sessions.retain(|session| !session.lines.is_empty());
    sessions.sort_by_key(|session| session.number);
    let ids: Vec<&str> =
        sessions.iter().flat_map(|session| &session.lines).map(|line| line.id.as_str()).collect();
    let asked = sample["qa"].as_array().into_iter().flatten();
    let questions = asked.filter_map(|asked| question(asked, &ids)).collect();
    Conversation { name, questions, sessions }
}

fn line(line: &Value) -> Option<Line> {
    let text = line["text"].as_str().unwrap_or_default();
    let speaker = line["speaker"].as_str().unwrap_or_default();
    let caption = line["blip_caption"].as_str().map_or_else(String::new, |caption| format!(" [{caption}]"));
    Some(Line { id: line["dia_id"].as_str()?.to_owned(), text: format!("{speaker}: {text}{caption}") })
}

/// A question. Of its evidence, what names no line is left out; some entries name several.
fn question(asked: &Value, ids: &[&str]) -> Option<Question> {
    let entries = asked["evidence"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let parts = entries.flat_map(|entry| entry.split([';', ',', ' ']));
    let mut evidence: Vec<String> =
        parts.map(str::trim).filter(|part| ids.contains(part)).map(str::to_owned).collect();
    evidence.sort();
    evidence.dedup();
    Some(Question {
        text: asked["question"].as_str()?.to_owned(),
        evidence,
        category: asked["category"].as_u64().unwrap_or(0),
    })
}
