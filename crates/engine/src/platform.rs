//! The folders in which programs keep their data on each platform. Pure, so that every platform's
//! rules can be tested on any platform.

use std::path::{Path, PathBuf};

/// A family of operating systems, as far as folders are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and every other system that follows the XDG rules.
    Unix,
    /// macOS, with its `Library` folder.
    Mac,
    /// Windows, with its `AppData` folder.
    Windows,
}

impl Platform {
    /// The platform that this program was built for.
    pub fn current() -> Platform {
        if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::Mac
        } else {
            Platform::Unix
        }
    }

    /// The folder for a user's data.
    pub fn data_dir(self, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        match self {
            Platform::Unix => {
                absolute(env("XDG_DATA_HOME")).unwrap_or_else(|| home.join(".local").join("share"))
            }
            Platform::Mac => home.join("Library").join("Application Support"),
            Platform::Windows => env("LOCALAPPDATA")
                .filter(|value| !value.is_empty())
                .map_or_else(|| home.join("AppData").join("Local"), PathBuf::from),
        }
    }

    /// The folder for a user's configuration.
    pub fn config_dir(self, home: &Path, env: &dyn Fn(&str) -> Option<String>) -> PathBuf {
        match self {
            Platform::Unix => absolute(env("XDG_CONFIG_HOME")).unwrap_or_else(|| home.join(".config")),
            Platform::Mac => home.join("Library").join("Application Support"),
            Platform::Windows => env("APPDATA")
                .filter(|value| !value.is_empty())
                .map_or_else(|| home.join("AppData").join("Roaming"), PathBuf::from),
        }
    }
}

/// Free bytes on the disk that holds `path` or will hold it.
pub fn free_bytes(path: &Path) -> Option<u64> {
    path.ancestors().find(|folder| folder.is_dir()).and_then(|folder| fs4::available_space(folder).ok())
}

/// Space on a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskRoom {
    /// Bytes that are free.
    pub free: u64,
    /// Bytes in all.
    pub total: u64,
}

/// Space on the disk that holds `path` or will hold it.
pub fn disk_room(path: &Path) -> Option<DiskRoom> {
    let folder = path.ancestors().find(|folder| folder.is_dir())?;
    let stats = fs4::statvfs(folder).ok()?;
    Some(DiskRoom { free: stats.available_space(), total: stats.total_space() })
}

/// Drops a relative path: the XDG rules say that programs must ignore it.
fn absolute(value: Option<String>) -> Option<PathBuf> {
    value.map(PathBuf::from).filter(|path| path.is_absolute())
}

/// `path` with a leading `~` replaced by the home directory.
pub fn expand_home(path: &str, home: &Path) -> PathBuf {
    match path.strip_prefix('~') {
        Some("") => home.to_owned(),
        Some(rest) if rest.starts_with('/') || rest.starts_with('\\') => home.join(&rest[1..]),
        _ => PathBuf::from(path),
    }
}

/// The parts of a path in a log, whatever platform wrote it: a Windows log may be read on Linux.
pub fn components(path: &str) -> Vec<&str> {
    let windows = path.contains('\\') && !path.starts_with('/');
    path.split(|c| c == '/' || (windows && c == '\\')).filter(|part| !part.is_empty()).collect()
}

/// Whether two paths of a log name the same folder. Windows paths are compared without regard to
/// case and slashes.
pub fn same_path(a: &str, b: &str) -> bool {
    is_below(a, b) && is_below(b, a)
}

/// Whether `path` is `folder` or is below it.
pub fn is_below(path: &str, folder: &str) -> bool {
    let blind = is_drive_path(path) || is_drive_path(folder);
    let (path, folder) = (components(path), components(folder));
    path.len() >= folder.len()
        && folder.iter().zip(&path).all(|(a, b)| if blind { a.eq_ignore_ascii_case(b) } else { a == b })
}

fn is_drive_path(path: &str) -> bool {
    let bytes = path.as_bytes();
    matches!(bytes, [drive, b':', ..] if drive.is_ascii_alphabetic()) || path.starts_with("\\\\")
}

/// The project of a working directory, from its name alone: its last part. A worktree inside a
/// repository belongs to that repository.
pub fn project_name(cwd: &str) -> Option<String> {
    let parts = components(cwd);
    // Agents keep worktrees in a hidden folder of their own, such as `.claude/worktrees`.
    let inside = parts.windows(2).position(|pair| matches!(pair, [a, "worktrees"] if a.starts_with('.')));
    let end = match inside {
        Some(at) => at,
        None => parts.iter().position(|part| *part == ".worktrees").unwrap_or(parts.len()),
    };
    parts.get(..end)?.last().map(|name| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env<'a>(pairs: &'a [(&'a str, &'a str)]) -> impl Fn(&str) -> Option<String> + 'a {
        move |name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn each_platform_has_its_data_folder() {
        let home = Path::new("/h");
        assert_eq!(Platform::Unix.data_dir(home, &env(&[])), Path::new("/h/.local/share"));
        assert_eq!(Platform::Unix.data_dir(home, &env(&[("XDG_DATA_HOME", "/x")])), Path::new("/x"));
        assert_eq!(
            Platform::Unix.data_dir(home, &env(&[("XDG_DATA_HOME", "rel")])),
            Path::new("/h/.local/share")
        );
        assert_eq!(Platform::Mac.data_dir(home, &env(&[])), Path::new("/h/Library/Application Support"));
        assert_eq!(Platform::Windows.data_dir(home, &env(&[("LOCALAPPDATA", "/l")])), Path::new("/l"));
        assert_eq!(Platform::Windows.data_dir(home, &env(&[])), Path::new("/h/AppData/Local"));
    }

    #[test]
    fn paths_of_either_slash_are_understood() {
        assert!(is_below("C:\\Code\\Shop\\src", "c:/code/shop"));
        assert!(!is_below("/home/dev/shop2", "/home/dev/shop"));
        assert!(!is_below("/home/dev/Shop", "/home/dev/shop"));
        assert!(same_path("/a/b/", "/a/b"));
    }

    #[test]
    fn a_worktree_belongs_to_its_project() {
        assert_eq!(project_name("/home/dev/shop").as_deref(), Some("shop"));
        assert_eq!(project_name("/home/dev/shop/.claude/worktrees/fix").as_deref(), Some("shop"));
        assert_eq!(project_name("C:\\Code\\Shop").as_deref(), Some("Shop"));
        assert_eq!(project_name("/"), None);
    }

    #[test]
    fn a_tilde_is_the_home() {
        let home = Path::new("/h");
        assert_eq!(expand_home("~/x", home), Path::new("/h/x"));
        assert_eq!(expand_home("~", home), Path::new("/h"));
        assert_eq!(expand_home("~user/x", home), Path::new("~user/x"));
    }
}
