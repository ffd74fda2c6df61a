//! Forgetting a text: afterwards no file of the store holds it, in whatever form it was written,
//! and what the agents' logs still say of it is covered when it is read.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod support;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use retro::engine::forget::{Forgotten, finish, forget_text, undo_text};
use retro::engine::news::Patience;
use retro::engine::rebuild::rebuild;
use retro::engine::secrets::{scan, value_of};
use retro::engine::{SyncOptions, World, sync};
use retro::memory::Decision;
use retro::model::SessionKey;
use retro::store::Disk;
use retro::views;
use retro_store::testing::{FailingDisk, Fails};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use support::{Machine, Snapshot, problems, scene};

/// Texts of different kinds, and words of each by which it is looked for afterwards.
const TEXTS: [&str; 20] = [
    "Quokka Marsupial",
    "zwölf Boxkämpfer jagen Viktor",
    "日本語の秘密の言葉",
    "line one of it\nline two of it",
    "a \"quoted\" secret phrase",
    "C:\\Users\\quentin\\keys",
    "/home/quentin/private/notes.txt",
    "quentin.tarantula@example.org",
    "+49 171 5550173",
    "4929 1234 5678 9017",
    "https://intern.example.org/x?y=1&z=2",
    "tab\tseparated\twords",
    "hunter2-horse-battery",
    "DROP TABLE customers_2024;",
    "<b>Frau Doktor Zirkonia</b>",
    "5550123987",
    "Ω≈ç√∫˜µ≤≥÷",
    "emoji 🦘🦘 text",
    "curl -H 'X-Key: abc' intern",
    "Möbelhaus Zanzibar GmbH & Co. KG",
];

fn key() -> SessionKey {
    SessionKey::new("claude", "55555555-5555-4555-8555-555555555555")
}

/// A session in which a text is a prompt, an answer, an argument of a call, JSON inside JSON, part
/// of an address and of something encoded, and what a program printed.
fn story(text: &str) -> String {
    let place = |at: usize| {
        json!({"sessionId": key().id, "cwd": "/home/dev/zoo", "version": "2.0.1", "gitBranch": "main",
            "uuid": format!("00000000-0000-4000-8000-{at:012}"), "isSidechain": false, "userType": "external",
            "parentUuid": (at > 1).then(|| format!("00000000-0000-4000-8000-{:012}", at - 1)),
            "timestamp": format!("2026-01-02T10:00:{at:02}.000Z")})
    };
    let record = |at: usize, kind: &str, message: Value| {
        let mut record = place(at);
        record["type"] = json!(kind);
        record["message"] = message;
        format!("{record}\n")
    };
    let answer = |at: usize, content: Value| {
        record(
            at,
            "assistant",
            json!({"role": "assistant", "id": format!("msg_{at}"), "type": "message",
            "model": "claude-opus-5", "content": content, "stop_reason": "end_turn",
            "usage": {"input_tokens": 10, "output_tokens": 5}}),
        )
    };
    let url: String = text
        .bytes()
        .map(|byte| match byte.is_ascii_alphanumeric() {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        })
        .collect();
    let inner = json!({"note": text, "deep": json!({"more": text}).to_string()}).to_string();
    let encoded = format!(
        "{} {} {}",
        STANDARD.encode(text),
        STANDARD.encode(format!("x{text}")),
        URL_SAFE_NO_PAD.encode(format!("yz{text}?"))
    );
    [
        record(1, "user", json!({"role": "user", "content": format!("Always keep {text} in the plan")})),
        answer(2, json!([{"type": "text", "text": format!("I will use {text} as asked.")}])),
        answer(
            3,
            json!([{"type": "tool_use", "id": "t1", "name": "Bash",
            "input": {"command": format!("echo {text} && curl https://x.example/?q={url}"), "body": inner}}]),
        ),
        record(
            4,
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1",
            "content": format!("error: {text} failed\n{encoded}\n{text}"), "is_error": true}]}),
        ),
        answer(5, json!([{"type": "text", "text": format!("Done with {text}.")}])),
    ]
    .concat()
}

