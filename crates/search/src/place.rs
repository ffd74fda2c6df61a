//! The position of a piece among all pieces, as one sortable number.

use std::fmt;

const POSITION_BITS: u32 = 24;
const LINE_BITS: u32 = 12;

/// Session, thread and position of a piece. Neighbours on a thread have adjacent numbers, and
/// pieces of different threads never do.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(u64);

impl Place {
    /// A place from its parts. Values that do not fit are clamped.
    pub fn new(session: u32, line: u32, position: u32) -> Place {
        let line = line.min((1 << LINE_BITS) - 1);
        let position = position.min((1 << POSITION_BITS) - 1);
        Place(
            u64::from(session) << (LINE_BITS + POSITION_BITS)
                | u64::from(line) << POSITION_BITS
                | u64::from(position),
        )
    }

    pub(crate) fn from_bits(bits: u64) -> Place {
        Place(bits)
    }

    pub(crate) fn bits(self) -> u64 {
        self.0
    }

    /// The number of the session.
    pub fn session(self) -> u32 {
        (self.0 >> (LINE_BITS + POSITION_BITS)) as u32
    }

    /// The number of the thread within the session.
    pub fn line(self) -> u32 {
        (self.0 >> POSITION_BITS) as u32 & ((1 << LINE_BITS) - 1)
    }

    /// The position of the piece on its thread.
    pub fn position(self) -> u32 {
        self.0 as u32 & ((1 << POSITION_BITS) - 1)
    }

    /// The place this many pieces later on the same thread, or earlier.
    pub(crate) fn offset(self, by: i64) -> Option<Place> {
        let position = i64::from(self.position()) + by;
        let is_on_thread = (0..1 << POSITION_BITS).contains(&position);
        is_on_thread.then(|| Place(self.0.wrapping_add_signed(by)))
    }

    /// The first and last places within this distance on the same thread.
    pub(crate) fn around(self, reach: u32) -> (Place, Place) {
        let at = |position: u32| Place::new(self.session(), self.line(), position);
        (at(self.position().saturating_sub(reach)), at(self.position() + reach))
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.session(), self.line(), self.position())
    }
}
