//! What can be said of a piece of text, without knowing where it came from.
//!
//! [`redact`] takes [`secrets`] out of text before it leaves the raw archive. Its
//! result is a [`Redacted`], a type whose value nobody can read before it was scanned, so that
//! a secret cannot end up in an event. [`hidden`] knows the
//! characters that a reader does not see, and [`terminal`] makes text safe to
//! print. [`mod@typed`] says which parts of a message its sender typed. [`calls`] reads command lines and their outputs, [`mod@fingerprint`] names
//! errors so that they are recognized again. [`diff`] says what an edit changed.
//!
//! A leaf: no I/O, no knowledge of agents or of the store.

pub mod calls;
pub mod diff;
pub mod fingerprint;
pub mod hidden;
mod keywords;
mod patterns;
pub mod plain;
mod redacted;
pub mod secrets;
pub mod terminal;
pub mod tongue;
pub mod typed;

pub use fingerprint::{Fingerprint, fingerprint};
pub use redacted::{Redacted, redact, redact_id, redact_json, redact_owned};
