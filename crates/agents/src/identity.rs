//! Hashes and labels that decide if two records are equal.
//!
//! The hashes are over bytes that this file defines, equal on every machine and in every build.
//! They are stored in the state of a parser between two syncs, and nowhere else: a change here
//! needs a new `parser_version` of every agent.

use retro_model::Part as Piece;
use std::borrow::Cow;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::Json;

/// A label of an event within its record, for identities.
pub(crate) fn label(piece: &Piece) -> Cow<'static, str> {
    match piece {
        Piece::Whole => Cow::Borrowed("0"),
        Piece::Block(index) => Cow::Owned(index.to_string()),
        Piece::Tag(tag) => Cow::Borrowed(tag),
    }
}

/// A hash that is equal for equal words, ignoring surrounding blanks.
pub(crate) fn print_of(words: &str) -> u64 {
    xxh3_64(words.trim().as_bytes())
}

/// A hash that is equal for equal values: the order of fields does not matter, and of several
/// fields with one name the last counts.
pub(crate) fn fingerprint(value: &Json<'_>) -> u64 {
    let mut hasher = Xxh3Default::new();
    add(&mut hasher, value);
    hasher.digest()
}

/// Hashes the kind of each value, its length if it has one, and its content, so that different
/// values never hash the same bytes.
fn add(hasher: &mut Xxh3Default, value: &Json<'_>) {
    match value {
        Json::Null => hasher.update(b"n"),
        Json::Bool(false) => hasher.update(b"f"),
        Json::Bool(true) => hasher.update(b"t"),
        Json::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(whole), _) => add_number(hasher, b'u', whole),
            (None, Some(negative)) => add_number(hasher, b'i', negative.cast_unsigned()),
            (None, None) => add_number(hasher, b'd', number.as_f64().unwrap_or_default().to_bits()),
        },
        Json::String(text) => add_text(hasher, text),
        Json::Array(items) => {
            add_number(hasher, b'a', items.len() as u64);
            items.iter().for_each(|item| add(hasher, item));
        }
        Json::Object(fields) => {
            let fields = fields.iter();
            add_number(hasher, b'o', fields.len() as u64);
            for (name, value) in fields {
                add_text(hasher, name);
                add(hasher, value);
            }
        }
    }
}

fn add_text(hasher: &mut Xxh3Default, text: &str) {
    add_number(hasher, b's', text.len() as u64);
    hasher.update(text.as_bytes());
}

fn add_number(hasher: &mut Xxh3Default, kind: u8, number: u64) {
    let mut bytes = [kind; 9];
    bytes[1..].copy_from_slice(&number.to_le_bytes());
    hasher.update(&bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::json_tree as json;

    #[test]
    fn equal_values_have_equal_prints_and_others_do_not() {
        let print = |text: &str| fingerprint(&serde_json::from_str::<Json<'_>>(text).unwrap());
        assert_eq!(print(r#"{"a":1,"b":[true,null]}"#), print(r#"{"b":[true,null],"a":0,"a":1}"#));
        let different =
            ["1", "-1", "1.0", "\"1\"", "[1]", "[[1]]", "[[],1]", "{\"1\":1}", "null", "true", "false"];
        let mut prints: Vec<u64> = different.map(print).to_vec();
        prints.sort_unstable();
        prints.dedup();
        assert_eq!(prints.len(), different.len());
        assert_ne!(fingerprint(&json!(["ab", "c"])), fingerprint(&json!(["a", "bc"])));
    }

    #[test]
    fn a_print_is_the_same_on_every_machine() {
        assert_eq!(fingerprint(&json!({ "type": "mode", "n": 3 })), 11_405_495_433_913_958_315);
        assert_eq!(print_of(" words\n"), print_of("words"));
    }
}
