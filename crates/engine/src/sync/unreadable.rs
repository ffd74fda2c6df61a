//! Remembers in the index which files the last full sync could not read, for questions that do not
//! look at the files.

use retro_store::{Index, Stamps};
use std::collections::BTreeSet;
use std::path::Path;

use crate::discover::Discovery;
use crate::report::SyncReport;
use crate::{Error, World};

/// Records the files that a full sync could not read, and clears those that it could. Writes only
/// if something changed.
pub(super) fn keep(
    world: &World,
    index: &Index,
    found: &Discovery,
    report: &SyncReport,
    stamps: &Stamps,
) -> Result<(), Error> {
    let known = index.failures()?;
    let known_paths: BTreeSet<&Path> = known.iter().map(|failure| failure.path.as_path()).collect();
    let unread = report.failures.iter().chain(&report.unreadable_files);
    let still: BTreeSet<&Path> = unread.map(|failure| Path::new(&failure.path)).collect();
    let new: Vec<_> = found.unreadable().filter(|skipped| !known_paths.contains(&*skipped.path)).collect();
    // A partly captured file is not read again until it changes, and is cleared then.
    let gone: Vec<&Path> =
        known_paths.difference(&still).filter(|path| stamps.place(path).is_none()).copied().collect();
    if new.is_empty() && gone.is_empty() {
        return Ok(());
    }
    let now = world.now();
    Ok(index.write(|index| {
        gone.iter().try_for_each(|path| index.clear_failure(path))?;
        new.iter()
            .try_for_each(|skipped| index.put_failure(&skipped.path, skipped.agent, &skipped.reason, now))
    })?)
}
