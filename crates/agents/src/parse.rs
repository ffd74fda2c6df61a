//! What an agent's parser does: it makes drafts of records.

use retro_model::{Format, SessionKey, SourceKey};

use crate::{Out, Record};

/// Makes drafts of the records of one source.
pub trait Parse: Send {
    /// Reads one record.
    fn record(&mut self, record: &Record<'_>, out: &mut Out);

    /// Everything it remembers, so that another parser can go on from here.
    fn save(&self) -> Vec<u8>;
}

/// Which part of which session is being read.
#[derive(Debug, Clone)]
pub struct Part {
    /// The session.
    pub session: SessionKey,
    /// The source.
    pub source: SourceKey,
    /// Its line of growth.
    pub revision: u32,
    /// How it is cut.
    pub format: Format,
}
