//! No answer of the program shows a secret that stands in a session, to people
//! or as JSON, before the session was captured or after.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

// The same sessions whose secrets the engine must keep inside raw files.
#[path = "../../engine/tests/planted_secrets/mod.rs"]
mod planted_secrets;

use planted_secrets::{Planted, Plot, SESSION, recorded, seen};
use retro::agents::{AGENTS, by_name, script::Script};
use retro::store::{RealDisk, Store};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

struct User {
    /// Where our own files lie, and the logs unless they lie elsewhere.
    own: tempfile::TempDir,
    home: PathBuf,
}

impl User {
    fn new(home: Option<PathBuf>) -> User {
        let own = tempfile::tempdir().unwrap();
        User { home: home.unwrap_or(own.path().to_owned()), own }
    }

    fn root(&self) -> PathBuf {
        self.own.path().join("store")
    }

    /// What a command prints, on both streams.
    fn run(&self, args: &[&str]) -> Vec<u8> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retro"));
        command.arg("--home").arg(&self.home).arg("--root").arg(self.root()).args(args);
        command.env_clear().env("HOME", self.own.path()).env("TZ", "UTC").current_dir(self.own.path());
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        [output.stdout, output.stderr].concat()
    }

    /// Every command that tells something of sessions, tried before and after a sync.
    fn check(&self, name: &str, planted: &[Planted]) {
        let mut bytes = 0;
        let mut look = |args: &[&str]| {
            let said = self.run(args);
            assert_eq!(seen(planted, &said), [""; 0], "{name}: retro {}", args.join(" "));
            bytes += said.len();
        };
        let general: &[&[&str]] = &[
            &[],
            &["list", "--limit", "0", "--children"],
            &["list", "--verbose"],
            &["list", "--json"],
            &["--json"],
            &["doctor"],
            &["usage", "session", "--no-sync"],
            &["usage", "project", "--json", "--no-sync"],
            &["secrets", "--no-sync"],
            &["secrets", "--json", "--no-sync"],
            &["sync", "--verbose"],
        ];
        look(&["list", "--limit", "0", "--children"]);
        look(&["list", "--json"]);
        look(&["sync", "--verbose", "--json"]);
        general.iter().for_each(|args| look(args));
        let store = Store::open(&self.root(), Arc::new(RealDisk)).unwrap();
        let keys = store.session_keys().unwrap();
        assert!(!keys.is_empty(), "{name} has no session");
        for key in &keys {
            for args in [
                &["show", &key.agent, &key.id, "--thinking"][..],
                &["show", &key.agent, &key.id, "--json"],
                &["events", &key.agent, &key.id],
                &["render", &key.agent, &key.id],
                &["raw", &key.agent, &key.id, "--list"],
                &["usage", "explain", &key.agent, &key.id, "--no-sync"],
            ] {
                look(args);
            }
            let rendered = std::fs::read(store.rendered_path(key)).unwrap();
            assert_eq!(seen(planted, &rendered), [""; 0], "{name}: the transcript of {key}");
        }
        assert!(bytes > 5_000, "{name}: only {bytes} bytes were printed");
    }
}

#[test]
fn no_answer_shows_what_we_planted() {
    for agent in AGENTS {
        let plot = Plot::for_agent(agent.name());
        let user = User::new(None);
        for (path, mut bytes) in agent.write(&Script::parse(&plot.script).unwrap()) {
            let path = user.home.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                plot.records
                    .iter()
                    .for_each(|record| bytes.extend_from_slice(format!("{record}\n").as_bytes()));
            }
            std::fs::write(path, bytes).unwrap();
        }
        user.check(agent.name(), &plot.planted);
        let raw = user.run(&["raw", agent.name(), SESSION]);
        assert!(!seen(&plot.planted, &raw).is_empty(), "{}: the secrets were never there", agent.name());
    }
}

#[test]
fn no_answer_shows_what_others_planted() {
    for (name, home, planted) in recorded() {
        let agent = Path::new(&name).iter().next().unwrap().to_string_lossy().into_owned();
        match by_name(&agent) {
            Some(_) => User::new(Some(home)).check(&name, &planted),
            None => println!("{name}: retro does not read it yet"),
        }
    }
}
