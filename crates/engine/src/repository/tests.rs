#![allow(clippy::unwrap_used)]

use super::*;

#[test]
fn the_remote_is_read_without_credentials() {
    let config = "[core]\n\tbare = false\n[remote \"up\"]\n\turl = https://a/x\n[remote \"origin\"]\n\turl = https://me:pass@host/team/shop.git\n";
    assert_eq!(remote_in(config).as_deref(), Some("https://host/team/shop"));
    assert_eq!(
        remote_in("[Remote \"up\"]\n\tURL = \"git@host:shop.git\"\n").as_deref(),
        Some("git@host:shop")
    );
    assert_eq!(remote_in("[core]\n[branch \"remote\"]\n\turl = x\n"), None);
    assert_eq!(without_credentials("git@host:team/shop.git"), "git@host:team/shop");
}

/// Folders on a real disk, each with what git would have written.
struct Disk(tempfile::TempDir);

impl Disk {
    fn at(&self, path: &str) -> PathBuf {
        let top = fs::canonicalize(self.0.path()).unwrap();
        if path.is_empty() { plain(top) } else { plain(top).join(path) }
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).unwrap();
    }

    fn file(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn git(&self, folder: &str, remote: &str) {
        self.file(&format!("{folder}/HEAD"), "ref: refs/heads/main\n");
        self.file(&format!("{folder}/config"), &format!("[remote \"origin\"]\n\turl = {remote}\n"));
    }

    /// The repository's folder below the top of the disk, and its remote.
    fn around(&self, folder: &str) -> (Option<String>, Option<String>) {
        let Repository { root, remote, .. } = around(&self.at("").join(folder));
        let below = |root: String| {
            let rest = Path::new(&root).strip_prefix(self.at("")).unwrap();
            rest.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
        };
        (root.map(below), remote)
    }
}

#[test]
fn each_folder_belongs_to_its_own_repository() {
    let disk = Disk(tempfile::tempdir().unwrap());
    disk.git("home/.git", "https://example.com/ana/dotfiles");
    disk.git("home/shop/.git", "https://example.com/ana/shop");
    disk.folder("home/shop/src/deep");
    disk.git("home/shop/vendor/x/.git", "https://example.com/ben/x");
    // A submodule: its repository is inside the one around it.
    disk.git("home/shop/.git/modules/y", "https://example.com/ben/y");
    disk.file("home/shop/y/.git", "gitdir: ../.git/modules/y\n");
    // A worktree beside its repository.
    disk.file("home/shop/.git/worktrees/fix/HEAD", "ref: refs/heads/fix\n");
    disk.file("home/shop/.git/worktrees/fix/commondir", "../..\n");
    disk.file("work/fix/.git", &format!("gitdir: {}\n", disk.at("home/shop/.git/worktrees/fix").display()));
    disk.folder("work/fix/src");
    // Worktrees of a bare repository, with and without a file that names it.
    for (base, top) in [("work/bare/.bare", "work/bare"), ("work/lone/shop.git", "work/lone")] {
        disk.git(base, "https://example.com/ana/bare");
        disk.file(&format!("{base}/worktrees/one/HEAD"), "ref: refs/heads/one\n");
        disk.file(&format!("{base}/worktrees/one/commondir"), "../..\n");
        let named = disk.at(&format!("{base}/worktrees/one"));
        disk.file(&format!("{top}/one/.git"), &format!("gitdir: {}\n", named.display()));
    }
    disk.file("work/bare/.git", "gitdir: ./.bare\n");
    // Folders that look like repositories and are not.
    disk.folder("work/empty/.git");
    disk.file("work/stray/.git", "gitdir: ../nowhere\n");
    disk.folder("downloads");

    let shop = "https://example.com/ana/shop";
    let bare = "https://example.com/ana/bare";
    #[rustfmt::skip]
    let cases = [
        ("home/shop", Some("home/shop"), Some(shop)),
        ("home/shop/src/deep", Some("home/shop"), Some(shop)),
        ("home/shop/src/../../shop", Some("home/shop"), Some(shop)),
        ("home/shop/vendor/x", Some("home/shop/vendor/x"), Some("https://example.com/ben/x")),
        ("home/shop/vendor", Some("home/shop"), Some(shop)),
        ("home/shop/y", Some("home/shop/y"), Some("https://example.com/ben/y")),
        ("work/fix/src", Some("home/shop"), Some(shop)),
        ("work/bare/one", Some("work/bare"), Some(bare)),
        ("work/bare", Some("work/bare"), Some(bare)),
        ("work/lone/one", Some("work/lone/shop.git"), Some(bare)),
        ("home", Some("home"), Some("https://example.com/ana/dotfiles")),
        ("home/shop/../../downloads", None, None),
        ("downloads", None, None),
        ("work/empty", None, None),
        ("work/stray", None, None),
        // The former contents of a missing folder are unknown.
        ("home/shop/gone", None, None),
        ("home/gone/shop", None, None),
    ];
    for (folder, root, remote) in cases {
        let expected = (root.map(str::to_owned), remote.map(str::to_owned));
        assert_eq!(disk.around(folder), expected, "{folder}");
    }
    assert_eq!(around(Path::new("home/shop")), Repository::default(), "relative");
}

#[cfg(unix)]
#[test]
fn a_link_belongs_to_what_it_leads_to() {
    let disk = Disk(tempfile::tempdir().unwrap());
    disk.git("shop/.git", "https://example.com/ana/shop");
    disk.git("notes/.git", "https://example.com/ana/notes");
    disk.folder("shop/src");
    let link = |to: &str, from: &str| std::os::unix::fs::symlink(disk.at(to), disk.at(from)).unwrap();
    link("shop/src", "notes/shop-src");
    link("shop", "here");
    assert_eq!(disk.around("notes/shop-src").0.as_deref(), Some("shop"));
    assert_eq!(disk.around("here").0.as_deref(), Some("shop"));
    assert_eq!(disk.around("notes/shop-src/..").0.as_deref(), Some("shop"));
    assert_eq!(resolved(&disk.at("here").join("gone")), Some(disk.at("shop/gone")));
    assert_eq!(resolved(&disk.at("gone").join("../shop")), None);
}

#[cfg(unix)]
#[test]
fn a_repository_of_another_user_is_none() {
    assert!(is_by(Some(501), Some(501)) && is_by(Some(0), Some(501)));
    assert!(!is_by(Some(502), Some(501)) && !is_by(None, None) && !is_by(Some(502), None));
}
