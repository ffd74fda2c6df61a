//! What was measured, as a table with the bars beside it.

use std::time::Duration;

use super::measure::{Cost, MEMORY_MAX};
use crate::run;
use crate::table::table;

/// One measured thing.
pub(crate) struct Line {
    what: String,
    cost: Cost,
    bytes: Option<u64>,
}

impl Line {
    /// Something that went through this many bytes.
    pub(crate) fn over(what: &str, cost: Cost, bytes: u64) -> Line {
        Line { what: what.to_owned(), cost, bytes: Some(bytes) }
    }

    /// Something that has no speed.
    pub(crate) fn plain(what: &str, cost: Cost) -> Line {
        Line { what: what.to_owned(), cost, bytes: None }
    }

    fn cells(&self) -> Vec<String> {
        let unknown = || "unknown".to_owned();
        let speed = |bytes: u64| format!("{:.0} MB/s", bytes as f64 / 1e6 / self.cost.wall.as_secs_f64());
        vec![
            self.what.clone(),
            run::seconds(self.cost.wall),
            self.cost.cpu.map_or_else(unknown, run::seconds),
            self.cost.instructions.map_or_else(unknown, |count| format!("{:.1} M", count as f64 / 1e6)),
            self.bytes.map_or_else(String::new, speed),
        ]
    }
}

/// All of it.
pub(crate) struct Report {
    title: String,
    lines: Vec<Line>,
    bars: Vec<Vec<String>>,
}

impl Report {
    /// An empty report with a line that says about what.
    pub(crate) fn new(title: String) -> Report {
        Report { title, lines: Vec::new(), bars: Vec::new() }
    }

    /// Adds a measured thing.
    pub(crate) fn add(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// Adds one time divided by another, with its bar.
    pub(crate) fn ratio(&mut self, what: &str, of: Duration, by: Duration, bar: &str) {
        self.bar(what, format!("{:.2}", of.as_secs_f64() / by.as_secs_f64()), bar);
    }

    /// Adds a time that has a bar of its own.
    pub(crate) fn time(&mut self, what: &str, time: Duration, bar: &str) {
        self.bar(what, run::seconds(time), bar);
    }

    /// Adds how much is done in a second, with its bar.
    pub(crate) fn speed(&mut self, what: &str, bytes: u64, time: Duration, bar: &str) {
        self.bar(what, format!("{:.0} MB/s", bytes as f64 / 1e6 / time.as_secs_f64()), bar);
    }

    /// Adds one count divided by another, with its bar.
    pub(crate) fn count(&mut self, what: &str, of: u64, by: u64, bar: &str) {
        self.bar(what, format!("{:.2}", of as f64 / by as f64), bar);
    }

    /// Adds one time less another, with its bar.
    pub(crate) fn difference(&mut self, what: &str, of: Option<Duration>, less: Option<Duration>, bar: &str) {
        let value = of.zip(less).map(|(of, less)| run::seconds(of.saturating_sub(less)));
        self.bar(what, value.unwrap_or_else(|| "unknown".to_owned()), bar);
    }

    /// Adds a part of a whole, with its bar.
    pub(crate) fn share(&mut self, what: &str, part: u64, whole: u64, bar: &str) {
        self.bar(what, format!("{:.1} %", part as f64 * 100.0 / whole as f64), bar);
    }

    /// Adds a size of memory, with its bar.
    pub(crate) fn memory(&mut self, what: &str, bytes: Option<u64>, bar: &str) {
        let size = bytes.map(|bytes| match bytes > MEMORY_MAX {
            true => format!("over {:.0} MB, stopped", MEMORY_MAX as f64 / 1e6),
            false => format!("{:.0} MB", bytes as f64 / 1e6),
        });
        self.bar(what, size.unwrap_or_else(|| "unknown".to_owned()), bar);
    }

    fn bar(&mut self, what: &str, value: String, bar: &str) {
        self.bars.push(vec![what.to_owned(), value, bar.to_owned()]);
    }

    /// Both tables.
    pub(crate) fn text(&self) -> String {
        let rows: Vec<Vec<String>> = self.lines.iter().map(Line::cells).collect();
        format!(
            "{}\n\n{}\n{}",
            self.title,
            table(&["what", "wall", "CPU", "instructions", "speed"], &rows),
            table(&["ratio", "measured", "bar"], &self.bars)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_a_row_for_each_thing_and_says_what_is_unknown() {
        let mut report = Report::new("2 files".into());
        report.add(Line::over("cat", Cost::wall(Duration::from_millis(100)), 10_000_000));
        report.ratio("half", Duration::from_secs(1), Duration::from_secs(2), "at most 1");
        report.difference(
            "more",
            Some(Duration::from_millis(12)),
            Some(Duration::from_millis(2)),
            "at most 10 ms",
        );
        report.difference("less", None, None, "");
        report.count("three", 3, 1, "");
        report.share("raw", 1, 8, "at most 20 %");
        report.memory("peak", Some(150_000_000), "");
        report.memory("peak", None, "");
        report.memory("peak", Some(MEMORY_MAX + 1), "");
        report.time("idle", Duration::from_millis(7), "at most 50 ms");
        report.speed("all", 90_000_000, Duration::from_secs(2), "at least 40 MB/s");
        let text = report.text();
        for cell in [
            "2 files\n",
            "150 MB",
            "at most 20 %",
            "100.0 ms",
            "unknown",
            "100 MB/s",
            "0.50",
            "10.0 ms",
            "3.00",
            "12.5 %",
            "7.0 ms",
            "45 MB/s",
            "at most 1 ",
        ] {
            assert!(text.contains(cell), "{cell} in\n{text}");
        }
    }
}