const LOG: &str = ".claude/projects/-home-dev-zoo/55555555-5555-4555-8555-555555555555.jsonl";

/// A machine on which everything was done with the session.
fn machine(text: &str) -> Machine {
    let machine = scene::empty();
    machine.write(Path::new(LOG), story(text).as_bytes());
    let output = format!(".claude/projects/-home-dev-zoo/{}/tool-results/b1.txt", key().id);
    machine.write(Path::new(&output), format!("printed: {text}\nand more\n").as_bytes());
    let line = json!({"display": text, "sessionId": key().id, "timestamp": 1_767_348_000_000_u64});
    let history = Path::new(".claude/history.jsonl");
    let known = std::fs::read(machine.home().join(history)).unwrap_or_default();
    machine.write(history, &[known, format!("{line}\n").into_bytes()].concat());
    machine.sync();
    let store = machine.store();
    for key in store.session_keys().unwrap() {
        let shown = views::show(&machine.config, &store, &key).unwrap();
        store.put_rendered(&key, &views::markdown(&shown.view, &shown.transcript())).unwrap();
    }
    let decision = Decision {
        memory_id: "nightly".to_owned(),
        event: "memory_edited".to_owned(),
        text: Some(format!("It needs {text}.")),
        created_at: Some(machine.world.now()),
        ..Decision::default()
    };
    retro::engine::memory::decide(&machine.world, &machine.config, &store, &[decision]).unwrap();
    machine
}

/// What no file may hold: the text as it is, escaped, and encoded. None of this comes from the
/// program.
fn needles(text: &str) -> Vec<Vec<u8>> {
    let json = json!(text).to_string();
    let json = &json[1..json.len() - 1];
    let mut needles = vec![text.as_bytes().to_vec(), json.as_bytes().to_vec()];
    needles.push(STANDARD.encode(text).as_bytes()[..text.len() / 3 * 4].to_vec());
    needles
}

fn holds(bytes: &[u8], needles: &[Vec<u8>]) -> bool {
    needles.iter().any(|needle| bytes.windows(needle.len()).any(|part| part == needle))
}

