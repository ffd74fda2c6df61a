//! The document of a session: several texts in one file, each checked by itself.
//!
//! The file is a *directory*, a zstd skippable frame that names every section with the hash
//! of its text, and then one zstd frame a section, which begins with a line that names it. So
//! any zstd program prints all texts, a flipped byte costs one section, and without its
//! directory the file can still be read frame by frame. Pure: bytes in, bytes out.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe;

/// Begins the directory: the number of a skippable frame that no other of ours has.
const MAGIC: [u8; 4] = 0x184D_2A53_u32.to_le_bytes();
const NAME: &[u8; 8] = b"retrodoc";
const VERSION: u32 = 1;
const CHECK_BYTES: usize = 16;
/// Begins every data frame.
const DATA_MAGIC: [u8; 4] = 0xFD2F_B528_u32.to_le_bytes();
/// The line that begins the text of a frame, before the name of its section.
const TITLE: &str = "=== ";
/// Bytes of the largest section. Ours are far smaller; a store may come from somebody else.
const TEXT_BYTES_MAX: usize = 1 << 30;
/// How sections are packed: they are small, written rarely and kept for good.
const LEVEL: i32 = 6;

/// The sections that we know, in the order of the file. Others follow by name.
const ORDER: &[&str] = &["session.json", "ledger.jsonl", "digest.json", "facts.jsonl"];

type Hash = [u8; CHECK_BYTES];

fn hash(bytes: &[u8]) -> Hash {
    let mut short = [0; CHECK_BYTES];
    short.copy_from_slice(blake3::hash(bytes).as_bytes().split_at(CHECK_BYTES).0);
    short
}

/// A section as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Section {
    frame: Vec<u8>,
    /// Of the text, and its length.
    hash: Hash,
    bytes: u32,
}

thread_local! {
    /// Kept from one section to the next: making them takes longer than most sections.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn title(name: &str) -> String {
    format!("{TITLE}{name}\n")
}

impl Section {
    /// Packs a text.
    pub(crate) fn pack(name: &str, text: &[u8]) -> io::Result<Section> {
        let whole = [title(name).as_bytes(), text].concat();
        let frame = COMPRESSOR.with_borrow_mut(|kept| {
            let compressor = match kept {
                Some(compressor) => compressor,
                None => {
                    let mut compressor = Compressor::new(LEVEL)?;
                    compressor.include_checksum(true)?;
                    kept.insert(compressor)
                }
            };
            compressor.compress(&whole)
        })?;
        Ok(Section { frame, hash: hash(text), bytes: length(text.len())? })
    }

    /// The text, or what is wrong with it.
    pub(crate) fn text(&self, name: &str) -> Result<Vec<u8>, String> {
        let title = title(name);
        let whole = DECOMPRESSOR.with_borrow_mut(|kept| {
            let decompressor = match kept {
                Some(decompressor) => decompressor,
                None => kept.insert(Decompressor::new()?),
            };
            decompressor.decompress(&self.frame, title.len() + self.bytes as usize)
        });
        let mut whole = whole.map_err(|error| format!("{name} does not decompress: {error}"))?;
        let is_whole = whole.strip_prefix(title.as_bytes()).is_some_and(|text| hash(text) == self.hash);
        if !is_whole {
            return Err(format!("the checksum of {name} does not fit"));
        }
        whole.drain(..title.len());
        Ok(whole)
    }
}

fn length(bytes: usize) -> io::Result<u32> {
    u32::try_from(bytes)
        .ok()
        .filter(|_| bytes <= TEXT_BYTES_MAX)
        .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than a section may be"))
}

/// Packs a text that comes in pieces.
pub(crate) struct Packing {
    encoder: zstd::Encoder<'static, Vec<u8>>,
    hasher: blake3::Hasher,
    bytes: usize,
}

impl Packing {
    pub(crate) fn new(name: &str) -> io::Result<Packing> {
        let mut encoder = zstd::Encoder::new(Vec::new(), LEVEL)?;
        encoder.include_checksum(true)?;
        encoder.write_all(title(name).as_bytes())?;
        Ok(Packing { encoder, hasher: blake3::Hasher::new(), bytes: 0 })
    }

    pub(crate) fn finish(self) -> io::Result<Section> {
        let mut hash = [0; CHECK_BYTES];
        hash.copy_from_slice(self.hasher.finalize().as_bytes().split_at(CHECK_BYTES).0);
        Ok(Section { frame: self.encoder.finish()?, hash, bytes: length(self.bytes)? })
    }
}

