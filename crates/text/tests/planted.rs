//! Secrets that were planted in recorded sessions must not survive redaction.
//!
//! Needs the corpus: `RETRO_CORPUS` names the folder that `cargo xtask test`
//! unpacks. Without it the test says so and passes.

#![allow(clippy::expect_used)]

use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn no_planted_secret_survives() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS") else {
        eprintln!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let mut searched = 0;
    for scenario in folders(&Path::new(&corpus).join("genuine")) {
        let scenario = scenario.join("15-secret");
        let Ok(truth) = std::fs::read(scenario.join("truth.json")) else { continue };
        let secrets = planted(&serde_json::from_slice(&truth).expect("truth.json is JSON"));
        assert!(!secrets.is_empty(), "{} plants nothing", scenario.display());
        for file in files(&scenario.join("home")) {
            let bytes = std::fs::read(&file).expect("a corpus file is readable");
            let Ok(text) = String::from_utf8(bytes) else { continue };
            let clean = redacted(&text);
            for (name, secret) in &secrets {
                assert!(!clean.contains(secret.as_str()), "{name} survives in {}", file.display());
            }
            searched += 1;
        }
    }
    assert!(searched > 0, "no recorded session with planted secrets below {}", corpus.display());
}

/// Lines of JSON value by value, as events hold them; anything else as one text.
fn redacted(text: &str) -> String {
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    match lines {
        Ok(lines) => lines.into_iter().map(|json| retro_text::redact_json(json).to_string()).collect(),
        Err(_) => retro_text::redact(text).into_inner(),
    }
}

/// Name and text of each secret; of a key block, one line of its body.
fn planted(truth: &Value) -> Vec<(String, String)> {
    let table = ["secrets_base64", "secrets_b64"].iter().find_map(|name| truth.get(name)?.as_object());
    let mut secrets = Vec::new();
    for (name, value) in table.into_iter().flatten() {
        let text = String::from_utf8(decode(value.as_str().expect("a secret is text"))).expect("and UTF-8");
        match text.lines().nth(1) {
            Some(body) => secrets.push((name.clone(), body.to_owned())),
            None => secrets.push((name.clone(), text)),
        }
    }
    secrets
}

fn decode(base64: &str) -> Vec<u8> {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for byte in base64.bytes().filter(|byte| *byte != b'=') {
        let six = alphabet.iter().position(|letter| *letter == byte).expect("base64");
        bits = (bits << 6 | six as u32) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}

fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).expect("the corpus holds genuine sessions");
    entries.map(|entry| entry.expect("a readable entry").path()).filter(|path| path.is_dir()).collect()
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(path).into_iter().flatten() {
        let path = entry.expect("a readable entry").path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}
