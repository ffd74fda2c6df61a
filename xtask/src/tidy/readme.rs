//! The README is one page.

use std::path::Path;

use super::Problem;

const LINES_MAX: usize = 150;

/// Checks its length.
pub(crate) fn check(path: &Path, text: &str) -> Option<Problem> {
    let lines = text.lines().count();
    (lines >= LINES_MAX)
        .then(|| Problem::new(path, 0, format!("{lines} lines, it must stay under {LINES_MAX}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_readme_is_named() {
        let path = Path::new("README.md");
        assert!(check(path, &"x\n".repeat(149)).is_none());
        assert_eq!(
            check(path, &"x\n".repeat(150)),
            Some(Problem::new(path, 0, "150 lines, it must stay under 150"))
        );
    }
}
