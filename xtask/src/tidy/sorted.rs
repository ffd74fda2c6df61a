//! Registries are sorted tables, one entry each.

use std::path::Path;

use super::Problem;
use super::source::Source;

/// Whether the tables of a file must be sorted: the registry of agents and the
/// rules for secrets.
fn is_registry(path: &Path) -> bool {
    path == Path::new("crates/agents/src/registry.rs") || path.starts_with("crates/text/src/secrets/rules")
}

/// Checks every `static X: … = &[` table of a registry.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if !is_registry(&source.path) {
        return Vec::new();
    }
    let lines: Vec<(&str, &str)> = source.text.lines().zip(source.code.lines()).collect();
    let mut problems = Vec::new();
    let mut last: Option<String> = None;
    let mut in_table = false;
    for (at, (text, code)) in lines.iter().enumerate() {
        if code.contains("static ") && code.trim_end().ends_with("&[") {
            (in_table, last) = (true, None);
        } else if let Some(entries) = short_table(text) {
            if !entries.is_sorted() {
                problems.push(Problem::new(&source.path, at + 1, "this table is not sorted"));
            }
        } else if code.starts_with("];") {
            in_table = false;
        } else if in_table && is_entry(text) {
            let key = key(&lines[at..]);
            if last.as_ref().is_some_and(|last| *last > key) {
                problems.push(Problem::new(&source.path, at + 1, format!("{key} is not in its place")));
            }
            last = Some(key);
        }
    }
    problems
}

/// The entries of a table that fits on one line.
fn short_table(text: &str) -> Option<Vec<&str>> {
    let (name, entries) = text.split_once(" = &[")?;
    let entries = entries.strip_suffix("];")?;
    name.contains("static ").then(|| entries.split(", ").collect())
}

/// Whether an entry begins on this line: it is indented once and no continuation.
fn is_entry(text: &str) -> bool {
    let inside = text.strip_prefix("    ").unwrap_or_default();
    inside.starts_with(|first: char| first.is_alphabetic() || first == '&' || first == '"')
}

/// What an entry is sorted by: its first string, or its first line.
fn key(lines: &[(&str, &str)]) -> String {
    for (at, (text, code)) in lines.iter().enumerate() {
        if let Some((_, rest)) = text.split_once('"') {
            return rest.split('"').next().unwrap_or_default().to_owned();
        }
        if code.trim_end().ends_with(',') || at > 4 {
            break;
        }
    }
    lines.first().map(|(text, _)| text.trim().to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(text: &str) -> Vec<String> {
        let source = Source::new("crates/agents/src/registry.rs", text);
        check(&source).into_iter().map(|problem| problem.to_string()).collect()
    }

    #[test]
    fn entries_out_of_order_are_named() {
        let table = "pub static A: &[&dyn Agent] = &[\n    &codex::Codex,\n    &claude::Claude,\n];\n";
        assert_eq!(
            problems(table),
            ["crates/agents/src/registry.rs:3: &claude::Claude, is not in its place"]
        );
        assert_eq!(problems("pub static A: &[&dyn Agent] = &[&Codex, &Claude];\n").len(), 1);
        assert_eq!(problems("pub static A: &[&dyn Agent] = &[&Claude, &Codex];\n").len(), 0);
        let table = "static U: &[U] = &[\n    U { title: \"Pi\", marker: \"a\" },\n    U { title: \"Cline\", marker: \"b\" },\n];\n";
        assert_eq!(problems(table), ["crates/agents/src/registry.rs:3: Cline is not in its place"]);
    }

    #[test]
    fn an_entry_over_several_lines_has_its_first_string_as_key() {
        let table = "static R: &[Rule] = &[\n    Rule::token(\n        \"b\",\n        &[\"x\"],\n    )\n    .before(2),\n    Rule::named(\"a\", &[]),\n];\n";
        assert_eq!(problems(table), ["crates/agents/src/registry.rs:7: a is not in its place"]);
        assert!(problems(&table.replace("\"a\"", "\"c\"")).is_empty());
    }

    #[test]
    fn other_files_may_have_tables_in_any_order() {
        let text = "static A: &[u8] = &[\n    b,\n    a,\n];\n";
        assert!(check(&Source::new("crates/model/src/a.rs", text)).is_empty());
        assert_eq!(check(&Source::new("crates/text/src/secrets/rules/ai.rs", text)).len(), 1);
    }
}
