//! The remote of a repository, from its configuration file.

use std::io::Read;
use std::path::Path;

/// Bytes of a configuration that are read.
const CONFIG_BYTES_MAX: u64 = 256 * 1024;

/// Where `origin` is, or else the first remote, without credentials.
pub(super) fn of(git_folder: &Path) -> Option<String> {
    let mut text = String::new();
    let file = retro_agents::open_regular(&git_folder.join("config")).ok()?;
    file.take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
    let url = origin(&text)?;
    Some(retro_text::redact(&without_credentials(&url)).to_string())
}

fn origin(config: &str) -> Option<String> {
    let mut name: Option<&str> = None;
    let mut first = None;
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            name = line.strip_prefix("[remote \"").and_then(|rest| rest.strip_suffix("\"]"));
        } else if let Some((key, value)) = line.split_once('=')
            && let (Some(remote), true) = (name, key.trim().eq_ignore_ascii_case("url"))
        {
            let url = value.trim().trim_matches('"').to_owned();
            if remote == "origin" {
                return Some(url);
            }
            first = first.or(Some(url));
        }
    }
    first
}

/// Removes the name and the password before the host of an address.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let host = rest.find('/').unwrap_or(rest.len());
    let (host, path) = rest.split_at(host);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remote_is_read_without_its_credentials() {
        let config = "[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://a/up\n\
                      [remote \"origin\"]\n\turl = https://me:word@host/shop.git\n";
        assert_eq!(without_credentials(&origin(config).unwrap()), "https://host/shop.git");
        assert_eq!(without_credentials("git@host:me/shop.git"), "git@host:me/shop.git");
        assert_eq!(origin("[branch \"x\"]\nurl = y\n"), None);
    }
}
