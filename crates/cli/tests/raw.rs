//! `retro raw` on a session with a folder of files: each by its name, byte for byte.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod machine;

use machine::Machine;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const ID: &str = "11111111-2222-4333-8444-555555555555";

fn bytes(machine: &Machine, args: &[&str]) -> Vec<u8> {
    let output = machine.command(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

#[test]
fn files_of_a_folder_are_listed_and_printed_as_they_are() {
    let machine = Machine::empty();
    let project = ".claude/projects/-home-dev-p";
    let line = format!(
        r#"{{"type":"user","uuid":"u-1","sessionId":"{ID}","cwd":"/home/dev/p","timestamp":"2026-11-15T02:00:01.000Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    machine.write(&format!("{project}/{ID}.jsonl"), format!("{line}\n"));
    let folder = format!("{project}/{ID}/tool-results");
    let large = b"0123456789\n".repeat(450_000);
    let files: [(&[u8], &[u8]); 6] = [
        (b"b1.txt", b"one\ntwo\n"),
        (b"deep/b2.txt", b"no line end"),
        (b"empty.txt", b""),
        (b"large.txt", &large),
        (b"line\n\"end\".txt", b"odd"),
        (b"not-\xff.txt", b"odder"),
    ];
    for (name, bytes) in files {
        let path = machine.home().join(&folder).join(OsStr::from_bytes(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(machine.run(&["sync"]).code, 0);

    let listed = machine.json(&["raw", ID, "--list"]);
    let rows = listed["sources"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["source"].as_str().unwrap()).collect();
    let shown = ["b1.txt", "deep/b2.txt", "empty.txt", "large.txt", "line\\x0a\"end\".txt", "not-\\xff.txt"];
    let expected: Vec<String> = shown.iter().map(|name| format!("tool-results/{name}")).collect();
    assert_eq!(names[0], "m");
    assert_eq!(names[1..], expected, "{listed}");
    for ((_, content), (row, name)) in files.iter().zip(rows[1..].iter().zip(shown)) {
        assert_eq!(row["bytes"], content.len(), "{row}");
        assert!(row["places"][0].as_str().unwrap().ends_with(&format!("tool-results/{name}")), "{row}");
        for asked in [name.to_owned(), format!("tool-results/{name}")] {
            assert!(bytes(&machine, &["raw", ID, "--file", &asked]) == **content, "{asked}");
        }
    }
    assert!(machine.run(&["raw", ID, "--list"]).stdout.contains("tool-results/deep/b2.txt"));
    assert_eq!(bytes(&machine, &["raw", ID, "--file", "b1.txt", "--line", "2"]), b"two\n");
    assert_eq!(machine.run(&["raw", ID, "--file", "b1.txt", "--line", "9"]).code, 1);
    assert_eq!(machine.run(&["raw", ID, "--file", "b9.txt"]).code, 1);

    let all = bytes(&machine, &["raw", ID, "--all"]);
    let mut at = 0;
    for (name, (_, content)) in shown.iter().zip(files) {
        let head = format!("tool-results/{name} <==\n");
        let found = memchr(&all[at..], head.as_bytes()).unwrap() + at + head.len();
        assert!(all[found..].starts_with(content), "{name}");
        at = found + content.len();
    }

    // The newest version, also once the file is gone.
    machine.write(&format!("{folder}/b1.txt"), "another");
    assert_eq!(machine.run(&["sync"]).code, 0);
    std::fs::remove_dir_all(machine.home().join(&folder)).unwrap();
    assert_eq!(machine.run(&["sync"]).code, 0);
    assert_eq!(bytes(&machine, &["raw", ID, "--file", "b1.txt"]), b"another");
    assert_eq!(machine.json(&["raw", ID, "--list"])["sources"].as_array().unwrap().len(), 7);
    assert_eq!(bytes(&machine, &["raw", ID]), format!("{line}\n").as_bytes());
    assert_eq!(machine.run(&["verify", "--deep"]).code, 0);
}

fn memchr(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
