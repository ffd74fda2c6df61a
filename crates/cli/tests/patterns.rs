//! What recurs, as people and programs see it: `detect`, `curate`, `catalog`, `decisions`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod machine;

use machine::{Answer, Machine};
use retro::agents::{by_name, script::Script};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const NOW: (&str, &str) = ("RETRO_NOW", "2026-06-01T00:00:00Z");
/// When every log is quiet.
const LATER: (&str, &str) = ("RETRO_NOW", "2099-01-01T00:00:00Z");

/// Errors and remarks that come again: agent, project, what is met, and whether it is solved.
const MET: &[(&str, &str, &str)] = &[
    ("claude", "shop", PORT),
    ("codex", "billing", PORT),
    ("claude", "portal", PORT),
    ("claude", "shop", LOCK),
    ("claude", "shop", LOCK),
    ("codex", "billing", "< I used moment.\n> No, don't use moment, use date-fns instead.\n"),
    ("claude", "portal", "< It is there.\n> I said date-fns! Never use moment here.\n"),
    ("claude", "portal", "$ make report\n| KeyError: 'tax'\n! 1\n"),
];
const PORT: &str = "$ npm run dev\n| Error: listen EADDRINUSE: address already in use :::3000\n! 1\n\
    $ fuser -k 3000/tcp\n| done\n$ npm run dev\n| ok\n";
const LOCK: &str = "$ alembic upgrade head\n\
    | sqlalchemy.exc.OperationalError: lock timeout while waiting for relation alembic_version\n! 1\n";

/// A session in which something is met. Enough is done in it that it counts as work.
fn meet(machine: &Machine, number: usize, (agent, project, met): (&str, &str, &str)) {
    let reads: String = (0..9).map(|page| format!(": docs/{number}-{page}.md\n| line {page}\n")).collect();
    let story = format!(
        "@ session {number:08}-4444-4444-8444-444444444444\n@ cwd /home/dev/{project}\n\
         @ time 2026-03-{:02}T10:00:00Z\n> Bring part {number} of {project} over the line today\n\
         {reads}~ src/part{number}.txt\n- a\n+ b\n{met}< As far as it goes.\n",
        number + 1
    );
    for (path, bytes) in by_name(agent).unwrap().write(&Script::parse(&story).unwrap()) {
        machine.write(&path.display().to_string(), bytes);
    }
}

fn machine() -> Machine {
    let machine = Machine::empty();
    for (number, met) in MET.iter().enumerate() {
        meet(&machine, number, *met);
    }
    sync(&machine);
    machine
}

fn sync(machine: &Machine) {
    let done = machine.answer(machine.command(&["sync"]).env(LATER.0, LATER.1).output().unwrap());
    assert_eq!(done.code, 0, "{}", done.all());
}

fn command(machine: &Machine, args: &[&str]) -> Command {
    let mut command = machine.command(args);
    command.env(NOW.0, NOW.1).env("COLUMNS", "80");
    command
}

fn run(machine: &Machine, args: &[&str]) -> Answer {
    machine.answer(command(machine, args).output().unwrap())
}

fn json_of(machine: &Machine, args: &[&str]) -> Value {
    let answer = run(machine, &[args, &["--json"]].concat());
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {}", answer.all()))
}

/// The same with answers on stdin.
fn answered(machine: &Machine, args: &[&str], said: &str) -> Answer {
    let mut command = command(machine, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
    machine.answer(child.wait_with_output().unwrap())
}

fn configure(machine: &Machine, text: &str) {
    std::fs::write(machine.root().join("config.toml"), text).unwrap();
}

fn fits_80(answer: &Answer) {
    for line in answer.stdout.lines() {
        assert!(retro::text::terminal::width(line) <= 80, "{line}");
    }
}

fn ids(rows: &Value) -> Vec<String> {
    rows.as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn files(folder: &Path) -> Vec<(String, Vec<u8>, std::time::SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(files(&entry.path())),
            false => found.push((
                entry.path().display().to_string(),
                std::fs::read(entry.path()).unwrap(),
                entry.metadata().unwrap().modified().unwrap(),
            )),
        }
    }
    found.sort();
    found
}

