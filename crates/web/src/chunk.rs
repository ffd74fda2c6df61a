//! Data chunks: one JSON value each, under a name that both carriers share.
//!
//! In a folder a chunk is a script file with one call, `retro("<name>", "<build>", "<base64 of raw
//! deflate>")`, because a page opened from disk may only load scripts. The server returns the same
//! JSON under the same name.

use base64::Engine;
use libdeflater::{CompressionLvl, Compressor, DecompressionError, Decompressor};
use retro::model::SessionKey;
use retro::store::names::encode;
use serde::Serialize;
use std::cell::RefCell;
use std::io::{self, Write};

use crate::Error;

/// A chunk to be written.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// Its name, without folder and extension: `s/3f/claude.3f2a.h`.
    pub name: String,
    /// The chunk's JSON.
    pub json: Vec<u8>,
}

impl Chunk {
    /// A chunk with this value.
    pub fn of(name: impl Into<String>, value: &impl Serialize) -> Result<Chunk, Error> {
        let json = serde_json::to_vec(value).map_err(|error| Error::Json(error.to_string()))?;
        Ok(Chunk { name: name.into(), json })
    }

    /// The script file that carries it.
    pub fn script(&self, build: &str) -> Result<Vec<u8>, Error> {
        self.script_packed(build, Packing::Quick)
    }

    /// Like [`Chunk::script`], with a compression level.
    pub fn script_packed(&self, build: &str, packing: Packing) -> Result<Vec<u8>, Error> {
        let packed = packed(&self.json, packing)?;
        let mut script = Vec::with_capacity(packed.len() + 64);
        writeln!(script, "retro({:?},{build:?},\"{packed}\")", self.name)?;
        Ok(script)
    }
}

/// The compression level of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Fast. The smaller level would save only a few percent on a session.
    Quick,
    /// A tenth smaller, in twice the time. For words, which delay the answer to a search.
    Small,
}

/// Maximum unpacked size of a script.
const UNPACKED_BYTES_MAX: usize = 1 << 30;

fn compressor(level: i32) -> RefCell<Compressor> {
    RefCell::new(Compressor::new(CompressionLvl::new(level).unwrap_or_default()))
}

thread_local! {
    // A compressor is large, and most chunks are small.
    static QUICK: RefCell<Compressor> = compressor(1);
    static SMALL: RefCell<Compressor> = compressor(4);
}

/// Raw deflate as base64.
pub fn packed(json: &[u8], packing: Packing) -> Result<String, Error> {
    let compressor = match packing {
        Packing::Quick => &QUICK,
        Packing::Small => &SMALL,
    };
    let bytes = compressor.with_borrow_mut(|compressor| {
        let mut bytes = vec![0; compressor.deflate_compress_bound(json.len())];
        let length = compressor.deflate_compress(json, &mut bytes).map_err(io::Error::other)?;
        bytes.truncate(length);
        Ok::<_, io::Error>(bytes)
    })?;
    Ok(base64::engine::general_purpose::STANDARD.encode(bytes))
}

/// The JSON that a script carries.
pub fn unpacked(script: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(script).ok()?;
    let packed = text.trim_end().strip_suffix("\")")?.rsplit_once('"')?.1;
    let bytes = base64::engine::general_purpose::STANDARD.decode(packed).ok()?;
    let mut decompressor = Decompressor::new();
    let mut json = vec![0; bytes.len() * 4 + 64];
    loop {
        match decompressor.deflate_decompress(&bytes, &mut json) {
            Ok(length) => {
                json.truncate(length);
                return Some(json);
            }
            Err(DecompressionError::InsufficientSpace) if json.len() < UNPACKED_BYTES_MAX => {
                json.resize(json.len() * 4, 0);
            }
            Err(_) => return None,
        }
    }
}

/// The chunk name of a session: its folder and its key.
pub fn session_name(key: &SessionKey) -> String {
    let encoded = encode(&key.id);
    let id = match encoded.contains('%') {
        // The page's loader accepts no other characters.
        true => format!("h-{}", &blake3::hash(key.id.as_bytes()).to_hex()[..24]),
        false => encoded,
    };
    let folder = &blake3::hash(id.as_bytes()).to_hex()[..2];
    format!("s/{folder}/{}.{id}", key.agent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_holds_its_value() {
        let chunk = Chunk::of("s/aa/x.h", &serde_json::json!({"a": "</script>"})).unwrap();
        let script = chunk.script("b1").unwrap();
        assert!(script.starts_with(br#"retro("s/aa/x.h","b1",""#));
        let json = String::from_utf8(unpacked(&script).unwrap()).unwrap();
        assert_eq!(json, r#"{"a":"</script>"}"#);
    }

    #[test]
    fn values_of_any_size_come_back_whole() {
        for count in [0, 1, 100, 10_000, 200_000] {
            // Hardly anything repeats, so the data does not shrink.
            let numbers: Vec<u32> = (0..count).map(|n: u32| n.wrapping_mul(2_654_435_761)).collect();
            let chunk = Chunk::of("n", &numbers).unwrap();
            assert_eq!(unpacked(&chunk.script("b1").unwrap()).unwrap(), chunk.json);
        }
    }

    #[test]
    fn names_are_files_wherever_they_come_from() {
        let good = |name: &str| {
            name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._/-".contains(&b))
        };
        for id in ["3f2a-11", "../../etc/passwd", "<img onerror=1>", "A b", "", "ünï", "con"] {
            let name = session_name(&SessionKey::new("claude", id));
            assert!(good(&name) && !name.contains(".."), "{name}");
        }
        let names = ["Ab", "aB", "ab"].map(|id| session_name(&SessionKey::new("claude", id)));
        assert!(names[0] != names[1] && names[1] != names[2]);
    }
}
