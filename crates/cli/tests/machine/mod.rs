//! A machine with the sessions of the demo on it, and commands run on it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A home, a store and a folder for programs that stand in for others.
pub struct Machine {
    dir: tempfile::TempDir,
    home: PathBuf,
    root: PathBuf,
}

/// What a command answered, without what differs from run to run.
pub struct Answer {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    pub fn all(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

impl Machine {
    /// Nothing on it.
    pub fn empty() -> Machine {
        let dir = tempfile::tempdir().unwrap();
        let (home, root) = (dir.path().join("home"), dir.path().join("store"));
        std::fs::create_dir_all(&home).unwrap();
        Machine { dir, home, root }
    }

    /// The sessions of `retro demo`, captured.
    pub fn with_demo() -> Machine {
        let mut machine = Machine::empty();
        let output = Command::new(env!("CARGO_BIN_EXE_retro"))
            .args(["demo", "--keep", "--json"])
            .env_clear()
            .env("HOME", &machine.home)
            .env("TMPDIR", machine.dir.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let kept = std::fs::read_dir(machine.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.file_name().unwrap().to_string_lossy().starts_with("retro-demo-"))
            .expect("the kept folder");
        (machine.home, machine.root) = (kept.join("home"), kept.join("store"));
        machine
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.home.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    /// A program that stands in for the one of this name.
    #[cfg(unix)]
    pub fn stand_in(&self, name: &str, script: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.dir.path().join("bin").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retro"));
        command.arg("--root").arg(&self.root).args(args);
        command.env_clear().env("HOME", &self.home).env("TZ", "UTC").current_dir(&self.home);
        // Only stand-ins: no test may reach the schedulers of the machine it runs on.
        command.env("PATH", self.dir.path().join("bin"));
        command.stdin(Stdio::null());
        command
    }

    pub fn run(&self, args: &[&str]) -> Answer {
        self.answer(self.command(args).output().unwrap())
    }

    /// As on a terminal of so many columns.
    pub fn run_at(&self, columns: usize, args: &[&str]) -> Answer {
        self.answer(self.command(args).env("COLUMNS", columns.to_string()).output().unwrap())
    }

    pub fn json(&self, args: &[&str]) -> serde_json::Value {
        let answer = self.run(&[args, &["--json"]].concat());
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {}", answer.all()))
    }

    /// The same, where the command has something to complain about.
    pub fn json_at(&self, code: i32, args: &[&str]) -> serde_json::Value {
        let answer = self.run(&[args, &["--json"]].concat());
        assert_eq!(answer.code, code, "{}", answer.all());
        serde_json::from_str(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {}", answer.all()))
    }

    pub fn answer(&self, output: Output) -> Answer {
        let clean = |bytes: &[u8]| self.clean(std::str::from_utf8(bytes).unwrap());
        Answer {
            code: output.status.code().unwrap(),
            stdout: clean(&output.stdout),
            stderr: clean(&output.stderr),
        }
    }

    fn clean(&self, text: &str) -> String {
        let mut text = text.replace(&self.home.display().to_string(), "~");
        text = text.replace(&self.root.display().to_string(), "STORE");
        text.replace(env!("CARGO_BIN_EXE_retro"), "retro")
    }
}
