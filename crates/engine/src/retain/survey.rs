//! What retention knows of each session: size, times, whether its digest is made, with whom it
//! goes.

use rayon::prelude::*;
use retro_model::{Link, LinkKind, SessionKey, Timestamp};
use retro_store::{Index, SessionFile, SessionRow, Store};
use std::collections::{BTreeSet, HashMap, HashSet};

use super::evidence::{self, Ground};
use super::plan::Item;
use crate::evict::required;
use crate::{Config, Error, World, agent_of};

/// Every session that has raw bytes.
pub(super) struct Survey {
    pub items: Vec<Item>,
    /// Bytes of `raw/` that no plan can give up.
    pub fixed: u64,
}

/// What was found out while sessions were given up.
#[derive(Default)]
pub(super) struct Failed {
    /// Sessions that could not be analyzed.
    pub unreadable: HashSet<SessionKey>,
    /// Sessions that no sync can read: they stay, and all that goes together with them.
    pub unread: BTreeSet<SessionKey>,
    /// Sessions that cannot be given up at all.
    pub stuck: HashSet<SessionKey>,
}

pub(super) fn survey(
    world: &World,
    config: &Config,
    store: &Store,
    index: &Index,
    failed: &Failed,
) -> Result<Survey, Error> {
    let rows = index.session_rows()?;
    let by_key: HashMap<SessionKey, &SessionRow> = rows.iter().map(|row| (row.key(), row)).collect();
    let keys: BTreeSet<SessionKey> = store.session_keys()?.into_iter().chain(store.raw_keys()?).collect();
    let keys: Vec<SessionKey> = keys.into_iter().collect();
    let rooms = store.raw_rooms(&keys)?;
    let files: Vec<Option<SessionFile>> =
        keys.par_iter().map(|key| store.session(key).ok().flatten()).collect();
    let units = units(&keys, &by_key, &files);
    let is_unread = |(key, unit): (&SessionKey, &usize)| failed.unread.contains(key).then_some(*unit);
    let unread: HashSet<usize> = keys.iter().zip(&units).filter_map(is_unread).collect();
    let unfinished = unfinished(index)?;
    let protected = evidence::sessions(&Ground { world, config, store, index })?;
    let mut survey = Survey { items: Vec::new(), fixed: store.shared_raw_bytes()? };
    for (((key, room), file), unit) in keys.iter().zip(rooms).zip(files).zip(units) {
        if room.bytes == 0 {
            continue;
        }
        // One without a session file, or with a damaged one, cannot say that it was given up.
        let may_go = !failed.stuck.contains(key) && !unread.contains(&unit);
        let Some(file) = file.filter(|_| may_go) else {
            survey.fixed += room.bytes;
            continue;
        };
        let row = by_key.get(key);
        let is_unreadable = failed.unreadable.contains(key);
        survey.items.push(Item {
            key: key.clone(),
            bytes: room.bytes,
            last_ms: last_activity_ms(row.copied(), room.written_ms),
            captured_ms: room.written_ms,
            analyzed: row.is_some() && !is_unreadable && !unfinished.has(key),
            can_analyze: !is_unreadable && agent_of(key).is_some(),
            pinned: !file.pins.is_empty(),
            protected: protected.contains(key),
            unit,
        });
    }
    Ok(survey)
}

/// The latest believable time of a record: a log may say anything, but nothing later than its
/// capture happened.
fn last_activity_ms(row: Option<&SessionRow>, captured_ms: i64) -> i64 {
    let Some(row) = row else { return captured_ms };
    let said = row.ended_at.map(Timestamp::as_millis).filter(|ms| (1..=captured_ms).contains(ms));
    said.unwrap_or(row.mtime_ns / 1_000_000).min(captured_ms)
}

/// Which stages have not seen all of which sessions.
struct Unfinished {
    /// Sessions on which each required stage was run.
    made: Vec<HashSet<SessionKey>>,
    due: HashSet<SessionKey>,
}

impl Unfinished {
    fn has(&self, key: &SessionKey) -> bool {
        self.due.contains(key) || !self.made.iter().all(|made| made.contains(key))
    }
}

fn unfinished(index: &Index) -> Result<Unfinished, Error> {
    let made = required().map(|stage| Ok(index.made_by(stage.name)?.into_keys().collect()));
    let made = made.collect::<Result<_, Error>>()?;
    let is_required = |name: &String| required().any(|stage| stage.name == name);
    let due = index.due(i64::MAX)?.into_iter().filter(|(_, stages)| stages.iter().any(is_required));
    Ok(Unfinished { made, due: due.map(|(key, _)| key).collect() })
}

/// A number for each session: those that go together have the same. Trees do, and so does a
/// fork with the session that it began from, because its history may be in that one's log. Of a
/// session without a row its file says so.
fn units(
    keys: &[SessionKey],
    rows: &HashMap<SessionKey, &SessionRow>,
    files: &[Option<SessionFile>],
) -> Vec<usize> {
    let places: HashMap<&SessionKey, usize> = keys.iter().enumerate().map(|(at, key)| (key, at)).collect();
    let mut above: Vec<usize> = (0..keys.len()).collect();
    for (at, key) in keys.iter().enumerate() {
        let file = files.get(at).and_then(Option::as_ref);
        let (links, parent) = match (rows.get(key), file) {
            (Some(row), _) => (&row.links, row.parent.as_deref()),
            (None, Some(file)) => (&file.facts.links, file.facts.parent()),
            (None, None) => continue,
        };
        let is_tied =
            |link: &&Link| matches!(link.kind, LinkKind::Parent | LinkKind::Child | LinkKind::ForkedFrom);
        let linked = links.iter().filter(is_tied).map(|link| link.session_id.as_str());
        for id in linked.chain(parent) {
            if let Some(other) = places.get(&SessionKey::new(&key.agent, id)) {
                let (a, b) = (top(&mut above, at), top(&mut above, *other));
                let (low, high) = (a.min(b), a.max(b));
                above.get_mut(high).into_iter().for_each(|place| *place = low);
            }
        }
    }
    (0..keys.len()).map(|at| top(&mut above, at)).collect()
}

/// The first session of the unit that a session is in. The way there is made shorter.
fn top(above: &mut [usize], mut at: usize) -> usize {
    while let Some(next) = above.get(at).copied().filter(|next| *next != at) {
        let over = above.get(next).copied().unwrap_or(next);
        above.get_mut(at).into_iter().for_each(|place| *place = over);
        at = next;
    }
    at
}
