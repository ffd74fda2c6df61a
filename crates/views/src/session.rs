//! What happened in a session, for people who look at it: turns with their items, moments,
//! time, money, the files it changed.
//!
//! Follow the data: [`family`] reads the session with its sub-agents, [`items`] makes something
//! readable of events, [`fold`] folds what went well, [`turns`] puts both together. Whatever
//! shows a session, in a browser or a terminal, starts from these.

pub mod context;
mod evicted;
pub mod family;
mod fields;
pub mod files;
pub mod fold;
pub mod item;
pub mod items;
pub mod moments;
pub mod money;
pub mod pictures;
#[cfg(test)]
mod testing;
pub mod time;
pub mod turns;
