//! Claude Code's folders: every file finds its owner, and nothing in them can
//! stop the walk.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use retro_agents::script::Script;
use retro_agents::{Agent, Format, Found, Owner, Places, by_name};
use retro_model::SourceKind;
use std::path::Path;

fn claude() -> &'static dyn Agent {
    by_name("cc").unwrap()
}

fn put(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn found(home: &Path) -> Vec<Found> {
    let places = Places { home: home.to_owned(), env: &|_| None, extra_roots: Vec::new() };
    let mut all = Vec::new();
    for root in claude().roots(&places) {
        claude().discover(&root, &mut |sight| all.push(sight.keep()));
        all.sort_by(|a, b| a.path.cmp(&b.path));
    }
    all
}

fn owners(found: &[Found]) -> Vec<(Owner, String)> {
    let mut owners: Vec<_> = found.iter().map(|file| (file.owner.clone(), file.source.to_string())).collect();
    owners.sort_by_key(|(owner, source)| (format!("{owner:?}"), source.clone()));
    owners
}

fn of(session: &str, source: &str) -> (Owner, String) {
    (Owner::Session(session.into()), source.into())
}

fn shared(name: &str) -> Owner {
    Owner::Shared(name.into())
}

#[test]
fn every_file_of_a_home_finds_its_owner() {
    let home = tempfile::tempdir().unwrap();
    for path in [
        ".claude/projects/-w/s1.jsonl",
        ".claude/projects/-w/s1/subagents/agent-a1.jsonl",
        ".claude/projects/-w/s1/subagents/agent-a1.meta.json",
        ".claude/projects/-w/s1/subagents/workflows/run/agent-a2.jsonl",
        ".claude/projects/-w/s1/tool-results/b1.txt",
        ".claude/projects/-w/s1/custom-title.json",
        ".claude/projects/-w/agent-1f2e3d4c.jsonl",
        ".claude/projects/-w/memory/MEMORY.md",
        ".claude/projects/-w/sessions-index.json",
        ".claude/todos/s1-agent-s1.json",
        ".claude/todos/gone-agent-gone.json",
        ".claude/tasks/s1/1.json",
        ".claude/tasks/s1/.lock",
        ".claude/file-history/s1/00ff@v1",
        ".claude/plans/a-plan.md",
        ".claude/history.jsonl",
        ".claude/settings.json",
        ".claude/.credentials.json",
        ".claude.json",
        ".config/claude/history.jsonl",
        ".config/claude/projects/-v/s2.jsonl",
    ] {
        put(home.path(), path, "{}");
    }
    let found = found(home.path());
    let mut expected = vec![
        of("s1", "00ff@v1"),
        of("s1", "agent-a1"),
        of("s1", "agent-a1.meta"),
        of("s1", "agent-a2"),
        of("s1", "b1.txt"),
        of("s1", "custom-title"),
        of("s1", "m"),
        of("s1", "task-1"),
        of("s1", "todos"),
        of("s2", "m"),
        (Owner::Inside, "agent-1f2e3d4c".into()),
        // What a session leaves behind names it all the same; whether it is one is not decided here.
        of("gone", "todos"),
        (shared("history.jsonl"), "history.jsonl".into()),
        (shared("claude/history.jsonl"), "claude%2Fhistory.jsonl".into()),
        (shared("plans/a-plan.md"), "plans%2Fa-plan.md".into()),
        (shared("projects/-w/memory/MEMORY.md"), "projects%2F-w%2Fmemory%2FMEMORY.md".into()),
        (shared("projects/-w/sessions-index.json"), "projects%2F-w%2Fsessions-index.json".into()),
    ];
    expected.sort_by_key(|(owner, source)| (format!("{owner:?}"), source.clone()));
    assert_eq!(owners(&found), expected);
    assert!(found.iter().all(|file| file.unreadable.is_none()));
    let history = found.iter().find(|file| file.source.as_str() == "00ff@v1").unwrap();
    assert!(history.extra && found.iter().filter(|file| file.extra).count() == 1);
    for file in found.iter().filter(|file| matches!(file.owner, Owner::Session(_))) {
        assert_eq!((file.kind, file.format), claude().source_form(&file.source), "{}", file.source);
    }
    let meta = found.iter().find(|file| file.source.as_str() == "agent-a1.meta").unwrap();
    assert_eq!((meta.kind, meta.format), (SourceKind::State, Format::Json));
}

#[test]
fn no_home_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    assert!(found(home.path()).is_empty());
}

#[cfg(unix)]
#[test]
fn loops_pipes_and_folders_named_like_logs_are_reported_and_passed() {
    let home = tempfile::tempdir().unwrap();
    put(home.path(), ".claude/projects/-w/s1.jsonl", "{}");
    let project = home.path().join(".claude/projects/-w");
    std::fs::create_dir(project.join("folder.jsonl")).unwrap();
    std::os::unix::fs::symlink(&project, project.join("loop")).unwrap();
    std::os::unix::fs::symlink(project.join("nowhere"), project.join("dangling.jsonl")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(project.join("pipe.jsonl")).unwrap();
    let found = found(home.path());
    let reason = |name: &str| {
        let file = found.iter().find(|file| file.path.ends_with(name)).unwrap_or_else(|| panic!("{name}"));
        file.unreadable.clone().unwrap_or_else(|| panic!("{name} is readable"))
    };
    assert!(reason("folder.jsonl").contains("folder"));
    assert!(reason("loop").contains("leads back"));
    assert!(reason("pipe.jsonl").contains("regular"));
    assert!(!reason("dangling.jsonl").is_empty());
    assert_eq!(found.iter().filter(|file| file.unreadable.is_none()).count(), 1);
}

#[test]
fn what_the_writer_writes_is_found_again() {
    let home = tempfile::tempdir().unwrap();
    let script = Script::parse("> Look\n& Find callers\n. < Two.\n< Two callers.").unwrap();
    for (path, bytes) in claude().write(&script) {
        put(home.path(), path.to_str().unwrap(), std::str::from_utf8(&bytes).unwrap());
    }
    let found = found(home.path());
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|file| file.owner == Owner::Session(script.session.clone())));
    let main = found.iter().find(|file| file.source.is_main()).unwrap();
    let head = std::fs::read(&main.path).unwrap();
    let kindred = claude().identify(&main.path, &head).unwrap();
    assert_eq!(kindred.owner, Owner::Session(script.session));
}
