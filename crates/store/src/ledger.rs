//! The ledger of a session: one line a model answer. Truth, kept even when the raw
//! bytes go, and rewritten as a whole when the session has gone quiet.
//!
//! Each line is a JSON object whose last field is `check`: the first 16 digits of
//! the BLAKE3 hash of the line's bytes before it, from `{` to the comma.

use retro_model::{LedgerRow, SessionKey};
use std::io::{self, Write};
use std::path::PathBuf;

use crate::documents::LEDGER;
use crate::error::RESTORE_LEDGER;
use crate::files::Worth;
use crate::part::PartFile;
use crate::{Error, Store};

const BEFORE_CHECK: &str = "\"check\":\"";
const AFTER_CHECK: &str = "\"}";
const CHECK_DIGITS: usize = 16;

/// Writes the ledger of one session.
pub struct LedgerWriter {
    part: PartFile,
    empty: bool,
}

impl LedgerWriter {
    /// Adds the next row.
    pub fn push(&mut self, row: &LedgerRow) -> Result<(), Error> {
        self.empty = false;
        let line = seal(row).map_err(io::Error::from);
        let written = line.and_then(|line| writeln!(self.part, "{line}"));
        written.map_err(Error::io("write", self.part.path()))
    }

    /// Whether no row was added yet.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Puts the file in its place.
    pub fn finish(self) -> Result<(), Error> {
        self.part.settle(Worth::Truth)
    }
}

impl Store {
    /// Keeps the ledger of a session; false if it was so already. It comes to the
    /// disk with the next [`Store::sync_all`]. A session without responses has none.
    pub fn put_ledger(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<bool, Error> {
        let path = self.ledger_path(key);
        if rows.is_empty() && self.document(&LEDGER, key)?.is_none() {
            return Ok(false);
        }
        let mut text = String::new();
        for row in rows {
            text.push_str(&seal(row).map_err(|error| Error::io("write", &path)(error.into()))?);
            text.push('\n');
        }
        self.put_document(&LEDGER, key, text.into_bytes())
    }

    /// The same for rows that come one by one, of a session larger than memory.
    pub fn ledger_writer(&self, key: &SessionKey) -> Result<LedgerWriter, Error> {
        Ok(LedgerWriter { part: PartFile::new(self.files.clone(), self.ledger_path(key))?, empty: true })
    }

    /// The ledger of a session, if it was kept.
    pub fn ledger(&self, key: &SessionKey) -> Result<Option<Vec<LedgerRow>>, Error> {
        let Some(bytes) = self.document(&LEDGER, key)? else { return Ok(None) };
        let path = self.ledger_path(key);
        decode(&bytes).map(Some).map_err(|what| Error::Damaged { path, what, help: RESTORE_LEDGER })
    }

    /// Where the ledger of a session is.
    pub fn ledger_path(&self, key: &SessionKey) -> PathBuf {
        LEDGER.path(self.root(), key)
    }
}

/// The rows of a ledger's bytes, or what is wrong with them.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<LedgerRow>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(at, line)| unseal(line).ok_or_else(|| format!("line {at} is not what was written")))
        .collect()
}

fn seal(row: &LedgerRow) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(row)?;
    let body = format!("{},", text.trim_end_matches('}'));
    let check = digits(&body);
    Ok(format!("{body}{BEFORE_CHECK}{check}{AFTER_CHECK}"))
}

fn unseal(line: &str) -> Option<LedgerRow> {
    let seal_bytes = BEFORE_CHECK.len() + CHECK_DIGITS + AFTER_CHECK.len();
    let (body, seal) = line.split_at_checked(line.len().checked_sub(seal_bytes)?)?;
    if seal != format!("{BEFORE_CHECK}{}{AFTER_CHECK}", digits(body)) {
        return None;
    }
    serde_json::from_str(line).ok()
}

fn digits(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex()[..CHECK_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use retro_model::{Thread, Tokens, Usage};

    #[test]
    fn a_line_that_was_touched_is_known() {
        let usage = Usage { tokens: Tokens { input: 3, output: 9, ..Tokens::default() }, ..Usage::default() };
        let event = "m:4.usage".parse().unwrap();
        let row = LedgerRow::of("claude:msg_1".into(), event, Thread::main(), &usage);
        let line = seal(&row).unwrap();
        assert_eq!(unseal(&line), Some(row));
        for at in 0..line.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1;
            let touched = String::from_utf8(bytes).unwrap_or_default();
            assert_eq!(unseal(&touched), None, "byte {at}");
        }
    }
}
