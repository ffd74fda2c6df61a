//! A store with a budget, and one that lets go of a session, as their user sees them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod machine;

use machine::Machine;
use std::path::{Path, PathBuf};

fn below(folder: &Path, take: &mut dyn FnMut(PathBuf)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { below(&path, take) } else { take(path) }
    }
}

/// The files below a folder that hold a text as it is, or have it in their name.
fn with(folder: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    below(folder, &mut |path| {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.strip_prefix(folder).unwrap().display().to_string();
        if name.contains(text) || bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
            found.push(name);
        }
    });
    found
}

#[test]
fn raw_bytes_above_a_cap_go_and_every_command_says_so() {
    let machine = Machine::with_demo();
    let usage = machine.json(&["usage", "--no-sync", "daily"]);
    std::fs::write(
        machine.root().join("config.toml"),
        "[retention]\nraw_soft_cap_bytes = \"0\"\nraw_hard_cap_bytes = \"1GiB\"\n",
    )
    .unwrap();
    let planned = machine.json(&["retain", "--dry-run"]);
    assert_eq!(planned["schema"], "retro.retain/1");
    for field in [
        "caps",
        "usage_before",
        "final_usage",
        "freed",
        "passes",
        "evicted",
        "data_loss",
        "distilled",
        "needs",
    ] {
        assert!(!planned[field].is_null(), "{field}: {planned}");
    }
    let refused = machine.run(&["retain"]);
    assert!(refused.code == 2 && refused.stderr.contains("--yes"), "{}", refused.all());
    let done = machine.json(&["retain", "--yes"]);
    assert_eq!((&done["evicted"], &done["dry_run"]), (&planned["evicted"], &false.into()));
    let id = done["evicted"][0]["session_id"].as_str().unwrap().to_owned();
    let listed = machine.json(&["list", "--limit", "0", "--children"]);
    let is_it = |session: &&serde_json::Value| session["session_id"] == id.as_str();
    let session = listed["sessions"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!(session["evicted"], true);
    assert!(machine.run(&["list"]).stdout.contains('□'));
    for command in ["show", "events", "raw", "render"] {
        let answer = machine.run(&[command, &id]);
        assert!(
            answer.code != 0 && answer.stderr.contains("were given up on"),
            "{command}: {}",
            answer.all()
        );
    }
    assert_eq!(machine.run(&["digest", &id]).code, 0);
    let after = machine.json(&["usage", "--no-sync", "daily"]);
    assert_eq!(after["totals"], usage["totals"]);
    let explained = machine.json(&["retain", "--explain"]);
    assert!(explained["explained"]["projects"][0]["evicted"].as_u64().unwrap() > 0, "{explained}");
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}

#[test]
fn words_of_other_programs_point_to_the_right_command() {
    let machine = Machine::empty();
    for (word, command) in [
        ("delete", "retro forget"),
        ("rm", "retro forget"),
        ("prune", "retro retain"),
        ("gc", "retro retain"),
        ("purge", "retro retain"),
    ] {
        let answer = machine.run(&[word, "x"]);
        assert!(
            answer.code == 2 && answer.stderr.contains(&format!("hint: `{command}`")),
            "{}",
            answer.all()
        );
    }
}

#[test]
fn a_forgotten_session_is_in_no_file_of_the_store_nor_of_the_page() {
    let machine = Machine::with_demo();
    let listed = machine.json(&["list"]);
    let session = &listed["sessions"][0];
    let id = session["session_id"].as_str().unwrap().to_owned();
    assert_eq!(machine.run(&["dashboard", "build"]).code, 0);
    let page = machine.root().with_file_name("store-dashboard");
    assert!(!with(machine.root(), &id).is_empty() && page.join("index.html").is_file());
    let preview = machine.json(&["forget", &id, "--dry-run"]);
    assert_eq!((&preview["schema"], &preview["dry_run"]), (&"retro.forget/1".into(), &true.into()));
    let refused = machine.run(&["forget", &id]);
    assert!(refused.code == 2 && refused.stderr.contains("--yes"), "{}", refused.all());
    let done = machine.json(&["forget", &id, "--yes"]);
    assert_eq!(done["places"]["after"], 0, "{done}");
    assert_eq!(with(machine.root(), &id), Vec::<String>::new());
    assert_eq!(with(&page, &id), Vec::<String>::new());
    let listed = machine.json(&["list", "--limit", "0"]);
    let is_it = |session: &&serde_json::Value| session["session_id"] == id.as_str();
    let session = listed["sessions"].as_array().unwrap().iter().find(is_it).unwrap();
    assert_eq!((&session["forgotten"], &session["captured"]), (&true.into(), &false.into()));
    let stones = machine.json(&["forget", "--list"]);
    let stone = stones["tombstones"][0]["id"].as_str().unwrap();
    assert!(!stones.to_string().contains(&id));
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
    assert_eq!(machine.run(&["forget", "--undo", stone]).code, 0);
    assert!(machine.json(&["sync"])["ingested"].as_u64().unwrap() > 0);
}
