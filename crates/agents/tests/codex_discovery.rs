//! Which files Codex' are found, and whose they are.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod codex_home;
mod home;

use codex_home::{Home, THREAD, codex, log, read, read_at};
use home::settled;
use retro_model::{LinkKind, SourceKey};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};

const OTHER: &str = "00000000-0000-7000-8000-00000000000b";

fn rollout(id: &str) -> Vec<u8> {
    let meta = json!({ "type": "session_meta", "payload": { "id": id, "cwd": "/w" } });
    log("m", vec![meta, json!({ "event": { "type": "user_message", "message": "Fix it" } })]).bytes
}

fn name(id: &str) -> String {
    format!("rollout-2026-03-01T10-00-00-{id}.jsonl")
}

fn put(path: impl AsRef<Path>, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = path.as_ref();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
    path.to_owned()
}

fn sources(home: &Home, id: &str) -> Vec<String> {
    let mut keys: Vec<&SourceKey> =
        home.sessions.get(id).into_iter().flatten().map(|source| &source.key).collect();
    keys.sort_by_key(|key| (!key.is_main(), key.to_string()));
    keys.into_iter().map(SourceKey::to_string).collect()
}

/// Names of everything below a folder.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        walkdir_names(folder).into_iter().map(|path| path.strip_prefix(folder).unwrap().to_owned()).collect();
    all.sort();
    all
}

fn walkdir_names(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder)
        .unwrap()
        .flat_map(|entry| {
            let path = entry.unwrap().path();
            let inner = if path.is_dir() { walkdir_names(&path) } else { Vec::new() };
            std::iter::once(path).chain(inner)
        })
        .collect()
}

#[test]
fn a_thread_is_the_same_wherever_its_file_lies() {
    let folder = tempfile::tempdir().unwrap();
    let root = |name: &str| folder.path().join(name);
    let bytes = rollout(THREAD);
    put(root("a").join("sessions/2026/03/01").join(name(THREAD)), &bytes);
    put(root("b").join("archived_sessions").join(name(THREAD)), &bytes);
    put(
        root("c").join("sessions/2026/03/01").join(name(THREAD) + ".zst"),
        zstd::encode_all(bytes.as_slice(), 3).unwrap(),
    );
    put(root("d").join("deep/copy of it.jsonl"), &bytes);
    for one in ["a", "b", "c", "d"] {
        let home = read_at(folder.path(), Some(root(one).display().to_string()));
        assert_eq!(sources(&home, THREAD), ["m"], "{one}");
        assert_eq!(home.sessions[THREAD][0].bytes, bytes, "{one}");
    }
    let all = ["a", "b", "c", "d"].map(|one| root(one).display().to_string()).join(", ");
    let home = read_at(folder.path(), Some(all));
    assert_eq!((home.sessions.len(), sources(&home, THREAD)), (1, vec!["m".to_owned()]));
}

#[test]
fn shared_files_and_further_rollouts_have_their_place() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".codex");
    put(root.join("sessions/2026/03/01").join(name(THREAD)), rollout(THREAD));
    put(root.join("sessions/2026/03/02").join(name(&format!("{THREAD}_{OTHER}"))), rollout(THREAD));
    put(root.join("history.jsonl"), "{}\n");
    put(root.join("session_index.jsonl"), "{}\n");
    put(root.join("auth.json"), "{}");
    put(root.join("packages/x/sessions/y.jsonl"), rollout(OTHER));
    put(root.join("sessions/2026/03/01").join(name(OTHER)), "");
    let home = read(folder.path());
    assert_eq!(sources(&home, THREAD), ["m", OTHER]);
    assert_eq!(home.sessions.len(), 1);
    let mut shared = home.shared.clone();
    shared.sort();
    assert_eq!(shared, ["history.jsonl".to_owned(), name(OTHER), "session_index.jsonl".to_owned()]);
    assert!(home.unreadable.is_empty());
}

