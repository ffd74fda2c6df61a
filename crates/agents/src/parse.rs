//! The parser of an agent: it makes drafts of records.

use retro_model::{Format, SessionKey, SourceKey};

use crate::{Out, Record};

/// Makes drafts of the records of one source.
pub trait Parse: Send {
    /// Reads one record.
    fn record(&mut self, record: &Record<'_>, out: &mut Out);

    /// Serializes the parser's state, so that another parser can continue from here.
    fn save(&self) -> Vec<u8>;
}

/// The part of a session that is being read.
#[derive(Debug, Clone)]
pub struct Part {
    /// The session's agent and id.
    pub session: SessionKey,
    /// The key of the source within the session.
    pub source: SourceKey,
    /// The revision of the source.
    pub revision: u32,
    /// How the source is divided into records.
    pub format: Format,
}
