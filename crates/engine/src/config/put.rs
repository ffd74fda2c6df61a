//! Writes a user's file so that a stop at any instant leaves the old one or the new one.

use retro_store::{Disk, RealDisk};
use std::io;
use std::path::Path;

/// Writes a whole file atomically. A link stays a link: its target is written. An existing file
/// keeps its permissions.
pub fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut part = place.clone().into_os_string();
    part.push(".part");
    let part = Path::new(&part);
    let disk = RealDisk;
    let written = disk.write(part, bytes).and_then(|()| {
        if let Ok(old) = std::fs::metadata(&place) {
            std::fs::set_permissions(part, old.permissions())?;
        }
        disk.sync_file(part)?;
        disk.rename(part, &place)
    });
    if written.is_err() {
        // A full disk needs the space back. A failed removal matters less.
        let _ = disk.remove(part);
    }
    written?;
    disk.sync_dir(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_link_stays_a_link_and_rights_stay() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.toml"), dir.path().join("link.toml"));
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        put(&link, b"new").unwrap();
        assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(std::fs::read_to_string(&real).unwrap(), "new");
        assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside it");
    }
}
