//! All writes of the store, and of the vectors, go through their file layers, so that
//! faults can be injected at every one of them.

use super::Problem;
use super::source::Source;

/// Calls that make, change or remove a file. Opening one that exists is none:
/// the lock does so.
const WORDS: &[&str] = &[
    ".append(true",
    ".create(true",
    ".create_new(true",
    ".set_len(",
    ".truncate(true",
    "File::create",
    "fs::copy",
    "fs::create_dir",
    "fs::hard_link",
    "fs::remove_",
    "fs::rename",
    "fs::set_permissions",
    "fs::write",
];

/// Where writes have a layer of their own.
const FOLDERS: &[&str] = &["crates/search/src/vectors", "crates/store/src"];

/// Those layers.
const LAYERS: &[&str] =
    &["crates/search/src/vectors/disk.rs", "crates/store/src/disk.rs", "crates/store/src/disk"];

/// Checks that only the file layers write.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if !source.is_below(FOLDERS) || source.is_below(LAYERS) {
        return Vec::new();
    }
    let uses = source.uses(WORDS);
    uses.map(|(line, word)| Problem::new(&source.path, line, format!("{word} outside disk.rs"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_beside_the_file_layer_is_named() {
        let text = "fn f() { std::fs::write(a, b); std::fs::read(a); }";
        let problems = check(&Source::new("crates/store/src/lock.rs", text));
        assert_eq!(problems, [Problem::new("crates/store/src/lock.rs", 1, "fs::write outside disk.rs")]);
        let lock = "fn f() { OpenOptions::new().read(true).write(true).open(a) }";
        assert!(check(&Source::new("crates/store/src/lock.rs", lock)).is_empty());
        assert_eq!(check(&Source::new("crates/store/src/lock.rs", lock.replace("read", "create"))).len(), 1);
        assert!(check(&Source::new("crates/store/src/disk.rs", text)).is_empty());
        assert!(check(&Source::new("crates/search/src/vectors/disk.rs", text)).is_empty());
        assert_eq!(check(&Source::new("crates/search/src/vectors/folder.rs", text)).len(), 1);
        assert!(check(&Source::new("crates/engine/src/a.rs", text)).is_empty());
    }
}
