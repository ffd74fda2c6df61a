//! Memories that people write as Markdown files, one per file.
//!
//! A file may begin with frontmatter between two `---` lines (`frontmatter`). The rest is the text
//! of the memory. Missing keys have cautious defaults. Unknown keys are stored in `structured`. An
//! unreadable file is an error with the place and the reason.

mod frontmatter;

use retro_model::Timestamp;
use serde_json::{Map, Value};

use crate::candidate::{Kind, Repository, Risk, Scope, Voice};
use crate::memory::{Memory, Source, Status, Utility};
use crate::screen;

use frontmatter::Entry;

/// Maximum bytes of a memory's text.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Parses one file. `stem` is its name without `.md`, and becomes the id unless the frontmatter
/// sets one. A file without a body is not a memory.
///
/// Removes secrets. If the screen finds anything, the memory needs review, regardless of its
/// requested status.
pub fn parse(stem: &str, text: &str) -> Result<Option<Memory>, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (entries, body) = frontmatter::split(text)?;
    let body = body.trim();
    if body.is_empty() {
        return Ok(None);
    }
    if body.len() > BODY_BYTES_MAX {
        return Err(format!(
            "the text has {} bytes, more than {BODY_BYTES_MAX}: a memory is short; split the file",
            body.len()
        ));
    }
    let mut memory = plain(stem, body);
    let mut others = Map::new();
    for entry in entries {
        set(&mut memory, &mut others, entry)?;
    }
    if !others.is_empty() {
        memory.structured = Some(Value::Object(others));
    }
    memory.redact();
    memory.content_hash = memory.hash();
    memory.review_reasons = screen::screen_memory(&memory);
    if !memory.review_reasons.is_empty() && matches!(memory.status, Status::Accepted | Status::Candidate) {
        memory.status = Status::NeedsReview;
    }
    Ok(Some(memory))
}

/// A memory with the defaults of an authored one.
fn plain(id: &str, text: &str) -> Memory {
    Memory {
        id: id.to_owned(),
        source: Source::Authored,
        method: String::new(),
        kind: Kind::Case,
        scope: Scope::User,
        status: Status::Accepted,
        text: text.to_owned(),
        when_to_use: String::new(),
        do_not_use_when: None,
        origin_repo: None,
        repository: Repository::default(),
        confidence: 0.8,
        priority: 3,
        risk: Risk::Medium,
        origin: Voice::User,
        subject: String::new(),
        stance: String::new(),
        keywords: Vec::new(),
        files: Vec::new(),
        spans: Vec::new(),
        evidence_refs: Vec::new(),
        origins: Vec::new(),
        structured: None,
        seen: 0,
        worked: 0,
        utility: Utility::default(),
        content_hash: String::new(),
        created_at: None,
        updated_at: None,
        expires_at: None,
        superseded_by: None,
        review_reasons: Vec::new(),
    }
}

/// Applies one key of the frontmatter.
fn set(memory: &mut Memory, others: &mut Map<String, Value>, entry: Entry) -> Result<(), String> {
    match entry.key.as_str() {
        "id" => memory.id = id(&entry)?,
        "kind" => memory.kind = one_of(&entry, Kind::ALL, Kind::as_str)?,
        "scope" => memory.scope = one_of(&entry, Scope::ALL, Scope::as_str)?,
        "risk" => memory.risk = one_of(&entry, Risk::ALL, Risk::as_str)?,
        "status" if entry.value == "deprecated" => memory.status = Status::Retired,
        "status" => memory.status = one_of(&entry, Status::ALL, Status::as_str)?,
        "confidence" => {
            let number = entry.value.as_f64().filter(|number| (0.0..=1.0).contains(number));
            memory.confidence = number.ok_or_else(|| entry.bad("a number from 0 to 1"))?;
        }
        "priority" => {
            let number = entry.value.as_u64().filter(|number| (1..=5).contains(number));
            let number = number.and_then(|number| u8::try_from(number).ok());
            memory.priority = number.ok_or_else(|| entry.bad("a whole number from 1 to 5"))?;
        }
        "when_to_use" | "when" => memory.when_to_use = words(&entry)?,
        "do_not_use_when" => memory.do_not_use_when = Some(words(&entry)?),
        "origin_repo" => memory.origin_repo = Some(words(&entry)?),
        "remote" => memory.repository.remote = Some(words(&entry)?),
        "subject" => memory.subject = words(&entry)?,
        "keywords" => memory.keywords = list(&entry)?,
        "files" => memory.files = list(&entry)?,
        "created_at" => memory.created_at = Some(time(&entry)?),
        "updated_at" => memory.updated_at = Some(time(&entry)?),
        "expires_at" => memory.expires_at = Some(time(&entry)?),
        _ => {
            others.insert(entry.key, entry.value);
        }
    }
    Ok(())
}

fn id(entry: &Entry) -> Result<String, String> {
    let id = words(entry)?;
    let is_bad = |c: char| c.is_control() || matches!(c, '[' | ']' | '|' | '#' | '/' | '\\');
    if id.is_empty() || id.contains(is_bad) {
        return Err(entry.bad("a name without brackets, bars, slashes and `#`"));
    }
    Ok(id)
}

fn one_of<T: Copy>(entry: &Entry, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|one| entry.value == name(*one));
    found.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|one| name(*one)).collect();
        entry.bad(&format!("one of {}", names.join(", ")))
    })
}

/// A text. Numbers and booleans count as written.
fn words(entry: &Entry) -> Result<String, String> {
    match &entry.value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(entry.value.to_string()),
        _ => Err(entry.bad("a text")),
    }
}

/// A list. A single text counts as a list of one.
fn list(entry: &Entry) -> Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    Ok(match &entry.value {
        Value::Array(values) => values.iter().map(text).collect(),
        Value::String(one) if one.is_empty() => Vec::new(),
        one => vec![text(one)],
    })
}

/// An instant, or a day, which begins at midnight UTC.
fn time(entry: &Entry) -> Result<Timestamp, String> {
    let text = words(entry)?;
    Timestamp::parse(&text)
        .or_else(|| Timestamp::parse(&format!("{text}T00:00:00Z")))
        .ok_or_else(|| entry.bad("a time such as 2026-01-31 or 2026-01-31T12:00:00Z"))
}

/// The ids that a text links to: `[[slug]]`, `[[slug|label]]`, `[[slug#part]]`. Each once, in the
/// order of the text.
pub fn links(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split("[[").skip(1) {
        let Some((link, _)) = part.split_once("]]") else { continue };
        let slug = link.split(['|', '#']).next().unwrap_or_default().trim();
        if !slug.is_empty() && !slug.contains(['\n', '[', ']']) && !found.iter().any(|known| known == slug) {
            found.push(slug.to_owned());
        }
    }
    found
}

#[cfg(test)]
mod tests;
