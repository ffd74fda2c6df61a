//! Disks that fail on purpose, for the tests of this crate and of the crates above it.
//!
//! [`PowerDisk`] knows which writes of a store were not synced, and loses them. The other disks
//! know nothing of stores.

mod power;

pub use power::{Loss, PowerDisk};
pub use retro_disk::testing::{Dice, FailingDisk, Fails, FullDisk};
