//! Tests that a build reads and writes little when one session, or none, changed.

use retro::engine::{Config, SyncOptions, World, sync};
use retro::model::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, read_dir};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use super::{Build, Built, Options, build};
use crate::chunk::unpacked;
use crate::session::Redact;

/// A home with logs, a store and a folder.
struct Place {
    dir: tempfile::TempDir,
    config: Config,
    options: Options,
    /// The current time, in milliseconds since 1970.
    now_ms: i64,
}

const NOW_MS: i64 = 1_772_445_600_000;

impl Place {
    /// Creates this many sessions of two turns each, over two months.
    fn new(sessions: u32) -> Place {
        let dir = tempfile::tempdir().unwrap();
        let config = Config::for_root(dir.path().join("store"));
        let options =
            Options { out: dir.path().join("out"), tz: Some(jiff::tz::TimeZone::UTC), ..Options::default() };
        let place = Place { dir, config, options, now_ms: NOW_MS };
        for n in 0..sessions {
            place.turn(n, 0);
            place.turn(n, 1);
        }
        place
    }

    fn world(&self) -> World {
        World::at(self.dir.path().join("home")).with_clock(Timestamp::from_millis(self.now_ms).unwrap())
    }

    fn log(&self, session: u32) -> PathBuf {
        self.dir.path().join(format!("home/.claude/projects/-home-dev-shop/made-{session}.jsonl"))
    }

    fn append(&self, session: u32, text: &str) {
        let path = self.log(session);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = File::options().append(true).create(true).open(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        // Old enough that the session is over.
        let turns = std::fs::read_to_string(&path).unwrap().lines().count() as u64;
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_770_000_000 + turns)).unwrap();
    }

    /// A turn of a session: a message, a failing call, an answer.
    fn turn(&self, session: u32, turn: u32) {
        let id = format!("made-{session}");
        let start = NOW_MS - 50 * 86_400_000 + i64::from(session) * 86_400_000 * 5 + i64::from(turn) * 60_000;
        let mut text = String::new();
        let mut line = |n: i64, kind: &str, message: Value| {
            let at = Timestamp::from_millis(start + n * 1_000).unwrap();
            let one = json!({
                "type": kind, "uuid": format!("{id}-{turn}-{n}"), "isSidechain": false, "sessionId": id,
                "parentUuid": (n > 0).then(|| format!("{id}-{turn}-{}", n - 1)), "requestId": format!("{id}r{turn}{n}"),
                "cwd": "/home/dev/shop", "version": "2.0.0", "timestamp": at, "message": message,
            });
            text.push_str(&format!("{one}\n"));
        };
        let usage = json!({"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 3});
        let said = |n: u32, content: Value| {
            json!({
                "id": format!("{id}m{turn}{n}"), "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "usage": usage,
            })
        };
        line(0, "user", json!({"role": "user", "content": format!("mend widget {turn} of {session}")}));
        let call = json!([{"type": "tool_use", "id": format!("t{turn}"), "name": "Bash", "input": {"command": "make check"}}]);
        line(1, "assistant", said(1, call));
        let result = json!([{"type": "tool_result", "tool_use_id": format!("t{turn}"), "is_error": true, "content": "error: wrong shape"}]);
        line(2, "user", json!({"role": "user", "content": result}));
        line(3, "assistant", said(3, json!([{"type": "text", "text": "It has the wrong shape."}])));
        self.append(session, &text);
    }

    fn sync(&self) {
        sync(&self.world(), &self.config, &SyncOptions::default(), &|_| {}).unwrap();
    }

    fn build(&self) -> Built {
        self.build_to(&self.options.out)
    }

    fn build_to(&self, out: &Path) -> Built {
        let options = Options { out: out.to_owned(), ..self.options.clone() };
        build(&Build { world: &self.world(), config: &self.config, options: &options }, &|_, _| {}).unwrap()
    }

    /// The content of every file in the folder.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        walk(&self.options.out, &self.options.out, &mut found);
        found
    }

    fn chunk(&self, name: &str) -> Value {
        let script = std::fs::read(self.options.out.join(format!("data/{name}.js"))).unwrap();
        serde_json::from_slice(&unpacked(&script).unwrap()).unwrap()
    }
}

fn walk(root: &Path, at: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in read_dir(at).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(root, &path, found);
        } else {
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            found.insert(name, std::fs::read(&path).unwrap());
        }
    }
}

/// Names of files that differ.
fn differ(before: &BTreeMap<String, Vec<u8>>, after: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = before.keys().chain(after.keys()).collect::<std::collections::BTreeSet<_>>();
    names.into_iter().filter(|name| before.get(*name) != after.get(*name)).cloned().collect()
}

#[test]
fn a_build_without_news_reads_no_session_and_writes_its_time() {
    let mut place = Place::new(8);
    place.sync();
    let first = place.build();
    assert_eq!((first.sessions, first.rebuilt, first.looked), (8, 8, 0));
    let before = place.files();
    let again = place.build();
    assert_eq!((again.sessions, again.rebuilt, again.looked, again.written), (8, 0, 0, 0));
    assert_eq!(differ(&before, &place.files()), Vec::<String>::new());
    place.now_ms += 60_000;
    let later = place.build();
    assert_eq!((later.rebuilt, later.looked, later.written), (0, 0, 1));
    assert_eq!(differ(&before, &place.files()), ["data/meta.js"]);
    assert_eq!(place.chunk("meta")["made_at"], json!(Timestamp::from_millis(place.now_ms).unwrap()));
}

