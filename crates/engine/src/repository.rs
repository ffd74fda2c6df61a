//! Finds the repository of a folder, read from its files: no program is run.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use retro_memory::Repository;

/// Bytes of a git file that are read.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// The repository around a folder: its top folder and its remote without credentials. Empty if the
/// folder is outside of any repository or no longer exists, because a parent of a missing folder
/// may belong to another repository.
///
/// A worktree belongs to the repository that made it. A repository is ignored if its owner is not
/// the owner of the folder, because any user could create one above a shared folder.
pub fn around(folder: &Path) -> Repository {
    let repository = || {
        let folder = resolved(folder).filter(|folder| folder.is_dir())?;
        let (top, git) = folder.ancestors().find_map(|top| Some((top, git_folder(&top.join(".git"))?)))?;
        if !is_trusted(&top.join(".git"), &folder) {
            return None;
        }
        let common = common_folder(&git);
        let root = match &common {
            Some(common) => top_of(common),
            None => top.to_owned(),
        };
        let remote = text_of(&common.unwrap_or(git).join("config")).and_then(|config| remote_in(&config));
        Some(Repository { root: Some(text(&root)), remote, branch: None })
    };
    repository().unwrap_or_default()
}

/// A folder without links, `.` and `..`. If it is gone, resolves the part that still exists.
pub fn resolved(folder: &Path) -> Option<PathBuf> {
    if !folder.is_absolute() {
        return None;
    }
    for above in folder.ancestors() {
        let Ok(there) = fs::canonicalize(above) else { continue };
        let rest = folder.strip_prefix(above).ok()?;
        let is_plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
        return is_plain.then(|| if rest == Path::new("") { plain(there) } else { plain(there).join(rest) });
    }
    None
}

/// A Windows path without its verbatim prefix.
fn plain(path: PathBuf) -> PathBuf {
    match path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) {
        Some(rest) if !rest.starts_with("UNC\\") => PathBuf::from(rest),
        _ => path,
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// The folder with git's data for a `.git`: the folder itself, or the one that the file names.
/// `None` if git would not recognize a repository.
fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    let folder = if dot_git.is_file() {
        let named = text_of(dot_git)?;
        let named = named.strip_prefix("gitdir:")?.trim();
        fs::canonicalize(dot_git.parent()?.join(named)).ok()?
    } else {
        dot_git.to_owned()
    };
    folder.join("HEAD").symlink_metadata().is_ok().then_some(folder)
}

/// The folder that a worktree shares with the repository that made it.
fn common_folder(git: &Path) -> Option<PathBuf> {
    let named = text_of(&git.join("commondir"))?;
    fs::canonicalize(git.join(named.trim())).ok().filter(|common| common.join("HEAD").exists())
}

/// The folder that names a repository: the one around its `.git`, or around the file that points to
/// it, or its own.
fn top_of(common: &Path) -> PathBuf {
    let common = plain(common.to_owned());
    let Some(above) = common.parent() else { return common };
    let is_named = || git_folder(&above.join(".git")).is_some_and(|git| plain(git) == common);
    if common.file_name().is_some_and(|name| name == ".git") || is_named() {
        return above.to_owned();
    }
    common
}

#[cfg(unix)]
fn is_trusted(dot_git: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::symlink_metadata(path).map(|meta| meta.uid()).ok();
    is_by(owner(dot_git), owner(folder))
}

#[cfg(not(unix))]
fn is_trusted(_: &Path, _: &Path) -> bool {
    true
}

/// Whether the repository belongs to the owner of the folder or to root.
#[cfg(unix)]
fn is_by(repository: Option<u32>, folder: Option<u32>) -> bool {
    repository.is_some() && (repository == Some(0) || repository == folder)
}

/// The text of a small regular file.
fn text_of(path: &Path) -> Option<String> {
    if !fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(FILE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// The address of `origin`, or of the first remote.
fn remote_in(config: &str) -> Option<String> {
    let (mut name, mut first) = (None, None);
    for line in config.lines().map(str::trim) {
        if line.starts_with('[') {
            name = remote_section(line);
        } else if let Some((key, value)) = line.split_once('=')
            && let Some(name) = &name
            && key.trim().eq_ignore_ascii_case("url")
        {
            let address = without_credentials(value.trim().trim_matches('"'));
            if name == "origin" {
                return Some(address);
            }
            first = first.or(Some(address));
        }
    }
    first
}

/// The name of a remote, from the line that its section begins with.
fn remote_section(line: &str) -> Option<String> {
    let (kind, name) = line.trim_matches(['[', ']']).split_once(' ')?;
    kind.eq_ignore_ascii_case("remote").then(|| name.trim().trim_matches('"').to_owned())
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
mod tests;
