//! Nothing in the repository tells of the machine it was written on.
//!
//! What to look for is asked of the machine itself, so that no path of anybody
//! has to stand here: the folders that hold the checkout, the home directory,
//! and the hosts from which cargo was told to fetch.

use std::path::{Path, PathBuf};

use super::Problem;
use crate::repository::Repository;

/// Where crates really come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Folders that tell nothing: every machine has them, or nobody.
const ANYWHERE: &[&str] = &[
    "/Users",
    "/Users/dev",
    "/home",
    "/home/dev",
    "/home/user",
    "/mnt",
    "/opt",
    "/srv",
    "/tmp",
    "/usr",
    "/var",
];

/// What gives a machine away.
pub(crate) struct Machine {
    folders: Vec<String>,
    hosts: Vec<String>,
}

impl Machine {
    /// This machine.
    pub(crate) fn of(repository: &Repository) -> Machine {
        let home = std::env::var_os("HOME").or_else(|| std::env::var_os("USERPROFILE")).map(PathBuf::from);
        let cargo_home = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| home.as_ref().map(|home| home.join(".cargo")));
        let config =
            cargo_home.as_ref().and_then(|cargo| std::fs::read_to_string(cargo.join("config.toml")).ok());
        let above = repository.root.parent().map(Path::to_owned);
        let folders = [Some(repository.root.clone()), above, home, cargo_home];
        Machine::with(folders.into_iter().flatten(), config.as_deref().unwrap_or_default())
    }

    /// A machine with these folders and this configuration of cargo.
    fn with(folders: impl Iterator<Item = PathBuf>, cargo_config: &str) -> Machine {
        let folders = folders
            .map(|folder| folder.to_string_lossy().trim_end_matches('/').to_owned())
            .filter(|folder| !folder.is_empty() && !ANYWHERE.contains(&folder.as_str()))
            .map(|folder| format!("{folder}/"))
            .collect();
        Machine { folders, hosts: mirrors(cargo_config) }
    }

    /// Problems of one file.
    pub(crate) fn check(&self, path: &Path, text: &str) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let mut say = |what: &str| problems.push(Problem::new(path, number, what));
            if self.folders.iter().any(|folder| names_path(line, folder)) {
                say("names a folder of this machine");
            }
            if self.hosts.iter().any(|host| line.contains(host)) {
                say("names a host of this machine");
            }
            if path == Path::new("Cargo.lock")
                && line.starts_with("source = \"registry")
                && !line.contains(REGISTRY)
            {
                say("comes from another registry than crates.io");
            }
        }
        problems
    }
}

/// Whether a line holds a path that begins with `folder`.
fn names_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().last();
        !before.is_some_and(|before| {
            before.is_alphanumeric() || matches!(before, '.' | '_' | '-' | '~' | '}' | '/' | '>')
        })
    })
}

/// The hosts that a configuration of cargo puts in place of crates.io.
fn mirrors(cargo_config: &str) -> Vec<String> {
    let config: toml::Table = cargo_config.parse().unwrap_or_default();
    let tables = ["source", "registries"].iter().filter_map(|name| config.get(*name)?.as_table());
    let urls = tables.flat_map(|table| table.values()).flat_map(|entry| {
        ["registry", "index"].iter().filter_map(|key| entry.get(*key)?.as_str()).collect::<Vec<_>>()
    });
    let hosts = urls.filter_map(|url| url.split_once("://")?.1.split('/').next());
    let hosts = hosts.map(|host| host.rsplit('@').next().unwrap_or(host).to_owned());
    hosts.filter(|host| !host.ends_with("crates.io") && host != "github.com").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        let config = "[source.mirror]\nregistry = \"sparse+https://crates.inside.test/index/\"\n\
                      [source.crates-io]\nreplace-with = \"mirror\"\n[source.b]\nregistry = \"https://github.com/x\"";
        Machine::with(
            ["/srv/build".into(), "/home/dev".into(), "/".into(), "/tmp/".into()].into_iter(),
            config,
        )
    }

    fn problems(path: &str, text: &str) -> usize {
        machine().check(Path::new(path), text).len()
    }

    #[test]
    fn folders_of_the_machine_are_named() {
        assert_eq!(problems("a.md", "see /srv/build/x.txt"), 1);
        assert_eq!(problems("a.md", "see `/srv/build/x`\nand\n\"/srv/build/\""), 2);
        assert_eq!(
            problems(
                "a.md",
                "./srv/build/x and usr/srv/build/x and /srv/builder and /home/dev/shop and /tmp/x"
            ),
            0
        );
    }

    #[test]
    fn mirrors_are_named_and_public_hosts_are_not() {
        assert_eq!(problems("a.toml", "url = \"https://crates.inside.test/a\""), 1);
        assert_eq!(problems("a.toml", "url = \"https://github.com/a\""), 0);
    }

    #[test]
    fn the_lock_file_names_one_registry_only() {
        assert_eq!(problems("Cargo.lock", &format!("source = \"{REGISTRY}\"")), 0);
        assert_eq!(problems("Cargo.lock", "source = \"registry+https://else.test/index\""), 1);
        assert_eq!(problems("other.txt", "source = \"registry+https://else.test/index\""), 0);
    }
}
