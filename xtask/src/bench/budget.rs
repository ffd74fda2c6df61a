//! How long a sweep takes to plan, and what forgotten texts cost a sync, in a program of its own
//! (`crates/engine/examples/bench-budget.rs`).

use super::vectors::Row;
use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// One for each row of the program.
const BARS: &[&str] = &["at most 1 s", "", "at most 1.1 times the row above"];

/// The command: measures and prints.
pub(crate) fn command(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    let arguments = ["run", "--quiet", "--release", "--package", "retro-engine", "--example", "bench-budget"];
    let rows = Row::read(&run::output(&mut repository.cargo(&arguments))?)?;
    let cells: Vec<Vec<String>> = rows.iter().zip(BARS).map(|(row, bar)| row.cells(bar)).collect();
    print!("{}", table(&["what", "best", "median", "speed", "bar"], &cells));
    Ok(())
}
