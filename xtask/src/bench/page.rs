//! The page of figures, `docs/benchmarks.md`: each command owns one part of it.

use std::path::Path;
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
        let (begin, end) = self.marks();
        let versions = if self.versions.is_empty() { String::new() } else { format!("; {}", self.versions) };
        let part = format!(
            "{begin}\n## {}\n\n`{}` on {} ({cores} cores{}{versions}):\n\n{text}{end}\n",
            self.title,
            self.command,
            day.trim(),
            load(),
        );
        let page = repository.path("docs/benchmarks.md");
        let old = std::fs::read_to_string(&page).unwrap_or_else(|_| "# Benchmarks\n".to_owned());
        std::fs::write(&page, self.replaced(&old, &part))
            .map_err(|error| Failure::at(Path::new(&page), error))
    }

    fn marks(&self) -> (String, String) {
        (format!("<!-- bench {}: begin -->", self.name), format!("<!-- bench {}: end -->", self.name))
    }

    /// The page with our part replaced, or added at its end.
    fn replaced(&self, page: &str, part: &str) -> String {
        let (begin, end) = self.marks();
        let cut = page.split_once(&begin).and_then(|(before, rest)| {
            let (_, after) = rest.split_once(&end)?;
            Some((before, after.trim_start_matches('\n')))
        });
        match cut {
            Some((before, "")) => format!("{before}{part}"),
            Some((before, after)) => format!("{before}{part}\n{after}"),
            None => format!("{}\n\n{part}", page.trim_end()),
        }
    }
}

/// How busy the machine was besides, where it tells: times of a busy one say
/// little, its ratios and counts still say something.
fn load() -> String {
    let average = std::fs::read_to_string("/proc/loadavg").ok();
    let last_minutes = average.as_deref().and_then(|text| text.split_whitespace().nth(1));
    last_minutes.map_or_else(String::new, |load| format!(", load {load}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_part_takes_the_place_of_the_first() {
        let page = Part { name: "capture", title: "", command: "", versions: "" };
        let (begin, end) = page.marks();
        let part = |text: &str| format!("{begin}\n{text}\n{end}\n");
        let first = page.replaced("# Benchmarks\n", &part("one"));
        assert_eq!(first, format!("# Benchmarks\n\n{}", part("one")));
        assert_eq!(page.replaced(&first, &part("two")), format!("# Benchmarks\n\n{}", part("two")));
        let followed = format!("{first}\n## Search\n");
        assert_eq!(
            page.replaced(&followed, &part("two")),
            format!("# Benchmarks\n\n{}\n## Search\n", part("two"))
        );
        let other = Part { name: "usage", ..page };
        assert_eq!(other.replaced(&first, "more\n"), format!("{first}\nmore\n"), "its neighbour stays");
    }
}
