//! The files of one session while a script is written: the three logs with their envelopes, and the
//! files beside them.

use retro_model::Timestamp;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// State that all sessions of a script share: the story's clock, and the line numbers of the
/// process.
pub(super) struct Desk {
    pub clock_ms: i64,
    number: u64,
    made: u64,
    seed: u64,
}

impl Desk {
    pub(super) fn new(session: &str, clock_ms: i64) -> Desk {
        Desk { clock_ms, number: 1, made: 0, seed: xxhash_rust::xxh3::xxh3_64(session.as_bytes()) }
    }

    /// A unique word of 16 letters.
    pub(super) fn word(&mut self) -> String {
        self.made += 1;
        let mut bytes = self.seed.to_le_bytes().to_vec();
        bytes.extend(self.made.to_le_bytes());
        format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes))
    }

    /// An id as the program makes them.
    pub(super) fn uuid(&mut self) -> String {
        let (a, b) = (self.word(), self.word());
        let part = |text: &str, from: usize, to: usize| text.get(from..to).unwrap_or_default().to_owned();
        format!(
            "{}-{}-7{}-8{}-{}",
            part(&a, 0, 8),
            part(&a, 8, 12),
            part(&a, 12, 15),
            part(&b, 0, 3),
            part(&b, 3, 15)
        )
    }

    fn number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }

    /// Advances the clock, so that each line is a little later than the one before, and returns it.
    fn tick(&mut self) -> i64 {
        self.clock_ms = self.clock_ms.saturating_add(1);
        self.clock_ms
    }
}

/// The tokens of a turn so far.
#[derive(Default, Clone, Copy)]
pub(super) struct Tokens {
    pub input: u64,
    pub cache_read: u64,
    pub output: u64,
    pub reasoning: u64,
    pub calls: u64,
}

impl Tokens {
    pub(super) fn add(&mut self, other: Tokens) {
        self.input += other.input;
        self.cache_read += other.cache_read;
        self.output += other.output;
        self.reasoning += other.reasoning;
        self.calls += other.calls;
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "inputTokens": self.input + self.cache_read, "outputTokens": self.output,
            "totalTokens": self.input + self.cache_read + self.output, "cachedReadTokens": self.cache_read,
            "cacheCreationTokens": 0, "reasoningTokens": self.reasoning, "modelCalls": self.calls,
        })
    }
}

/// The files of one session.
pub(super) struct Pages {
    pub session: String,
    pub updates: String,
    pub chat: Vec<Value>,
    pub events: String,
    /// Files beside the logs: path below the session's folder, and bytes.
    pub beside: Vec<(PathBuf, Vec<u8>)>,
    /// The turn's id, once a line has it.
    pub turn: String,
}

impl Pages {
    pub(super) fn new(session: &str) -> Pages {
        Pages {
            session: session.to_owned(),
            updates: String::new(),
            chat: vec![
                json!({ "type": "system", "content": "You are an agent that works on code." }),
                json!({ "type": "user", "content": [{ "type": "text", "text": "<user_info>\nOS Version: linux\n</user_info>" }] }),
            ],
            events: String::new(),
            beside: Vec::new(),
            turn: String::new(),
        }
    }

    /// Writes an update of the protocol. Updates of an answer also have its start time.
    pub(super) fn update(&mut self, desk: &mut Desk, update: Value, stream: Option<i64>) {
        let mut meta = Map::new();
        if let Some(stream) = stream {
            meta.insert("promptId".to_owned(), Value::from(self.turn.as_str()));
            meta.insert("streamStartMs".to_owned(), Value::from(stream));
        }
        self.line(desk, "session/update", update, meta);
    }

    /// Writes an update that is specific to Grok.
    pub(super) fn own_update(&mut self, desk: &mut Desk, update: Value) {
        self.line(desk, "_x.ai/session/update", update, Map::new());
    }

    fn line(&mut self, desk: &mut Desk, method: &str, update: Value, mut meta: Map<String, Value>) {
        let now = desk.tick();
        meta.insert("eventId".to_owned(), Value::from(format!("{}-{}", self.session, desk.number())));
        meta.insert("agentTimestampMs".to_owned(), Value::from(now));
        let line = json!({
            "timestamp": now.div_euclid(1000), "method": method,
            "params": { "sessionId": self.session, "update": update, "_meta": meta },
        });
        self.updates.push_str(&line.to_string());
        self.updates.push('\n');
    }

    /// Writes a record of the event log, with the time of the line before it.
    pub(super) fn event(&mut self, desk: &Desk, kind: &str, fields: Value) {
        let mut record = Map::new();
        record.insert("ts".to_owned(), Value::from(time(desk.clock_ms)));
        record.insert("type".to_owned(), Value::from(kind));
        if let Value::Object(fields) = fields {
            record.extend(fields);
        }
        self.events.push_str(&Value::Object(record).to_string());
        self.events.push('\n');
    }

    /// All files, relative to the session's folder.
    pub(super) fn into_files(self, summary: &Value, usage: Option<&Value>) -> Vec<(PathBuf, Vec<u8>)> {
        let chat: String = self.chat.iter().map(|item| format!("{item}\n")).collect();
        let mut files = vec![
            (PathBuf::from("updates.jsonl"), self.updates.into_bytes()),
            (PathBuf::from("chat_history.jsonl"), chat.into_bytes()),
            (PathBuf::from("events.jsonl"), self.events.into_bytes()),
            (PathBuf::from("summary.json"), format!("{summary:#}").into_bytes()),
        ];
        if let Some(usage) = usage {
            files.push((PathBuf::from("usage.json"), format!("{usage:#}").into_bytes()));
        }
        files.extend(self.beside);
        files
    }
}

/// A time in the form that documents use.
pub(super) fn time(millis: i64) -> Option<String> {
    Timestamp::from_millis(millis).map(|time| time.to_string())
}
