//! Which repository a folder belongs to, read from its files: no program is run.

use std::fs;
use std::io::Read;
use std::path::Path;

use retro_memory::Repository;

/// Bytes of git's configuration that are read.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;

/// The repository around a folder: its top folder and its remote without credentials.
/// Nothing is known of a folder that is in none.
pub fn around(folder: &Path) -> Repository {
    let Some(root) = folder.ancestors().find(|above| above.join(".git").exists()) else {
        return Repository::default();
    };
    let remote = remote(&root.join(".git"));
    Repository { root: Some(root.to_string_lossy().into_owned()), remote, branch: None }
}

fn remote(git: &Path) -> Option<String> {
    let path = git.join("config");
    if !fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut text = String::new();
    fs::File::open(path).ok()?.take(CONFIG_BYTES_MAX).read_to_string(&mut text).ok()?;
    remote_in(&text)
}

/// The address of `origin`, or of the first remote.
fn remote_in(config: &str) -> Option<String> {
    let (mut section, mut first) = (String::new(), None);
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
        } else if let Some((name, value)) = line.split_once('=')
            && section.starts_with("remote ")
            && name.trim() == "url"
        {
            let address = without_credentials(value.trim());
            if section == "remote \"origin\"" {
                return Some(address);
            }
            first = first.or(Some(address));
        }
    }
    first
}

/// An address without user and password, so that it can be kept and compared.
pub fn without_credentials(address: &str) -> String {
    let bare = match address.split_once("://") {
        Some((scheme, rest)) => {
            let host = rest.split_once('/').map_or(rest, |(host, _)| host);
            match host.rsplit_once('@') {
                Some((user, _)) => format!("{scheme}://{}", rest.get(user.len() + 1..).unwrap_or_default()),
                None => address.to_owned(),
            }
        }
        None => address.to_owned(),
    };
    bare.trim_end_matches('/').trim_end_matches(".git").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_remote_is_read_without_credentials() {
        let config = "[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://a/x\n[remote \"origin\"]\n\turl = https://me:pass@host/team/shop.git\n";
        assert_eq!(remote_in(config).as_deref(), Some("https://host/team/shop"));
        assert_eq!(remote_in("[core]\n"), None);
        assert_eq!(without_credentials("git@host:team/shop.git"), "git@host:team/shop");
    }
}
