//! Finds the last valid commit.
//!
//! A stop in the middle of a write leaves a file without a commit at its end. A power cut can also
//! leave a commit whose data never reached the medium, because unsynced writes arrive in any order.
//! A commit is therefore trusted without a check only once it is marked as settled. Until then,
//! everything since the last settled commit is read and checked, and an invalid part is a torn end.
//! Bad bytes before a settled commit are damage instead, and never cut.

use memchr::memmem;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};

use super::commit::{self, COMMIT_BYTES, Commit};
use super::frame::Unpacker;

/// Bytes before the end of a file that are searched for a commit. A stop leaves a few megabytes at
/// most after the last one. A file from another program may be endless.
const SEARCHED_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Part of a file that is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Only the frames after the last settled commit.
    Unsettled,
    /// Every frame of the file.
    Everything,
}

/// The last commit up to which the file is valid. `None` if it has none.
pub(crate) fn standing(file: &mut File, length: u64, depth: Depth) -> io::Result<Option<Commit>> {
    if is_cut_off(file, length)? {
        return Err(io::Error::new(ErrorKind::InvalidData, "its last commit cannot be read"));
    }
    let mut limit = length;
    while let Some(tip) = last_before(file, limit)? {
        // A commit found by searching could be a forgery inside a source's bytes: only a valid
        // chain from the start of the file rules that out.
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

/// Whether a file ends like one whose last commit was settled, but the commit is unreadable. No
/// stop can cause this, so it is damage, and the end is not cut.
pub(crate) fn is_cut_off(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(at) = length.checked_sub(COMMIT_BYTES) else { return Ok(false) };
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(at))?;
    file.by_ref().take(COMMIT_BYTES).read_to_end(&mut end)?;
    Ok(commit::ends_settled(&end) && Commit::decode(&end, at).is_none())
}

/// The last of these commits up to which all frames are valid.
fn good_part(file: &mut File, commits: &[Commit]) -> io::Result<Option<Commit>> {
    let mut unpacker = Unpacker::new()?;
    let mut good = None;
    for (index, commit) in commits.iter().enumerate() {
        // A trail that does not reach the start begins with a trusted commit.
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

/// The commits that lead to `tip`, in ascending order, back to the start of the file or to the
/// first one for which `stop` returns true.
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
            // Keep all but the last byte of the needle, so that this frame is not found again.
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
