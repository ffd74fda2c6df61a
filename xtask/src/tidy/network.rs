//! The program uses no network: only the dashboard's server opens a socket, on loopback, and no
//! library that fetches things is part of the program.

use std::path::Path;

use super::Problem;
use super::source::Source;

const WORDS: &[&str] = &["std::net", "TcpListener", "TcpStream", "tokio::net", "ToSocketAddrs", "UdpSocket"];

/// Libraries that fetch things, and what they need for it.
const CLIENTS: &[&str] = &[
    "attohttpc",
    "curl",
    "hickory-resolver",
    "isahc",
    "native-tls",
    "openssl",
    "quinn",
    "reqwest",
    "rustls",
    "surf",
    "ureq",
];

/// Checks that only the dashboard's server uses sockets.
pub(crate) fn check(source: &Source) -> Vec<Problem> {
    if source.is_below(&["crates/web", "xtask"]) {
        return Vec::new();
    }
    let uses = source.uses(WORDS);
    uses.map(|(line, word)| {
        Problem::new(&source.path, line, format!("{word} outside the dashboard's server"))
    })
    .collect()
}

/// Checks that no library in the lock file is a client of the network.
pub(crate) fn check_lock(path: &Path, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let name = line.strip_prefix("name = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(name) = name.filter(|name| CLIENTS.contains(name)) {
            problems.push(Problem::new(path, at + 1, format!("{name} fetches things from a network")));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_outside_the_dashboards_server_is_named() {
        let text = "fn f() { std::net::TcpStream::connect(a); }";
        assert!(!check(&Source::new("crates/engine/src/a.rs", text)).is_empty());
        assert!(check(&Source::new("crates/web/src/serve.rs", text)).is_empty());
        assert!(check(&Source::new("crates/engine/src/a.rs", "fn f() { internet(a); }")).is_empty());
    }

    #[test]
    fn a_library_that_fetches_things_is_named() {
        let lock = "[[package]]\nname = \"serde\"\n\n[[package]]\nname = \"ureq\"\nversion = \"3.0.0\"\n";
        let problems = check_lock(Path::new("Cargo.lock"), lock);
        assert_eq!(problems, [Problem::new("Cargo.lock", 5, "ureq fetches things from a network")]);
        assert!(CLIENTS.is_sorted());
    }
}
