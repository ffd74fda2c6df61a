//! `cargo xtask tidy`: the rules of the house, checked.
//!
//! Each rule is a file here: a function from what it looks at to the problems
//! it sees. None of them knows how the files were found.

mod circles;
mod edges;
mod environment;
mod machine;
mod network;
mod panics;
mod printing;
mod readme;
mod size;
mod sorted;
mod source;
mod store_writes;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::docs;
use crate::failure::Failure;
use crate::repository::Repository;
use source::Source;

/// Something that breaks a rule.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    path: PathBuf,
    /// From 1; 0 for the file as a whole.
    line: usize,
    what: String,
}

impl Problem {
    fn new(path: impl Into<PathBuf>, line: usize, what: impl Into<String>) -> Problem {
        Problem { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.what),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.what),
        }
    }
}

/// Checks everything, generated pages too.
pub(crate) fn run(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    check_files(repository)?;
    docs::run(repository, &["--check".to_owned()])
}

/// Checks every rule about files.
pub(crate) fn check_files(repository: &Repository) -> Result<(), Failure> {
    let files = repository.files()?;
    let mut problems = Vec::new();
    let (mut manifests, mut sources) = (Vec::new(), Vec::new());
    let machine = machine::Machine::of(repository);
    for path in &files {
        let Some(text) = repository.text(path)? else { continue };
        problems.extend(machine.check(path, &text));
        if is_manifest(path) {
            manifests.push((path.clone(), text));
        } else if path == Path::new("Cargo.lock") {
            problems.extend(network::check_lock(path, &text));
        } else if path == Path::new("README.md") {
            problems.extend(readme::check(path, &text));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let source = Source::new(path, text);
            problems.extend(check_source(&source));
            sources.push(source);
        }
    }
    problems.extend(edges::check(&manifests));
    problems.extend(circles::check(&sources));
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        1 => Err(Failure::new("one rule of the house is broken, see above")),
        count => Err(Failure::new(format!("{count} rules of the house are broken, see above"))),
    }
}

fn is_manifest(path: &Path) -> bool {
    path.ends_with("Cargo.toml") && path.starts_with("crates")
}

fn check_source(source: &Source) -> Vec<Problem> {
    let (problems, note) = size::check(source);
    if let Some(note) = note {
        println!("note: {note}");
    }
    let checks = [
        environment::check,
        network::check,
        panics::check,
        printing::check,
        sorted::check,
        store_writes::check,
    ];
    problems.into_iter().chain(checks.iter().flat_map(|check| check(source))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_where_it_is() {
        assert_eq!(Problem::new("a.rs", 3, "x").to_string(), "a.rs:3: x");
        assert_eq!(Problem::new("a.rs", 0, "x").to_string(), "a.rs: x");
    }

    #[test]
    fn every_check_of_sources_is_applied() {
        let text = "fn f() { println!(\"{}\", std::env::var(\"X\").unwrap()); }";
        assert_eq!(check_source(&Source::new("crates/model/src/a.rs", text)).len(), 3);
    }
}
