//! JSON for people that carries a checksum of itself.
//!
//! The text is indented; its last field is `check`, the BLAKE3 hash of every
//! byte before the line that holds it. So a reader in any language can check it
//! without agreeing on how JSON is written.

use serde::Serialize;
use serde::de::DeserializeOwned;

const BEFORE_CHECK: &str = "  \"check\": \"";
const AFTER_CHECK: &str = "\"\n}\n";
const CHECK_DIGITS: usize = 64;

/// The text of an object with its check.
pub(crate) fn seal(object: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let text = serde_json::to_string_pretty(object)?;
    let body = text.strip_suffix("\n}").map(|fields| format!("{fields},\n"));
    let body = body.ok_or_else(|| serde::ser::Error::custom("only an object with fields can be sealed"))?;
    let check = blake3::hash(body.as_bytes()).to_hex();
    Ok(format!("{body}{BEFORE_CHECK}{check}{AFTER_CHECK}").into_bytes())
}

/// The object of a sealed text, or what is wrong with it.
pub(crate) fn unseal<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let seal_bytes = BEFORE_CHECK.len() + CHECK_DIGITS + AFTER_CHECK.len();
    let parts = bytes.len().checked_sub(seal_bytes).and_then(|at| bytes.split_at_checked(at));
    let (body, seal) = parts.ok_or("it is cut off")?;
    let hash = blake3::hash(body).to_hex();
    if seal != format!("{BEFORE_CHECK}{hash}{AFTER_CHECK}").as_bytes() {
        return Err("its checksum does not fit".to_owned());
    }
    serde_json::from_slice(bytes).map_err(|error| error.to_string())
}

/// The text of an object without a check: a section of a document is checked by that.
pub(crate) fn pretty(object: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut text = serde_json::to_vec_pretty(object)?;
    text.push(b'\n');
    Ok(text)
}

/// The object of a text, with a check or without.
pub(crate) fn unseal_if_sealed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let seal_bytes = BEFORE_CHECK.len() + CHECK_DIGITS + AFTER_CHECK.len();
    let seal = bytes.len().checked_sub(seal_bytes).and_then(|at| bytes.get(at..));
    match seal.is_some_and(|seal| seal.starts_with(BEFORE_CHECK.as_bytes())) {
        true => unseal(bytes),
        false => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_flipped_byte_and_every_cut_is_found() {
        let good = seal(&json!({"a": [1, {"b": "x\ny"}], "z": null})).unwrap();
        let object: Value = unseal(&good).unwrap();
        assert_eq!(object["a"][1]["b"], "x\ny");
        for at in 0..good.len() {
            let mut bytes = good.clone();
            bytes[at] ^= 1;
            assert!(unseal::<Value>(&bytes).is_err(), "byte {at} flipped");
            assert!(unseal::<Value>(&good[..at]).is_err(), "cut at {at}");
        }
    }
}
