//! The page of figures, `docs/benchmarks.md`: each command owns one part of it,
//! between marks that readers do not see.

use std::process::Command;

use crate::failure::Failure;
use crate::repository::Repository;
use crate::run;

/// A part of the page, found again by its name.
pub(crate) struct Part<'a> {
    /// Its name in the marks around it.
    pub(crate) name: &'a str,
    /// Its heading.
    pub(crate) title: &'a str,
    /// The command that makes it.
    pub(crate) command: &'a str,
    /// What was compared, with versions.
    pub(crate) versions: &'a str,
}

impl Part<'_> {
    /// Puts a text into the page, with the day and the command, in place of that
    /// of the last time.
    pub(crate) fn write(&self, repository: &Repository, text: &str) -> Result<(), Failure> {
        let day = run::output(Command::new("date").args(["-u", "+%Y-%m-%d"]))?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let versions = if self.versions.is_empty() { String::new() } else { format!("; {}", self.versions) };
        let part = format!(
            "## {}\n\n`{}` on {} ({cores} cores{}{versions}):\n\n{text}",
            self.title,
            self.command,
            day.trim(),
            load(),
        );
        let page = repository.path("docs/benchmarks.md");
        let old = std::fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
        std::fs::write(&page, replaced(&old, self.name, &part)).map_err(|error| Failure::at(&page, error))
    }
}

/// How busy the machine was besides, where it tells: times of a busy one say
/// little, its ratios and counts still say something.
fn load() -> String {
    let average = std::fs::read_to_string("/proc/loadavg").ok();
    let last_minutes = average.as_deref().and_then(|text| text.split_whitespace().nth(1));
    last_minutes.map_or_else(String::new, |load| format!(", load {load}"))
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
