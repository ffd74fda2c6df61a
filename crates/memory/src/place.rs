//! Decides whether a lesson from one folder applies in another.
//!
//! Two folders are in the same repository if their remotes are the same, or if the top folder of
//! the repository around each is the same. A folder without a known repository is a separate place:
//! folders below or above it do not belong to it.

/// A folder, and its repository as far as known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'a> {
    /// The folder, as it was named.
    pub folder: Option<&'a str>,
    /// The same folder without links, `.` and `..`, if known.
    pub resolved: Option<&'a str>,
    /// The top folder of the repository.
    pub root: Option<&'a str>,
    /// The remote of the repository.
    pub remote: Option<&'a str>,
}

impl<'a> Place<'a> {
    /// True if both are in the same repository. If one has no known repository, true if both are
    /// the same folder.
    pub fn is_same(&self, other: &Place<'_>) -> bool {
        if let (Some(one), Some(two)) = (self.remote, other.remote)
            && remote_name(one).is_some_and(|one| remote_name(two).is_some_and(|two| one == two))
        {
            return true;
        }
        if let (Some(one), Some(two)) = (self.root, other.root) {
            return is_same_path(one, two);
        }
        let others = other.names();
        self.names().iter().flatten().any(|folder| others.contains(&Some(*folder)))
    }

    fn names(&self) -> [Option<&'a str>; 2] {
        let known = |folder: &&str| !folder.is_empty();
        [self.folder, self.resolved].map(|folder| folder.filter(known).map(trimmed))
    }
}

fn is_same_path(one: &str, two: &str) -> bool {
    trimmed(one) == trimmed(two)
}

/// A path without trailing separators. The root of a disk stays unchanged.
fn trimmed(path: &str) -> &str {
    let bare = path.trim_end_matches(['/', '\\']);
    if bare.is_empty() { path.get(..1).unwrap_or_default() } else { bare }
}

/// The name of a remote, independent of the protocol: host and path, so that
/// `git@host:team/shop.git` equals `https://host/team/shop`. A local path is its own name. A
/// relative path has none, since it differs for each repository.
pub(crate) fn remote_name(address: &str) -> Option<String> {
    let bare = address.trim().trim_end_matches('/');
    let bare = bare.strip_suffix(".git").unwrap_or(bare).trim_end_matches('/');
    if let Some((scheme, rest)) = bare.split_once("://") {
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if scheme.eq_ignore_ascii_case("file") {
            return (!path.is_empty()).then(|| format!("/{path}"));
        }
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host).to_lowercase();
        let usual = [":22", ":80", ":443", ":9418"];
        let host = usual.iter().find_map(|port| host.strip_suffix(port)).unwrap_or(&host);
        let path = path.trim_start_matches('/');
        return (!host.is_empty() && !path.is_empty()).then(|| format!("{host}/{path}"));
    }
    if bare.starts_with('/') {
        return Some(bare.to_owned());
    }
    let (host, path) = bare.split_once(':')?;
    if host.len() == 1 {
        // A Windows path with a drive.
        return Some(bare.replace('\\', "/"));
    }
    if host.is_empty() || host.contains(['/', '\\']) {
        return None;
    }
    let (user, host) = host.rsplit_once('@').unwrap_or(("git", host));
    // Relative to the home of the user in the address.
    let home = if user == "git" || path.starts_with('/') { String::new() } else { format!("~{user}/") };
    let path = path.trim_start_matches('/');
    (!path.is_empty()).then(|| format!("{}/{home}{path}", host.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at<'a>(folder: &'a str, root: &'a str, remote: &'a str) -> Place<'a> {
        let known = |text: &'a str| Some(text).filter(|text| !text.is_empty());
        Place { folder: known(folder), resolved: None, root: known(root), remote: known(remote) }
    }

    #[test]
    fn a_place_is_its_repository_or_exactly_its_folder() {
        let shop = "https://example.com/team/shop";
        #[rustfmt::skip]
        let cases = [
            (true, "one repository", at("/w/a/src", "/w/a", ""), at("/w/a/docs", "/w/a", "")),
            (true, "its top", at("/w/a", "/w/a", ""), at("/w/a/docs", "/w/a/", "")),
            (true, "two clones", at("/w/a", "/w/a", shop), at("/x/b", "/x/b", shop)),
            (true, "a remote that was added later", at("/w/a", "/w/a", ""), at("/w/a", "/w/a", shop)),
            (true, "a remote that moved", at("/w/a", "/w/a", "https://example.com/old/shop"), at("/w/a", "/w/a", shop)),
            (true, "a folder in no repository", at("/w", "", ""), at("/w/", "", "")),
            (true, "a folder that became a repository", at("/w/a", "", ""), at("/w/a", "/w/a", shop)),
            (true, "a folder whose repository is gone", at("/w/a", "/w/a", ""), at("/w/a", "", "")),
            (false, "a checkout inside", at("/w/a/vendor/x", "/w/a/vendor/x", ""), at("/w/a", "/w/a", "")),
            (false, "below a folder", at("/w", "", ""), at("/w/a", "", "")),
            (false, "the home, and a repository below it", at("/home/dev", "", ""), at("/home/dev/a", "/home/dev/a", "")),
            (false, "dotfiles, and a repository below them", at("/home/dev/a", "/home/dev/a", ""), at("/home/dev/downloads", "/home/dev", "")),
            (false, "a folder that became a checkout", at("/w/a/x", "/w/a", ""), at("/w/a/x", "/w/a/x", "")),
            (false, "a name that begins alike", at("/w/a", "/w/a", ""), at("/w/ab", "/w/ab", "")),
            (false, "another letter case", at("/w/a", "/w/a", ""), at("/w/A", "/w/A", "")),
            (false, "another team's", at("/w/a", "/w/a", shop), at("/x/a", "/x/a", "https://example.com/else/shop")),
            (false, "the same relative remote", at("/w/a", "/w/a", "../origin"), at("/x/a", "/x/a", "../origin")),
            (false, "nothing known", at("", "", ""), at("", "", "")),
            (false, "dots", at("/w/a", "", ""), at("/w/a/../b", "", "")),
            (false, "the top of the disk", at("/", "", ""), at("/w", "", "")),
        ];
        for (same, what, one, two) in cases {
            assert_eq!((one.is_same(&two), two.is_same(&one)), (same, same), "{what}");
        }
    }

    #[test]
    fn a_remote_is_the_same_however_it_is_reached() {
        for address in [
            "https://example.com/team/shop",
            "https://someone@Example.com/team/shop.git",
            "git@example.com:team/shop.git",
            "example.com:team/shop",
            "ssh://git@example.com:22/team/shop.git/",
            "git://example.com/team/shop",
        ] {
            assert_eq!(remote_name(address).as_deref(), Some("example.com/team/shop"), "{address}");
        }
        for (one, two) in [
            ("ana@example.com:shop", "ben@example.com:shop"),
            ("https://example.com:8443/shop", "https://example.com/shop"),
            ("https://example.com/Shop", "https://example.com/shop"),
            ("/srv/git/shop.git", "/srv/git/notes.git"),
        ] {
            assert!(remote_name(one).is_some() && remote_name(one) != remote_name(two), "{one} {two}");
        }
        assert_eq!(remote_name("file:///srv/git/shop.git"), remote_name("/srv/git/shop"));
        assert_eq!([remote_name("../shop"), remote_name("shop"), remote_name("")], [None, None, None]);
    }
}
