//! Strings that break programs, wherever a log, a configuration or an argument
//! can hold one: no crash, nothing raw on the terminal, columns that stay columns.
//!
//! Our own list always runs; with `RETRO_SHARED` also the large one of others.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use retro::agents::script::{Script, Step};
use retro::agents::{AGENTS, by_name};
use retro::text::hidden;
use retro::text::terminal::width;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Attacks on a terminal and on tables.
const ATTACKS: &[&str] = &[
    "\u{1b}]0;owned\u{7}",
    "\u{1b}]8;;http://evil.test\u{1b}\\click\u{1b}]8;;\u{1b}\\",
    "\u{1b}]52;c;aGk=\u{7}",
    "\u{1b}[2J\u{1b}[H\u{1b}[10;10Hmoved",
    "\u{1b}[1A\u{1b}[2Kover the line before",
    "\u{1b}[?1049h\u{1b}[?25l",
    "\u{1b}P+q544e\u{1b}\\",
    "\u{1b}c",
    "\u{9b}2J\u{9d}0;owned\u{9c}\u{90}x\u{9c}",
    "back\u{8}\u{8}\u{8}\u{8}over\rreturn",
    "bell\u{7} form\u{c}feed vertical\u{b}tab",
    "nul\0byte",
    "del\u{7f}ete",
    "a\tb\tc",
    "one\ntwo\r\nthree\u{85}four\u{2028}five\u{2029}six",
    "abc\u{202e}txt.exe\u{202c}",
    "\u{2066}\u{2067}isolates\u{2069}\u{200f}\u{200e}\u{61c}",
    "zero\u{200b}width\u{200c}\u{200d}\u{2060}\u{feff}joined",
    "tags\u{e0041}\u{e0042}\u{e007f}",
    "selectors\u{fe00}\u{fe01}\u{e0100}\u{e0101}",
    "漢字かなカナ漢字かなカナ漢字かなカナ漢字かなカナ漢字かなカナ漢字かなカナ",
    "👩\u{200d}👩\u{200d}👧\u{200d}👦 🇩🇪🇫🇷 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽",
    "Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}a\u{310}lgo",
    "ﷺ ﷽ 𒐫 ꧅",
    "\u{1160}\u{3164}\u{ffa0}filler\u{2800}\u{2800}\u{2800}",
    "%s%n%d {} {0} $HOME `id` $(id) ; rm -rf / | cat",
    "--project",
    "-",
    "*",
    "''\"\"\\",
    "../../etc/passwd",
    "",
    " ",
];

/// Our strings, and those of others where they are: whether all of their uses
/// are tried, or only the cheap ones.
fn strings() -> Vec<(String, bool)> {
    let mut strings: Vec<(String, bool)> = ATTACKS.iter().map(|text| ((*text).to_owned(), true)).collect();
    match std::env::var_os("RETRO_SHARED") {
        None => println!("skipped: RETRO_SHARED is not set, only our own strings are tried"),
        Some(shared) => {
            let path = Path::new(&shared).join("bad-input/naughty-strings.json");
            let others: Vec<String> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            // A process for each use of each string would take minutes.
            strings.extend(others.into_iter().enumerate().map(|(at, text)| (text, at % 16 == 0)));
        }
    }
    strings
}

struct User {
    home: tempfile::TempDir,
}

impl User {
    /// A home in which every agent has sessions that hold the strings.
    fn with(strings: &[(String, bool)]) -> User {
        let user = User { home: tempfile::tempdir().unwrap() };
        for (number, (text, _)) in strings.iter().enumerate() {
            let agent = AGENTS[number % AGENTS.len()];
            // A name of a file takes no more, and no NUL.
            let folder: String = text.chars().filter(|letter| *letter != '\0').take(20).collect();
            let script = Script {
                session: format!("44444444-4444-4444-8444-{number:012}"),
                cwd: format!("/home/dev/{folder}"),
                branch: text.clone(),
                start_ms: 1_772_359_200_000,
                steps: vec![
                    Step::Model(text.clone()),
                    Step::User(text.clone()),
                    Step::Shell { command: text.clone(), output: text.clone(), exit_code: 1 },
                    Step::Edit { path: text.clone(), removed: vec![text.clone()], added: vec![text.clone()] },
                    Step::Assistant(text.clone()),
                    Step::Title(text.clone()),
                ],
            };
            for (path, bytes) in agent.write(&script) {
                user.write(&path, &bytes);
            }
        }
        user.name_sessions_and_tools(strings);
        user
    }

