//! The environment enters at the edge and is passed on as values.

use super::Problem;
use super::source::Source;

const WORDS: &[&str] = &["env::args", "env::home_dir", "env::set_var", "env::var"];

/// Checks that only the command line and this program ask the environment.
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
    fn a_library_that_asks_the_environment_is_named() {
        let text = "fn f() { std::env::var_os(\"HOME\"); env::temp_dir(); }";
        let problems = check(&Source::new("crates/agents/src/a.rs", text));
        assert_eq!(
            problems,
            [Problem::new("crates/agents/src/a.rs", 1, "env::var outside the command line")]
        );
        assert!(check(&Source::new("crates/cli/src/a.rs", text)).is_empty());
    }
}
