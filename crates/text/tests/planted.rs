//! Secrets that were planted in recorded sessions must not survive redaction.
//!
//! Needs the corpus: `RETRO_CORPUS` names the folder that `cargo xtask test`
//! unpacks. Without it the test says so and passes.

#![allow(clippy::expect_used)]

mod encoding;

use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn no_planted_secret_survives() {
    let Some(corpus) = std::env::var_os("RETRO_CORPUS") else {
        eprintln!("skipped: RETRO_CORPUS is not set");
        return;
    };
    let (mut searched, mut found) = (0, 0);
    for scenario in folders(&Path::new(&corpus).join("genuine")) {
        let scenario = scenario.join("15-secret");
        let Ok(truth) = std::fs::read(scenario.join("truth.json")) else { continue };
        let secrets = planted(&serde_json::from_slice(&truth).expect("truth.json is JSON"));
        assert!(!secrets.is_empty(), "{} plants nothing", scenario.display());
        for file in files(&scenario.join("home")) {
            let bytes = std::fs::read(&file).expect("a corpus file is readable");
            let text = String::from_utf8_lossy(&bytes);
            let clean = redacted(&text);
            for (name, secret) in &secrets {
                for form in forms(secret) {
                    assert!(!clean.contains(&form), "{name} survives in {}", file.display());
                }
                found += usize::from(text.contains(secret.as_str()));
            }
            searched += 1;
        }
    }
    println!("{searched} files searched, {found} places where a secret was");
    assert!(found > 0, "no planted secret in any session below {}", corpus.display());
}

/// Lines of JSON value by value, as events hold them; other lines as they are.
/// What is no text at all, as in a database, is read as if it were.
fn redacted(text: &str) -> String {
    let lines: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    match lines {
        Ok(lines) => lines.into_iter().map(|json| retro_text::redact_json(json).to_string()).collect(),
        Err(_) => retro_text::redact(text).into_inner(),
    }
}

/// How a secret could still stand there: plain, escaped once or twice, in
/// base64 wherever it began in its group of three bytes.
fn forms(secret: &str) -> Vec<String> {
    let escaped =
        |text: &str| serde_json::to_string(text).expect("text is JSON").trim_matches('"').to_owned();
    let once = escaped(secret);
    let mut forms = vec![secret.to_owned(), secret.replace('/', "\\/"), escaped(&once), once];
    for shift in 0..3 {
        // Of a part of a text, the first and the last group depend on its neighbours.
        let code = encoding::base64(secret.as_bytes().get(shift..).expect("a secret is longer"));
        let whole = code.trim_end_matches('=').len() / 4 * 4;
        forms.push(code[..whole].to_owned());
    }
    forms
}

/// Name and text of each secret; of a key block, each line of its body.
fn planted(truth: &Value) -> Vec<(String, String)> {
    let table = ["secrets_base64", "secrets_b64"].iter().find_map(|name| truth.get(name)?.as_object());
    let mut secrets = Vec::new();
    for (name, value) in table.into_iter().flatten() {
        let text = String::from_utf8(encoding::unbase64(value.as_str().expect("a secret is text")))
            .expect("and UTF-8");
        let lines = text.lines().filter(|line| !line.starts_with("-----"));
        secrets.extend(lines.map(|line| (name.clone(), line.to_owned())));
    }
    secrets
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