/// The files below the root that hold one, decompressed and decoded as far as we can.
fn with_text(machine: &Machine, text: &str) -> Vec<String> {
    let needles = needles(text);
    let root = &machine.config.root.value;
    let mut found = Vec::new();
    for (path, bytes) in Snapshot::of(root).files() {
        let mut unpacked = Vec::new();
        if path.extension().is_some_and(|ending| ending == "zst") {
            let _ = zstd::stream::read::Decoder::new(&bytes[..]).unwrap().read_to_end(&mut unpacked);
        }
        if holds(bytes, &needles) || holds(&unpacked, &needles) {
            found.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
    let index = machine.store().index().unwrap();
    index
        .each_passage(|row| {
            let pieces = row.passage.pieces.iter().filter(|piece| holds(piece.text.as_bytes(), &needles));
            found.extend(pieces.map(|piece| format!("passage: {}", piece.text)));
        })
        .unwrap();
    for name in ["mined", "findings", "past", "signs"] {
        let bodies = index.bodies(name).unwrap();
        let bodies = bodies.into_iter().filter(|body| holds(body.text.as_bytes(), &needles));
        found.extend(bodies.map(|body| format!("body {name}: {}", body.text)));
    }
    found
}

fn cut(machine: &Machine, world: &World, text: &str) -> Result<Forgotten, retro::Error> {
    Ok(forget_text(world, &machine.config, text, false, &|_| {})?)
}

fn assert_gone(machine: &Machine, text: &str, when: &str) {
    assert_eq!(with_text(machine, text), Vec::<String>::new(), "{text:?} {when}");
}

/// How many texts are tried: all in a trial.
fn texts() -> impl Iterator<Item = &'static str> {
    let step = if support::is_trial() || std::env::var_os("RETRO_TEXTS").is_some() { 1 } else { 5 };
    TEXTS.into_iter().step_by(step)
}

#[test]
fn no_file_holds_it_afterwards_and_it_does_not_come_back() {
    for text in texts() {
        let machine = machine(text);
        let before = machine.store().raw_slots(&key()).unwrap();
        assert!(with_text(&machine, text).len() > 3, "{text}: {:?}", with_text(&machine, text));
        let preview = forget_text(&machine.world, &machine.config, text, true, &|_| {}).unwrap();
        assert!(preview.dry_run && preview.masked > 0 && !with_text(&machine, text).is_empty());
        let done = cut(&machine, &machine.world, text).unwrap();
        assert_eq!((done.places.after, &done.texts), (0, &preview.texts), "{:?}", done.places.left);
        assert!(done.places.before.unwrap() > 0 && done.masked > 3, "{done:?}");
        assert!(done.unreachable.iter().any(|path| path.contains("5555.jsonl")), "{:?}", done.unreachable);
        assert_gone(&machine, text, "at once");
        let report = machine.sync();
        assert_eq!(
            (report.ingested, report.appended, report.recaptured, report.failed),
            (0, 0, 0, 0),
            "{text}"
        );
        assert_gone(&machine, text, "after a sync");
        assert_eq!(machine.store().raw_slots(&key()).unwrap(), before, "no revision is new");
        rebuild(&machine.world, &machine.config, None, &|_| {}).unwrap();
        assert_gone(&machine, text, "after a rebuild");
        std::fs::remove_dir_all(machine.config.root.value.join("index")).unwrap();
        let options = SyncOptions { from: Some(machine.home()), ..SyncOptions::default() };
        sync(&machine.world, &machine.config, &options, &|_| {}).unwrap();
        machine.sync();
        assert_gone(&machine, text, "with a new index, from another folder");
        assert_eq!(machine.store().raw_slots(&key()).unwrap(), before, "no revision is new");
        assert_eq!(problems(&machine), Vec::<String>::new());
        let shown = views::show(&machine.config, &machine.store(), &key()).unwrap();
        assert_eq!(shown.view.gaps.len(), 0, "every record is still read");
    }
}

#[test]
fn what_is_captured_later_is_covered_too() {
    let text = TEXTS[4];
    let machine = machine(text);
    cut(&machine, &machine.world, text).unwrap();
    let log = machine.home().join(LOG);
    let mut bytes = std::fs::read(&log).unwrap();
    let more = story(text).replace("00000000-0000", "00000000-0001").replace("10:00:", "11:00:");
    bytes.extend_from_slice(more.as_bytes());
    std::fs::write(&log, &bytes).unwrap();
    let asked = views::open_search(&machine.world, &machine.config, Patience::All, &|_| {}).unwrap();
    let found = asked.search(&machine.world, &machine.config, &views::SearchQuestion::new("plan")).unwrap();
    let shown = serde_json::to_string(&found.hits).unwrap();
    assert!(!shown.contains("quoted"), "a question reads the log through the mask: {shown}");
    let report = machine.sync();
    assert_eq!(report.appended, 1, "it goes on where it was");
    assert_gone(&machine, text, "after more of it");
    // Another session, and one that is captured while the text is half written.
    let other = story(text).replace("55555555", "66666666");
    let path = machine.home().join(LOG.replace("55555555", "66666666"));
    let half = other.find("I will use").unwrap() + "I will use a \\\"quo".len();
    assert!(other[..half].ends_with("a \\\"quo"));
    std::fs::write(&path, &other[..half]).unwrap();
    machine.sync();
    std::fs::write(&path, &other).unwrap();
    machine.sync();
    assert_gone(&machine, text, "after it was captured in halves");
    let raw = with_text(&machine, "a \\\"quo");
    assert_eq!(raw, Vec::<String>::new(), "nor is its beginning there");
    assert_eq!(problems(&machine), Vec::<String>::new());
}

#[test]
fn a_secret_has_one_id_and_is_cut_out_by_it() {
    let secret = format!("ghp{}{}", "_", "1x9Kq7ZtV3bW8mN2pR5sY6uD4fG0hJcLaEoT");
    let machine = machine(&secret);
    let store = machine.store();
    let found = scan(&store, &key()).unwrap();
    let ids: std::collections::BTreeSet<&String> = found.iter().map(|one| &one.id).collect();
    let id =
        found.iter().find(|one| value_of(&store, &one.id).unwrap().as_deref() == Some(&*secret)).unwrap();
    assert!(found.len() > ids.len(), "the same value has the same id: {found:?}");
    assert!(!id.id.contains("ghp"));
    let value = value_of(&store, &id.id).unwrap().unwrap();
    cut(&machine, &machine.world, &value).unwrap();
    assert_gone(&machine, &secret, "at once");
    assert_eq!(value_of(&store, &id.id).unwrap(), None);
}

#[test]
fn what_would_be_found_everywhere_is_refused_and_an_undone_text_comes_back() {
    let text = TEXTS[12];
    let machine = machine(text);
    for bad in ["short", "function", "aaaaaaaaaa"] {
        let refused = cut(&machine, &machine.world, bad).unwrap_err().to_string();
        assert!(refused.contains("hint:"), "{refused}");
    }
    let done = cut(&machine, &machine.world, text).unwrap();
    assert_eq!(undo_text(&machine.world, &machine.config, &done.texts[0]).unwrap().len(), 1);
    std::fs::OpenOptions::new().append(true).open(machine.home().join(LOG)).unwrap();
    let log = machine.home().join(LOG);
    let mut bytes = std::fs::read(&log).unwrap();
    bytes.extend_from_slice(b"{\"type\":\"summary\",\"summary\":\"more\",\"leafUuid\":\"x\"}\n");
    std::fs::write(&log, bytes).unwrap();
    machine.sync();
    assert!(!with_text(&machine, text).is_empty(), "the log has it");
}

#[test]
fn evicted_sessions_lose_it_too() {
    let text = TEXTS[0];
    let machine = machine(text);
    retro::engine::evict::evict(&machine.world, &machine.config, &[key()], &|_| {}).unwrap();
    std::fs::remove_file(machine.home().join(LOG)).unwrap();
    assert!(!with_text(&machine, text).is_empty());
    cut(&machine, &machine.world, text).unwrap();
    assert_gone(&machine, text, "at once");
    assert_eq!(problems(&machine), Vec::<String>::new());
}

#[test]
fn stopped_anywhere_the_next_command_finishes_it() {
    let text = TEXTS[1];
    let machine = machine(text);
    let before = Snapshot::of(&machine.config.root.value);
    let counting = Arc::new(FailingDisk::counting());
    let world = machine.world.clone().with_disk(counting.clone() as Arc<dyn Disk>);
    cut(&machine, &world, text).unwrap();
    let operations = counting.operations();
    let step = if support::is_trial() { 1 } else { (operations / 8).max(1) };
    for after in (0..operations).step_by(step as usize) {
        before.restore();
        let disk = Arc::new(FailingDisk::after(after, Fails::ForEver));
        let world = machine.world.clone().with_disk(disk as Arc<dyn Disk>);
        let _ = cut(&machine, &world, text);
        let is_begun = !retro::engine::forget::standing_texts(&machine.config).is_empty();
        finish(&machine.world, &machine.config).unwrap();
        machine.sync();
        if is_begun {
            assert_gone(&machine, text, &format!("stopped after {after} of {operations} operations"));
        }
        assert_eq!(problems(&machine), Vec::<String>::new(), "after {after}");
    }
}
