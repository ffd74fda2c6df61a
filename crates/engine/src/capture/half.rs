//! A forgotten text of which a log had only the beginning when it was captured: nothing showed
//! then what it would become. Once the rest is there, the mask goes over the beginning too.

use super::Rows;
use super::source::{Failure, Target, archive, source_error, tail};

/// Puts masks over the end of what was captured of a growing log, where what follows now says so.
/// The source is then read from its start.
pub(super) fn mask(target: &Target<'_>, rows: &mut Rows) -> Result<(), Failure> {
    let revision = target.revisions;
    if target.door.is_open() || revision == 0 || !target.found.is_plain_file() {
        return Ok(());
    }
    let Some(commit) = tail(target, revision)? else { return Ok(()) };
    let mut live = target.door.file(&target.found.path).map_err(source_error)?;
    if live.length().map_err(source_error)? <= commit.end {
        return Ok(());
    }
    let start = commit.end.saturating_sub(target.door.longest() as u64);
    let length = commit.end - start;
    let mut masked = Vec::new();
    live.read_at(start, length, &mut masked).map_err(source_error)?;
    let plain = live.plain_at(start, length).map_err(source_error)?;
    let archive = archive(target, revision);
    let kept = archive.read_range(start, length)?;
    let is_of_both = |((kept, plain), masked): ((&u8, &u8), &u8)| kept == plain || kept == masked;
    let is_beginning = kept.len() == masked.len() && kept.iter().zip(&plain).zip(&masked).all(is_of_both);
    if kept != masked && is_beginning {
        archive.replace_end(start, &masked)?;
        rows.remove(&(target.found.source.clone(), revision));
    }
    Ok(())
}
