//! How fast what recurs is found: what the stages `detect` and `patterns` add to a first sync, and
//! putting 20,000 sessions together, in a program of its own
//! (`crates/patterns/examples/bench-patterns.rs`).

use super::report::Report;
use super::signals::{published, share_of_sync};
use super::vectors::Row;
use super::{Scratch, own_release};
use crate::failure::Failure;
use crate::page::Part;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// CPU time of a first sync beside one without signs.
const SHARE: &str = "at most 1.03";
/// All sessions put together and ranked.
const TOGETHER: &str = "at most 2 s";

/// The command: measures, prints, and with `--write` puts it into the page of figures.
pub(crate) fn command(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    if own_release(repository, &["bench", "patterns"], options)? {
        return Ok(());
    }
    let scratch = Scratch::new()?;
    let logs = published(&scratch.folder)?;
    let mut report = Report::new(format!(
        "{} files, {:.1} MB; the cheapest of several runs",
        logs.files.len(),
        logs.bytes as f64 / 1e6
    ));
    share_of_sync(&logs, &scratch.folder, &["detect", "patterns"], ("signs", SHARE), &mut report)?;
    let arguments =
        ["run", "--quiet", "--release", "--package", "retro-patterns", "--example", "bench-patterns"];
    let rows = Row::read(&run::output(&mut repository.cargo(&arguments))?)?;
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(TOGETHER)).collect();
    let text = format!("{}\n{}", report.text(), table(&["what", "best", "median", "speed", "bar"], &cells));
    print!("{text}");
    if options.iter().any(|option| option == "--write") {
        let command = "cargo xtask bench patterns --write";
        Part { name: "bench patterns", title: "Patterns", command, versions: "" }.write(repository, &text)?;
    }
    Ok(())
}
