//! A store whose rows were made and not read from logs, with the text index and the vectors
//! that the program itself makes of them; and search over it with everything kept open.

use hashbrown::HashSet;
use rayon::prelude::*;
use retro::engine::stages::{Everything, Work, by_name, text::numbered, vectors};
use retro::engine::{Config, World};
use retro::search::embed::Embedder;
use retro::search::vectors::Vectors;
use retro::search::{
    Ask, Extent, Found, Library, Meaning, Measured, Mode, Numbered, Place, Query, Ranker, Scope, Tail,
    TextIndex, search,
};
use retro::store::{
    Follow, Index, KnownPassages, Mark, PackedPassage, RealDisk, SessionRow, Spool, Store, TurnRow,
};
use retro_model::Passage;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use crate::failure::Failure;

/// A store with rows, and the world that it is in.
pub(crate) struct Shelves {
    pub(crate) world: World,
    pub(crate) config: Config,
    pub(crate) store: Store,
    pub(crate) index: Index,
}

/// A session with its words.
pub(crate) struct Told {
    pub(crate) row: SessionRow,
    pub(crate) passages: Vec<Passage>,
}

impl Shelves {
    /// An empty store at `root`, in a home without logs.
    pub(crate) fn create(home: &Path, root: &Path) -> Result<Shelves, Failure> {
        let (world, config) = (World::at(home), Config::for_root(root));
        let store = Store::open_or_create(root, Arc::new(RealDisk)).map_err(said)?;
        let index = store.index().map_err(said)?;
        Ok(Shelves { world, config, store, index })
    }

    /// Writes sessions in one transaction.
    pub(crate) fn put(&self, sessions: &[Told]) -> Result<(), Failure> {
        let none = KnownPassages::default();
        let pack = |told: &Told| -> std::io::Result<Vec<PackedPassage>> {
            told.passages.iter().map(|passage| PackedPassage::pack(passage, &none)).collect()
        };
        let packed = sessions.par_iter().map(pack).collect::<std::io::Result<Vec<_>>>().map_err(said)?;
        let written = self.index.write(|writer| {
            for (Told { row, passages }, packed) in sessions.iter().zip(&packed) {
                let key = row.key();
                writer.put_session(row)?;
                let (mut turns, mut words) = (Spool::new(self.store.root()), Spool::new(self.store.root()));
                passages.iter().try_for_each(|passage| turns.push(&turn(row, passage)))?;
                packed.iter().try_for_each(|passage| words.push(passage))?;
                writer.put_turns(&key, &mut turns)?;
                writer.put_passages(&key, &mut words)?;
            }
            Ok(())
        });
        written.map_err(said)
    }

    /// Runs a stage that follows all sessions, as a sync does.
    pub(crate) fn follow(&self, name: &str) -> Result<(), Failure> {
        let Some(Work::Store(consumer)) = by_name(name).map(|stage| stage.work) else {
            return Err(Failure::new(format!("there is no stage {name} over all sessions")));
        };
        let Shelves { world, config, store, index } = self;
        let changes = index.changes_since(&Mark::default(), &[Follow::Passages]).map_err(said)?;
        let all = Everything { world, config, store, index, progress: &|_| {} };
        consumer.follow(&all, changes, "bench").map_err(said)
    }
}

fn turn(row: &SessionRow, passage: &Passage) -> TurnRow {
    TurnRow {
        agent: row.agent.clone(),
        session: row.id.clone(),
        event: passage.event().to_owned(),
        thread: passage.thread.clone(),
        number: passage.turn,
        started_at: passage.at(),
        ended_at: passage.at(),
        last: passage.pieces.last().map_or_else(String::new, |piece| piece.event.clone()),
        events: passage.pieces.len() as u64,
        live: passage.live,
    }
}

