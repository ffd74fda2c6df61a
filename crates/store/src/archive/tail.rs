//! Finding the last commit that can be believed.
//!
//! A stop in the middle of a write leaves a file without a commit at its end;
//! a power cut can also leave a commit whose data never reached the medium,
//! since unsynced writes arrive in any order. So a commit counts at a glance
//! only once it is marked as settled. Before that, everything written since the
//! last settled one is read and checked, and what is not good is a torn end.
//! Bad bytes before a settled commit are another matter: that is damage, and
//! nothing may be cut for it.

use memchr::memmem;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use super::commit::{self, COMMIT_BYTES, Commit};
use super::frame::Unpacker;

/// Bytes before the end of a file that are searched for a commit. A stop leaves a few megabytes
/// at most after the last one; a file of another making may be endless.
const SEARCHED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// How much of a file is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What is not settled.
    Unsettled,
    /// Everything.
    Everything,
}

/// The commit up to which a file is good; nothing if it holds none.
pub(crate) fn standing(file: &mut File, length: u64, depth: Depth) -> io::Result<Option<Commit>> {
    if is_cut_off(file, length)? {
        return Err(io::Error::new(ErrorKind::InvalidData, "its last commit cannot be read"));
    }
    let mut limit = length;
    while let Some(tip) = last_before(file, limit)? {
        // A commit found by searching could be a forgery inside a source's bytes:
        // only a chain that is good from the start of the file clears it.
        let from_start = depth == Depth::Everything || tip.file_end() != length;
        if tip.settled && !from_start {
            return Ok(Some(tip));
        }
        match trail(file, tip, |commit| commit.settled && !from_start) {
            Ok(commits) => return good_part(file, &commits),
            Err(error) if error.kind() == ErrorKind::InvalidData && !tip.settled => {
                limit = tip.file_end() - 1
            }
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether a file ends like one whose last commit was settled, and that commit cannot
/// be read: no stop can have done this, so it is damage, and nothing is cut for it.
pub(crate) fn is_cut_off(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(at) = length.checked_sub(COMMIT_BYTES) else { return Ok(false) };
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.by_ref().take(COMMIT_BYTES).read_to_end(&mut end)?;
    Ok(commit::ends_settled(&end) && Commit::decode(&end, at).is_none())
}

/// The last of these commits up to which all frames are good.
fn good_part(file: &mut File, commits: &[Commit]) -> io::Result<Option<Commit>> {
    let mut unpacker = Unpacker::new()?;
    let mut good = None;
    for (index, commit) in commits.iter().enumerate() {
        // A trail that does not reach the start begins with a commit that is believed.
        let believed = good.is_none() && commit.previous().is_some();
        if !believed && let Err(error) = unpacker.unpack(file, good.as_ref(), commit) {
            let torn = matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof);
            let settled = commits.iter().skip(index).any(|commit| commit.settled);
            return if torn && !settled { Ok(good) } else { Err(error) };
        }
        good = Some(*commit);
    }
    Ok(good)
}

/// The commits that lead to `tip`, ascending, back to the start of the file or to
/// the first one before it at which `stop` says so.
pub(crate) fn trail(file: &mut File, tip: Commit, stop: impl Fn(&Commit) -> bool) -> io::Result<Vec<Commit>> {
    let mut commits = vec![tip];
    let mut here = tip;
    while let Some(at) = here.previous() {
        let before = commit::read_at(file, at)?.filter(|before| before.end <= here.end).ok_or_else(|| {
            io::Error::new(ErrorKind::InvalidData, format!("the commit at {at} of the file is not readable"))
        })?;
        commits.push(before);
        if stop(&before) {
            break;
        }
        here = before;
    }
    commits.reverse();
    Ok(commits)
}

/// The last commit frame that ends at or before `limit`.
pub(crate) fn last_before(file: &mut File, limit: u64) -> io::Result<Option<Commit>> {
    const WINDOW_BYTES: u64 = 1024 * 1024;
    if let Some(at) = limit.checked_sub(COMMIT_BYTES)
        && let Some(commit) = commit::read_at(file, at)?
    {
        return Ok(Some(commit));
    }
    let needle = commit::needle();
    let mut window = Vec::new();
    let mut end = limit;
    loop {
        let start = end.saturating_sub(WINDOW_BYTES);
        window.clear();
        file.seek(SeekFrom::Start(start))?;
        file.by_ref().take(end - start).read_to_end(&mut window)?;
        let mut searched = window.as_slice();
        while let Some(found) = memmem::rfind(searched, &needle) {
            let at = start + found as u64;
            if at + COMMIT_BYTES <= limit
                && let Some(commit) = commit::read_at(file, at)?
            {
                return Ok(Some(commit));
            }
            // One byte less than the whole needle, so that this one is not found again.
            searched = searched.get(..found + needle.len() - 1).unwrap_or_default();
        }
        if start == 0 {
            return Ok(None);
        }
        if limit - start > SEARCHED_BYTES_MAX {
            let what = "it holds no commit for a very long stretch before its end";
            return Err(io::Error::new(ErrorKind::InvalidData, what));
        }
        end = start + needle.len() as u64 - 1;
    }
}
