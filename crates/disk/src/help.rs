//! Advice for errors of the file system.

use std::io::{self, ErrorKind};

/// A hint for an error of the file system, to end a message with.
///
/// ```
/// let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
/// assert!(retro_disk::help(&full).starts_with("free some space"));
/// ```
pub fn help(error: &io::Error) -> &'static str {
    /// Errors of Unix systems when a process or the system has too many open files.
    const FILES_MAX: [i32; 2] = [23, 24];
    if cfg!(unix) && error.raw_os_error().is_some_and(|code| FILES_MAX.contains(&code)) {
        return "raise the limit of open files with `ulimit -n`, then run the command again";
    }
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space and run the command again; what was captured is safe"
        }
        ErrorKind::ReadOnlyFilesystem => "mount it for writing, or name another place with --root",
        ErrorKind::PermissionDenied => {
            "make the folder yours again (owner and mode), or name another with --root"
        }
        ErrorKind::NotADirectory => "a file is where a folder should be; name a folder with --root",
        ErrorKind::NotFound => "something removed it meanwhile; run the command again",
        _ => "run the command again; if it stays so, `retro verify` looks through the store",
    }
}
