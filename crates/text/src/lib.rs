//! Analysis of text, independent of its origin.
//!
//! [`redact`] takes [`secrets`] out of text before it leaves the raw archive. Its result is a
//! [`Redacted`], a type whose value cannot be read before it was scanned, so that a secret cannot
//! end up in an event. [`hidden`] finds characters that a reader does not see, and [`terminal`]
//! makes text safe to print. [`mod@typed`] finds the parts of a message that its sender typed.
//! [`calls`] parses command lines and their outputs, [`mod@fingerprint`] names errors so that they
//! are recognized again. [`diff`] extracts the changes of an edit.
//!
//! A leaf: no I/O, no knowledge of agents or of the store.

pub mod calls;
pub mod diff;
pub mod fingerprint;
pub mod forms;
pub mod hidden;
mod keywords;
mod patterns;
pub mod plain;
mod redacted;
pub mod secrets;
pub mod signs;
pub mod terminal;
pub mod tongue;
pub mod typed;

pub use fingerprint::{Fingerprint, fingerprint};
pub use redacted::{Redacted, redact, redact_id, redact_json, redact_owned};