#[test]
fn streams_of_exec_are_found_by_their_first_line() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".codex");
    put(root.join("sessions").join(name(THREAD)), rollout(THREAD));
    put(root.join("run.jsonl"), format!("{{\"type\":\"thread.started\",\"thread_id\":\"{THREAD}\"}}\n"));
    put(root.join("lonely.jsonl"), "{\"type\":\"thread.started\",\"thread_id\":\"t9\"}\n");
    let old = put(
        root.join("old.jsonl"),
        "{\"model\":\"x\"}\n{\"prompt\":\"y\"}\n{\"id\":\"0\",\"msg\":{\"type\":\"task_started\"}}\n",
    );
    put(root.join("foreign.jsonl"), "{\"type\":\"user\"}\n");
    let home = read(folder.path());
    assert_eq!(sources(&home, THREAD), ["m", "exec"]);
    assert_eq!(sources(&home, "t9"), ["exec"]);
    assert_eq!(home.unreadable, [(old, "unsupported: no thread id".to_owned())]);
}

#[test]
fn a_database_adds_what_it_knows_of_threads_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".codex");
    put(root.join("sessions").join(name(THREAD)), rollout(THREAD));
    let outside = put(folder.path().join("moved").join(name(OTHER)), rollout(OTHER));
    let live = rusqlite::Connection::open(root.join("state_5.sqlite")).unwrap();
    live.pragma_update(None, "journal_mode", "wal").unwrap();
    live.execute_batch(&format!(
        "CREATE TABLE threads(id TEXT, rollout_path TEXT, title TEXT, name TEXT, archived INTEGER, git_branch TEXT, first_user_message TEXT);
         INSERT INTO threads VALUES ('{THREAD}', '', 'Fix it', 'Tax', 1, 'dev', 'Fix it'), ('{OTHER}', '{}', 'Look', NULL, 0, NULL, 'Look'), ('gone', '', 'Gone', NULL, 0, NULL, '');
         CREATE TABLE thread_spawn_edges(parent_thread_id TEXT, child_thread_id TEXT, status TEXT);
         INSERT INTO thread_spawn_edges VALUES ('{THREAD}', '{OTHER}', 'open');",
        outside.display()
    ))
    .unwrap();
    let before = everything(&root);
    let home = read(folder.path());
    assert_eq!(everything(&root), before);
    assert_eq!(sources(&home, THREAD), ["m", "state"]);
    assert_eq!(sources(&home, OTHER), ["m", "state"]);
    assert_eq!(home.sessions.len(), 2);
    let told = settled(codex(), THREAD, &home.sessions[THREAD]);
    assert_eq!(told.facts.title_user.as_ref().unwrap().1.as_str(), "Tax");
    assert!(told.facts.title_agent.is_none());
    assert_eq!(told.facts.branch.as_ref().unwrap().1.as_str(), "dev");
    assert!(told.facts.links.iter().any(|link| link.kind == LinkKind::Child && link.session_id == OTHER));
    let note = told.events.iter().find(|event| event.id.source == SourceKey::new("state")).unwrap();
    assert_eq!(note.data.as_ref().unwrap()["archived"], 1);
    assert_eq!(settled(codex(), OTHER, &home.sessions[OTHER]).facts.parent(), Some(THREAD));
}

#[test]
fn a_broken_database_is_named_and_the_rest_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".codex");
    put(root.join("sessions").join(name(THREAD)), rollout(THREAD));
    let broken = put(root.join("state_5.sqlite"), "this is no database at all, however long it may be");
    let home = read(folder.path());
    assert_eq!(sources(&home, THREAD), ["m"]);
    assert_eq!(home.unreadable.len(), 1);
    assert_eq!(home.unreadable[0].0, broken);
    assert!(home.unreadable[0].1.contains("cannot be read"), "{}", home.unreadable[0].1);
    assert_eq!(everything(&root).len(), 3);
}

#[cfg(unix)]
#[test]
fn links_folders_and_pipes_are_no_trap() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join(".codex");
    put(root.join("sessions/2026").join(name(THREAD)), rollout(THREAD));
    fs::create_dir_all(root.join("sessions/odd.jsonl")).unwrap();
    std::os::unix::fs::symlink(root.join("sessions"), root.join("sessions/2026/loop")).unwrap();
    std::os::unix::fs::symlink(root.join("nowhere"), root.join("sessions").join(name(OTHER))).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(root.join("sessions/socket.jsonl")).unwrap();
    let home = read(folder.path());
    assert_eq!(sources(&home, THREAD), ["m"]);
    let reasons: Vec<&str> = home.unreadable.iter().map(|(_, reason)| reason.as_str()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("a folder, not a file")), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("a link that leads back")), "{reasons:?}");
    assert!(reasons.iter().any(|reason| reason.contains("not a regular file")), "{reasons:?}");
}
