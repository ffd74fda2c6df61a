//! Finds past turns by words and by meaning.
//!
//! `passages.rs` turns events into passages, the unit of search. `words.rs` splits text into terms,
//! `text.rs` indexes the terms of pieces, `query.rs` parses a query, `best.rs` collects the pieces
//! that contain its words, and `rank.rs` sorts them by the formulas of `ranker.rs`. The caller
//! stores the text of passages and provides it through [`Library`].

mod best;
pub mod embed;
mod error;
mod meaning;
mod passages;
mod place;
mod query;
mod rank;
mod ranker;
mod repairs;
mod search;
mod tail;
mod text;
mod touches;
pub mod vectors;
mod words;

pub use error::Error;
pub use meaning::{MEANING_VERSION, Measured, embed_passage};
pub use passages::{PIECES_MAX, Passages, path_labels};
pub use place::Place;
pub use query::{Named, Phrase, Query, Use, Wanted};
pub use rank::Extent;
pub use ranker::{Numbers, Ranker};
pub use repairs::{Ran, Repair, Repairs, Step};
pub use search::{Ask, Found, FoundPiece, FoundSession, Library, Meaning, Mode, Nearest, Scope, search};
pub use tail::Tail;
pub use text::{Numbered, TEXT_VERSION, TextFolder, TextIndex, TextWriter};
pub use touches::{Touch, Touches};
pub use words::{Term, Words};