impl Write for Packing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.encoder.write_all(bytes)?;
        self.hasher.update(bytes);
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The sections of a file by name, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Document {
    sections: Vec<(String, Section)>,
    /// What is wrong with the directory, if anything is.
    pub(crate) damage: Option<String>,
}

impl Document {
    /// Reads a file. Where its directory is damaged, its frames are looked for.
    pub(crate) fn read(bytes: &[u8]) -> Document {
        match listed(bytes) {
            Some(sections) => Document { sections, damage: None },
            None => Document {
                sections: frames(bytes),
                damage: Some("its directory is not what was written".to_owned()),
            },
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Section> {
        self.sections.iter().find(|(other, _)| other == name).map(|(_, section)| section)
    }

    /// All of them by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Section)> {
        self.sections.iter().map(|(name, section)| (name.as_str(), section))
    }

    /// Puts a section in the place of one of this name; without one it goes.
    pub(crate) fn put(&mut self, name: &str, section: Option<Section>) {
        self.sections.retain(|(other, _)| other != name);
        if let Some(section) = section {
            let place = |name: &str| {
                (ORDER.iter().position(|known| *known == name).unwrap_or(ORDER.len()), name.to_owned())
            };
            let at = self.sections.partition_point(|(other, _)| place(other) < place(name));
            self.sections.insert(at, (name.to_owned(), section));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// The bytes of the file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut list = Vec::new();
        list.extend(NAME);
        list.extend(VERSION.to_le_bytes());
        list.extend((self.sections.len() as u32).to_le_bytes());
        for (name, section) in &self.sections {
            let name = name.as_bytes().get(..NAME_BYTES_MAX.min(name.len())).unwrap_or_default();
            list.push(name.len() as u8);
            list.extend(name);
            list.extend((section.frame.len() as u32).to_le_bytes());
            list.extend(section.bytes.to_le_bytes());
            list.extend(section.hash);
        }
        let check = hash(&list);
        list.extend(check);
        let mut bytes = MAGIC.to_vec();
        bytes.extend((list.len() as u32).to_le_bytes());
        bytes.extend(list);
        self.sections.iter().for_each(|(_, section)| bytes.extend(&section.frame));
        bytes
    }
}

/// Bytes of the longest name of a section.
const NAME_BYTES_MAX: usize = 255;

/// The sections as the directory lists them; none if it is damaged. A frame that is cut off
/// is as long as it is, and its text does not fit.
fn listed(bytes: &[u8]) -> Option<Vec<(String, Section)>> {
    let mut head = Taking(bytes);
    if head.take(MAGIC.len())? != MAGIC {
        return None;
    }
    let list = head.number()? as usize;
    let list = head.take(list)?;
    let mut frames = Taking(head.0);
    let (entries, check) = list.split_at_checked(list.len().checked_sub(CHECK_BYTES)?)?;
    if hash(entries) != check {
        return None;
    }
    let mut entries = Taking(entries);
    if entries.take(NAME.len())? != NAME || entries.number()? != VERSION {
        return None;
    }
    let count = entries.number()?;
    let mut sections = Vec::new();
    for _ in 0..count {
        let name = entries.take(1)?.first().copied()?;
        let name = String::from_utf8(entries.take(usize::from(name))?.to_vec()).ok()?;
        let length = (entries.number()? as usize).min(frames.0.len());
        let bytes = entries.number().filter(|bytes| *bytes as usize <= TEXT_BYTES_MAX)?;
        let hash = entries.take(CHECK_BYTES)?.try_into().ok()?;
        sections.push((name, Section { frame: frames.take(length)?.to_vec(), hash, bytes }));
    }
    Some(sections)
}

/// Every whole frame that names its section, wherever it is.
fn frames(bytes: &[u8]) -> Vec<(String, Section)> {
    let mut found = Document::default();
    let mut rest = bytes;
    while let Some(at) = memchr::memmem::find(rest, &DATA_MAGIC) {
        rest = rest.get(at..).unwrap_or_default();
        match frame(rest) {
            Some((name, section)) => {
                rest = rest.get(section.frame.len()..).unwrap_or_default();
                found.put(&name, Some(section));
            }
            None => rest = rest.get(1..).unwrap_or_default(),
        }
    }
    found.sections
}

/// The section of the frame that these bytes begin with, if its own checksum fits.
fn frame(bytes: &[u8]) -> Option<(String, Section)> {
    let frame = bytes.get(..zstd_safe::find_frame_compressed_size(bytes).ok()?)?;
    let mut whole = Vec::new();
    let decoder = zstd::Decoder::new(frame).ok()?.single_frame();
    decoder.take(TEXT_BYTES_MAX as u64).read_to_end(&mut whole).ok()?;
    let end = memchr::memchr(b'\n', &whole)?;
    let (title, text) = whole.split_at_checked(end + 1)?;
    let name = std::str::from_utf8(title).ok()?.strip_prefix(TITLE)?.trim_end_matches('\n').to_owned();
    Some((name, Section { frame: frame.to_vec(), hash: hash(text), bytes: length(text.len()).ok()? }))
}

/// Bytes that are taken from the front.
struct Taking<'a>(&'a [u8]);

impl<'a> Taking<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [(&str, &str); 3] =
        [("session.json", "{\n  \"id\": 1\n}\n"), ("digest.json", "{}"), ("later.txt", "")];

