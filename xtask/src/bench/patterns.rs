//! How fast what recurs is found: putting 20,000 sessions together, in a program of its own
//! (`crates/patterns/examples/bench-patterns.rs`).

use super::vectors::Row;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

const BAR: &str = "at most 2 s";

/// The command: measures and prints.
pub(crate) fn command(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    let arguments =
        ["run", "--quiet", "--release", "--package", "retro-patterns", "--example", "bench-patterns"];
    let rows = Row::read(&run::output(&mut repository.cargo(&arguments))?)?;
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(BAR)).collect();
    print!("{}", table(&["what", "best", "median", "speed", "bar"], &cells));
    Ok(())
}
