//! The built-in model gives the vectors of its specification.

use super::*;
use serde_json::Value;

/// Maximum difference from a published value.
const TOLERANCE: f64 = 1e-4;

fn published() -> Vec<Value> {
    serde_json::from_str(include_str!("../../../tests/fixtures/static-vectors.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

#[test]
fn the_pieces_of_all_published_texts_are_the_same() {
    let model = BuiltIn::new().unwrap();
    let mut desk = Desk::new();
    for entry in published() {
        let text = entry["text"].as_str().unwrap();
        model.cut(text, &mut desk);
        assert_eq!(desk.rows.len() as u64, entry["n_ids"].as_u64().unwrap(), "{text:?}");
        let first: Vec<f64> = desk.rows.iter().take(64).map(|row| f64::from(*row)).collect();
        assert_eq!(first, numbers(&entry["ids"]), "{text:?}");
    }
}

#[test]
fn the_vectors_of_all_published_texts_are_the_same() {
    let model = BuiltIn::new().unwrap();
    let published = published();
    assert_eq!(published.len(), 81);
    let texts: Vec<&str> = published.iter().map(|entry| entry["text"].as_str().unwrap()).collect();
    for (vector, entry) in model.embed(&texts).unwrap().iter().zip(&published) {
        let expected = numbers(&entry["vector"]);
        for (value, expected) in vector.unit().into_iter().zip(&expected) {
            assert!((f64::from(value) - expected).abs() <= TOLERANCE, "{}", entry["text"]);
        }
        assert_eq!(vector.is_zero(), entry["n_ids"] == 0, "{}", entry["text"]);
    }
}

#[test]
fn texts_together_are_the_sum_of_their_vectors() {
    let model = BuiltIn::new().unwrap();
    let mut parts = model
        .embed(&["cargo build fails", "linker not found", "cargo build fails linker not found"])
        .unwrap();
    let whole = parts.pop().unwrap();
    let second = parts.pop().unwrap();
    parts[0].add(&second);
    assert!(parts[0].cosine(&whole) > 0.999_999);
}

#[test]
fn every_row_of_the_table_has_a_piece_and_can_be_summed() {
    let model = BuiltIn::new().unwrap();
    let vocabulary = include_str!("../../../assets/vocab.txt");
    assert_eq!(vocabulary.lines().count(), model.table.len());
    for (row, piece) in vocabulary.lines().enumerate().filter(|(_, piece)| !piece.starts_with("##")) {
        let mut rows = Vec::new();
        model.pieces.cut(piece, &mut rows);
        assert_eq!(rows, [row as u16], "{piece}");
    }
}

#[test]
fn threads_may_embed_at_once() {
    let model = BuiltIn::new().unwrap();
    let alone = model.embed(&["why does the test hang"]).unwrap();
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| model.embed(&["why does the test hang"]).unwrap())).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), alone);
        }
    });
}
