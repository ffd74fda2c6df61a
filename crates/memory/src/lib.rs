//! Lessons for later sessions: candidates mined from sessions (`methods/`), screened (`screen.rs`),
//! stored as memories (`shelf.rs`), ranked for a prompt (`rank.rs`) and passed to an agent as a
//! block that calls itself data (`weave.rs`).
//!
//! Pure: the caller provides episodes, records and the clock, and this crate reads and runs
//! nothing. The same sessions, decisions and configuration give the same memories, in whatever
//! order they arrive. To show nothing is the right answer most of the time.

mod again;
pub mod authored;
mod candidate;
mod decision;
mod episode;
pub mod filters;
pub mod headless;
mod idle;
mod memory;
pub mod methods;
pub mod mine;
mod needs;
mod past;
mod place;
pub mod prompt;
mod rank;
mod replay;
mod rules;
mod same;
pub mod screen;
mod shelf;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod weave;
mod weights;

pub use candidate::{Candidate, Kind, Mined, Repository, Risk, Scope, Span, Voice, by_worth};
pub use decision::{Decision, EVENTS, Exposure, as_found, decide, words_hash};
pub use episode::{Episode, Listener, Quotes, shortened};
pub use memory::{Level, Memory, Origin, Source, Status, Utility};
pub use mine::Findings;
pub use needs::{Needed, Needs, Row};
pub use past::{Past, Prompt, Worth};
pub use place::Place;
pub use rank::{Ask, Catalog, Fit, Head, Here, Library, Memories, Ranked, rank};
pub use replay::{Found, Replay, replay};
pub use same::is_written_twice;
pub use shelf::{Shelf, before};
pub use weights::{PARTS, Part, WEIGHTS, Weights};
