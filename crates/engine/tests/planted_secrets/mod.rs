//! Secrets that were put where a session could hold them: what they are, the
//! sessions that hold them, and the forms in which one could still be seen.
//!
//! Our own are made when the test runs, so that no scanner takes these lines for
//! a leak. Knows no crate of ours: two of them plant with it.
#![allow(dead_code)]

use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A secret and where it was put.
#[derive(Debug, Clone)]
pub struct Planted {
    pub place: String,
    pub secret: String,
}

/// A session in our notation with a secret in every place it can name, and the
/// records that only the agent's own notation can say.
pub struct Plot {
    pub script: String,
    /// Lines for the end of each log.
    pub records: Vec<Value>,
    pub planted: Vec<Planted>,
}

/// The session that the plot is told in.
pub const SESSION: &str = "33333333-3333-4333-8333-333333333333";

impl Plot {
    pub fn for_agent(agent: &str) -> Plot {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let mut planted = Vec::new();
        let mut put = |place: &str| {
            let secret = dice.token(planted.len());
            planted.push(Planted { place: place.to_owned(), secret: secret.clone() });
            secret
        };
        let mut script = format!(
            "@ session {SESSION}\n@ cwd /home/dev/{}\n@ branch fix-{}\n> Use {} to log in\n  or not\n",
            put("cwd"),
            put("branch"),
            put("prompt"),
        );
        script += &format!("? Perhaps {} works.\n", put("thought"));
        script += &format!("$ SHOP_TOKEN={} cargo test --all\n", put("environment of a command"));
        script += &format!("| using {}\n| 1 failed\n! 101\n", put("output of a command"));
        script += &format!("~ src/{}.rs\n", put("path of an edit"));
        script += &format!("- let key = \"{}\";\n", put("line removed"));
        script += &format!("+ let key = \"{}\";\n", put("line added"));
        script += &format!(": .env\n| KEY={}\n", put("file that was read"));
        script += &format!(
            "& Look for {}\n. $ grep -r {}\n. | two\n. < It is {}.\n",
            put("task"),
            put("command of a sub-agent"),
            put("answer of a sub-agent")
        );
        script += &format!("< Done with {}.\n@ title Use {}\n", put("answer"), put("title"));
        script += &format!("= So far {} was used.\n> Go on\n< Done.\n", put("compaction"));
        let records = records(
            agent,
            [
                put("unknown record"),
                put("key of an unknown record"),
                put("argument of an MCP tool"),
                put("error"),
            ],
        );
        let mut named = |place: &str| {
            let secret = dice.password();
            planted.push(Planted { place: place.to_owned(), secret: secret.clone() });
            secret
        };
        let (password, variable) = (named("password in arguments"), named("variable in arguments"));
        let (word, api_key) = (named("word of a command in arguments"), named("key beside its name"));
        let arguments = json!({ "password": password, "env": { "DB_PASSWORD": variable },
            "argv": ["deploy", "--token", word], "user": "admin" });
        let mut records = records;
        records.extend(calls(agent, arguments));
        records.push(
            json!({ "type": "brand-newer", "timestamp": "2026-03-01T11:00:00.000Z", "sessionId": SESSION,
            "settings": { "api_key": api_key } }),
        );
        let key = dice.key_block();
        script += ": id_rsa\n";
        for line in &key {
            script += &format!("| {line}\n");
            if !line.starts_with('-') {
                planted.push(Planted { place: "key block".to_owned(), secret: line.clone() });
            }
        }
        script += "< That is a key.\n";
        Plot { script, records, planted }
    }
}

/// A call of an MCP tool with these arguments.
fn calls(agent: &str, arguments: Value) -> Option<Value> {
    let time = "2026-03-01T11:00:00.000Z";
    match agent {
        "claude" => Some(
            json!({ "type": "assistant", "uuid": "x3", "parentUuid": null, "sessionId": SESSION, "timestamp": time,
            "message": { "id": "msg-x3", "role": "assistant", "model": "model-a", "content": [
                { "type": "tool_use", "id": "cy", "name": "mcp__shop__connect", "input": arguments }] } }),
        ),
        "codex" => Some(
            json!({ "type": "response_item", "timestamp": time, "payload": { "type": "function_call", "name": "connect",
            "namespace": "mcp__shop", "arguments": arguments.to_string(), "call_id": "cy" } }),
        ),
        "grok" => Some(
            json!({ "timestamp": 1_772_362_800, "method": "session/update", "params": { "sessionId": SESSION,
            "update": { "sessionUpdate": "tool_call", "toolCallId": "cy", "title": "shop__connect", "rawInput": arguments },
            "_meta": { "eventId": format!("{SESSION}-903"), "agentTimestampMs": 1_772_362_800_000u64 } } }),
        ),
        _ => Some(json!({ "type": "brand-new", "call": { "arguments": arguments } })),
    }
}

