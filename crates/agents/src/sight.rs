//! A file as a walk sees it: words that are borrowed from where they stand.
//!
//! A sync without news walks past some thousand files and keeps none of them, so an agent
//! reports what it sees without a piece of memory for each. Whoever wants to keep a file
//! makes a [`Found`] of it.

use retro_model::{SourceKey, SourceKind};
use std::path::Path;

use crate::{Encoding, Format, Found, Owner, Stat};

/// A file that discovery reports. What the fields mean stands at [`Found`].
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Whom it belongs to.
    pub owner: Whose<'a>,
    /// The agent's own name of the part that it is: [`SourceKey::new`] makes the key of it.
    pub source: &'a str,
    /// How it changes.
    pub kind: SourceKind,
    /// How to read it.
    pub format: Format,
    /// How it lies on disk.
    pub encoding: Encoding,
    /// Where it lies.
    pub path: &'a Path,
    /// What the file system says of it.
    pub stat: Stat,
    /// Captured only if the user asks for extras.
    pub extra: bool,
    /// Why it cannot be captured, if it cannot.
    pub unreadable: Option<&'a str>,
    /// The bytes themselves, for rows that were read out of a database.
    pub content: Option<&'a [u8]>,
}

/// Whom a file belongs to: an [`Owner`] by borrowed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// The session with this id.
    Session(&'a str),
    /// No session alone.
    Shared(&'a str),
    /// Its contents tell.
    Inside,
}

impl Whose<'_> {
    /// The same as a value of its own.
    pub fn keep(self) -> Owner {
        match self {
            Whose::Session(id) => Owner::Session(id.to_owned()),
            Whose::Shared(name) => Owner::Shared(name.to_owned()),
            Whose::Inside => Owner::Inside,
        }
    }
}

impl Sight<'_> {
    /// Whether it is the part with this key.
    pub fn is_part(&self, key: &str) -> bool {
        // Nearly every name is its own key: then nothing need be encoded.
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        match self.source.as_bytes().iter().all(plain) {
            true => self.source == key,
            false => SourceKey::new(self.source).as_str() == key,
        }
    }

    /// The same as a value of its own.
    pub fn keep(self) -> Found {
        Found {
            owner: self.owner.keep(),
            source: match self.source {
                SourceKey::MAIN => SourceKey::main(),
                name => SourceKey::new(name),
            },
            kind: self.kind,
            format: self.format,
            encoding: self.encoding,
            path: self.path.to_owned(),
            stat: self.stat,
            extra: self.extra,
            unreadable: self.unreadable.map(str::to_owned),
            content: self.content.map(Into::into),
        }
    }
}
