//! The passages of a store, overlaid with those that were just read.

use retro_engine::Error as EngineError;
use retro_engine::news::News;
use retro_engine::stages::Seen;
use retro_engine::stages::text::numbered;
use retro_model::{Passage, SessionKey, Timestamp};
use retro_search::{Extent, Library, Numbered, Passages, Place, Scope, Tail};
use retro_store::{Follow, Index, SessionRow};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Searched;

/// Passages numbered from here on are not in the store's index.
const FRESH: u64 = 1 << 62;

/// Sessions numbered from here on are not in the store's index.
const FRESH_SESSION: u32 = 1 << 27;

/// The passages that a search covers.
pub(super) struct Shelf<'a> {
    index: Option<&'a Index>,
    /// Sessions that were just read, by their temporary numbers.
    fresh: BTreeMap<u32, &'a SessionRow>,
    fresh_extents: HashMap<u32, Extent>,
    fresh_passages: Vec<Numbered>,
    /// Passages in the index that these sessions replace.
    stale: HashSet<u64>,
    extent: Extent,
    sessions: u64,
    known: RefCell<HashMap<u32, Option<SessionRow>>>,
}

impl<'a> Shelf<'a> {
    /// Opens a store with the changes on top.
    pub(super) fn open(news: &'a News<Passages>) -> Result<Shelf<'a>, EngineError> {
        let index = news.index.as_ref();
        let mut shelf = Shelf {
            index,
            fresh: BTreeMap::new(),
            fresh_extents: HashMap::new(),
            fresh_passages: Vec::new(),
            stale: HashSet::new(),
            extent: Extent::default(),
            sessions: 0,
            known: RefCell::default(),
        };
        if let Some(index) = index {
            let (pieces, bytes) = index.text_extent()?;
            (shelf.extent, shelf.sessions) = (Extent { pieces, bytes }, index.session_count()?);
        }
        for (key, read) in &news.read {
            shelf.lay_over(key, &read.session, &read.made)?;
        }
        Ok(shelf)
    }

    /// Replaces a session of the index with the version just read.
    fn lay_over(
        &mut self,
        key: &SessionKey,
        row: &'a SessionRow,
        passages: &[Passage],
    ) -> Result<(), EngineError> {
        let known = match self.index {
            Some(index) => index.session_number(key)?.map(|number| (index, number)),
            None => None,
        };
        if let Some((index, known)) = known {
            self.stale.extend(index.passages_of(known)?);
            let (pieces, bytes) = index.session_extent(known)?;
            self.extent.pieces = self.extent.pieces.saturating_sub(pieces);
            self.extent.bytes = self.extent.bytes.saturating_sub(bytes);
        } else {
            self.sessions += 1;
        }
        let session = known.map_or(FRESH_SESSION + self.fresh.len() as u32, |(_, number)| number);
        self.fresh.insert(session, row);
        let mut lines: Vec<&str> = Vec::new();
        for passage in passages {
            let line = lines.iter().position(|line| *line == passage.thread).unwrap_or_else(|| {
                lines.push(&passage.thread);
                lines.len() - 1
            });
            let bytes: u64 = passage.pieces.iter().map(|piece| piece.text.len() as u64).sum();
            for extent in [&mut self.extent, self.fresh_extents.entry(session).or_default()] {
                extent.pieces += passage.pieces.len() as u64;
                extent.bytes += bytes;
            }
            let number = FRESH + self.fresh_passages.len() as u64;
            let passage = passage.clone();
            self.fresh_passages.push(Numbered { number, session, line: line as u32, passage });
        }
        Ok(())
    }

    /// The changes after a mark that a follower of the passages has not seen. `None` if it must
    /// start over.
    pub(super) fn tail(&self, mark: &str) -> Result<Option<Tail>, EngineError> {
        let mark = Seen::parse(mark).unwrap_or_default().mark;
        let mut tail = Tail::default();
        if let Some(index) = self.index {
            let changes = index.changes_since(&mark, &[Follow::Passages])?;
            if changes.starts_over {
                return Ok(None);
            }
            tail.hidden.extend(changes.passages.iter().chain(&changes.removed_passages));
            for number in changes.passages.iter().filter(|number| !self.stale.contains(number)) {
                tail.passages.extend(index.passage(*number)?.map(numbered));
            }
        }
        tail.hidden.extend(&self.stale);
        tail.passages.extend(self.fresh_passages.iter().cloned());
        Ok(Some(tail))
    }

    /// All passages, if no text index follows them.
    pub(super) fn everything(&self) -> Result<Tail, EngineError> {
        let mut tail = Tail::default();
        if let Some(index) = self.index {
            index.each_passage(|row| {
                if !self.stale.contains(&row.number) {
                    tail.passages.push(numbered(row));
                }
            })?;
        }
        tail.passages.extend(self.fresh_passages.iter().cloned());
        Ok(tail)
    }

    /// The size of these sessions, or of all.
    pub(super) fn searched(&self, only: Option<&hashbrown::HashSet<u32>>) -> Result<Searched, EngineError> {
        let is_new = |numbered: &&Numbered| {
            numbered.session >= FRESH_SESSION && only.is_none_or(|only| only.contains(&numbered.session))
        };
        let fresh: HashSet<(u32, u32, u32)> = self
            .fresh_passages
            .iter()
            .filter(is_new)
            .map(|numbered| (numbered.session, numbered.line, numbered.passage.turn))
            .collect();
        let turns = match (self.index, only) {
            (None, _) => 0,
            (Some(index), None) => index.turn_count()?,
            (Some(index), Some(only)) => {
                only.iter().map(|number| index.turns_in(*number)).sum::<Result<u64, _>>()?
            }
        };
        let sessions = only.map_or(self.sessions, |only| only.len() as u64);
        Ok(Searched { sessions, turns: turns + fresh.len() as u64, since: None })
    }

    /// When the earliest session began.
    pub(super) fn first_start(&self) -> Result<Option<Timestamp>, EngineError> {
        let indexed = self.index.map(Index::first_start).transpose()?.flatten();
        Ok(indexed.into_iter().chain(self.fresh.values().filter_map(|row| row.started_at)).min())
    }

    /// The row of a session.
    pub(super) fn session(&self, number: u32) -> Option<SessionRow> {
        if let Some(row) = self.fresh.get(&number) {
            return Some((*row).clone());
        }
        let mut known = self.known.borrow_mut();
        let read = || {
            let index = self.index?;
            let key = index.session_numbered(number).ok()??;
            index.session_row(&key).ok()?
        };
        known.entry(number).or_insert_with(read).clone()
    }

    /// Every session, with its number.
    pub(super) fn all(&self) -> Result<Vec<(u32, SessionRow)>, EngineError> {
        let mut all: BTreeMap<SessionKey, (u32, SessionRow)> = BTreeMap::new();
        if let Some(index) = self.index {
            let numbers = index.session_numbers()?;
            for row in index.session_rows()? {
                let key = row.key();
                if let Some(number) = numbers.get(&key) {
                    all.insert(key, (*number, row));
                }
            }
        }
        for (number, row) in &self.fresh {
            all.insert(row.key(), (*number, (*row).clone()));
        }
        Ok(all.into_values().collect())
    }
}

impl Library for Shelf<'_> {
    fn extent(&self) -> Extent {
        self.extent
    }

