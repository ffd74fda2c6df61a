//! Reads the threads of a home directory through the Codex adapter, the way the
//! engine does: packed logs are unpacked, and rows of a database are their own
//! content.
#![allow(dead_code)]

pub(crate) mod corpus;
pub(crate) mod story;

use retro_agents::script::Script;
use retro_agents::{
    Agent, Database, DatabaseSeen, Encoding, Found, Owner, Places, RowsSeen, Sight, Sightings, by_name,
};
use retro_model::SourceKey;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::home::{Source, owned};

pub(crate) fn codex() -> &'static dyn Agent {
    by_name("codex").unwrap()
}

/// What a home holds.
#[derive(Default)]
pub(crate) struct Home {
    pub(crate) sessions: BTreeMap<String, Vec<Source>>,
    pub(crate) shared: Vec<String>,
    pub(crate) unreadable: Vec<(PathBuf, String)>,
    rows: Vec<(String, Source)>,
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
        let mut seen = Sightings::default();
        codex().discover(&root, &mut seen);
        let mut listed = Sightings::default();
        for DatabaseSeen { path, .. } in seen.databases() {
            let database = Database::new(codex(), path, None);
            if let Err(error) = codex().list(&database, &mut listed) {
                all.unreadable.push((path.clone(), error.to_string()));
            }
            for RowsSeen { session, source: key, format, .. } in listed.all_rows() {
                let bytes = database.rows(session, key).unwrap();
                let source =
                    Source { key: key.clone(), revision: 1, format: *format, path: path.clone(), bytes };
                all.rows.push((session.clone(), source));
            }
        }
        let mut files: Vec<Sight<'_>> = seen.files().chain(listed.files()).collect();
        files.sort_by_key(|file| file.path);
        files.into_iter().for_each(|file| all.take(file));
        all.unreadable.extend_from_slice(seen.all_unreadable());
        all.unreadable.extend_from_slice(seen.all_no_logs());
    }
    // Rows of a thread without a log make no session.
    for (session, source) in std::mem::take(&mut all.rows) {
        if let Some(sources) = all.sessions.get_mut(&session) {
            sources.push(source);
        }
    }
    all
}

impl Home {
    fn take(&mut self, file: Sight<'_>) {
        let bytes = bytes(&file);
        let Some(found) = owned(codex(), file, &bytes) else {
            return self.unreadable.push((file.path.to_owned(), "nobody's".to_owned()));
        };
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
        }
    }
}

fn bytes(file: &Sight<'_>) -> Vec<u8> {
    match file.encoding {
        Encoding::Plain => std::fs::read(file.path).unwrap(),
        Encoding::Zstd => zstd::decode_all(std::fs::File::open(file.path).unwrap()).unwrap(),
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
