use proptest::prelude::*;
use retro_model::{SessionKey, SourceKey, Timestamp};
use retro_text::forms::forms;
use std::io::Read;
use std::sync::Arc;

use super::*;
use crate::{RealDisk, Slot};

fn masks(texts: &[&str]) -> Arc<Masks> {
    let empty = Masks::of([7; 32], Vec::new());
    let at = Timestamp::from_millis(1).unwrap();
    Arc::new(empty.with(texts.iter().map(|text| empty.line(text, &forms(text), at)).collect()))
}

fn applied(masks: &Masks, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    masks.apply(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_line_holds_no_word_of_the_text() {
    let masks = masks(&["Rosalinde-4711"]);
    let line = serde_json::to_string(masks.standing().next().unwrap()).unwrap();
    assert!(!line.contains("Rosa") && !line.contains("4711"), "{line}");
}

#[test]
fn every_form_is_covered_by_as_many_bytes_and_json_stays_json() {
    let text = "pass \"word\"\\4711\nRosalinde/ü";
    let masks = masks(&[text]);
    let once = serde_json::to_string(&serde_json::json!({"a": format!("x{text}y"), "b": 1})).unwrap();
    let twice = serde_json::to_string(&serde_json::json!({"arguments": once})).unwrap();
    for json in [&once, &twice] {
        let masked = applied(&masks, json);
        assert_eq!(masked.len(), json.len());
        assert!(!masked.contains("4711") && !masked.contains("Rosalinde"), "{masked}");
        serde_json::from_str::<serde_json::Value>(&masked)
            .unwrap_or_else(|error| panic!("{error}: {masked}"));
        assert_eq!(applied(&masks, &masked), masked, "twice is once");
    }
}

#[test]
fn escapes_before_it_and_numbers_stay_whole() {
    let masks = masks(&["nightly-4711", "1234567890"]);
    let json = "{\"a\":\"one\\nightly-4711\",\"n\":1234567890,\"m\":-1234567890}";
    let masked = applied(&masks, json);
    let value: serde_json::Value = serde_json::from_str(&masked).unwrap();
    assert!(value["a"].as_str().unwrap().starts_with("one\n") && !masked.contains("4711"), "{masked}");
    assert_eq!(value["n"], 1_111_111_111);
}

#[test]
fn an_undone_mask_covers_nothing() {
    let masks = masks(&["Rosalinde-4711"]);
    let line = masks.standing().next().unwrap().clone();
    let undone = Mask { event: TombstoneEvent::Undone, forms: Vec::new(), ..line.clone() };
    assert!(masks.with(vec![undone]).is_empty());
    let done = Mask { event: TombstoneEvent::Done, forms: Vec::new(), ..line };
    let done = masks.with(vec![done]);
    assert!(done.has(b"a Rosalinde-4711 b") && done.unfinished().count() == 0);
}

/// Hands out a few bytes at a time.
struct Slow<'a>(&'a [u8], usize);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.len().min(self.1).min(out.len());
        let (now, rest) = self.0.split_at(count);
        out[..count].copy_from_slice(now);
        self.0 = rest;
        Ok(count)
    }
}

proptest! {
    #[test]
    fn read_in_any_pieces_it_is_the_same(
        parts in prop::collection::vec(prop_oneof![
            Just("Rosalinde-4711".to_owned()), Just("linde-4711-xyz".to_owned()), Just("abababababcd".to_owned()),
            Just("ab".to_owned()), Just("\\".to_owned()), Just("\"".to_owned()), "[a-z\\n]{0,9}",
        ], 0..60),
        step in 1usize..50,
    ) {
        let masks = masks(&["Rosalinde-4711", "linde-4711-xyz", "abababababcd"]);
        let text = parts.concat();
        let whole = applied(&masks, &text);
        let mut read = String::new();
        MaskedReader::new(Slow(text.as_bytes(), step), Arc::clone(&masks)).read_to_string(&mut read).unwrap();
        prop_assert_eq!(&read, &whole);
        prop_assert_eq!(text.matches('\n').count(), whole.matches('\n').count());
        prop_assert!(!masks.has(whole.as_bytes()));
    }
}

#[test]
fn a_raw_file_is_written_again_with_masks_and_grows_on() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("store"), Arc::new(RealDisk)).unwrap();
    let slot =
        Slot::Session { key: SessionKey::new("claude", "one"), source: SourceKey::main(), revision: 1 };
    let archive = store.archive(&slot);
    // The text lies across two commits.
    archive.append(b"{\"a\":\"one Rosal", 0).unwrap();
    archive.append(b"inde-4711 two\"}\n{\"b\":1}\n", 2).unwrap();
    let masks = masks(&["Rosalinde-4711"]);
    assert_eq!(archive.mask(&masks).unwrap(), 1);
    assert_eq!(archive.mask(&masks).unwrap(), 0, "once is enough");
    assert_eq!(archive.append(b"{\"c\":1}\n", 3).unwrap().records, 3);
    let mut text = String::new();
    store.archive(&slot).read().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "{\"a\":\"one ************** two\"}\n{\"b\":1}\n{\"c\":1}\n");
}

#[test]
fn an_open_store_sees_a_line_that_was_added() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(&folder.path().join("store"), Arc::new(RealDisk)).unwrap();
    assert!(store.masks().unwrap().is_empty());
    let at = Timestamp::from_millis(1).unwrap();
    let line = store.masks().unwrap().line("Rosalinde-4711", &forms("Rosalinde-4711"), at);
    let lock = store.lock(&|| false).unwrap().unwrap();
    store.clone().add_masks(&lock, &[line]).unwrap();
    assert!(store.masks().unwrap().has(b"Rosalinde-4711"));
    assert_eq!(store.value_id("Rosalinde-4711"), store.masks().unwrap().standing().next().unwrap().id);
}
