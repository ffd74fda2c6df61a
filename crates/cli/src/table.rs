//! Tables for people: every table of the program is laid out here.
//!
//! A table that fits is printed unchanged. Otherwise columns marked [`Column::shrinks`] or
//! [`Column::wraps`] become narrower, down to their minimum width. Then columns marked
//! [`Column::spare`] are left out, the largest number first. Without a width (output into a file or
//! a pipe) only names of more than a thousand columns are cut.
//!
//! This is not a library, because a cell must first pass retro's own escaping of control and hidden
//! characters, and its width is known only then.

use anstyle::Style;
use retro::text::terminal::{one_line, width};

use crate::prose::{cut_middle, wrap_cell};

/// How a cell that is too wide is shortened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// It keeps its width.
    Whole,
    /// Its end is cut.
    End,
    /// Its middle is cut, because both ends distinguish it from others.
    Middle,
    /// Its words continue on the next line.
    Wrap,
}

/// A column: its title, its alignment, and how it shrinks.
pub struct Column {
    title: &'static str,
    right: bool,
    fit: Fit,
    least: usize,
    spare: u8,
    style: Style,
}

impl Column {
    pub fn left(title: &'static str) -> Column {
        Column { title, right: false, fit: Fit::Whole, least: 0, spare: 0, style: Style::new() }
    }

    pub fn right(title: &'static str) -> Column {
        Column { right: true, ..Column::left(title) }
    }

    /// May be cut at its end, down to `least` columns.
    pub fn shrinks(self, least: usize) -> Column {
        Column { fit: Fit::End, least, ..self }
    }

    /// May be cut in its middle, down to `least` columns.
    pub fn shrinks_inside(self, least: usize) -> Column {
        Column { fit: Fit::Middle, least, ..self }
    }

    /// May continue over several lines of at least `least` columns.
    pub fn wraps(self, least: usize) -> Column {
        Column { fit: Fit::Wrap, least, ..self }
    }

    /// May be left out: the largest number first, columns of one number together.
    pub fn spare(self, order: u8) -> Column {
        Column { spare: order, ..self }
    }

    /// The style of its cells.
    pub fn style(self, style: Style) -> Column {
        Column { style, ..self }
    }
}

/// A row: its cells in the order of the columns, and its style.
struct Row {
    cells: Vec<String>,
    style: Style,
}

