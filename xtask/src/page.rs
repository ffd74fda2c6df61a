//! Parts of a page that a command writes, between marks that readers do not see.

use std::path::Path;

use crate::failure::Failure;

/// Puts a part into a page in place of what it held the last time, or at its end.
pub(crate) fn put(page: &Path, name: &str, part: &str) -> Result<(), Failure> {
    let old = std::fs::read_to_string(page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
    std::fs::write(page, replaced(&old, name, part)).map_err(|error| Failure::at(page, error))
}

fn replaced(page: &str, name: &str, part: &str) -> String {
    let (begin, end) = (format!("<!-- {name}: begin -->"), format!("<!-- {name}: end -->"));
    let part = format!("{begin}\n{}\n{end}\n", part.trim_end());
    let cut = page.find(&begin).and_then(|from| {
        let to = from + page[from..].find(&end)? + end.len();
        Some((&page[..from], page[to..].trim_start_matches('\n')))
    });
    match cut {
        Some((before, "")) => format!("{before}{part}"),
        Some((before, after)) => format!("{before}{part}\n{after}"),
        None => format!("{}\n\n{part}", page.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_part_takes_the_place_of_the_first() {
        let part = |text: &str| format!("<!-- one: begin -->\n{text}\n<!-- one: end -->\n");
        let first = replaced("# Benchmarks\n", "one", "first\n");
        assert_eq!(first, format!("# Benchmarks\n\n{}", part("first")));
        assert_eq!(replaced(&first, "one", "second"), format!("# Benchmarks\n\n{}", part("second")));
        let followed = format!("{first}\n## Search\n");
        assert_eq!(
            replaced(&followed, "one", "second"),
            format!("# Benchmarks\n\n{}\n## Search\n", part("second"))
        );
        let two = replaced(&first, "two", "other");
        assert!(two.contains("first") && two.ends_with("<!-- two: end -->\n"));
    }
}