    fn document() -> Document {
        let mut document = Document::default();
        for (name, text) in TEXTS.iter().rev() {
            document.put(name, Some(Section::pack(name, text.as_bytes()).unwrap()));
        }
        document
    }

    fn texts(document: &Document) -> Vec<Option<String>> {
        let text = |name: &str| Some(String::from_utf8(document.get(name)?.text(name).ok()?).unwrap());
        TEXTS.iter().map(|(name, _)| text(name)).collect()
    }

    #[test]
    fn any_zstd_program_prints_the_sections_in_their_order() {
        let bytes = document().bytes();
        let printed = zstd::decode_all(bytes.as_slice()).unwrap();
        let expected: String = TEXTS.iter().map(|(name, text)| format!("=== {name}\n{text}")).collect();
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
        assert_eq!(Document::read(&bytes), document());
        assert_eq!(texts(&Document::read(&bytes)), TEXTS.map(|(_, text)| Some(text.to_owned())));
    }

    #[test]
    fn a_flipped_byte_costs_one_section_at_most_and_is_found() {
        let bytes = document().bytes();
        for at in 0..bytes.len() {
            for bit in [1, 0x80] {
                let mut flipped = bytes.clone();
                flipped[at] ^= bit;
                let read = Document::read(&flipped);
                let found = texts(&read);
                let whole = found.iter().flatten().count();
                assert!(whole >= TEXTS.len() - 1, "byte {at}: {found:?}");
                assert!(whole < TEXTS.len() || read.damage.is_some(), "byte {at} flipped goes unseen");
                for (text, (_, expected)) in found.iter().zip(TEXTS) {
                    assert!(text.as_deref().is_none_or(|text| text == expected), "byte {at}: {text:?}");
                }
            }
        }
        for end in 0..bytes.len() {
            let read = Document::read(&bytes[..end]);
            assert!(read.damage.is_some() || texts(&read).contains(&None), "cut at {end}");
        }
    }

    #[test]
    fn a_damaged_section_stays_as_it_is_when_another_is_put() {
        let mut bytes = document().bytes();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        let mut read = Document::read(&bytes);
        read.put("digest.json", Some(Section::pack("digest.json", b"new").unwrap()));
        let again = Document::read(&read.bytes());
        assert_eq!(again.get("digest.json").unwrap().text("digest.json").unwrap(), b"new");
        assert!(again.get("later.txt").unwrap().text("later.txt").is_err());
        assert!(again.get("session.json").unwrap().text("session.json").is_ok());
        read.put("session.json", None);
        assert_eq!(read.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["digest.json", "later.txt"]);
    }

    #[test]
    fn a_text_in_pieces_is_the_same_section_to_a_reader() {
        let mut packing = Packing::new("ledger.jsonl").unwrap();
        (0..1000).for_each(|row| writeln!(packing, "{{\"row\":{row}}}").unwrap());
        let section = packing.finish().unwrap();
        let text: String = (0..1000).map(|row| format!("{{\"row\":{row}}}\n")).collect();
        let mut document = Document::default();
        document.put("ledger.jsonl", Some(section));
        let read = Document::read(&document.bytes());
        assert_eq!(read.get("ledger.jsonl").unwrap().text("ledger.jsonl").unwrap(), text.as_bytes());
    }
}
