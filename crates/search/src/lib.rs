//! Finds past turns by words and by meaning.
