//! Tables of measurements, for the terminal and for markdown alike.

/// A table in markdown, its columns padded so that it reads well as it is.
/// Cells may not hold `|`. The first column is text, the others are numbers.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.chain([header[column].chars().count(), 3]).max().unwrap_or(3)
        })
        .collect();
    let mut text = line(header.iter().map(|cell| (*cell).to_owned()), &widths);
    let rule = widths.iter().enumerate().map(|(column, width)| match column {
        0 => "-".repeat(*width),
        _ => format!("{}:", "-".repeat(width - 1)),
    });
    text.push_str(&line(rule, &widths));
    for row in rows {
        text.push_str(&line(row.iter().cloned(), &widths));
    }
    text
}

fn line(cells: impl Iterator<Item = String>, widths: &[usize]) -> String {
    let cells = cells.zip(widths).enumerate().map(|(column, (cell, width))| {
        let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
        if column == 0 { format!("{cell}{pad}") } else { format!("{pad}{cell}") }
    });
    format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![vec!["cat".into(), "1.2 s".into()], vec!["sync, cold".into(), "-".into()]];
        assert_eq!(
            table(&["what", "wall"], &rows),
            "| what       |  wall |\n| ---------- | ----: |\n| cat        | 1.2 s |\n| sync, cold |     - |\n"
        );
    }
}
