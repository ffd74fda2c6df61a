//! Unreadable logs, folders and databases that may hold sessions.

use retro_agents::open_regular;
use retro_engine::Failure;
use retro_engine::discover::{Discovery, SessionFiles};

/// Maximum files named one by one.
const NAMED_MAX: usize = 3;

/// Files that discovery could not read. Files whose current state is in the store need not be
/// opened.
pub(crate) fn unreadable(found: &Discovery) -> Vec<Failure> {
    let mut all: Vec<Failure> = found.unreadable().map(Failure::from).collect();
    for session in found.sessions.iter().filter(|session| session.news) {
        all.extend(unreadable_file(session));
    }
    all
}

/// The first regular file of a session that cannot be opened.
fn unreadable_file(session: &SessionFiles) -> Option<Failure> {
    session.files.iter().filter(|file| file.is_plain_file()).find_map(|file| {
        let error = open_regular(&file.path).err()?;
        Some(Failure {
            agent: session.key.agent.clone(),
            path: file.path.display().to_string(),
            reason: error.to_string(),
        })
    })
}

/// Warnings for the user: the first few, and the number of others.
pub(crate) fn warnings(unreadable: &[Failure]) -> Vec<String> {
    let mut said: Vec<String> = unreadable
        .iter()
        .take(NAMED_MAX)
        .map(|failure| {
            format!("{} cannot be read ({}), so its sessions are not here", failure.path, failure.reason)
        })
        .collect();
    if let Some(more) = unreadable.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        said.push(format!("{more} more cannot be read: `retro sync --verbose` names them"));
    }
    said
}