    fn session_extent(&self, session: u32) -> Extent {
        let kept = || self.index.and_then(|index| index.session_extent(session).ok()).unwrap_or_default();
        self.fresh_extents.get(&session).copied().unwrap_or_else(|| {
            let (pieces, bytes) = kept();
            Extent { pieces, bytes }
        })
    }

    fn sessions(&self) -> u64 {
        self.sessions
    }

    fn passage(&self, number: u64) -> Option<Numbered> {
        self.index?.passage(number).ok()?.map(numbered)
    }

    fn passage_at(&self, place: Place) -> Option<u64> {
        if self.fresh.contains_key(&place.session()) {
            return None;
        }
        self.index?.passage_at(place.session(), place.line(), place.position()).ok()?
    }

    fn within(&self, scope: &Scope) -> Option<hashbrown::HashSet<u64>> {
        let index = self.index?;
        let mut within: hashbrown::HashSet<u64> = match (&scope.sessions, scope.since_ms, scope.until_ms) {
            (None, None, None) => return None,
            (Some(sessions), None, None) => {
                let of = |session: &u32| index.passages_of(*session).unwrap_or_default();
                sessions.iter().flat_map(of).collect()
            }
            (sessions, since, until) => {
                let is_in = |session: &u32| sessions.as_ref().is_none_or(|known| known.contains(session));
                let between = index.passages_between(since, until).ok()?.into_iter();
                between.filter(|(_, session)| is_in(session)).map(|(number, _)| number).collect()
            }
        };
        within.retain(|number| !self.stale.contains(number));
        Some(within)
    }

    fn rewound(&self) -> hashbrown::HashSet<u64> {
        // Passages that cannot be read count as not rewound.
        self.index.and_then(|index| index.dead_passages().ok()).into_iter().flatten().collect()
    }

    fn containing(&self, text: &str) -> hashbrown::HashSet<u64> {
        let mut found = hashbrown::HashSet::new();
        let Some(index) = self.index else { return found };
        // Passages that cannot be read do not match.
        let _ = index.each_passage(|row| {
            if row.passage.pieces.iter().any(|piece| piece.text.contains(text)) {
                found.insert(row.number);
            }
        });
        found
    }
}
