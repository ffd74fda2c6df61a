//! Every input of `fuzz/corpus` through its law: seeds that this project wrote, and
//! what a fuzzer once broke a law with.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use retro_laws::{Law, laws};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

/// The inputs of a law, sorted.
fn inputs(law: &Law) -> Vec<PathBuf> {
    let Ok(folder) = std::fs::read_dir(fuzz().join("corpus").join(&law.name)) else { return Vec::new() };
    let mut inputs: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    inputs.sort();
    inputs
}

/// The fuzz targets, by their names in the manifest.
fn targets() -> BTreeSet<String> {
    let manifest = std::fs::read_to_string(fuzz().join("Cargo.toml")).unwrap();
    let bins = manifest.split("[[bin]]").skip(1);
    bins.map(|bin| bin.split('"').nth(1).unwrap().to_owned()).collect()
}

#[test]
fn every_input_keeps_its_law() {
    let mut count = 0;
    for law in laws() {
        for path in inputs(law) {
            let bytes = std::fs::read(&path).unwrap();
            let name = law.name.as_str();
            let kept = std::panic::catch_unwind(|| retro_laws::check(name, &bytes));
            assert!(kept.is_ok(), "{} breaks the law {}", path.display(), law.name);
            count += 1;
        }
    }
    println!("{count} inputs");
    assert!(count >= 100, "only {count} inputs were found below {}", fuzz().display());
}

/// An agent that has no inputs yet is held to its laws too.
#[test]
fn no_bytes_and_few_bytes_keep_every_law() {
    for law in laws() {
        for bytes in
            [&b""[..], b"\0", b"{}\n", b"\x01{}\n@@ x\n{}\n", &[0xff; 300], &(0..=255).collect::<Vec<u8>>()]
        {
            law.check(bytes).unwrap();
        }
    }
}

#[test]
fn every_target_is_a_law_with_inputs() {
    let names: BTreeSet<String> = laws().iter().map(|law| law.name.clone()).collect();
    assert!(targets().is_subset(&names), "{:?} have no law", targets().difference(&names));
    for law in laws().iter().filter(|law| targets().contains(&law.name)) {
        assert!(inputs(law).len() >= 3, "{} has too few inputs", law.name);
        assert!(fuzz().join(format!("fuzz_targets/{}.rs", law.name)).is_file(), "{} has no target", law.name);
    }
    let folders = std::fs::read_dir(fuzz().join("corpus")).unwrap();
    let folders: BTreeSet<String> =
        folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(folders.is_subset(&names), "{:?} are inputs of no law", folders.difference(&names));
}

#[test]
fn the_inputs_stay_small() {
    const BYTES_MAX: u64 = 200_000;
    let sizes = laws().iter().flat_map(inputs).map(|path| path.metadata().unwrap().len());
    let sum: u64 = sizes.sum();
    assert!(sum <= BYTES_MAX, "{sum} bytes of inputs, {BYTES_MAX} are the most");
}
