//! How the built-in model treats each character beyond ASCII: as part of a word, as a separate
//! word, as nothing, or as the end of a word. Also its replacement within a word.
//!
//! `cargo xtask embedding` generates `assets/chars.bin` from `assets/chars.tsv`. That file fixes
//! the behaviour independently of the Unicode version of the build. It is used in place, all
//! numbers little-endian:
//!
//! | size | field |
//! | --- | --- |
//! | 4, 4 | u32 number of pages P, u32 number of replacements F |
//! | 2 x 4352 | u16 page of each block of 256 code points |
//! | 512 x P | u16 entries of each page: class + 4 x replacement; 0 = unchanged |
//! | 4 x (F + 1) | u32 ends of the replacements in the text; the first is 0 |
//! | rest | the text of the replacements, UTF-8 |

use super::Error;

/// Blocks of 256 code points in Unicode.
const BLOCKS: usize = 0x1100;

/// The effect of a character on the current word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends the current word.
    Separator,
    /// Continues the current word.
    Word,
    /// Ends the current word, and is a word itself.
    Solo,
    /// Has no effect.
    Drop,
}

/// The classes and replacements of all characters from U+0080 on.
#[derive(Debug)]
pub(super) struct Characters {
    blocks: &'static [[u8; 2]],
    entries: &'static [[u8; 2]],
    ends: &'static [[u8; 4]],
    text: &'static str,
}

impl Characters {
    /// Reads the header of the file. The content is used in place.
    pub(super) fn new(bytes: &'static [u8]) -> Result<Characters, Error> {
        Characters::read(bytes).ok_or(Error::BuiltIn("the table of characters has the wrong length"))
    }

    fn read(bytes: &'static [u8]) -> Option<Characters> {
        let (pages, rest) = bytes.split_first_chunk::<4>()?;
        let (replacements, rest) = rest.split_first_chunk::<4>()?;
        let (blocks, rest) = rest.split_at_checked(BLOCKS * 2)?;
        let (entries, rest) = rest.split_at_checked(count(*pages).checked_mul(512)?)?;
        let (ends, text) = rest.split_at_checked(count(*replacements).checked_add(1)?.checked_mul(4)?)?;
        Some(Characters {
            blocks: blocks.as_chunks().0,
            entries: entries.as_chunks().0,
            ends: ends.as_chunks().0,
            text: std::str::from_utf8(text).ok()?,
        })
    }

    /// The class of a character from U+0080 on, and its replacement, if any.
    pub(super) fn of(&self, character: char) -> (Class, Option<&'static str>) {
        let code = character as usize;
        let page = self.blocks.get(code >> 8).map_or(0, |page| usize::from(u16::from_le_bytes(*page)));
        let entry =
            self.entries.get((page << 8) + (code & 0xff)).map_or(0, |entry| u16::from_le_bytes(*entry));
        let class = match entry & 3 {
            1 => Class::Word,
            2 => Class::Solo,
            3 => Class::Drop,
            _ => Class::Separator,
        };
        (class, self.replacement(usize::from(entry >> 2)))
    }

    /// The replacement with this number, counted from 1.
    fn replacement(&self, number: usize) -> Option<&'static str> {
        let from = count(*self.ends.get(number.checked_sub(1)?)?);
        let to = count(*self.ends.get(number)?);
        self.text.get(from..to)
    }
}

fn count(bytes: [u8; 4]) -> usize {
    u32::from_le_bytes(bytes) as usize
}
