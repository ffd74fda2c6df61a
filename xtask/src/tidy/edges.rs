//! Which crate may know which: the house has stairs in one direction only.
//!
//! `text` ← `model` ← the pure crates (with `disk` below those that write) ← `engine` ← `views` ← `retro` ← `web`, `cli`.

use std::path::PathBuf;

use super::Problem;

/// Crates that turn values into values, and the two that do it for agents and files.
const FLOOR: &[&str] = &["agents", "insight", "memory", "patterns", "search", "store", "usage"];

/// What a crate may depend on, by the names of their folders. `None`: unknown crate.
fn allowed(name: &str) -> Option<Vec<&'static str>> {
    let below = |parts: &[&[&'static str]]| Some(parts.concat());
    match name {
        "text" | "disk" => below(&[]),
        "model" => below(&[&["text"]]),
        "store" | "search" => below(&[&["text", "model", "disk"]]),
        // What a session can teach is read from how it went and what it repaired.
        // So is what recurs over sessions.
        "memory" | "patterns" => below(&[&["text", "model", "insight", "search"]]),
        name if FLOOR.contains(&name) => below(&[&["text", "model"]]),
        "engine" => below(&[&["text", "model"], FLOOR]),
        "views" | "laws" => below(&[&["text", "model", "engine"], FLOOR]),
        "retro" => below(&[&["text", "model", "engine", "views"], FLOOR]),
        "web" => below(&[&["retro"]]),
        "cli" => below(&[&["retro", "web"]]),
        _ => None,
    }
}

/// Checks manifests `crates/<name>/Cargo.toml`, given with their text.
pub(crate) fn check(manifests: &[(PathBuf, String)]) -> Vec<Problem> {
    manifests.iter().flat_map(|(path, text)| check_one(path, text)).collect()
}

fn check_one(path: &PathBuf, text: &str) -> Vec<Problem> {
    let problem = |what: String| vec![Problem::new(path, 0, what)];
    let Some(name) = path.parent().and_then(|folder| folder.file_name()).and_then(|name| name.to_str())
    else {
        return problem("lies in no crate's folder".to_owned());
    };
    let manifest: toml::Table = match text.parse() {
        Ok(manifest) => manifest,
        Err(error) => return problem(format!("is no TOML: {error}")),
    };
    let Some(allowed) = allowed(name) else {
        return problem(format!("{name} has no place in the order of crates, see xtask/src/tidy/edges.rs"));
    };
    own_dependencies(&manifest)
        .filter(|dependency| !allowed.contains(&dependency.as_str()))
        .map(|dependency| {
            let may = if allowed.is_empty() { "none of ours".to_owned() } else { allowed.join(", ") };
            Problem::new(path, 0, format!("{name} may not use {dependency}; it may use {may}"))
        })
        .collect()
}

/// The folder names of our own crates that a manifest names, tests included.
fn own_dependencies(manifest: &toml::Table) -> impl Iterator<Item = String> {
    let sections = ["dependencies", "dev-dependencies", "build-dependencies"];
    let tables: Vec<&toml::Table> =
        sections.iter().filter_map(|section| manifest.get(*section)?.as_table()).collect();
    let names = tables.into_iter().flat_map(|table| {
        table
            .iter()
            .map(|(key, value)| value.get("package").and_then(toml::Value::as_str).unwrap_or(key).to_owned())
    });
    names.collect::<Vec<_>>().into_iter().filter_map(|name| match name.as_str() {
        "retro" => Some(name),
        _ => name.strip_prefix("retro-").map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(name: &str, text: &str) -> Vec<String> {
        let path = PathBuf::from(format!("crates/{name}/Cargo.toml"));
        check(&[(path, text.to_owned())]).into_iter().map(|problem| problem.what).collect()
    }

    #[test]
    fn a_crate_may_use_what_is_below_it() {
        assert!(problems("model", "[dependencies]\nretro-text.workspace = true\nserde = \"1\"").is_empty());
        assert!(problems("views", "[dependencies]\nretro-engine.workspace = true").is_empty());
        assert!(problems("cli", "[dependencies]\nretro.workspace = true").is_empty());
    }

    #[test]
    fn nothing_points_back() {
        assert_eq!(
            problems("model", "[dependencies]\nretro-store.workspace = true"),
            ["model may not use store; it may use text"]
        );
        assert_eq!(problems("cli", "[dev-dependencies]\nretro-model.workspace = true").len(), 1);
        assert_eq!(
            problems("text", "[dependencies]\nx = { package = \"retro-model\", path = \"..\" }").len(),
            1
        );
        assert_eq!(problems("usage", "[build-dependencies]\nretro-search.workspace = true").len(), 1);
    }

    #[test]
    fn a_crate_without_a_place_is_named() {
        assert!(problems("helpers", "")[0].starts_with("helpers has no place"));
        assert!(problems("text", "[[[")[0].starts_with("is no TOML"));
    }
}
