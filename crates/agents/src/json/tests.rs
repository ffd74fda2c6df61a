//! The tree is equal to `serde_json::Value`, and tolerates slightly more.

use proptest::prelude::*;
use retro_text::redact_json;
use serde_json::{Value, json};

use super::*;

/// A parsed line, as a `serde_json` value.
fn read(line: impl AsRef<[u8]>) -> Result<(Value, Mended), String> {
    parse(line.as_ref(), &Room::default(), &mut String::new()).map(|(tree, mended)| (json!(tree), mended))
}

#[test]
fn half_a_surrogate_pair_is_read_as_a_replacement() {
    let (value, mended) = read(br#"{"a":"x\ud83d","b":"\ud83d\ude00","c":"\\ud83d"}"#).unwrap();
    assert_eq!(value["a"], "x\u{fffd}");
    assert_eq!(value["b"], "😀");
    assert_eq!(value["c"], "\\ud83d");
    assert_eq!(mended, Mended::No);
}

#[test]
fn foreign_bytes_are_read_and_said() {
    let (value, mended) = read(b"{\"a\":\"x\xff\"}").unwrap();
    assert_eq!(value["a"], "x\u{fffd}");
    assert_eq!(mended, Mended::InvalidUtf8);
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    assert!(read(b"{\"a\":").unwrap_err().contains("column"));
    assert!(read("[".repeat(100_000)).is_err());
    assert!(read(b"{\"a\":1e999}").is_err());
    assert!(read(b"{\"a\":1} x").is_err());
}

#[test]
fn lines_nested_as_deep_as_can_be_are_read_whole() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(read(nested(127)).is_ok());
    assert!(read(nested(128)).unwrap_err().contains("recursion limit"));
}

#[test]
fn the_first_thing_that_is_wrong_is_told() {
    for line in [&b"{\"a\":\"\xff\",}"[..], b"{\"a\" 1,\"\xff\"}", b"\xff", b"{\"a\":\"\\ud83d\",}", b""] {
        let told = serde_json::from_slice::<Value>(line).unwrap_err().to_string();
        assert_eq!(read(line).unwrap_err(), told.replace(" at line 1", ""));
    }
}

#[test]
fn of_fields_with_one_name_the_last_counts() {
    let line = r#"{"b":1,"a":2,"b":{"c":3},"\u0061":null}"#;
    let (room, mut spare) = (Room::default(), String::new());
    let (tree, _) = parse(line.as_bytes(), &room, &mut spare).unwrap();
    assert!(tree["a"].is_null() && tree["b"]["c"].as_u64() == Some(3));
    assert!(tree["none"].is_null() && tree.get("none").is_none());
    let names: Vec<&str> = tree.as_object().unwrap().iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "b"]);
    let value: Value = serde_json::from_str(line).unwrap();
    assert_eq!(tree.to_string(), value.to_string());
    assert_eq!(*tree.redacted(), value);
}

#[test]
fn texts_are_borrowed_whether_they_have_escapes_or_not() {
    let (room, mut spare) = (Room::default(), String::new());
    let (tree, _) = parse(br#"{"name":"plain","other":"a\nb"}"#, &room, &mut spare).unwrap();
    let is_borrowed = |name| matches!(&tree[name], Json::String(Cow::Borrowed(_)));
    assert!(is_borrowed("name") && is_borrowed("other"));
}

#[test]
fn names_that_hide_a_secret_become_one_and_the_last_of_them_counts() {
    let secret = |end| format!("ghp_{}{end}", "0aB9".repeat(8) + "0aB");
    let value =
        json!({ "z": [secret('1')], secret('2'): 1, secret('1'): 2, "a": { secret('3'): secret('4') } });
    let tree = Json::from(value.clone());
    assert_ne!(*tree.redacted(), value);
    assert_eq!(tree.redacted(), redact_json(value));
}

#[test]
fn arguments_written_as_a_text_are_read() {
    let room = Room::default();
    let text = json_tree!({ "json": "{\"a\":[1]}", "words": "{a", "object": { "b": 2 } });
    assert_eq!(*unwrapped(text.get("json"), &room), json_tree!({ "a": [1] }));
    assert_eq!(*unwrapped(text.get("words"), &room), "{a");
    assert_eq!(*unwrapped(text.get("object"), &room), json_tree!({ "b": 2 }));
    assert!(unwrapped(None, &room).is_null());
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c\\PC\n\"]{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map("[a-c\n]{0,2}", inner, 0..12)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_line_means_what_serde_json_says(value in any_value()) {
        let line = value.to_string();
        let (room, mut spare) = (Room::default(), String::new());
        let (tree, mended) = parse(line.as_bytes(), &room, &mut spare).unwrap();
        prop_assert_eq!(mended, Mended::No);
        prop_assert_eq!(&tree.to_string(), &line);
        prop_assert_eq!(tree.redacted(), redact_json(value.clone()));
        prop_assert_eq!(json!(tree), value.clone());
        prop_assert_eq!(tree, Json::from(value));
    }

    #[test]
    fn a_broken_line_is_refused_or_mended_as_before(
        value in any_value(), cut in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut line = value.to_string().into_bytes();
        let at = cut.index(line.len());
        line[at] = byte;
        match serde_json::from_slice::<Value>(&line) {
            Ok(value) => prop_assert_eq!(read(&line).unwrap(), (value, Mended::No)),
            Err(error) => match read(&line) {
                Ok((_, mended)) => prop_assert_eq!(mended, Mended::InvalidUtf8),
                Err(told) => prop_assert_eq!(told, describe(&error)),
            },
        }
    }
}