/// Everything that a search reads, kept open from one question to the next.
pub(crate) struct Reader<'a> {
    index: &'a Index,
    text: TextIndex,
    vectors: Vectors,
    embedder: Box<dyn Embedder>,
    extent: Extent,
    sessions: u64,
    ranker: Ranker,
}

impl<'a> Reader<'a> {
    /// Opens what the stages `text` and `vectors` made.
    pub(crate) fn open(shelves: &'a Shelves) -> Result<Reader<'a>, Failure> {
        let Shelves { config, store, index, .. } = shelves;
        let text = TextIndex::open(&store.text_folder())
            .ok_or_else(|| Failure::at(&store.text_folder(), "holds no text index"))?;
        let embedder = vectors::embedder(config).map_err(said)?;
        let vectors = vectors::open(store, embedder.as_ref()).map_err(said)?;
        let (pieces, bytes) = index.text_extent().map_err(said)?;
        let sessions = index.session_count().map_err(said)?;
        Ok(Reader {
            index,
            text,
            vectors,
            embedder,
            extent: Extent { pieces, bytes },
            sessions,
            ranker: Ranker::new().map_err(said)?,
        })
    }

    /// Ranks with other numbers than the program's.
    pub(crate) fn rank_with(&mut self, ranker: Ranker) {
        self.ranker = ranker;
    }

    /// Answers one question.
    pub(crate) fn ask(
        &self,
        query: &Query,
        scope: &Scope,
        mode: Mode,
        (limit, per_session): (usize, usize),
    ) -> Result<Found, Failure> {
        let meaning = match mode {
            Mode::Words => None,
            _ => Some(
                Measured::new(self.embedder.as_ref(), &self.vectors, &query.text, &[], &[]).map_err(said)?,
            ),
        };
        let ask = Ask {
            query,
            scope,
            mode,
            ranker: &self.ranker,
            limit,
            per_session,
            exact: None,
            now_ms: 0,
            is_here: &|_| false,
        };
        let meaning = meaning.as_ref().map(|measured| measured as &dyn Meaning);
        search(Some(&self.text), &Tail::default(), self, meaning, &ask).map_err(said)
    }

    /// Pieces, and bytes of their texts.
    pub(crate) fn size(&self) -> Extent {
        self.extent
    }
}

impl Library for Reader<'_> {
    fn extent(&self) -> Extent {
        self.extent
    }

    fn session_extent(&self, session: u32) -> Extent {
        let (pieces, bytes) = self.index.session_extent(session).unwrap_or_default();
        Extent { pieces, bytes }
    }

    fn sessions(&self) -> u64 {
        self.sessions
    }

    fn passage(&self, number: u64) -> Option<Numbered> {
        self.index.passage(number).ok()?.map(numbered)
    }

    fn passage_at(&self, place: Place) -> Option<u64> {
        self.index.passage_at(place.session(), place.line(), place.position()).ok()?
    }

    fn within(&self, scope: &Scope) -> Option<HashSet<u64>> {
        if let (Some(sessions), None, None) = (&scope.sessions, scope.since_ms, scope.until_ms) {
            let of = |session: &u32| self.index.passages_of(*session).unwrap_or_default();
            return Some(sessions.iter().flat_map(of).collect());
        }
        if (scope.since_ms, scope.until_ms) == (None, None) {
            return None;
        }
        let between = self.index.passages_between(scope.since_ms, scope.until_ms).ok()?.into_iter();
        let is_in = |session: &u32| scope.sessions.as_ref().is_none_or(|sessions| sessions.contains(session));
        Some(between.filter(|(_, session)| is_in(session)).map(|(number, _)| number).collect())
    }

    fn rewound(&self) -> HashSet<u64> {
        self.index.dead_passages().into_iter().flatten().collect()
    }

    fn containing(&self, _: &str) -> HashSet<u64> {
        HashSet::new()
    }
}

/// An error of the program as one of ours.
pub(crate) fn said(error: impl Display) -> Failure {
    Failure::new(error.to_string())
}
