//! Base64, for tests: how secrets hide, and how our truth keeps them.

#![allow(dead_code, clippy::expect_used)]

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as base64 with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0u32, |sum, at| sum << 8 | u32::from(*chunk.get(at).unwrap_or(&0)));
        for at in 0..4 {
            let six = (number >> (18 - 6 * at)) as usize & 63;
            text.push(if at <= chunk.len() { char::from(ALPHABET[six]) } else { '=' });
        }
    }
    text
}

/// The bytes of a base64 text; white space and padding are skipped.
pub(crate) fn unbase64(text: &str) -> Vec<u8> {
    let (mut bits, mut held, mut out) = (0u32, 0, Vec::new());
    for byte in text.bytes().filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace()) {
        let six = ALPHABET.iter().position(|letter| *letter == byte).expect("base64");
        bits = (bits << 6 | six as u32) & 0xFFFF;
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    out
}
