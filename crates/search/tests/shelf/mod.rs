//! Passages in memory, for tests that write their own.

use hashbrown::{HashMap, HashSet};
use retro_model::Piece;
use retro_search::{Extent, Library, Numbered, Place, Scope};

/// Passages in memory.
#[derive(Default)]
pub struct Shelf {
    pub passages: HashMap<u64, Numbered>,
}

impl Library for Shelf {
    fn extent(&self) -> Extent {
        let pieces = || self.passages.values().flat_map(|numbered| &numbered.passage.pieces);
        Extent { pieces: pieces().count() as u64, bytes: pieces().map(|piece| piece.text.len() as u64).sum() }
    }

    fn session_extent(&self, session: u32) -> Extent {
        let of_session = self.passages.values().filter(|numbered| numbered.session == session);
        let pieces: Vec<&Piece> = of_session.flat_map(|numbered| &numbered.passage.pieces).collect();
        Extent {
            pieces: pieces.len() as u64,
            bytes: pieces.iter().map(|piece| piece.text.len() as u64).sum(),
        }
    }

    fn sessions(&self) -> u64 {
        self.passages.values().map(|numbered| numbered.session).collect::<HashSet<_>>().len() as u64
    }

    fn passage(&self, number: u64) -> Option<Numbered> {
        self.passages.get(&number).cloned()
    }

    fn passage_at(&self, place: Place) -> Option<u64> {
        let has = |numbered: &&Numbered| {
            let first = numbered.passage.first;
            (numbered.session, numbered.line) == (place.session(), place.line())
                && (first..first + numbered.passage.pieces.len() as u32).contains(&place.position())
        };
        self.passages.values().find(has).map(|numbered| numbered.number)
    }

    fn within(&self, scope: &Scope) -> Option<HashSet<u64>> {
        let sessions = scope.sessions.as_ref()?;
        Some(self.passages.values().filter(|n| sessions.contains(&n.session)).map(|n| n.number).collect())
    }

    fn rewound(&self) -> HashSet<u64> {
        self.passages.values().filter(|n| !n.passage.live).map(|n| n.number).collect()
    }

    fn containing(&self, text: &str) -> HashSet<u64> {
        let holds = |n: &&Numbered| n.passage.pieces.iter().any(|piece| piece.text.contains(text));
        self.passages.values().filter(holds).map(|n| n.number).collect()
    }
}
