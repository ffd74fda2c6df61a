//! How fast the scan for secrets reads texts that are made to be slow, in a program of its own:
//! `crates/text/examples/bench-secrets.rs`.

use super::vectors::Row;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

const BAR: &str = "at least 20 MB/s";

/// The command: measures and prints, the slowest first.
pub(crate) fn command(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    let arguments = ["run", "--quiet", "--release", "--package", "retro-text", "--example", "bench-secrets"];
    let rows = Row::read(&run::output(&mut repository.cargo(&arguments))?)?;
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(BAR)).collect();
    print!("{}", table(&["text, repeated", "best", "median", "speed", "bar"], &cells));
    Ok(())
}
