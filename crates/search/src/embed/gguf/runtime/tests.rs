//! A small model of random weights, written here, is loaded and run.

mod random;

use super::*;
use crate::embed::gguf;
use random::{WIDTH, model};
use std::path::PathBuf;

fn written(folder: &tempfile::TempDir, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn a_model_of_random_weights_embeds_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "tiny.gguf", &model(1));
    let options =
        gguf::Options { model: path, threads: Some(2), threads_batch: Some(1), ..Default::default() };
    let model = gguf::open(&options).unwrap();
    assert_eq!(model.dim(), WIDTH);
    assert!(model.id().starts_with("tiny-"), "{}", model.id());

    let long = "the cat ".repeat(1000);
    let texts = ["the cat", "", "a dog", "the cat", "[SEP] [CLS]", "日本語", long.as_str()];
    let vectors = model.embed(&texts).unwrap();
    assert_eq!(vectors.len(), texts.len());
    assert!(vectors.iter().all(|vector| vector.dim() == WIDTH));
    assert!(vectors[1].is_zero());
    assert!(vectors[0].cosine(&vectors[3]) > 0.9999, "the same text, the same vector");
    assert!(vectors[0].cosine(&vectors[2]) < 0.9999, "another text, another vector");
    assert!(!vectors[6].is_zero(), "a long text is cut, not refused");
}

#[test]
fn many_texts_at_once_keep_their_order_and_their_vectors() {
    let folder = tempfile::tempdir().unwrap();
    let path = written(&folder, "tiny.gguf", &model(1));
    let open = |threads| {
        let options = gguf::Options { model: path.clone(), threads: Some(threads), ..Default::default() };
        gguf::open(&options).unwrap()
    };
    let (alone, several) = (open(1), open(3));
    let texts: Vec<String> = (0..60).map(|number| format!("cat {number} dog")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let expected: Vec<Embedding> = texts.iter().map(|text| alone.embed(&[text]).unwrap().remove(0)).collect();
    for _ in 0..3 {
        let made = several.embed(&texts).unwrap();
        assert_eq!(made.len(), expected.len());
        assert!(made.iter().zip(&expected).all(|(made, expected)| made.cosine(expected) > 0.9999));
    }
}

#[test]
fn other_content_is_another_model() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, seed| {
        let options = gguf::Options { model: written(&folder, name, &model(seed)), ..Default::default() };
        gguf::open(&options).unwrap()
    };
    let (one, two) = (open("tiny.gguf", 1), open("tiny.gguf", 2));
    assert_ne!(one.id(), two.id());
    assert_eq!(one.id(), open("tiny.gguf", 1).id());
}

#[test]
fn what_is_no_model_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let garbage = written(&folder, "garbage.gguf", b"GGUF but nothing else");
    let cut = written(&folder, "cut.gguf", &model(1)[..5000]);
    for path in [garbage, cut, folder.path().join("missing.gguf")] {
        let options = gguf::Options { model: path.clone(), ..Default::default() };
        let error = gguf::open(&options).err().unwrap();
        assert!(matches!(&error, Error::Model { path: named, .. } if *named == path), "{error}");
    }
}