/// A table to be printed.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Row>,
}

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Column>) -> Table {
        Table { columns: columns.into_iter().collect(), rows: Vec::new() }
    }

    /// Adds a row. A cell is escaped and joined to one line. Leading blanks stay, as an indent.
    pub fn row(&mut self, cells: Vec<String>) {
        self.styled(cells, Style::new());
    }

    /// Adds a row with its own style, such as a total.
    pub fn styled(&mut self, cells: Vec<String>, style: Style) {
        let clean = |(at, cell): (usize, String)| {
            let indent = cell.len() - cell.trim_start_matches(' ').len();
            let is_text = self.columns.get(at).is_some_and(|column| column.fit == Fit::Wrap);
            let columns_max = if is_text { usize::MAX } else { NAME_COLUMNS_MAX };
            format!("{}{}", " ".repeat(indent), one_line(&cell, columns_max))
        };
        self.rows.push(Row { cells: cells.into_iter().enumerate().map(clean).collect(), style });
    }

    /// Adds several rows.
    pub fn rows(mut self, rows: impl IntoIterator<Item = Vec<String>>) -> Table {
        rows.into_iter().for_each(|cells| self.row(cells));
        self
    }

    /// The lines of the table within `room` columns, or at natural width.
    pub fn lines(&self, room: Option<usize>) -> Vec<String> {
        let layout = self.layout(room);
        let bold = Style::new().bold();
        let mut titles: Vec<String> = Vec::new();
        for (at, width) in &layout {
            titles.push(one_line(self.columns[*at].title, *width));
        }
        let mut lines = Vec::new();
        if titles.iter().any(|title| !title.is_empty()) {
            lines.push(self.line(&layout, &titles, |_| bold));
        }
        for row in &self.rows {
            let style =
                |at: usize| if row.style == Style::new() { self.columns[at].style } else { row.style };
            let parts: Vec<Vec<String>> =
                layout.iter().map(|(at, width)| self.fitted(row.cell(*at), *at, *width)).collect();
            let height = parts.iter().map(Vec::len).max().unwrap_or(1).max(1);
            for line in 0..height {
                let cells: Vec<String> =
                    parts.iter().map(|part| part.get(line).cloned().unwrap_or_default()).collect();
                lines.push(self.line(&layout, &cells, style));
            }
        }
        lines
    }

    /// The columns to show, and their widths.
    fn layout(&self, room: Option<usize>) -> Vec<(usize, usize)> {
        let natural = |at: usize| {
            let cells = self.rows.iter().map(|row| width(row.cell(at))).max().unwrap_or(0);
            cells.max(width(self.columns[at].title))
        };
        // Leave out a column without any text.
        let is_used = |at: &usize| self.rows.iter().any(|row| !row.cell(*at).is_empty());
        let mut wanted: Vec<(usize, usize)> =
            (0..self.columns.len()).filter(is_used).map(|at| (at, natural(at))).collect();
        let Some(room) = room else { return wanted };
        let least = |(at, natural): &(usize, usize)| match self.columns[*at].fit {
            Fit::Whole => *natural,
            _ => self.columns[*at].least.max(width(self.columns[*at].title)).min(*natural),
        };
        let taken = |widths: &mut dyn Iterator<Item = usize>| {
            widths.fold(0, |sum, width| sum + width + GAP).saturating_sub(GAP)
        };
        let mut left_out: Vec<Vec<(usize, usize)>> = Vec::new();
        while taken(&mut wanted.iter().map(least)) > room {
            let Some(gone) =
                wanted.iter().map(|(at, _)| self.columns[*at].spare).max().filter(|spare| *spare > 0)
            else {
                break;
            };
            let (left, out) = wanted.into_iter().partition(|(at, _)| self.columns[*at].spare != gone);
            wanted = left;
            left_out.push(out);
        }
        // A narrow column may fit where wide ones were left out: the most important first.
        for group in left_out.into_iter().rev() {
            let more: Vec<(usize, usize)> = wanted.iter().chain(&group).copied().collect();
            if taken(&mut more.iter().map(least)) <= room {
                wanted = more;
            }
        }
        wanted.sort_by_key(|(at, _)| *at);
        let mut widths: Vec<usize> = wanted.iter().map(least).collect();
        // No further column can be left out: cut the widest columns, of any kind.
        while taken(&mut widths.iter().copied()) > room {
            let Some(widest) = widths.iter_mut().max().filter(|width| **width > 1) else { break };
            *widest -= 1;
        }
        // Distribute the remaining width in turn among columns below their natural width.
        let mut left = room.saturating_sub(taken(&mut widths.iter().copied()));
        while left > 0 {
            let before = left;
            for ((_, natural), width) in wanted.iter().zip(&mut widths) {
                if *width < *natural && left > 0 {
                    *width += 1;
                    left -= 1;
                }
            }
            if left == before {
                break;
            }
        }
        wanted.into_iter().zip(widths).map(|((at, _), width)| (at, width)).collect()
    }

    fn fitted(&self, cell: &str, at: usize, columns: usize) -> Vec<String> {
        if width(cell) <= columns {
            return vec![cell.to_owned()];
        }
        match self.columns[at].fit {
            Fit::Wrap => wrap_cell(cell, columns),
            Fit::Middle => vec![cut_middle(cell, columns)],
            Fit::Whole | Fit::End => {
                let indent = cell.len() - cell.trim_start_matches(' ').len();
                let indent = indent.min(columns.saturating_sub(1));
                vec![format!("{}{}", " ".repeat(indent), one_line(cell, columns - indent))]
            }
        }
    }

    fn line(&self, layout: &[(usize, usize)], cells: &[String], style: impl Fn(usize) -> Style) -> String {
        let mut out = String::new();
        let mut blanks = 0;
        for ((at, columns), text) in layout.iter().zip(cells) {
            let free = columns.saturating_sub(width(text));
            let (before, after) = if self.columns[*at].right { (free, 0) } else { (0, free) };
            if !text.is_empty() {
                let style = style(*at);
                out.push_str(&" ".repeat(blanks + before));
                out.push_str(&format!("{style}{text}{style:#}"));
                blanks = after + GAP;
            } else {
                blanks += columns + GAP;
            }
        }
        out
    }
}

impl Row {
    fn cell(&self, at: usize) -> &str {
        self.cells.get(at).map_or("", String::as_str)
    }
}

/// Blanks between columns.
const GAP: usize = 2;

