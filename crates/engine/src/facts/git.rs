//! Running git in a folder that may be hostile.
//!
//! Only commands that read are run, by their full path, without a shell, with our own environment
//! and with limits on time and output. Settings that could start a program are switched off; the
//! user's and the system's configuration are not read.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::World;

/// Time for one command. After that its whole process group is ended.
const TIME_MAX: Duration = Duration::from_secs(8);
/// Bytes of output of one command.
const OUTPUT_BYTES_MAX: u64 = 32 * 1024 * 1024;
/// Number of parent folders searched for a repository.
const DEPTH_MAX: usize = 64;

/// Options before every command: no locks, no pager, no program that git starts or fetches with.
const SAFE: &[&str] = &[
    "--no-optional-locks",
    "--no-pager",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.pager=cat",
    "-c",
    "core.quotePath=false",
    "-c",
    "diff.external=",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "safe.bareRepository=explicit",
];

/// The whole environment of git.
const ENVIRONMENT: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

/// The reason why git gave no answer, as readings show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failed {
    Timeout,
    Error,
}

impl Failed {
    pub(super) fn reason(self) -> &'static str {
        match self {
            Failed::Timeout => "git_timeout",
            Failed::Error => "git_error",
        }
    }
}

/// Git in one folder.
pub(super) struct Git {
    program: PathBuf,
    pub folder: PathBuf,
    /// Windows cannot start programs without it.
    system_root: Option<String>,
    time_max: Duration,
}

/// Where git is: in an absolute folder of the user's `PATH`.
pub(super) fn find(world: &World) -> Option<PathBuf> {
    let path = (world.own_env)("PATH")?;
    let name = format!("git{}", std::env::consts::EXE_SUFFIX);
    let folders: Vec<PathBuf> = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
    folders.into_iter().map(|folder| folder.join(&name)).find(|path| path.is_file())
}

/// The folder at or above this one that holds a repository.
pub(super) fn top_of(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors().take(DEPTH_MAX);
    above.find(|folder| folder.join(".git").symlink_metadata().is_ok()).map(Path::to_owned)
}

impl Git {
    pub(super) fn new(world: &World, program: PathBuf, folder: PathBuf) -> Git {
        let system_root = (world.own_env)("SystemRoot").filter(|_| cfg!(windows));
        Git { program, folder, system_root, time_max: TIME_MAX }
    }

    /// Runs one command and returns its output.
    pub(super) fn run(&self, arguments: &[&str], input: &str) -> Result<Vec<u8>, Failed> {
        let deadline = Instant::now() + self.time_max;
        let mut command = Command::new(&self.program);
        command.args(SAFE).args(arguments).current_dir(&self.folder);
        command.env_clear().envs(ENVIRONMENT.iter().copied());
        if let Some(root) = &self.system_root {
            command.env("SystemRoot", root);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        own_group(&mut command);
        let mut child = command.spawn().map_err(|_| Failed::Error)?;
        let result = talk(&mut child, input, deadline);
        if result.is_err() {
            end_group(&mut child);
        }
        let status = wait(&mut child, deadline);
        let (output, status) = (result?, status?);
        if status { Ok(output) } else { Err(Failed::Error) }
    }

    /// Runs one command and returns its output as lines.
    pub(super) fn lines(&self, arguments: &[&str], input: &str) -> Result<Vec<String>, Failed> {
        let output = self.run(arguments, input)?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }
}

/// Writes the input and reads the output, each on its own thread, because git may wait for either.
fn talk(child: &mut Child, input: &str, deadline: Instant) -> Result<Vec<u8>, Failed> {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Failed::Error);
    };
    let input = input.to_owned();
    // A program that does not read its input ends this with an error that means nothing.
    std::thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = Vec::new();
        let read = stdout.take(OUTPUT_BYTES_MAX + 1).read_to_end(&mut output);
        drop(sender.send(read.map(|_| output)));
    });
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Ok(output)) if output.len() as u64 <= OUTPUT_BYTES_MAX => Ok(output),
        Ok(_) => Err(Failed::Error),
        Err(_) => Err(Failed::Timeout),
    }
}

/// Waits for the end. Returns whether the program succeeded.
fn wait(child: &mut Child, deadline: Instant) -> Result<bool, Failed> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status.success()),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(1)),
            _ => {
                end_group(child);
                drop(child.wait());
                return Err(Failed::Timeout);
            }
        }
    }
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    std::os::unix::process::CommandExt::process_group(command, 0);
}

#[cfg(unix)]
fn end_group(child: &mut Child) {
    if let Ok(group) = i32::try_from(child.id()) {
        // It may have ended by itself.
        let _gone = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

#[cfg(not(unix))]
fn end_group(child: &mut Child) {
    drop(child.kill());
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_that_never_ends_is_ended_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let program = dir.path().join("git");
        // The child holds the output open.
        std::fs::write(&program, "#!/bin/sh\nsleep 600 &\nsleep 600\n").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let git = Git {
            program,
            folder: dir.path().to_owned(),
            system_root: None,
            time_max: Duration::from_millis(50),
        };
        assert_eq!(git.run(&["log"], "x"), Err(Failed::Timeout));
    }

    #[test]
    fn only_absolute_folders_are_searched_for_git() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("git"), "").unwrap();
        let world = |path: String| {
            let mut world = World::at(dir.path());
            world.own_env = std::sync::Arc::new(move |name| (name == "PATH").then(|| path.clone()));
            world
        };
        assert_eq!(find(&World::at(dir.path())), None);
        assert_eq!(find(&world(".:bin".to_owned())), None);
        assert_eq!(find(&world(format!(".:{}", dir.path().display()))), Some(dir.path().join("git")));
    }
}
