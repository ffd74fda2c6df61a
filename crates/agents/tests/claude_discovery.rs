//! Claude Code's folders: every file finds its owner, and nothing in them can
//! stop the walk.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use retro_agents::script::Script;
use retro_agents::{Agent, Format, Owner, Places, Sight, Sightings, Whose, by_name};
use retro_model::{SourceKey, SourceKind};
use std::path::Path;

fn claude() -> &'static dyn Agent {
    by_name("cc").unwrap()
}

fn put(home: &Path, path: &str, text: &str) {
    let path = home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn seen(home: &Path) -> Sightings {
    let places = Places { home: home.to_owned(), env: &|_| None, extra_roots: Vec::new() };
    let mut seen = Sightings::default();
    for root in claude().roots(&places) {
        claude().discover(&root, &mut seen);
    }
    seen
}

fn owners(seen: &Sightings) -> Vec<(Whose<'_>, String)> {
    let mut owners: Vec<_> =
        seen.files().map(|file| (file.owner, SourceKey::new(file.source).to_string())).collect();
    owners.sort_by_key(|(owner, source)| (format!("{owner:?}"), source.clone()));
    owners
}

fn of<'a>(session: &'a str, source: &str) -> (Whose<'a>, String) {
    (Whose::Session(session), source.into())
}

fn shared(name: &str) -> Whose<'_> {
    Whose::Shared(name)
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
    let seen = seen(home.path());
    let found: Vec<Sight<'_>> = seen.files().collect();
    let mut expected = vec![
        of("s1", "00ff@v1"),
        of("s1", "agent-a1"),
        of("s1", "agent-a1.meta"),
        of("s1", "agent-a2"),
        of("s1", "custom-title"),
        of("s1", "m"),
        of("s1", "task-1"),
        of("s1", "todos"),
        of("s2", "m"),
        (Whose::Inside, "agent-1f2e3d4c".into()),
        // What a session leaves behind names it all the same; whether it is one is not decided here.
        of("gone", "todos"),
        (shared("history.jsonl"), "history.jsonl".into()),
        (shared("claude/history.jsonl"), "claude%2Fhistory.jsonl".into()),
        (shared("plans/a-plan.md"), "plans%2Fa-plan.md".into()),
        (shared("projects/-w/memory/MEMORY.md"), "projects%2F-w%2Fmemory%2FMEMORY.md".into()),
        (shared("projects/-w/sessions-index.json"), "projects%2F-w%2Fsessions-index.json".into()),
    ];
    expected.sort_by_key(|(owner, source)| (format!("{owner:?}"), source.clone()));
    assert_eq!(owners(&seen), expected);
    assert!(seen.all_unreadable().is_empty() && seen.all_no_logs().is_empty());
    let [results] = seen.folders() else { panic!("{:?}", seen.folders()) };
    assert_eq!((results.session.as_str(), results.source.as_str()), ("s1", "tool-results"));
    assert_eq!(results.path, home.path().join(".claude/projects/-w/s1/tool-results"));
    assert_eq!(claude().source_form(&results.source), (SourceKind::Files, Format::Files));
    let history = found.iter().find(|file| file.source == "00ff@v1").unwrap();
    assert!(history.extra && found.iter().filter(|file| file.extra).count() == 1);
    for file in found.iter().filter(|file| matches!(file.owner, Whose::Session(_))) {
        let key = SourceKey::new(file.source);
        assert_eq!((file.kind, file.format), claude().source_form(&key), "{key}");
    }
    let meta = found.iter().find(|file| file.source == "agent-a1.meta").unwrap();
    assert_eq!((meta.kind, meta.format), (SourceKind::State, Format::Json));
}

#[test]
fn no_home_is_no_error() {
    let home = tempfile::tempdir().unwrap();
    assert!(seen(home.path()).has_no_files());
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
    let seen = seen(home.path());
    let found: Vec<Sight<'_>> = seen.files().collect();
    let reason = |name: &str| {
        let place = seen.all_no_logs().iter().find(|(path, _)| path.ends_with(name));
        place.unwrap_or_else(|| panic!("{name} is readable")).1.clone()
    };
    assert!(reason("folder.jsonl").contains("folder"));
    assert!(reason("loop").contains("leads back"));
    assert!(reason("pipe.jsonl").contains("regular"));
    assert!(!reason("dangling.jsonl").is_empty());
    assert!(seen.all_unreadable().is_empty());
    assert_eq!(found.len(), 1);
}

/// A link is followed where people put one to move their logs, and nowhere inside a session.
#[cfg(unix)]
#[test]
fn links_below_a_sessions_own_folder_are_not_followed() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    put(home.path(), ".claude/projects/-w/s1.jsonl", "{}");
    put(home.path(), ".claude/projects/-w/s1/subagents/agent-a1.jsonl", "{}");
    let moved = "22222222-2222-4333-8444-555555555555";
    put(home.path(), &format!("disk/-v/{moved}.jsonl"), "{}");
    put(home.path(), "disk/-v/s2.jsonl", "{}");
    put(home.path(), "disk/log.jsonl", "{}");
    put(home.path(), "repository/src/agent-a2.jsonl", "{}");
    let projects = home.path().join(".claude/projects");
    symlink(home.path().join("disk/-v"), projects.join("-v")).unwrap();
    symlink(home.path().join("disk/log.jsonl"), projects.join("-w/s3.jsonl")).unwrap();
    for (target, link) in [
        ("repository", "-w/s1/code"),
        ("repository", "-w/s4"),
        ("repository/src/agent-a2.jsonl", "-w/s1/subagents/agent-a2.jsonl"),
    ] {
        symlink(home.path().join(target), projects.join(link)).unwrap();
    }
    std::fs::create_dir_all(home.path().join(".claude/tasks")).unwrap();
    symlink(home.path().join("repository"), home.path().join(".claude/tasks/s1")).unwrap();
    let seen = seen(home.path());
    let found = owners(&seen);
    assert_eq!(found, [of(moved, "m"), of("s1", "agent-a1"), of("s1", "m"), of("s3", "m")]);
    let mut left: Vec<_> = seen.all_no_logs().iter().map(|(path, reason)| (path, reason.as_str())).collect();
    left.sort();
    assert_eq!(left.len(), 4, "{left:?}");
    assert!(left.iter().all(|(_, reason)| reason.contains("not followed")), "{left:?}");
}

#[test]
fn what_the_writer_writes_is_found_again() {
    let home = tempfile::tempdir().unwrap();
    let script = Script::parse("> Look\n& Find callers\n. < Two.\n< Two callers.").unwrap();
    for (path, bytes) in claude().write(&script) {
        put(home.path(), path.to_str().unwrap(), std::str::from_utf8(&bytes).unwrap());
    }
    let seen = seen(home.path());
    let found: Vec<Sight<'_>> = seen.files().collect();
    assert_eq!(found.len(), 3);
    assert!(found.iter().all(|file| file.owner == Whose::Session(&script.session)));
    let main = found.iter().find(|file| file.source == SourceKey::MAIN).unwrap();
    let head = std::fs::read(main.path).unwrap();
    let kindred = claude().identify(main.path, &head).unwrap();
    assert_eq!(kindred.owner, Owner::Session(script.session));
}
