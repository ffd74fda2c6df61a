mod cost;
mod error;
mod money;
mod names;
mod table;
#[cfg(test)]
mod testing;
pub use cost::*;
pub use error::UsageError;
pub use money::NanoUsd;
pub use names::Resolved;
pub use table::*;
