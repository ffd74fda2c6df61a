//! The page of the dashboard: built again and compared, tried in a browser, photographed.
//!
//! Only who changes the page needs Node. Without it the program is built from the committed
//! assets, and the steps here say that they are skipped; in CI they may not be.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::bench::peers::{self, Peer};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;

/// Where the page is.
const PAGE: &str = "crates/web/page";

/// Where its built files are.
const ASSETS: &str = "crates/web/assets";

/// The first version of Node that the tools run on.
const NODE: (u32, u32) = (20, 19);

/// Builds the page and compares it with what is committed, then tries it in a browser, also
/// on the recorded sessions of `corpus`.
pub(crate) fn test(repository: &Repository, corpus: Option<&Path>) -> Result<(), Failure> {
    if !has_node() {
        return skip("Node 20.19 or newer and npm are not here: the page is not built again and not tried");
    }
    install(repository)?;
    compare(repository)?;
    if !PathBuf::from(browser()).is_file() {
        return skip("no Chromium is here (CHROMIUM names one): the page is not tried in a browser");
    }
    let program = repository.build_retro(false)?;
    let mut tests = npm(repository, &["test", "--silent"]);
    if let Some(corpus) = corpus {
        tests.env("RETRO_CORPUS", corpus);
    }
    run::run(tests.env("RETRO_BIN", program).env("CHROMIUM", browser()))
}

/// `cargo xtask page test`: that part of `cargo xtask test` alone.
pub(crate) fn try_page(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    test(repository, std::env::var_os("RETRO_CORPUS").as_deref().map(Path::new))
}

/// `cargo xtask page build`: builds the page into the committed assets.
pub(crate) fn build(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    install(repository)?;
    run::run(&mut npm(repository, &["run", "--silent", "build"]))
}

/// `cargo xtask page screenshots [--only NAMES]`: pictures of every view, or of those that are
/// named, from the demo's sessions.
pub(crate) fn screenshots(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    install(repository)?;
    let program = repository.build_retro(false)?;
    let mut node = Command::new("node");
    node.arg("screenshots.mjs").arg(repository.path("docs/images")).args(options.iter().skip(1));
    node.current_dir(repository.path(PAGE));
    run::run(node.env("RETRO_BIN", program).env("CHROMIUM", browser()))
}

/// `cargo xtask bench page`: the budgets of the page, measured in a browser.
pub(crate) fn bench(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let peers = [("RETRO_AI", peers::retro_ai(repository)), ("AGENTSVIEW", peers::agentsview(repository))];
    let text = measured(repository, options, &[], &peers)?;
    written(repository, options, "bench page", "The page", &text)
}

/// `cargo xtask trial page`: the same with very many and very large sessions, on which the
/// tests of the page must pass too.
pub(crate) fn trial(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let text = measured(repository, options, &["--large"], &[])?;
    written(repository, options, "trial page", "The page with very much to show", &text)?;
    match text.contains("| no |") {
        true => Err(Failure::new("a budget or a test of the page does not hold")),
        false => Ok(()),
    }
}

/// Runs the measurements. Peers are named to them by variables: `RETRO_AI` is the program,
/// `RETRO_AI_NAME` its name with the version.
fn measured(
    repository: &Repository,
    options: &[String],
    words: &[&str],
    peers: &[(&str, Option<Peer>)],
) -> Result<String, Failure> {
    install(repository)?;
    let retro = repository.retro_of(options)?;
    let mut node = Command::new("node");
    node.arg("bench.mjs").args(words).current_dir(repository.path(PAGE));
    for (name, peer) in peers.iter().filter_map(|(name, peer)| Some((name, peer.as_ref()?))) {
        node.env(name, &peer.program).env(format!("{name}_NAME"), &peer.name);
    }
    run::output(node.env("RETRO_BIN", retro).env("CHROMIUM", browser()))
}

/// Prints a table, and puts it into the page of figures if that is asked for.
fn written(
    repository: &Repository,
    options: &[String],
    name: &str,
    title: &str,
    text: &str,
) -> Result<(), Failure> {
    print!("{text}");
    if !options.iter().any(|option| option == "--write") {
        return Ok(());
    }
    let version = run::output(Command::new(browser()).arg("--version"))?;
    let command = format!("cargo xtask {name} --write");
    Part { name, title, command: &command, versions: version.trim() }.write(repository, text)
}

/// In CI nothing is skipped.
fn skip(why: &str) -> Result<(), Failure> {
    if std::env::var_os("CI").is_some() {
        return Err(Failure::new(why));
    }
    println!("skipped: {why}");
    Ok(())
}

fn install(repository: &Repository) -> Result<(), Failure> {
    let lock = repository.path(PAGE).join("package-lock.json");
    let mark = repository.path(PAGE).join("node_modules/.package-lock.json");
    let age = |path: &PathBuf| path.metadata().and_then(|meta| meta.modified()).ok();
    if age(&mark).is_some_and(|made| age(&lock).is_some_and(|lock| made >= lock)) {
        return Ok(());
    }
    run::run(&mut npm(repository, &["ci", "--no-audit", "--no-fund", "--loglevel", "error"]))
}

/// Builds the page and fails if that changed a committed file.
fn compare(repository: &Repository) -> Result<(), Failure> {
    let names = ["app.js", "app.css", "index.html"];
    let read = || names.map(|name| std::fs::read(repository.path(ASSETS).join(name)).ok());
    let before = read();
    run::run(&mut npm(repository, &["run", "--silent", "build"]))?;
    match before == read() {
        true => Ok(()),
        false => Err(Failure::new(format!("{ASSETS} was not built from {PAGE}; commit what is there now"))),
    }
}

fn npm(repository: &Repository, arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(arguments).current_dir(repository.path(PAGE));
    npm
}

fn has_node() -> bool {
    let printed = Command::new("node").arg("--version").output();
    let text = printed.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    is_new(&text) && run::is_there("npm", &["--version"])
}

/// Whether `v20.20.2` is new enough.
fn is_new(version: &str) -> bool {
    let mut parts = version.trim().trim_start_matches('v').split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) >= NODE
}

fn browser() -> String {
    std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        assert!(is_new("v20.19.0") && is_new("v22.0.0\n") && is_new("v100.1.0"));
        assert!(!is_new("v20.9.0") && !is_new("v18.20.0") && !is_new(""));
    }
}
