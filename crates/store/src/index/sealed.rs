//! Bytes after a hash, for values that are read as one piece: SQLite does not notice when the disk
//! changes them.

use xxhash_rust::xxh3::xxh3_64;

/// Puts a hash before the bytes.
pub(super) fn seal(bytes: &[u8]) -> Vec<u8> {
    [xxh3_64(bytes).to_le_bytes().as_slice(), bytes].concat()
}

/// Removes the hash. `None` if it does not match the bytes.
pub(super) fn unseal(sealed: &[u8]) -> Option<&[u8]> {
    let (hash, bytes) = sealed.split_first_chunk()?;
    (u64::from_le_bytes(*hash) == xxh3_64(bytes)).then_some(bytes)
}
