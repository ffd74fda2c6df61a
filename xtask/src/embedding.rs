//! `cargo xtask embedding`: the files of the built-in embedding model that are made from others.
//!
//! The program looks words up in the bytes it carries, without building a table at its
//! start, so vocabulary and characters are laid out for looking up beforehand:
//!
//! - `vocab.fst` from `vocab.txt`: piece to row;
//! - `chars.bin` from `chars.tsv`: code point to class and replacement, format in
//!   `crates/search/src/embed/characters.rs`;
//! - `model-id.txt` from the content of all three sources.

use std::collections::BTreeMap;
use std::path::Path;

use crate::failure::Failure;
use crate::repository::Repository;

/// Where the model's files are.
const FOLDER: &str = "crates/search/assets";

/// Counts the changes of how text is cut and summed that the files do not show.
const NAME: &str = "static-256-v1";

/// Blocks of 256 code points in Unicode.
const BLOCKS: usize = 0x1100;

/// A file's name and content.
type Asset = (&'static str, Vec<u8>);

/// Writes the files, or with `--check` compares them.
pub(crate) fn run(repository: &Repository, options: &[String]) -> Result<(), Failure> {
    let folder = repository.root.join(FOLDER);
    let assets = assets(&folder)?;
    if options.iter().any(|option| option == "--check") {
        return match stale(&folder, &assets).as_slice() {
            [] => Ok(()),
            names => {
                Err(Failure::new(format!("{} out of date: run cargo xtask embedding", names.join(", "))))
            }
        };
    }
    for (name, content) in &assets {
        let path = folder.join(name);
        std::fs::write(&path, content).map_err(|error| Failure::at(&path, error))?;
    }
    Ok(())
}

/// The names of the files that differ from what they should be.
fn stale(folder: &Path, assets: &[Asset]) -> Vec<&'static str> {
    let differs = |(name, content): &&Asset| std::fs::read(folder.join(name)).ok().as_ref() != Some(content);
    assets.iter().filter(differs).map(|(name, _)| *name).collect()
}

fn assets(folder: &Path) -> Result<Vec<Asset>, Failure> {
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|error| Failure::at(&path, error))
    };
    let text = |name: &str, bytes: &[u8]| {
        String::from_utf8(bytes.to_vec()).map_err(|error| Failure::at(&folder.join(name), error))
    };
    let (table, vocabulary, characters) = (read("table.bin")?, read("vocab.txt")?, read("chars.tsv")?);
    let mut hasher = blake3::Hasher::new();
    for source in [&table, &vocabulary, &characters] {
        hasher.update(&(source.len() as u64).to_le_bytes()).update(source);
    }
    let hash = hasher.finalize().to_hex();
    let id = format!("{NAME}-{}\n", hash.get(..16).unwrap_or_default());
    Ok(vec![
        ("vocab.fst", fst_of(&text("vocab.txt", &vocabulary)?)?),
        ("chars.bin", pages_of(&text("chars.tsv", &characters)?)?),
        ("model-id.txt", id.into_bytes()),
    ])
}

/// Each line with its number.
fn fst_of(vocabulary: &str) -> Result<Vec<u8>, Failure> {
    let rows: BTreeMap<&str, u64> = vocabulary.lines().zip(0..).collect();
    let map = fst::Map::from_iter(rows).map_err(|error| Failure::new(format!("vocab.txt: {error}")))?;
    Ok(map.into_fst().into_inner())
}

/// The classes and replacements as pages that can be looked up by code point.
fn pages_of(lines: &str) -> Result<Vec<u8>, Failure> {
    let bad = |line: &str| Failure::new(format!("chars.tsv: cannot read {line:?}"));
    let mut entries = vec![0u16; BLOCKS * 256];
    let mut replacements: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let code = |at: usize| fields.get(at).and_then(|field| usize::from_str_radix(field, 16).ok());
        match (fields.as_slice(), code(1), code(2)) {
            (["R", _, _, class], Some(start), Some(end)) => {
                let class = class.parse::<u16>().ok().filter(|class| *class < 4).ok_or_else(|| bad(line))?;
                entries.get_mut(start..=end).ok_or_else(|| bad(line))?.fill(class);
            }
            (["F", _, text], Some(code), _) => replacements.entry(text).or_default().push(code),
            _ => return Err(bad(line)),
        }
    }
    for (number, codes) in (1u16..).zip(replacements.values()) {
        for code in codes {
            *entries.get_mut(*code).ok_or_else(|| bad("a code point"))? |= number << 2;
        }
    }
    let texts: Vec<&str> = replacements.into_keys().collect();
    if texts.len() >= 1 << 14 {
        return Err(Failure::new("chars.tsv: more replacements than fit into an entry"));
    }
    Ok(laid_out(&entries, &texts))
}

fn laid_out(entries: &[u16], replacements: &[&str]) -> Vec<u8> {
    let mut pages: Vec<&[u16]> = Vec::new();
    let mut blocks = Vec::new();
    for block in entries.chunks(256) {
        let known = pages.iter().position(|page| *page == block);
        blocks.push(known.unwrap_or(pages.len()) as u16);
        if known.is_none() {
            pages.push(block);
        }
    }
    let mut bytes = Vec::new();
    bytes.extend((pages.len() as u32).to_le_bytes());
    bytes.extend((replacements.len() as u32).to_le_bytes());
    bytes.extend(blocks.iter().flat_map(|page| page.to_le_bytes()));
    bytes.extend(pages.iter().flat_map(|page| page.iter()).flat_map(|entry| entry.to_le_bytes()));
    let mut end = 0u32;
    bytes.extend(end.to_le_bytes());
    for text in replacements {
        end += text.len() as u32;
        bytes.extend(end.to_le_bytes());
    }
    bytes.extend(replacements.concat().as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_program_are_made_from_its_sources() {
        let folder = Repository::find().unwrap().root.join(FOLDER);
        let assets = assets(&folder).unwrap();
        assert!(stale(&folder, &assets).is_empty(), "run cargo xtask embedding");
        assert_eq!(stale(Path::new("nowhere"), &assets).len(), 3);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        assert!(pages_of("R\tC0\tD6\t1\nF\tC0\ta\n").is_ok());
        for line in ["R\tC0\tD6\t7", "R\tC0\tFFFFFFF\t1", "R\tzz\tD6\t1", "X", "F\tC0"] {
            assert!(
                pages_of(line).unwrap_err().to_string().contains(line.split('\t').next().unwrap()),
                "{line}"
            );
        }
    }
}