    /// Sessions whose id is the string, and calls of tools with that name: only
    /// Codex tells the id inside its log.
    fn name_sessions_and_tools(&self, strings: &[(String, bool)]) {
        for (number, (text, _)) in strings.iter().enumerate() {
            let records = [
                serde_json::json!({ "timestamp": "2026-03-01T10:00:00.000Z", "type": "session_meta",
                    "payload": { "id": text, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": "/home/dev/shop",
                        "originator": text, "cli_version": text, "source": text, "model_provider": text } }),
                serde_json::json!({ "timestamp": "2026-03-01T10:00:01.000Z", "type": "response_item", "payload": {
                    "type": "function_call", "name": text, "call_id": text, "arguments": text } }),
                serde_json::json!({ "timestamp": "2026-03-01T10:00:02.000Z", "type": text, "payload": { "type": text } }),
            ];
            let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
            let path = format!(".codex/sessions/2026/03/01/copy-{number}.jsonl");
            self.write(Path::new(&path), lines.as_bytes());
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) {
        let path = self.home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// Runs the program as on a terminal and looks at what it would show there. It
    /// may find nothing.
    fn run(&self, args: &[&str]) -> String {
        let (code, shown) = self.try_run(args);
        assert!(matches!(code, Some(0 | 1)), "{args:?} ended with {code:?}");
        shown
    }

    /// The same for what may also be refused.
    fn try_run(&self, args: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retro"));
        command
            .args(["--color", "always"])
            .args(args)
            .env_clear()
            .env("HOME", self.home.path())
            .env("TZ", "UTC");
        let output = command.current_dir(self.home.path()).stdin(Stdio::null()).output().unwrap();
        (output.status.code(), self.look(args, output))
    }

    fn look(&self, args: &[&str], Output { status, stdout, stderr }: Output) -> String {
        let code = status.code();
        assert!(
            matches!(code, Some(0..=2)),
            "{args:?} ended with {status}: {}",
            String::from_utf8_lossy(&stderr)
        );
        let is_json = args.contains(&"--json") || args.first() == Some(&"events");
        for (name, bytes, is_data) in [("stdout", &stdout, is_json), ("stderr", &stderr, false)] {
            let text = without_styles(std::str::from_utf8(bytes).unwrap());
            for line in text.lines() {
                let raw =
                    |letter: char| letter.is_control() && letter != '\t' && !(is_data && letter > '\u{7e}');
                assert!(!line.contains(raw), "{args:?} prints a control on {name}: {line:?}");
                let unseen = hidden::find(line).next();
                assert!(is_data || unseen.is_none(), "{args:?} hides {unseen:?} on {name}: {line:?}");
            }
            assert!(!text.contains("panicked"), "{args:?}: {text}");
        }
        without_styles(&String::from_utf8(stdout).unwrap())
    }
}

/// The text without our own colours.
fn without_styles(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        clean.push_str(before);
        let end = after.find(|letter: char| !letter.is_ascii_digit() && letter != ';').unwrap_or(after.len());
        match after[end..].strip_prefix('m') {
            Some(next) => rest = next,
            None => {
                clean.push_str("\u{1b}[");
                rest = after;
            }
        }
    }
    clean + rest
}

/// Every row has its cells under the titles: `left` ones begin where their title
/// does, `right` ones end where it ends.
fn check_columns(text: &str, left: &[&str], right: &[&str]) {
    let mut lines = text.lines();
    let header = lines.next().unwrap_or_default();
    let place = |title: &&str| width(&header[..header.find(title).unwrap()]);
    for line in lines {
        // The columns at which two blanks have just passed, and at which two follow.
        let ends = line.char_indices().map(|(at, _)| at).chain([line.len()]);
        let cuts: Vec<(usize, &str, &str)> =
            ends.map(|at| (width(&line[..at]), &line[..at], &line[at..])).collect();
        for title in left {
            let at = place(title);
            let fits = at == 0
                || width(line) < at
                || cuts.iter().any(|(column, before, _)| *column == at && before.ends_with("  "));
            assert!(fits, "{title} does not begin in column {at}: {line:?}");
        }
        for title in right {
            let at = place(title) + width(title);
            let fits = width(line) < at
                || cuts
                    .iter()
                    .any(|(column, _, after)| *column == at && (after.is_empty() || after.starts_with("  ")));
            assert!(fits, "{title} does not end in column {at}: {line:?}");
        }
    }
}

#[test]
fn no_string_in_a_log_reaches_the_terminal_raw_or_breaks_a_table() {
    let strings = strings();
    let user = User::with(&strings);
    check_columns(
        &user.run(&["list", "--limit", "0"]),
        &["agent", "session", "last", "project", "title"],
        &["size"],
    );
    user.run(&["sync"]);
    let list = user.run(&["list", "--limit", "0", "--children"]);
    assert!(
        list.lines().count() > strings.len(),
        "{} lines for {} strings",
        list.lines().count(),
        strings.len()
    );
    check_columns(&list, &["agent", "session", "last", "project", "title"], &["size"]);
    for rows in ["model", "project", "session", "agent", "daily"] {
        let table = user.run(&["usage", rows, "--no-sync"]);
        check_columns(&table, &[], &["output", "tokens", "responses", "list price"]);
    }
    check_columns(
        &user.run(&["usage", "--breakdown", "--no-sync"]),
        &[],
        &["output", "tokens", "list price"],
    );
    for args in [
        &["list", "--json"][..],
        &["list", "--verbose", "--limit", "0"],
        &["usage", "session", "--json", "--no-sync"],
        &["usage", "model", "--csv", "--no-sync"],
        &["secrets", "--no-sync"],
        &["stages"],
        &["doctor"],
        &["agents"],
        &["verify"],
        &["sync", "--verbose"],
        &[],
    ] {
        user.run(args);
    }
}

#[test]
fn every_session_with_such_a_string_can_be_read() {
    let all = strings();
    let strings: Vec<(String, bool)> = all.into_iter().filter(|(_, whole)| *whole).collect();
    let user = User::with(&strings);
    user.run(&["sync", "--quiet"]);
    for (number, (text, _)) in strings.iter().enumerate() {
        let agent = AGENTS[number % AGENTS.len()].name();
        let id = format!("44444444-4444-4444-8444-{number:012}");
        for args in [
            &["show", agent, &id, "--thinking"][..],
            &["render", agent, &id],
            &["events", agent, &id],
            &["raw", agent, &id, "--list"],
            &["usage", "explain", agent, &id, "--no-sync"],
        ] {
            user.run(args);
        }
        if !text.contains('\0') {
            user.try_run(&["show", "codex", "--", text]);
        }
    }
}

#[test]
fn every_string_can_be_asked_for() {
    let strings = strings();
    let user = User::with(&[("plain".to_owned(), true)]);
    user.run(&["sync", "--quiet"]);
    let asked = strings.iter().filter(|(text, whole)| *whole && !text.contains('\0'));
    for (text, _) in asked {
        let joined = |name: &str| format!("{name}={text}");
        for args in [
            &["list", &joined("--project")][..],
            &["usage", "--no-sync", &joined("--model")],
            &["usage", "--no-sync", &joined("--project")],
            &["show", "*", "--", text],
            &["show", "--", text, "latest"],
            &["usage", "--no-sync", &joined("--tz")],
            &["list", &joined("--agent")],
            &["config", "show", &joined("--config")],
            &["config", "path", &joined("--config")],
            &["--", text],
        ] {
            user.try_run(args);
        }
    }
}

#[test]
fn every_string_can_stand_in_the_configuration() {
    let strings = strings();
    let user = User::with(&[("plain".to_owned(), true)]);
    let path = user.home.path().join("config.toml");
    let path_text = path.display().to_string();
    let quoted = |text: &str| serde_json::to_string(text).unwrap().replace('\u{7f}', "\\u007f");
    let mut whole = String::from("[domains]\n");
    let mut seen = std::collections::BTreeSet::new();
    for (text, _) in strings.iter().filter(|(text, _)| seen.insert(text.clone())) {
        whole += &format!("{} = {}\n", quoted(text), quoted(text));
    }
    let list =
        |texts: &[(String, bool)]| texts.iter().map(|(text, _)| quoted(text)).collect::<Vec<_>>().join(", ");
    whole += &format!("[capture]\nexclude_projects = [{0}]\nexclude_paths = [{0}]\n", list(&strings));
    std::fs::write(&path, whole).unwrap();
    let shown = user.run(&["config", "show", "--config", &path_text]);
    check_columns(&shown, &["key", "value", "from"], &[]);
    assert!(shown.contains("domains"), "{shown}");
    user.run(&["list", "--config", &path_text]);
    for (text, _) in strings.iter().filter(|(_, whole)| *whole) {
        for line in [
            format!("{} = 1\n", quoted(text)),
            format!("cadence = {}\n", quoted(text)),
            format!("[sources]\n{} = []\n", quoted(text)),
            format!("[capture]\nexclude_regex = [{}, \"(\"]\n", quoted(text)),
            format!("[capture]\n{} = true\n", quoted(text)),
            text.clone(),
        ] {
            std::fs::write(&path, line).unwrap();
            user.try_run(&["config", "show", "--config", &path_text]);
        }
    }
}

#[test]
fn a_name_that_is_asked_for_finds_its_session() {
    let user = User::with(&[("漢字 \u{1b}[31m".to_owned(), true)]);
    user.run(&["sync", "--quiet"]);
    let agent = by_name(AGENTS[0].name()).unwrap().name();
    let shown = user.run(&["show", agent, "latest"]);
    assert!(shown.contains("漢字 \\u{1b}[31m"), "{shown}");
}
