//! Only programs print; libraries return values.

use super::Problem;
use super::source::Source;

const WORDS: &[&str] = &["dbg!", "eprint!", "eprintln!", "print!", "println!"];

/// Checks that nothing is printed outside the command line and this program.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if source.is_below(&["crates/cli", "xtask"]) {
        return Vec::new();
    }
    let uses = source.uses(WORDS);
    uses.map(|(line, word)| Problem::new(&source.path, line, format!("{word} outside the command line")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_prints_is_named() {
        let text = "fn f() {\n    eprintln!(\"x\");\n}";
        let problems = check(&Source::new("crates/store/src/a.rs", text));
        assert_eq!(
            problems,
            [Problem::new("crates/store/src/a.rs", 2, "eprintln! outside the command line")]
        );
        assert!(check(&Source::new("crates/cli/src/a.rs", text)).is_empty());
        assert!(check(&Source::new("crates/store/tests/a.rs", text)).is_empty());
    }
}