#[test]
fn a_session_that_grew_costs_itself_and_what_is_over_all() {
    let place = Place::new(8);
    place.sync();
    place.build();
    let before = place.files();
    place.turn(3, 2);
    place.sync();
    let built = place.build();
    assert_eq!((built.rebuilt, built.looked), (1, 0));
    let [name] = built.changed.as_slice() else { panic!("{:?}", built.changed) };
    let month = place.chunk("meta")["months"].as_array().unwrap().len();
    assert!(month > 1, "sessions of one month show nothing");
    let others: Vec<String> = differ(&before, &place.files())
        .into_iter()
        .filter(|file| !file.contains(name.as_str()) && !file.starts_with("data/q/1/"))
        .collect();
    let expected =
        ["data/g/", "data/health.js", "data/meta.js", "data/q/sessions.js", "data/rows/", "state.json"];
    assert!(others.iter().all(|file| expected.iter().any(|part| file.starts_with(part))), "{others:?}");
    let months = |below: &str| others.iter().filter(|file| file.starts_with(below)).count();
    assert_eq!(months("data/rows/"), 1);
    assert!(months("data/g/") <= 1, "{others:?}");
}

#[test]
fn what_grew_bit_by_bit_is_what_is_built_at_once() {
    let mut place = Place::new(6);
    place.sync();
    place.build();
    for session in [1, 4] {
        place.turn(session, 2);
        place.sync();
        place.build();
    }
    let bit_by_bit = place.files();
    place.options.out = place.dir.path().join("at-once");
    place.build();
    // Word segments are split differently, and free space and time vary.
    let told = ["data/health.js", "data/meta.js", "state.json"];
    let ours = |name: &String| !name.starts_with("data/q/") && !told.contains(&name.as_str());
    let differ: Vec<String> = differ(&bit_by_bit, &place.files()).into_iter().filter(ours).collect();
    assert_eq!(differ, Vec::<String>::new());
}

#[test]
fn the_health_of_the_store_is_what_the_command_says() {
    let place = Place::new(4);
    place.append(2, "{this is no record\n");
    place.sync();
    place.build();
    let checks = |place: &Place| {
        let doctor = retro::views::doctor(&place.world(), &place.config).unwrap();
        let said = serde_json::to_value(doctor).unwrap()["checks"].clone();
        let shown = place.chunk("health")["doctor"]["checks"].clone();
        // How much of the disk is free changes by itself, and files are looked through once a day.
        let others = |list: &Value| -> Vec<Value> {
            list.as_array()
                .unwrap()
                .iter()
                .filter(|check| check["name"] != "disk" && check["name"] != "files")
                .cloned()
                .collect()
        };
        assert_eq!(others(&said), others(&shown));
        others(&shown).iter().filter(|check| check["name"] == "gaps").count()
    };
    assert_eq!(checks(&place), 1);
    place.append(0, "[\n");
    place.sync();
    place.build();
    assert_eq!(checks(&place), 2);
}

#[test]
fn a_folder_that_lost_a_file_gets_it_again() {
    let place = Place::new(3);
    place.sync();
    place.build();
    let before = place.files();
    for name in ["app.css", "data/health.js", "data/q/sessions.js"] {
        std::fs::remove_file(place.options.out.join(name)).unwrap();
        place.build();
        assert!(
            differ(&before, &place.files())
                .iter()
                .all(|file| file == "data/health.js" || file == "state.json")
        );
    }
}

#[test]
fn a_page_of_a_part_of_the_sessions_tells_of_the_health_of_all() {
    let mut place = Place::new(4);
    place.append(0, "{this is no record\n");
    place.sync();
    place.options.since = Some(Timestamp::from_millis(NOW_MS - 40 * 86_400_000).unwrap());
    let built = place.build();
    assert!(built.sessions < 4 && built.looked == 4 - built.sessions, "{built:?}");
    let checks = place.chunk("health")["doctor"]["checks"].clone();
    assert!(checks.as_array().unwrap().iter().any(|check| check["name"] == "gaps"));
    assert_eq!(place.build().looked, 0);
}

#[test]
fn a_strict_page_has_nothing_that_a_program_printed() {
    let mut place = Place::new(2);
    let hook = json!({
        "type": "attachment", "uuid": "hook-1", "parentUuid": "made-0-1-3", "isSidechain": false, "sessionId": "made-0",
        "cwd": "/home/dev/shop", "version": "2.0.0", "timestamp": Timestamp::from_millis(NOW_MS - 49 * 86_400_000).unwrap(),
        "attachment": {"type": "hook_success", "hookName": "x", "content": "error: wrong shape of the hook", "stdout": "error: wrong shape of the hook"},
    });
    place.append(0, &format!("{hook}\n"));
    place.sync();
    let printed = |place: &Place| {
        let holds = |bytes: &Vec<u8>| {
            let text = unpacked(bytes).unwrap_or_else(|| bytes.clone());
            String::from_utf8_lossy(&text).contains("error: wrong shape")
        };
        place.files().into_iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect::<Vec<_>>()
    };
    place.build();
    assert!(!printed(&place).is_empty(), "the other page shows what calls printed");
    place.options.redact = Redact::Strict;
    place.options.out = place.dir.path().join("strict");
    place.build();
    assert_eq!(printed(&place), Vec::<String>::new());
    let said = |bytes: Vec<u8>| {
        unpacked(&bytes).is_some_and(|text| String::from_utf8_lossy(&text).contains("It has the wrong shape"))
    };
    assert!(place.files().into_values().any(said), "what was said is there");
}
