//! No two modules of a crate need each other.
//!
//! A module is a file directly below `src` with all files of its folder: how those share
//! their work is the module's own matter. A name that the crate's root re-exports counts
//! as a use of the module that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::Problem;
use super::source::Source;

/// Circles that stay, and why.
// tidy: data
const ALLOWED: &[(&str, &[&str])] = &[
    // An agent lists what is in its databases, and a database is read by its agent.
    ("agents", &["agent", "database", "sightings"]),
    // The facts of a session hold its titles, and which of them counts depends on the others.
    ("model", &["session", "title"]),
    // What is gathered from the text index is ranked by what the index says of it.
    ("search", &["best", "rank", "text"]),
    // A store is one type; its methods are in the modules of what they are about. A raw file is
    // written again through the masks that a store keeps.
    (
        "store",
        &[
            "archive",
            "documents",
            "evict",
            "forget",
            "index",
            "journal",
            "kept",
            "lock",
            "masks",
            "memories",
            "patterns",
            "store",
            "tombstones",
        ],
    ),
];

/// A crate's modules and which of the others each uses.
type Uses = BTreeMap<String, BTreeSet<String>>;

/// Checks the sources of all crates together.
pub(crate) fn check(sources: &[Source]) -> Vec<Problem> {
    let mut crates: BTreeMap<String, Vec<(Vec<String>, &Source)>> = BTreeMap::new();
    for source in sources {
        if let Some((name, modules)) = place(&source.path) {
            crates.entry(name).or_default().push((modules, source));
        }
    }
    crates.iter().flat_map(|(name, files)| check_crate(name, files)).collect()
}

/// The crate of a file, and the modules that lead to it; none of them for the root.
fn place(path: &Path) -> Option<(String, Vec<String>)> {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let [folder, name, "src", inner @ ..] = parts.as_slice() else { return None };
    let mut modules: Vec<String> = inner.iter().map(|part| part.trim_end_matches(".rs").to_owned()).collect();
    if modules.last().is_some_and(|last| last == "mod") {
        modules.pop();
    }
    if matches!(modules.as_slice(), [only] if only == "lib" || only == "main") {
        modules.clear();
    }
    (*folder == "crates" && !modules.iter().any(|module| module == "tests"))
        .then(|| ((*name).to_owned(), modules))
}

fn check_crate(name: &str, files: &[(Vec<String>, &Source)]) -> Vec<Problem> {
    let roots = || files.iter().filter(|(modules, _)| modules.is_empty()).map(|(_, source)| &source.code);
    let names: BTreeSet<String> = files.iter().filter_map(|(modules, _)| modules.first().cloned()).collect();
    let exported: BTreeMap<String, String> = roots()
        .flat_map(|code| paths(code))
        .filter_map(|path| {
            let path = path.strip_prefix(&["crate".to_owned()][..]).unwrap_or(&path).to_vec();
            let module = path.first().filter(|module| names.contains(*module))?.clone();
            Some((path.last()?.clone(), module))
        })
        .collect();
    let mut uses = Uses::new();
    for (modules, source) in files {
        let Some(own) = modules.first() else { continue };
        for path in paths(&source.code) {
            let Some(first) = from_root(&path, modules.len()) else { continue };
            let module = if names.contains(first) { Some(first) } else { exported.get(first) };
            if let Some(module) = module.filter(|module| *module != own) {
                uses.entry(own.clone()).or_default().insert(module.clone());
            }
        }
    }
    let allowed = |circle: &BTreeSet<String>| {
        ALLOWED.iter().any(|(of, modules)| *of == name && modules.iter().copied().eq(circle.iter()))
    };
    circles(&uses)
        .into_iter()
        .filter(|circle| !allowed(circle))
        .map(|circle| {
            let modules: Vec<String> = circle.into_iter().collect();
            let what = format!("these modules need each other: {}", modules.join(", "));
            Problem::new(format!("crates/{name}/src"), 0, what)
        })
        .collect()
}

