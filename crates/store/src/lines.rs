//! The lines of a ledger. Each is a JSON object whose last field is `check`: the first 16
//! digits of the BLAKE3 hash of the line's bytes before it, from `{` to the comma.

use retro_model::LedgerRow;

const BEFORE_CHECK: &str = "\"check\":\"";
const AFTER_CHECK: &str = "\"}";
const CHECK_DIGITS: usize = 16;

/// The rows of a ledger's bytes, or what is wrong with them.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<LedgerRow>, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let numbered = (1..).zip(text.lines());
    numbered
        .map(|(at, line)| unseal(line).ok_or_else(|| format!("line {at} is not what was written")))
        .collect()
}

/// A row as a line with its checksum.
pub(crate) fn seal(row: &LedgerRow) -> Result<String, serde_json::Error> {
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
