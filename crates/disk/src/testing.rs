//! Disks that fail on purpose, for the tests of the crates above.
//!
//! Each is a [`crate::Disk`] over real files: [`FailingDisk`] stops after a number of operations,
//! [`FullDisk`] has a limited capacity. None of them waits for the real medium: the tests only
//! check that a sync was requested at the right place, and thousands of runs must be quick.

mod failing;
mod full;

pub use failing::{FailingDisk, Fails};
pub use full::FullDisk;

/// A random number generator that is repeatable from its seed.
#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    /// A generator that always gives the same numbers for the same seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// The next random number.
    pub fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random number below `sides`. 0 if there are none.
    pub fn below(&mut self, sides: u64) -> u64 {
        self.throw().checked_rem(sides).unwrap_or(0)
    }

    /// A random boolean.
    pub fn coin(&mut self) -> bool {
        self.throw() & 1 == 0
    }
}
