//! Finds past turns by words and by meaning.

pub mod embed;
pub mod vectors;