/// A longer name is cut, whatever the room. Texts that may wrap are not.
const NAME_COLUMNS_MAX: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    /// Long names, wide characters, right-to-left text, escapes, and empty cells.
    fn hard() -> Table {
        let columns = [
            Column::left(" "),
            Column::left("agent"),
            Column::left("session").shrinks_inside(8),
            Column::left("project").shrinks(10).spare(1),
            Column::right("size").spare(3),
            Column::right("cost").spare(2),
            Column::left("title").shrinks(20),
        ];
        let row = |cells: [&str; 7]| cells.map(str::to_owned).to_vec();
        let mut table = Table::new(columns).rows([
            row(["●", "claude", "6a1f0c52", "shop", "1.2 kB", "$0.10", "Round VAT half up"]),
            row([
                "◐",
                "codex",
                "6a1f0c52-3b7d-4c1e-9a55-0d2b8e7f1a01-backup2",
                "a-project-with-a-very-long-name",
                "10 MB",
                "≥ $1,204.55",
                "漢字の見出しはとても長いので切られます、漢字の見出しはとても長いので切られます",
            ]),
            row([
                "○",
                "grok",
                "01a1dd1c0f",
                "",
                "",
                "",
                "\u{1b}[31mred\u{1b}[0m \u{202e}rtl שלום עולם two\nlines",
            ]),
        ]);
        table.styled(row(["", "total", "", "", "11 MB", "≥ $1,204.65", ""]), Style::new().bold());
        table
    }

    fn plain(lines: &[String]) -> String {
        let text: String = lines.iter().map(|line| format!("{line}|\n")).collect();
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn a_table_of_hard_cases_fits_every_terminal() {
        let table = hard();
        let mut seen = String::new();
        for columns in [40, 60, 80, 100, 120, 160] {
            let lines = table.lines(Some(columns));
            for line in &lines {
                let shown = anstream::adapter::strip_str(line).to_string();
                assert!(width(&shown) <= columns, "{columns}: {shown}");
                assert!(!shown.contains(['\u{1b}', '\n', '\u{202e}']), "{shown:?}");
            }
            seen.push_str(&format!("--- {columns}\n{}", plain(&lines)));
        }
        seen.push_str(&format!("--- piped\n{}", plain(&table.lines(None))));
        insta::assert_snapshot!("hard_cases", seen);
        insta::assert_snapshot!(
            "hard_cases_in_colour",
            table.lines(Some(80)).join("\n").replace('\u{1b}', "␛")
        );
    }

    #[test]
    fn nothing_is_cut_without_a_terminal() {
        let lines = plain(&hard().lines(None));
        assert!(!lines.contains('…'), "{lines}");
        for text in ["a-project-with-a-very-long-name", "-backup2", "切られます", "lines"] {
            assert!(lines.contains(text), "{text}");
        }
    }

    #[test]
    fn a_name_without_end_is_cut_in_a_pipe_too() {
        let table = Table::new([Column::left("model"), Column::right("cost")])
            .rows([vec!["m".repeat(100_000), "$1".to_owned()]]);
        for room in [None, Some(80)] {
            let lines = table.lines(room);
            assert!(lines.iter().all(|line| width(line) <= 1_100), "{room:?}");
            assert!(plain(&lines).contains('…'));
        }
    }

    #[test]
    fn columns_stay_aligned_whatever_is_written_in_them() {
        let lines = hard().lines(Some(160));
        let starts: Vec<usize> = ["Round VAT", "漢字", "\\u{1b}"]
            .iter()
            .map(|text| {
                let line = lines.iter().find(|line| line.contains(text)).unwrap();
                width(&line[..line.find(text).unwrap()])
            })
            .collect();
        assert!(starts.iter().all(|start| *start == starts[0]), "{starts:?}");
    }

    #[test]
    fn no_rows_and_one_row() {
        let columns = || [Column::left("a"), Column::right("b")];
        assert!(Table::new(columns()).lines(Some(80)).is_empty());
        let one = Table::new(columns()).rows([vec!["x".to_owned(), "1".to_owned()]]);
        assert_eq!(plain(&one.lines(Some(80))), "a  b|\nx  1|\n");
    }

    #[test]
    fn words_go_on_on_the_next_line_of_their_column() {
        let columns = [Column::left("key"), Column::left("what it does").wraps(10)];
        let table = Table::new(columns)
            .rows([vec!["sync".to_owned(), "captures what is new on this machine".to_owned()]]);
        assert_eq!(
            plain(&table.lines(Some(24))),
            "key   what it does|\nsync  captures what is|\n      new on this|\n      machine|\n"
        );
    }
}
