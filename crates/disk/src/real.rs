//! The real file system.

use crate::Disk;
use std::fs::{self, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            result => result,
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_odd(path)?;
        private().create(true).truncate(true).open(path)?.write_all(bytes)
    }

    fn write_at(&self, path: &Path, offset: u64, bytes: &[u8]) -> io::Result<()> {
        refuse_odd(path)?;
        let mut file = private().create(true).truncate(false).open(path)?;
        file.seek(SeekFrom::Start(offset))?;
        file.write_all(bytes)
    }

    fn truncate(&self, path: &Path, length: u64) -> io::Result<()> {
        OpenOptions::new().write(true).open(path)?.set_len(length)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    #[cfg(unix)]
    fn restrict_dir(&self, path: &Path) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))
    }

    #[cfg(not(unix))]
    fn restrict_dir(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        // Windows flushes only through a handle that may write.
        OpenOptions::new().write(true).open(path)?.sync_all()
    }

    #[cfg(unix)]
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    #[cfg(not(unix))]
    fn sync_dir(&self, _path: &Path) -> io::Result<()> {
        // Folders cannot be flushed on Windows, where the file system journals names.
        Ok(())
    }

    // Since Linux 5.8, `syncfs` reports write errors as `fsync` does.
    #[cfg(target_os = "linux")]
    fn sync_everything(&self, root: &Path) -> io::Result<bool> {
        rustix::fs::syncfs(fs::File::open(root)?)?;
        Ok(true)
    }

    #[cfg(not(target_os = "linux"))]
    fn sync_everything(&self, _root: &Path) -> io::Result<bool> {
        Ok(false)
    }
}

/// Refuses a link, a pipe or a device instead of a file: a link leads elsewhere, and opening a pipe
/// may block.
fn refuse_odd(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if !meta.is_file() => Err(io::Error::other("it is not a regular file; move it away")),
        _ => Ok(()),
    }
}

/// Opens a file for writing. A new file gets private permissions.
fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