/// What our notation has no word for.
fn records(agent: &str, [unknown, key, argument, error]: [String; 4]) -> Vec<Value> {
    let time = "2026-03-01T11:00:00.000Z";
    let strange =
        json!({ "type": "brand-new", "timestamp": time, "sessionId": SESSION, "note": unknown, key: [1] });
    let mut records = vec![strange];
    match agent {
        "claude" => records.extend([
            json!({ "type": "assistant", "uuid": "x1", "parentUuid": null, "sessionId": SESSION, "timestamp": time,
                "message": { "id": "msg-x1", "role": "assistant", "model": "model-a", "content": [
                    { "type": "tool_use", "id": "cx", "name": "mcp__shop__find", "input": { "with": argument } }] } }),
            json!({ "type": "assistant", "uuid": "x2", "parentUuid": "x1", "sessionId": SESSION, "timestamp": time,
                "isApiErrorMessage": true, "message": { "id": "msg-x2", "role": "assistant", "model": "<synthetic>",
                    "content": [{ "type": "text", "text": format!("API Error: {error}") }] } }),
        ]),
        "codex" => records.extend([
            json!({ "type": "response_item", "timestamp": time, "payload": { "type": "function_call", "name": "find",
                "namespace": "mcp__shop", "arguments": json!({ "with": argument }).to_string(), "call_id": "cx" } }),
            json!({ "type": "event_msg", "timestamp": time, "payload": { "type": "error", "message": error } }),
        ]),
        "grok" => {
            let update = |n: u32, update: Value| {
                json!({ "timestamp": 1_772_362_800, "method": "session/update", "params": { "sessionId": SESSION,
                    "update": update, "_meta": { "eventId": format!("{SESSION}-{n}"), "agentTimestampMs": 1_772_362_800_000u64 } } })
            };
            records.extend([
                update(901, json!({ "sessionUpdate": "tool_call", "toolCallId": "cx", "title": "shop__find", "rawInput": { "with": argument } })),
                update(902, json!({ "sessionUpdate": "auto_compact_failed", "error": error })),
            ]);
        }
        _ => records.push(json!({ "type": "brand-new", "call": { "arguments": argument }, "error": error })),
    }
    records
}

/// Characters without a pattern, the same in every run.
struct Dice(u64);

impl Dice {
    fn next(&mut self, letters: &[u8]) -> char {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[(self.0 >> 33) as usize % letters.len()])
    }

    fn some(&mut self, count: usize, letters: &[u8]) -> String {
        (0..count).map(|_| self.next(letters)).collect()
    }

    /// A token of one of several services.
    fn token(&mut self, number: usize) -> String {
        const ALNUM: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ123456789";
        const UPNUM: &[u8] = b"ABCDEFGHJKLMNPQRSTUVWXYZ234567";
        match number % 4 {
            0 => format!("gh{}_{}", "p", self.some(36, ALNUM)),
            1 => format!("AK{}{}", "IA", self.some(16, UPNUM)),
            2 => format!("gl{}-{}", "pat", self.some(20, ALNUM)),
            _ => format!("sk-{}-api03-{}AA", "ant", self.some(93, ALNUM)),
        }
    }

    /// A password that only the name beside it tells of.
    fn password(&mut self) -> String {
        self.some(16, b"abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789!#%^*-_+?")
    }

    /// A private key, line by line.
    fn key_block(&mut self) -> Vec<String> {
        const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let edge = |word: &str| format!("{0}{word} RSA {1} KEY{0}", "-".repeat(5), "PRIVATE");
        let mut lines = vec![edge("BEGIN")];
        lines.extend((0..8).map(|_| self.some(64, BASE64)));
        lines.push(edge("END"));
        lines
    }
}

/// How a secret could still stand somewhere: plain, escaped once or twice, with
/// percent signs, in base64 wherever it began in its group of three bytes.
pub fn forms(secret: &str) -> Vec<String> {
    let escaped = |text: &str| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let once = escaped(secret);
    let percent = secret.replace('/', "%2F").replace('+', "%2B");
    let mut forms = vec![secret.to_owned(), secret.replace('/', "\\/"), escaped(&once), once, percent];
    for shift in 0..3 {
        // Of a part of a text, the first and the last group depend on its neighbours.
        let code = base64(&secret.as_bytes()[shift..]);
        let whole = code.trim_end_matches('=').len() / 4 * 4;
        forms.push(code[..whole].to_owned());
    }
    forms.sort();
    forms.dedup();
    forms
}

/// The places whose secret stands in these bytes.
pub fn seen(planted: &[Planted], bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let is_seen = |planted: &&Planted| forms(&planted.secret).iter().any(|form| text.contains(form.as_str()));
    planted.iter().filter(is_seen).map(|planted| planted.place.clone()).collect()
}

/// The recorded sessions with planted secrets, by agent: name, home, secrets.
/// Nothing, and a word about it, without `RETRO_CORPUS`.
pub fn recorded() -> Vec<(String, PathBuf, Vec<Planted>)> {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS") else {
        println!("skipped: RETRO_CORPUS is not set");
        return Vec::new();
    };
    let mut all = Vec::new();
    for agent in folders(&Path::new(&corpus).join("genuine")) {
        for scenario in folders(&agent).iter().filter(|path| name(path).starts_with("15-secret")) {
            let truth: Value =
                serde_json::from_slice(&std::fs::read(scenario.join("truth.json")).unwrap()).unwrap();
            all.push((format!("{}/{}", name(&agent), name(scenario)), scenario.join("home"), told(&truth)));
        }
    }
    assert!(!all.is_empty(), "no planted secrets below {}", corpus.display());
    all
}

/// Of a key block, each line of its body is a secret.
fn told(truth: &Value) -> Vec<Planted> {
    let table = ["secrets_base64", "secrets_b64"].iter().find_map(|name| truth.get(name)?.as_object());
    let mut all = Vec::new();
    for (place, code) in table.unwrap() {
        let text = String::from_utf8(unbase64(code.as_str().unwrap())).unwrap();
        let lines = text.lines().filter(|line| !line.starts_with("-----") && !line.is_empty());
        all.extend(lines.map(|line| Planted { place: place.clone(), secret: line.to_owned() }));
    }
    assert!(!all.is_empty(), "nothing is planted");
    all
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |sum, at| sum << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let six = (number >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[six]) } else { '=' });
        }
    }
    text
}

fn unbase64(text: &str) -> Vec<u8> {
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace()) {
        let six = ALPHABET.iter().position(|letter| *letter == byte).unwrap();
        bits = (bits << 6 | six as u32) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}
