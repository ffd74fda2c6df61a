//! How fast text becomes vectors and vectors are found, in a program of their own that is
//! built for release: `crates/search/examples/bench-vectors.rs`.

use std::time::Duration;

use serde::Deserialize;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;
use crate::table::table;

/// The bars, by what was measured. Those of times are met by the best run: whatever else
/// the machine does only ever adds.
const BARS: &[(&str, &str)] = &[
    ("embedding, one thread", "at least 20 MB/s"),
    ("start of the built-in model", "at most 1 ms"),
    ("top 10 of 1,000,000 x 256, one thread", "at most 40 ms"),
    ("top 10 of 45,000 x 256, one thread", "at most 2 ms"),
    ("top 10 of 512 x 64, one thread", "at most 31 µs (ConvMemory's published time)"),
];

/// The command: measures and prints.
pub(crate) fn command(repository: &Repository, _: &[String]) -> Result<(), Failure> {
    print!("{}", text(&rows(repository)?));
    Ok(())
}

/// What was measured.
#[derive(Debug, Deserialize)]
pub(crate) struct Row {
    what: String,
    best_ns: u64,
    median_ns: u64,
    bytes: Option<u64>,
}

/// Builds the program and runs it over the texts of this repository. Needs 600 MB of
/// temporary space.
pub(crate) fn rows(repository: &Repository) -> Result<Vec<Row>, Failure> {
    let arguments =
        ["run", "--quiet", "--profile", "dist", "--package", "retro-search", "--example", "bench-vectors"];
    let mut command = repository.cargo(&arguments);
    command.arg("--").arg(repository.path("crates"));
    Row::read(&run::output(&mut command)?)
}

/// The rows as a table with the bars beside them.
pub(crate) fn text(rows: &[Row]) -> String {
    let bar = |row: &Row| BARS.iter().find(|(what, _)| *what == row.what).map_or("", |(_, bar)| bar);
    let cells: Vec<Vec<String>> = rows.iter().map(|row| row.cells(bar(row))).collect();
    table(&["what", "best", "median", "speed", "bar"], &cells)
}

impl Row {
    /// Rows from a program that prints one as JSON on each line.
    pub(crate) fn read(output: &str) -> Result<Vec<Row>, Failure> {
        let row =
            |line| serde_json::from_str(line).map_err(|error| Failure::new(format!("{line:?}: {error}")));
        output.lines().map(row).collect()
    }

    /// Its cells, with a bar beside them.
    pub(crate) fn cells(&self, bar: &str) -> Vec<String> {
        let speed = |bytes: u64| format!("{:.0} MB/s", bytes as f64 * 1e3 / self.best_ns as f64);
        vec![
            self.what.clone(),
            short(self.best_ns),
            short(self.median_ns),
            self.bytes.map_or_else(String::new, speed),
            bar.to_owned(),
        ]
    }
}

/// A time that may be very short.
fn short(nanoseconds: u64) -> String {
    match Duration::from_nanos(nanoseconds) {
        time if time < Duration::from_millis(1) => format!("{:.1} µs", time.as_secs_f64() * 1e6),
        time => run::seconds(time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_shows_its_bar() {
        let lines = concat!(
            r#"{"what":"top 10 of 512 x 64, one thread","best_ns":6200,"median_ns":7000,"bytes":32768}"#,
            "\n",
            r#"{"what":"open 512 x 64","best_ns":2000000,"median_ns":3000000,"bytes":null}"#,
        );
        let text = text(&Row::read(lines).unwrap());
        for cell in ["6.2 µs", "7.0 µs", "5285 MB/s", "at most 31 µs", "2.0 ms"] {
            assert!(text.contains(cell), "{cell} in\n{text}");
        }
        assert!(Row::read("no JSON").is_err());
    }

    #[test]
    fn bars_are_sorted() {
        assert!(BARS.is_sorted());
    }
}
