//! Opening files that may have become something else.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// Opens a file for reading if it is a regular one, without blocking: the path may have become a
/// pipe since it was found, and opening a pipe waits for its other end.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "bytes").unwrap();
        assert_eq!(io::read_to_string(open_regular(&path).unwrap()).unwrap(), "bytes");
        assert!(open_regular(folder.path()).is_err());
        #[cfg(unix)]
        {
            assert!(open_regular(Path::new("/dev/zero")).is_err());
            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            if made.is_ok_and(|status| status.success()) {
                assert!(open_regular(&pipe).is_err());
            }
        }
    }
}