#[test]
fn what_a_person_reads_fits_a_terminal() {
    let machine = machine();
    let mut seen = String::new();
    let mut show = |args: &[&str]| {
        let answer = run(&machine, args);
        fits_80(&answer);
        seen.push_str(&format!("$ retro {}\n{}\n", args.join(" "), answer.all()));
        answer
    };
    show(&["detect"]);
    show(&["--verbose", "detect", "--type", "correction_repeated"]);
    show(&["detect", "--limit", "1"]);
    show(&["detect", "--min-frequency", "3", "--project", "bill"]);
    show(&["detect", "--explain", "retry_storm"]);
    show(&["detect", "--explain", "all"]);
    show(&["detect", "--explain", "retry_strom"]);
    show(&["detect", "--type", "retry"]);
    show(&["curate", "--auto-approve"]);
    show(&["catalog", "list"]);
    let id = json_of(&machine, &["catalog", "list"])["patterns"][0]["id"].as_str().unwrap().to_owned();
    show(&["catalog", "show", &id]);
    meet(&machine, 20, ("grok", "shop", PORT));
    sync(&machine);
    show(&["curate", "--auto-approve"]);
    let port = json_of(&machine, &["catalog", "list"])["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["version"] != "1.0.0")
        .unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    show(&["catalog", "history", &port]);
    show(&["catalog", "diff", &port, "1.0.0", "1.0.1"]);
    show(&["catalog", "diff", &port, "1.0.0", "7.0.0"]);
    show(&["catalog", "show", "no-such"]);
    show(&["catalog", "export", "out"]);
    show(&["decisions", "list"]);
    show(&["decisions", "flush"]);
    insta::assert_snapshot!("texts", seen);
}

#[test]
fn where_nothing_recurs_it_says_so() {
    let machine = Machine::empty();
    let mut seen = String::new();
    let mut show = |machine: &Machine, args: &[&str]| {
        let answer = run(machine, args);
        seen.push_str(&format!("$ retro {}\n{}\n", args.join(" "), answer.all()));
    };
    show(&machine, &["detect"]);
    meet(&machine, 1, MET[7]);
    sync(&machine);
    for args in [
        &["detect"][..],
        &["detect", "--json"],
        &["curate"],
        &["curate", "--json"],
        &["curate", "--auto-approve"],
        &["catalog", "list"],
        &["catalog", "list", "--json"],
        &["catalog", "export", "out"],
        &["decisions", "list"],
        &["decisions", "list", "--json"],
        &["decisions", "flush"],
    ] {
        show(&machine, args);
    }
    insta::assert_snapshot!("nothing", seen);
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn programs_get_the_fields_that_are_promised() {
    let machine = machine();
    let found = json_of(&machine, &["detect"]);
    assert_eq!(keys(&found), ["candidates", "schema", "sessions"]);
    assert_eq!((found["schema"].as_str(), found["sessions"].as_u64()), (Some("retro.detect/1"), Some(8)));
    let candidates = found["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 3, "{found:#}");
    for one in candidates {
        let named = "agents candidates cross_agent evidence_refs first_seen frequency impact key last_seen locus new \
            polarity repos resolutions score sessions title type types why";
        let named: Vec<&str> = named.split_whitespace().filter(|name| *name != "candidates").collect();
        assert_eq!(keys(one), named);
        assert_eq!(keys(&one["impact"]), ["minutes", "tokens", "usd"]);
        assert_eq!(keys(&one["sessions"][0]), ["agent", "session_id"]);
        for known in one["resolutions"].as_array().unwrap() {
            assert_eq!(keys(known), ["evidence_refs", "text", "times"]);
        }
        assert_eq!(one["new"], true);
        // Every claim has an address that the program can show.
        for address in one["evidence_refs"].as_array().unwrap() {
            let (session, event) = address.as_str().unwrap().split_once('#').unwrap();
            let events = run(&machine, &["--no-sync", "events", session.split_once('/').unwrap().1]);
            assert!(events.stdout.contains(&format!("\"{event}\"")), "{address}");
        }
    }
    let port = &candidates[0];
    assert_eq!((port["cross_agent"].as_bool(), port["frequency"].as_u64()), (Some(true), Some(3)));
    assert_eq!(port["agents"], json!(["claude", "codex"]));
    assert_eq!(port["repos"], json!(["billing", "portal", "shop"]));
    assert_eq!(port["resolutions"][0]["text"], "ran fuser -k 3000/tcp");
    assert_eq!(port["resolutions"][0]["times"], 3);

    let before = json_of(&machine, &["curate"]);
    assert_eq!(keys(&before), ["duplicates", "promoted", "rejected", "schema", "skipped"]);
    assert_eq!(before["skipped"].as_array().unwrap().len(), 3, "without a person, it only says what is open");
    assert_eq!(json_of(&machine, &["catalog", "list"])["patterns"], json!([]));
    let done = json_of(&machine, &["curate", "--auto-approve"]);
    assert_eq!(ids(&done["promoted"]).len(), 3, "{done:#}");
    assert!(done["promoted"].as_array().unwrap().iter().all(|row| row["reason"].is_string()));

    let catalog = json_of(&machine, &["catalog", "list"]);
    assert_eq!(keys(&catalog), ["folder", "patterns", "schema", "unreadable"]);
    for pattern in catalog["patterns"].as_array().unwrap() {
        assert_eq!(pattern["status"], "provisional");
        let is_solved = !pattern["resolutions"].as_array().unwrap().is_empty();
        assert!(is_solved || pattern["distribution_ready"] == false, "{pattern:#}");
        let id = pattern["id"].as_str().unwrap();
        let shown = json_of(&machine, &["catalog", "show", id]);
        assert_eq!(shown["provenance"]["source_key"], id);
        for agent in ["claude", "codex", "grok"] {
            let body = shown["hints"][agent]["body"].as_str().unwrap();
            assert!(body.contains(shown["title"].as_str().unwrap()), "{body}");
        }
        assert_eq!(json_of(&machine, &["catalog", "history", id])["versions"].as_array().unwrap().len(), 1);
    }
    let decided = json_of(&machine, &["decisions", "list"]);
    assert_eq!(decided["decisions"].as_array().unwrap().len(), 3);
    assert_eq!(decided["waiting"].as_array().unwrap().len(), 3);
    assert_eq!(json_of(&machine, &["detect"])["candidates"][0]["new"], false);
}

#[test]
fn a_second_run_promotes_nothing_and_writes_no_file() {
    let machine = machine();
    assert_eq!(ids(&json_of(&machine, &["curate", "--auto-approve"])["promoted"]).len(), 3);
    let before = files(machine.root());
    let again = json_of(&machine, &["curate", "--auto-approve"]);
    assert_eq!((ids(&again["promoted"]).len(), ids(&again["skipped"]).len()), (0, 3));
    let said = answered(&machine, &["curate"], "a\na\na\n");
    assert!(said.stderr.contains("Nothing waits for a decision."), "{}", said.all());
    assert_eq!(files(machine.root()), before);
}

#[test]
fn a_person_decides_one_by_one_through_a_pipe() {
    let machine = machine();
    // Approve, reject, take that back, discuss, approve in other words.
    let said = answered(&machine, &["curate"], "a\nr\nu\nd\ne\nLocked migrations\nkill the other one\n\n");
    fits_80(&said);
    insta::assert_snapshot!("curate_pipe", said.all());
    let decided = json_of(&machine, &["decisions", "list"]);
    let made: Vec<&str> = decided["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["decision"].as_str().unwrap())
        .collect();
    assert_eq!(made, ["approved", "rejected", "undone", "discussed", "approved"]);
    let catalog = json_of(&machine, &["catalog", "list"]);
    let patterns = catalog["patterns"].as_array().unwrap();
    assert_eq!(patterns.len(), 2);
    assert!(patterns.iter().all(|one| one["status"] == "approved"));
    let own = patterns.iter().find(|one| one["title"] == "Locked migrations").expect("the person's words");
    assert_eq!(own["resolutions"][0]["text"], "kill the other one");
    // What is discussed is asked again, and nothing else.
    let said = answered(&machine, &["curate"], "s\n");
    assert_eq!(said.stderr.matches("approve (a)").count(), 1, "{}", said.all());
    // The end of input ends it without a word about the rest.
    assert_eq!(answered(&machine, &["curate"], "").code, 0);
}

#[test]
fn a_reject_comes_back_only_when_its_evidence_changed() {
    let machine = machine();
    assert_eq!(answered(&machine, &["curate"], "r\nr\nr\n").code, 0);
    assert!(answered(&machine, &["curate"], "").stderr.contains("Nothing waits"));
    let rejected = json_of(&machine, &["curate", "--auto-approve"]);
    assert_eq!(ids(&rejected["rejected"]).len(), 3, "{rejected:#}");
    meet(&machine, 21, ("claude", "shop", LOCK));
    sync(&machine);
    let said = answered(&machine, &["curate"], "s\n");
    assert_eq!(said.stderr.matches("approve (a)").count(), 1, "{}", said.all());
    assert!(said.stdout.contains("lock timeout"), "{}", said.all());
    // The gate does not overrule a person.
    let rejected = json_of(&machine, &["curate", "--auto-approve"]);
    assert_eq!((ids(&rejected["promoted"]).len(), ids(&rejected["rejected"]).len()), (0, 3));
}

/// True while a terminal hands over whole lines.
fn takes_lines(terminal: &std::fs::File) -> bool {
    nix::sys::termios::tcgetattr(terminal)
        .is_ok_and(|now| now.local_flags.contains(nix::sys::termios::LocalFlags::ICANON))
}

/// Decides with single keys, as on a terminal.
#[cfg(unix)]
fn on_a_terminal(machine: &Machine, keys: &str) -> Answer {
    use std::io::Read;
    let pty = nix::pty::openpty(None, None).unwrap();
    let mut command = command(machine, &["curate"]);
    command.stdin(Stdio::from(pty.slave)).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut out = child.stdout.take().unwrap();
    let stdout = std::thread::spawn(move || {
        let mut text = String::new();
        out.read_to_string(&mut text).unwrap();
        text
    });
    let mut keyboard = std::fs::File::from(pty.master);
    let (mut err, mut text, mut byte) = (child.stderr.take().unwrap(), String::new(), [0_u8; 1]);
    let mut keys = keys.bytes();
    while err.read(&mut byte).unwrap() == 1 {
        text.push(char::from(byte[0]));
        // A key is pressed when the program has asked.
        if text.ends_with("? ") || text.ends_with("keeps it): ") {
            let next = keys.next();
            // One key is read without its line: the terminal says when.
            let is_key = !matches!(next, Some(b'\n' | b'"'));
            while is_key && takes_lines(&keyboard) && child.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            match next {
                // A line, where words are asked for.
                Some(b'\n') => keyboard.write_all(b"\n").unwrap(),
                Some(b'"') => {
                    let words: Vec<u8> = keys.by_ref().take_while(|key| *key != b'"').collect();
                    keyboard.write_all(&[words.as_slice(), b"\n"].concat()).unwrap();
                }
                Some(key) => keyboard.write_all(&[key]).unwrap(),
                None => keyboard.write_all(b"q").unwrap(),
            }
        }
    }
    let code = child.wait().unwrap().code().unwrap();
    Answer { code, stdout: stdout.join().unwrap(), stderr: text }
}

#[cfg(unix)]
#[test]
fn a_person_decides_with_single_keys_on_a_terminal() {
    let machine = machine();
    let said = on_a_terminal(&machine, "sruda");
    assert_eq!(said.code, 0, "{}", said.all());
    let decided = json_of(&machine, &["decisions", "list"]);
    let made: Vec<&str> = decided["decisions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["decision"].as_str().unwrap())
        .collect();
    assert_eq!(made, ["rejected", "undone", "discussed", "approved"], "{}", said.all());
    let said = on_a_terminal(&machine, "e\"Mine\"\n\nu");
    assert_eq!(said.code, 0, "{}", said.all());
    let titles: Vec<Value> = json_of(&machine, &["catalog", "list"])["patterns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["title"].clone())
        .collect();
    assert_eq!(titles.len(), 1, "{titles:?}: what was edited was taken back, {}", said.all());
    // Ctrl-C ends it like `q`; what was decided stays.
    assert_eq!(on_a_terminal(&machine, "\u{3}").code, 0);
}

#[test]
fn several_that_decide_at_once_decide_once() {
    let machine = machine();
    let start = || {
        let mut command = command(&machine, &["curate", "--auto-approve", "--json"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let running: Vec<_> = (0..4).map(|_| start()).collect();
    let mut promoted = Vec::new();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        promoted.extend(ids(&serde_json::from_slice::<Value>(&output.stdout).unwrap()["promoted"]));
    }
    promoted.sort();
    let distinct: BTreeSet<&String> = promoted.iter().collect();
    assert_eq!((promoted.len(), distinct.len()), (3, 3), "each by one of them");
    let decided = json_of(&machine, &["decisions", "list"]);
    assert_eq!(decided["decisions"].as_array().unwrap().len(), 3);
    assert_eq!(decided["waiting"].as_array().unwrap().len(), 3);
    let patterns = json_of(&machine, &["catalog", "list"]);
    assert!(patterns["patterns"].as_array().unwrap().iter().all(|one| one["version"] == "1.0.0"));
    assert_eq!(run(&machine, &["verify", "--deep"]).code, 0);
}

#[cfg(unix)]
#[test]
fn a_sink_gets_each_decision_once_when_it_is_there_again() {
    let machine = machine();
    let received = machine.home().join("received.jsonl");
    let sink = |word: &str| {
        configure(
            &machine,
            &format!("[curate]\nsink = [\"/bin/sh\", \"-c\", \"{word} >> {}\"]\n", received.display()),
        );
    };
    sink("exit 3; /bin/cat");
    let done = run(&machine, &["curate", "--auto-approve"]);
    assert_eq!(done.code, 0, "{}", done.all());
    assert!(done.stderr.contains("The sink did not take 3 decisions"), "{}", done.all());
    let failed = run(&machine, &["decisions", "flush"]);
    assert_eq!(failed.code, 1);
    assert!(
        failed.stderr.contains("0 sent, 3 left") && failed.stderr.contains("/bin/sh"),
        "{}",
        failed.all()
    );
    sink("/bin/cat");
    let flushed = json_of(&machine, &["decisions", "flush"]);
    assert_eq!((flushed["sent"].as_u64(), flushed["left"].as_u64()), (Some(3), Some(0)));
    assert_eq!(json_of(&machine, &["decisions", "flush"])["sent"], 0);
    // And what is decided from now on goes there by itself.
    meet(&machine, 22, ("grok", "shop", PORT));
    sync(&machine);
    run(&machine, &["curate", "--auto-approve"]);
    let got: Vec<Value> = std::fs::read_to_string(&received)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].clone())
        .collect();
    let decided = json_of(&machine, &["decisions", "list"]);
    let all: Vec<Value> =
        decided["decisions"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!((got.len(), &got), (4, &all), "each once, in order");
    assert_eq!(decided["waiting"], json!([]));
}

#[test]
fn a_catalog_in_git_may_be_edited_merged_and_thinned_out() {
    let machine = machine();
    let folder = machine.home().join("notes/patterns");
    configure(&machine, "[curate]\ncatalog_dir = \"~/notes/patterns\"\n");
    run(&machine, &["curate", "--auto-approve"]);
    let git = |args: &[&str]| {
        let mut git = Command::new("git");
        git.current_dir(&folder).args(["-c", "user.name=A", "-c", "user.email=a@b.c"]).args(args);
        git.env("HOME", machine.home()).output().is_ok_and(|done| done.status.success())
    };
    if !git(&["init", "-q", "-b", "main", "."]) {
        println!("skipped: there is no git");
        return;
    }
    let named = |at: usize| {
        let catalog = json_of(&machine, &["catalog", "list"]);
        let id = catalog["patterns"][at]["id"].as_str().unwrap().to_owned();
        (folder.join(format!("{id}.json")), id)
    };
    let reword = |path: &Path, title: &str| {
        let mut pattern: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        pattern["title"] = json!(title);
        pattern["owner"] = json!("the platform team");
        std::fs::write(path, serde_json::to_string_pretty(&pattern).unwrap() + "\n").unwrap();
    };
    let (edited, id) = named(0);
    // Keys are sorted and each has its line, so that git merges what two people change.
    let text = std::fs::read_to_string(&edited).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text, serde_json::to_string_pretty(&value).unwrap() + "\n");
    assert!(git(&["add", "."]) && git(&["commit", "-qm", "All"]) && git(&["branch", "other"]));
    reword(&edited, "Ours");
    assert!(git(&["commit", "-qam", "Ours"]) && git(&["checkout", "-q", "other"]));
    reword(&edited, "Theirs");
    assert!(git(&["commit", "-qam", "Theirs"]) && !git(&["merge", "-q", "main"]), "a conflict");

    let listed = run(&machine, &["catalog", "list"]);
    assert_eq!(listed.code, 1);
    assert!(
        listed.stderr.contains("both sides of a merge") && listed.stderr.contains("hint:"),
        "{}",
        listed.all()
    );
    let conflict = std::fs::read(&edited).unwrap();
    assert_eq!(json_of(&machine, &["curate", "--auto-approve"])["promoted"], json!([]));
    assert_eq!(std::fs::read(&edited).unwrap(), conflict, "left alone");
    assert!(git(&["checkout", "-q", "--ours", "."]) && git(&["commit", "-qam", "Merged"]));

    // Words and keys of a person stay when more is seen.
    assert_eq!(json_of(&machine, &["catalog", "show", &id])["title"], "Theirs");
    for (number, met) in [PORT, LOCK, MET[5].2].into_iter().enumerate() {
        meet(&machine, 23 + number, ("codex", "shop", met));
    }
    sync(&machine);
    let (gone, gone_id) = named(1);
    std::fs::remove_file(&gone).unwrap();
    let done = json_of(&machine, &["curate", "--auto-approve"]);
    let shown = json_of(&machine, &["catalog", "show", &id]);
    assert_eq!(
        (shown["title"].as_str(), shown["owner"].as_str()),
        (Some("Theirs"), Some("the platform team"))
    );
    assert!(ids(&done["promoted"]).contains(&id), "{done:#}");
    assert!(
        !gone.exists() && !ids(&done["promoted"]).contains(&gone_id),
        "what a person deleted stays deleted"
    );

    // A file under another name, one that is no pattern, and one of nobody.
    let (kept, _) = named(0);
    std::fs::rename(&kept, folder.join("renamed.json")).unwrap();
    std::fs::write(folder.join("half.json"), "{\"id\": \"half\"").unwrap();
    std::fs::write(folder.join("README.md"), "What we learned.\n").unwrap();
    let catalog = json_of(&machine, &["catalog", "list"]);
    let bad: Vec<&str> = catalog["unreadable"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["path"].as_str().unwrap().rsplit('/').next().unwrap())
        .collect();
    assert_eq!(bad, ["half.json", "renamed.json"]);
    assert!(
        catalog["unreadable"][1]["reason"].as_str().unwrap().contains("its name should be"),
        "{catalog:#}"
    );
}

#[test]
fn keys_of_the_program_before_are_accepted() {
    let machine = machine();
    configure(
        &machine,
        "[curate]\nreview_log = \"log\"\ndecision_queue = \"queue\"\n[curate.gate]\nmin_sessions = 9\n",
    );
    let done = run(&machine, &["curate", "--auto-approve"]);
    assert_eq!(done.code, 0, "{}", done.all());
    assert!(done.stderr.contains("`curate.review_log` has no effect here"), "{}", done.all());
    assert!(done.stderr.contains("0 written down"), "{}", done.all());
    configure(&machine, "[curate]\nreview_lag = \"log\"\n");
    assert_eq!(run(&machine, &["curate", "--auto-approve"]).code, 2);
}
