//! The ledger of a session: one line a model answer. Truth, kept even when the raw
//! bytes go, and rewritten as a whole when the session has gone quiet.
//!
//! Each line is a JSON object whose last field is `check`: the first 16 digits of
//! the BLAKE3 hash of the line's bytes before it, from `{` to the comma.

use retro_model::{LedgerRow, SessionKey};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::error::RESTORE_LEDGER;
use crate::files::Worth;
use crate::part::PartFile;
use crate::{Error, Store, layout};

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

    /// Puts the file in its place. A session without answers has none.
    pub fn finish(self) -> Result<(), Error> {
        match self.empty && !self.part.path().exists() {
            true => Ok(()),
            false => self.part.settle(Worth::Truth),
        }
    }
}

impl Store {
    /// Keeps the ledger of a session; false if it was so already. It comes to the
    /// disk with the next [`Store::sync_all`].
    pub fn put_ledger(&self, key: &SessionKey, rows: &[LedgerRow]) -> Result<bool, Error> {
        let path = self.ledger_path(key);
        let mut text = String::new();
        for row in rows {
            text.push_str(&seal(row).map_err(|error| Error::io("write", &path)(error.into()))?);
            text.push('\n');
        }
        let old = std::fs::read(&path).ok();
        if old.as_deref() == Some(text.as_bytes()) || (old.is_none() && rows.is_empty()) {
            return Ok(false);
        }
        self.files.put(&path, text.as_bytes(), Worth::Truth)?;
        Ok(true)
    }

    /// The same for rows that come one by one, of a session larger than memory.
    pub fn ledger_writer(&self, key: &SessionKey) -> Result<LedgerWriter, Error> {
        Ok(LedgerWriter { part: PartFile::new(self.files.clone(), self.ledger_path(key))?, empty: true })
    }

    /// The ledger of a session, if it was kept.
    pub fn ledger(&self, key: &SessionKey) -> Result<Option<Vec<LedgerRow>>, Error> {
        let path = self.ledger_path(key);
        self.files.own(&path)?;
        read(&path)
    }

    /// Where the ledger of a session lies.
    pub fn ledger_path(&self, key: &SessionKey) -> PathBuf {
        layout::ledger_file(self.root(), key)
    }
}

pub(crate) fn read(path: &Path) -> Result<Option<Vec<LedgerRow>>, Error> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::raw(path)(error)),
    };
    let mut rows = Vec::new();
    for (at, line) in (1..).zip(text.lines()) {
        let row = unseal(line).ok_or_else(|| Error::Damaged {
            path: path.to_owned(),
            what: format!("line {at} is not what was written"),
            help: RESTORE_LEDGER,
        })?;
        rows.push(row);
    }
    Ok(Some(rows))
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
