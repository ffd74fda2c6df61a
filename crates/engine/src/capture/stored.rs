//! A session from its raw files alone, for an index that lost its rows.

use retro_agents::Agent;
use retro_model::SessionKey;
use retro_store::{SessionFile, Slot, SourceEntry, Stamps, Store};

use super::{Before, Capture, Captured};
use crate::discover::SessionFiles;
use crate::read::format_name;
use crate::session_row::{facts_of, merged_facts, session_row};
use crate::{Error, stamp};

/// Makes a session file from the names of its raw files alone. `None` if it has no raw files. The
/// original paths of its sources are unknown until a sync finds them again.
pub(crate) fn from_slots(
    store: &Store,
    agent: &dyn Agent,
    key: &SessionKey,
) -> Result<Option<SessionFile>, Error> {
    let mut file = SessionFile::new(key.clone());
    for slot in store.raw_slots(key)? {
        let Slot::Session { source, revision, .. } = slot else { continue };
        let (kind, format) = agent.source_form(&source);
        let entry = file.sources.entry(source).or_insert_with(|| SourceEntry {
            kind,
            format: format_name(format).to_owned(),
            revisions: 0,
            places: Default::default(),
        });
        entry.revisions = entry.revisions.max(revision);
    }
    Ok((!file.sources.is_empty()).then_some(file))
}

/// Makes the rows of a session from its raw files alone, for an index that lost them or has them
/// from an older parser. Updates the session file to match.
pub fn from_raw(
    store: &Store,
    agent: &'static dyn Agent,
    key: &SessionKey,
    mtime_ns: i64,
) -> Result<Captured, Error> {
    let captured = read_back(store, agent, key, mtime_ns)?;
    store.put_session(&captured.file)?;
    Ok(captured)
}

/// Reads a session back from its raw files. Writes nothing.
pub(crate) fn read_back(
    store: &Store,
    agent: &'static dyn Agent,
    key: &SessionKey,
    mtime_ns: i64,
) -> Result<Captured, Error> {
    let file = match store.session(key) {
        Err(error @ retro_store::Error::Damaged { .. }) => from_slots(store, agent, key)?.ok_or(error)?,
        file => match file? {
            Some(file) => file,
            None => from_slots(store, agent, key)?.ok_or_else(|| Error::NoSession(key.to_string()))?,
        },
    };
    let (stamps, session) =
        (Stamps::default(), SessionFiles { key: key.clone(), agent, files: Vec::new(), news: false });
    let before = Before { sources: Vec::new(), stamps: &stamps, is_bare: true, is_old: false };
    let mut capture = Capture::begin(store, &session, before)?;
    (capture.file, capture.is_new) = (file, false);
    if let Some(at) = capture.file.evicted_at {
        return Err(Error::Evicted { session: key.to_string(), at });
    }
    capture.read_lost_revisions()?;
    capture.file.facts = merged_facts(capture.rows.values().filter_map(facts_of));
    let content = stamp::content(store, &capture.file)?;
    let session = session_row(&capture.file, capture.rows.values(), mtime_ns, content);
    Ok(Captured {
        read: capture.held.reading(&capture.file),
        places: Vec::new(),
        sources: capture.rows.into_values().collect(),
        session,
        file: capture.file,
        is_new: false,
        is_recaptured: false,
        new_bytes: 0,
        gaps: 0,
        failed: Vec::new(),
        cut: Vec::new(),
    })
}
