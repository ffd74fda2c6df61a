//! Whatever the input, no panic: errors are values.

use super::Problem;
use super::source::Source;

const WORDS: &[&str] = &[".expect(", ".unwrap()", "panic!", "todo!", "unimplemented!"];

/// Checks that no code but tests can panic on purpose.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    let uses = source.uses(WORDS);
    uses.map(|(line, word)| Problem::new(&source.path, line, format!("{word} outside tests"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_named_and_a_word_about_it_is_not() {
        let text = "// never .unwrap() here\nfn f() { x.unwrap_or(1); y\n    .expect(\"z\"); }";
        let problems = check(&Source::new("crates/store/src/a.rs", text));
        assert_eq!(problems, [Problem::new("crates/store/src/a.rs", 3, ".expect( outside tests")]);
        assert_eq!(check(&Source::new("xtask/src/a.rs", "fn f() { todo!() }")).len(), 1);
        assert!(check(&Source::new("a.rs", "#[cfg(test)]\nmod tests { fn f() { panic!() } }")).is_empty());
    }
}
