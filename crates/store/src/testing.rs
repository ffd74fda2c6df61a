//! Disks that fail on purpose, for the tests of this crate and of those above it.
//!
//! [`PowerDisk`] knows which writes of a store were not synced, and forgets them; the others
//! know no store.

mod power;

pub use power::{Loss, PowerDisk};
pub use retro_disk::testing::{Dice, FailingDisk, Fails, FullDisk};
