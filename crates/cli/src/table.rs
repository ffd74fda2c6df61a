//! Tables for people: aligned columns, one flexible, every cell made safe.
//!
//! Written here and not taken from a library because a cell must first pass our
//! own escaping of control and hidden characters, and its width is only known then.

use retro::text::terminal::{one_line, width};

/// A column.
pub struct Column {
    title: &'static str,
    right: bool,
    flexible: bool,
}

impl Column {
    pub fn left(title: &'static str) -> Column {
        Column { title, right: false, flexible: false }
    }

    pub fn right(title: &'static str) -> Column {
        Column { title, right: true, flexible: false }
    }

    /// Takes what the others leave.
    pub fn flexible(title: &'static str) -> Column {
        Column { title, right: false, flexible: true }
    }
}

/// Widest a column that is not flexible gets.
const FIXED_COLUMNS_MAX: usize = 40;

/// Narrowest the flexible column gets.
const FLEXIBLE_COLUMNS_MIN: usize = 16;

/// The lines of a table that fits into `columns`.
pub fn table(header: &[Column], rows: &[Vec<String>], columns: usize) -> Vec<String> {
    let cell = |row: &Vec<String>, at: usize| row.get(at).map(String::as_str).unwrap_or_default().to_owned();
    let mut widths: Vec<usize> = Vec::new();
    for (at, column) in header.iter().enumerate() {
        let widest = rows.iter().map(|row| width(&one_line(&cell(row, at), usize::MAX))).max().unwrap_or(0);
        let limit = if column.flexible { usize::MAX } else { FIXED_COLUMNS_MAX };
        widths.push(widest.min(limit).max(width(column.title)));
    }
    if let Some(at) = header.iter().position(|column| column.flexible) {
        let others: usize = widths.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, w)| w + 2).sum();
        widths[at] = widths[at].min(columns.saturating_sub(others).max(FLEXIBLE_COLUMNS_MIN));
    }
    let bold = anstyle::Style::new().bold();
    let titles: Vec<String> = header.iter().map(|column| column.title.to_owned()).collect();
    let mut lines = vec![format!("{bold}{}{bold:#}", line(header, &titles, &widths))];
    lines.extend(rows.iter().map(|row| line(header, row, &widths)));
    lines
}

fn line(header: &[Column], row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (at, (column, columns)) in header.iter().zip(widths).enumerate() {
        let text = one_line(row.get(at).map(String::as_str).unwrap_or_default(), *columns);
        let blank = " ".repeat(columns.saturating_sub(width(&text)));
        if at > 0 {
            out.push_str("  ");
        }
        match column.right {
            true => out.push_str(&format!("{blank}{text}")),
            false => out.push_str(&format!("{text}{blank}")),
        }
    }
    out.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stay_aligned_whatever_stands_in_them() {
        let header = [Column::left("a"), Column::flexible("title"), Column::right("size")];
        let rows = [
            vec!["x".into(), "plain".into(), "1 B".into()],
            vec!["y".into(), "two\nlines \u{1b}[31mred \u{202e}rtl 漢字".into(), "10 B".into()],
        ];
        let lines = table(&header, &rows, 60);
        let ends: Vec<usize> = lines[1..].iter().map(|line| width(line)).collect();
        assert_eq!(ends[0], ends[1], "{lines:?}");
        assert!(lines.iter().skip(1).all(|line| !line.contains('\u{1b}') && !line.contains('\n')));
    }

    #[test]
    fn the_flexible_column_gives_way() {
        let header = [Column::flexible("title"), Column::right("size")];
        let rows = [vec!["long ".repeat(50), "1 B".into()]];
        assert!(table(&header, &rows, 40).iter().skip(1).all(|line| width(line) <= 40));
    }
}