/// The first name of a path that begins at the crate's root, seen from a file so deep.
fn from_root(path: &[String], depth: usize) -> Option<&String> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path.first()?.as_str() {
        "crate" => path.get(1),
        "super" if ups >= depth => path.get(ups),
        _ => None,
    }
}

/// Groups of modules that reach each other.
fn circles(uses: &Uses) -> BTreeSet<BTreeSet<String>> {
    let reached = |from: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut next: Vec<&String> = uses.get(from).into_iter().flatten().collect();
        while let Some(module) = next.pop() {
            if seen.insert(module) {
                next.extend(uses.get(module).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&String, BTreeSet<&String>> = uses.keys().map(|from| (from, reached(from))).collect();
    let mut found = BTreeSet::new();
    for (module, all) in &reach {
        if all.contains(module) {
            let back = |other: &&&String| reach.get(**other).is_some_and(|all| all.contains(module));
            found.insert(all.iter().filter(back).map(|other| (*other).clone()).collect());
        }
    }
    found
}

/// Every path in code: those of `use` with their lists taken apart, and those that begin
/// with `crate` or `super` anywhere else.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut rest = String::new();
    let mut code = code;
    while let Some(at) = find_word(code, "use ") {
        let (before, from) = code.split_at(at);
        rest.push_str(before);
        let end = from.find(';').unwrap_or(from.len());
        expand(&from["use ".len()..end], &[], &mut found);
        code = &from[end..];
    }
    rest.push_str(code);
    for start in ["crate::", "super::"] {
        let mut from = rest.as_str();
        while let Some(at) = find_word(from, start) {
            let fits = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let length = from[at..].find(|c| !fits(c)).unwrap_or(from.len() - at);
            found.push(parts(&from[at..at + length]));
            from = &from[at + length..];
        }
    }
    found
}

/// Where a word begins that nothing comes before.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let continues = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    text.match_indices(word).map(|(at, _)| at).find(|at| !text[..*at].ends_with(continues))
}

fn parts(path: &str) -> Vec<String> {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Takes the tree of a `use` apart.
fn expand(tree: &str, above: &[String], found: &mut Vec<Vec<String>>) {
    let tree = tree.trim();
    match tree.strip_suffix('}').and_then(|tree| tree.split_once('{')) {
        Some((front, list)) => {
            let above = [above, &parts(front)].concat();
            split_list(list).into_iter().for_each(|tree| expand(tree, &above, found));
        }
        None => {
            let name = tree.split_once(" as ").map_or(tree, |(name, _)| name);
            found.push([above, &parts(name)].concat());
        }
    }
}

/// The parts of a list, cut at commas outside of braces.
fn split_list(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut cut) = (0usize, 0, Vec::new());
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                cut.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    cut.push(&list[start..]);
    cut.retain(|part| !part.trim().is_empty());
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().map(|(path, text)| Source::new(format!("crates/x/src/{path}"), *text)).collect();
        check(&sources).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn modules_in_one_direction_are_fine() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use b::{Thing, inner::Other};"),
            ("a.rs", "use crate::Thing; use crate::{b::{self, c}, Other as O};"),
            ("b.rs", "mod inner; use inner::Other;"),
            ("b/inner.rs", "use super::Thing; // crate::a"),
        ];
        assert_eq!(problems(&files), [""; 0]);
    }

    #[test]
    fn a_circle_is_named_however_it_is_written() {
        let ways = [
            "use crate::a::X;",
            "use super::a;",
            "fn f() { crate::a::g() }",
            "use crate::{other, a::{X, Y}};",
            "use crate::X;",
        ];
        for back in ways {
            let files = [("lib.rs", "pub use a::X;"), ("a.rs", "use crate::b;"), ("b.rs", back)];
            assert_eq!(problems(&files), ["these modules need each other: a, b"], "{back}");
        }
        let deep = [("a.rs", "use crate::b;"), ("b/c/d.rs", "use super::super::super::a::X;")];
        assert_eq!(problems(&deep).len(), 1);
        let tests = [("a.rs", "use crate::b;"), ("b.rs", "#[cfg(test)]\nmod tests { use crate::a; }")];
        assert_eq!(problems(&tests), [""; 0]);
    }
}
