//! Other programs to measure beside, installed into `target/peers`.
//!
//! Versions are named here, so that a figure can be made again. A peer that
//! cannot be installed is said to be absent, and what needs it is skipped. The
//! registries of npm and PyPI are the only network this ever uses, and only on
//! the first run; the peers themselves are told to stay offline.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;

/// The newest version whose program for Linux was published.
pub(crate) const CCUSAGE_VERSION: &str = "20.0.24";
pub(crate) const RETRO_AI_VERSION: &str = "0.3.0";
const AGENTSVIEW_VERSION: &str = "0.46.1";

/// A program that does a part of what ours does.
#[derive(Debug, Clone)]
pub(crate) struct Peer {
    /// Its name and version.
    pub(crate) name: String,
    /// Where it lies.
    pub(crate) program: PathBuf,
}

/// `ccusage`: the program itself, without the script in front of it that npm
/// starts in Node.
pub(crate) fn ccusage(repository: &Repository) -> Option<Peer> {
    let folder = repository.target().join("peers/ccusage");
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("macos", "aarch64") => "darwin-arm64",
        ("macos", _) => "darwin-x64",
        (_, "aarch64") => "linux-arm64",
        _ => "linux-x64",
    };
    let program = folder.join(format!("node_modules/@ccusage/ccusage-{platform}/bin/ccusage"));
    let name = format!("ccusage {CCUSAGE_VERSION}");
    installed(name, program, || {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"]).arg(&folder);
        vec![with(npm, &[&format!("ccusage@{CCUSAGE_VERSION}")])]
    })
}

/// `retro-ai`: the program in Python that ours grew out of.
pub(crate) fn retro_ai(repository: &Repository) -> Option<Peer> {
    from_pypi(repository, "retro-ai", RETRO_AI_VERSION, "retro")
}

/// `agentsview`: a server with a page for sessions of many agents.
pub(crate) fn agentsview(repository: &Repository) -> Option<Peer> {
    from_pypi(repository, "agentsview", AGENTSVIEW_VERSION, "agentsview")
}

/// A program of a package of PyPI, in an environment of its own.
fn from_pypi(repository: &Repository, package: &str, version: &str, program: &str) -> Option<Peer> {
    let folder = repository.target().join("peers").join(package);
    let (python, program) = (folder.join("bin/python"), folder.join("bin").join(program));
    installed(format!("{package} {version}"), program, || {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv"]).arg(&folder);
        let pip = with(Command::new(&python), &["-m", "pip", "install", "--quiet"]);
        vec![venv, with(pip, &[&format!("{package}=={version}")])]
    })
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}

/// The peer, if it is there or can be installed.
fn installed(name: String, program: PathBuf, install: impl FnOnce() -> Vec<Command>) -> Option<Peer> {
    if !program.is_file() {
        eprintln!("installing {name} into target/peers");
        for mut command in install() {
            if let Err(failure) = run::run(&mut command) {
                println!("{name} is absent, what needs it is skipped: {failure}");
                return None;
            }
        }
    }
    match make_executable(&program) {
        Ok(()) => Some(Peer { name, program }),
        Err(failure) => {
            println!("{name} is absent, what needs it is skipped: {failure}");
            None
        }
    }
}

/// npm's package has its program without the mark that says so.
#[cfg(unix)]
fn make_executable(program: &Path) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(program).map_err(|error| Failure::at(program, error))?.permissions().mode();
    if mode & 0o111 == 0o111 {
        return Ok(());
    }
    let executable = std::fs::Permissions::from_mode(mode | 0o111);
    std::fs::set_permissions(program, executable).map_err(|error| Failure::at(program, error))
}

#[cfg(not(unix))]
fn make_executable(program: &Path) -> Result<(), Failure> {
    std::fs::metadata(program).map(drop).map_err(|error| Failure::at(program, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_installed_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        let fails = || vec![Command::new("no-such-program-here")];
        assert!(installed("a peer".into(), program.clone(), fails).is_none());
        assert!(installed("a peer".into(), program.clone(), Vec::new).is_none(), "installed, and not there");
        std::fs::write(&program, "").unwrap();
        let peer =
            installed("a peer".into(), program, || vec![Command::new("no-such-program-here")]).unwrap();
        assert_eq!(peer.name, "a peer");
    }
}
