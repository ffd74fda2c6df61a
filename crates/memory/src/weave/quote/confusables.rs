//! Unicode's table of characters that look alike (UTS 39), as far as tags and quotations need it.
//!
//! The data is `confusables.txt`; what compatibility decomposition makes the same is not in it.

use std::collections::HashMap;
use std::sync::LazyLock;

static TABLE: LazyLock<HashMap<char, char>> = LazyLock::new(|| rows().collect());

/// Every character of the table, with the sign or the small letter that it looks like.
pub(super) fn rows() -> impl Iterator<Item = (char, char)> {
    let lines = include_str!("confusables.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(' ')).flat_map(|(target, codes)| {
        let target = target.chars().next();
        codes.split(' ').filter_map(move |code| {
            let alike = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
            Some((alike, target?))
        })
    })
}

/// The sign or the small letter that a character looks like.
pub(super) fn looks_like(c: char) -> Option<char> {
    if c.is_ascii() { None } else { TABLE.get(&c).copied() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read_and_no_character_is_in_two() {
        let data = include_str!("confusables.txt").lines().filter(|line| !line.starts_with('#'));
        let codes: usize = data.map(|line| line.split(' ').count() - 1).sum();
        assert!(codes > 600);
        assert_eq!(rows().count(), codes);
        assert_eq!(TABLE.len(), codes);
        assert_eq!(looks_like('\u{1438}'), Some('<'));
        assert_eq!(looks_like('\u{2215}'), Some('/'));
        assert_eq!(looks_like('\u{13A1}'), Some('r'));
        assert_eq!(looks_like('r'), None);
    }
}
