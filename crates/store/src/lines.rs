//! JSON lines that carry their checksums.
//!
//! Each line is an object whose last field is `check`: the first 16 digits of the BLAKE3
//! hash of the line's bytes before it, from `{` to the comma.

use serde::Serialize;
use serde::de::DeserializeOwned;

const BEFORE_CHECK: &str = "\"check\":\"";
const AFTER_CHECK: &str = "\"}";
const CHECK_DIGITS: usize = 16;

/// The lines of these objects.
pub(crate) fn encode(rows: &[impl Serialize]) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&seal(row)?);
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// The objects of a file's lines, or what is wrong with them.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<T>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(at, line)| unseal(line).ok_or_else(|| format!("line {at} is not what was written")))
        .collect()
}

/// An object as a line with its checksum.
pub(crate) fn seal(row: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(row)?;
    let body = format!("{},", text.strip_suffix('}').unwrap_or(&text));
    let check = digits(&body);
    Ok(format!("{body}{BEFORE_CHECK}{check}{AFTER_CHECK}"))
}

fn unseal<T: DeserializeOwned>(line: &str) -> Option<T> {
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
    use retro_model::{LedgerRow, Thread, Tokens, Usage};

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
            assert_eq!(unseal::<LedgerRow>(&touched), None, "byte {at}");
        }
    }
}
