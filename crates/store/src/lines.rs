//! JSON lines. As a section of a document they are checked by that.
//!
//! In formats 1 and 2 each line was an object whose last field is `check`: the first 16 digits of the
//! BLAKE3 hash of the line's bytes before it, from `{` to the comma. Such lines are still read.

use serde::Serialize;
use serde::de::DeserializeOwned;

const BEFORE_CHECK: &str = "\"check\":\"";
const AFTER_CHECK: &str = "\"}";
const CHECK_DIGITS: usize = 16;

/// The lines of these objects.
pub(crate) fn encode(rows: &[impl Serialize]) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut text, row)?;
        text.push(b'\n');
    }
    Ok(text)
}

/// The objects of a text's lines, or what is wrong with them.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(at, line)| object(line).ok_or_else(|| format!("line {at} is not what was written")))
        .collect()
}

/// The object of a line, whose checksum has to fit if it has one.
fn object<T: DeserializeOwned>(line: &str) -> Option<T> {
    let seal_bytes = BEFORE_CHECK.len() + CHECK_DIGITS + AFTER_CHECK.len();
    if let Some((body, seal)) = line.len().checked_sub(seal_bytes).and_then(|at| line.split_at_checked(at))
        && seal.starts_with(BEFORE_CHECK)
        && seal != format!("{BEFORE_CHECK}{}{AFTER_CHECK}", digits(body))
    {
        return None;
    }
    serde_json::from_str(line).ok()
}

pub(crate) fn digits(body: &str) -> String {
    blake3::hash(body.as_bytes()).to_hex()[..CHECK_DIGITS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use retro_model::{LedgerRow, Thread, Tokens, Usage};

    fn row() -> LedgerRow {
        let usage = Usage { tokens: Tokens { input: 3, output: 9, ..Tokens::default() }, ..Usage::default() };
        LedgerRow::of("claude:msg_1".into(), "m:4.usage".parse().unwrap(), Thread::main(), &usage)
    }

    #[test]
    fn lines_come_back() {
        let rows = [row(), row()];
        assert_eq!(decode::<LedgerRow>(&encode(&rows).unwrap()).unwrap(), rows);
    }

    #[test]
    fn a_line_of_format_1_that_was_touched_is_known() {
        let text = serde_json::to_string(&row()).unwrap();
        let body = format!("{},", text.strip_suffix('}').unwrap());
        let line = format!("{body}{BEFORE_CHECK}{}{AFTER_CHECK}", digits(&body));
        assert_eq!(object(&line), Some(row()));
        for at in 0..body.len() {
            let mut bytes = line.clone().into_bytes();
            bytes[at] ^= 1;
            let touched = String::from_utf8(bytes).unwrap_or_default();
            assert_eq!(object::<LedgerRow>(&touched), None, "byte {at}");
        }
    }
}
