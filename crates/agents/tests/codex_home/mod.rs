//! Reads the threads of a home directory through the Codex adapter, the way the
//! engine does: packed logs are unpacked, and rows of a database are their own
//! content.
#![allow(dead_code)]

pub(crate) mod corpus;
pub(crate) mod story;

use retro_agents::script::Script;
use retro_agents::{Agent, Encoding, Found, Owner, Places, by_name};
use retro_model::SourceKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::home::Source;

/// Head that is looked at where a name does not tell.
const HEAD_BYTES: usize = 64 * 1024;

pub(crate) fn codex() -> &'static dyn Agent {
    by_name("codex").unwrap()
}

/// What a home holds.
#[derive(Default)]
pub(crate) struct Home {
    pub(crate) sessions: BTreeMap<String, Vec<Source>>,
    pub(crate) shared: Vec<String>,
    pub(crate) unreadable: Vec<(PathBuf, String)>,
}

/// The home below a folder.
pub(crate) fn read(home: &Path) -> Home {
    read_at(home, None)
}

/// The same with `CODEX_HOME` set.
pub(crate) fn read_at(home: &Path, codex_home: Option<String>) -> Home {
    let env = move |name: &str| codex_home.clone().filter(|_| name == "CODEX_HOME");
    let places = Places { home: home.to_owned(), env: &env, extra_roots: Vec::new() };
    let mut all = Home::default();
    for root in codex().roots(&places) {
        let mut files = Vec::new();
        codex().discover(&root, &mut |sight| files.push(sight.keep()));
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.into_iter().for_each(|found| all.take(found));
    }
    all
}

impl Home {
    fn take(&mut self, mut found: Found) {
        if let Some(reason) = found.unreadable {
            return self.unreadable.push((found.path, reason));
        }
        let bytes = bytes(&found);
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        let inside = found.owner == Owner::Inside;
        if (found.source.is_main() && bytes.len() <= HEAD_BYTES || inside)
            && let Some(kindred) = codex().identify(&found.path, head)
            && (inside || matches!(kindred.owner, Owner::Shared(_)))
        {
            (found.owner, found.source, found.format) = (kindred.owner, kindred.source, kindred.format);
        }
        match found.owner {
            Owner::Session(id) => {
                let sources = self.sessions.entry(id).or_default();
                let same = sources.iter().filter(|other| other.key == found.source);
                // Equal bytes are one file in two places.
                if same.clone().all(|other| other.bytes != bytes) {
                    let revision = 1 + same.count() as u32;
                    let Found { source: key, format, path, .. } = found;
                    sources.push(Source { key, revision, format, path, bytes });
                }
            }
            Owner::Shared(name) => self.shared.push(name),
            Owner::Inside => self.unreadable.push((found.path, "nobody's".to_owned())),
        }
    }
}

fn bytes(found: &Found) -> Vec<u8> {
    match (&found.content, found.encoding) {
        (Some(content), _) => content.to_vec(),
        (None, Encoding::Plain) => std::fs::read(&found.path).unwrap(),
        (None, Encoding::Zstd) => zstd::decode_all(std::fs::File::open(&found.path).unwrap()).unwrap(),
    }
}

/// The threads of a script, by id: its own and its sub-agents'.
pub(crate) fn written(script: &Script) -> BTreeMap<String, Vec<Source>> {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in codex().write(script) {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    read(folder.path()).sessions
}

pub(crate) const THREAD: &str = "00000000-0000-7000-8000-00000000000a";

/// Records as the program would write them: what a test leaves out is added. A
/// bare word stands for the envelope: `{"event": {…}}`, `{"item": {…}}`,
/// `{"done": {…}}` (an `item_completed`).
pub(crate) fn log(key: &str, records: Vec<Value>) -> Source {
    let source = SourceKey::new(key);
    let (_, format) = codex().source_form(&source);
    let mut bytes = Vec::new();
    for (n, record) in (1..).zip(records) {
        let enveloped = |kind: &str, payload: &Value| json!({ "type": kind, "payload": payload });
        let short = record.as_object().filter(|fields| !fields.contains_key("type"));
        let mut line = match short.and_then(|fields| fields.iter().next()) {
            Some((word, payload)) if word == "event" => enveloped("event_msg", payload),
            Some((word, payload)) if word == "item" => enveloped("response_item", payload),
            Some((word, item)) if word == "done" => enveloped(
                "event_msg",
                &json!({ "type": "item_completed", "thread_id": THREAD, "item": item }),
            ),
            _ => record.clone(),
        };
        let is_bare = line.get("payload").is_none();
        if let Some(fields) = line.as_object_mut().filter(|_| !is_bare) {
            fields
                .entry("timestamp")
                .or_insert_with(|| json!(format!("2026-03-01T10:{:02}:{:02}.000Z", n / 60, n % 60)));
            if let Some(beside) = record.get("metadata") {
                fields.insert("metadata".to_owned(), beside.clone());
            }
        }
        bytes.extend_from_slice(line.to_string().as_bytes());
        bytes.push(b'\n');
    }
    Source { key: source, revision: 1, format, path: key.into(), bytes }
}
