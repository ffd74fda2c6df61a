mod cost;
mod count;
mod error;
mod estimate;
mod import;
mod includes;
mod money;
mod names;
mod table;
#[cfg(test)]
mod testing;
mod tokens;
mod unlogged;
pub use cost::*;
pub use count::*;
pub use error::UsageError;
pub use money::NanoUsd;
pub use names::Resolved;
pub use table::*;
