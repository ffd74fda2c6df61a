//! The next position of one kind in a text, found once for all queries before it.

/// A cached next position.
#[derive(Default)]
pub(super) struct Next {
    from: usize,
    place: Option<usize>,
}

impl Next {
    /// The next position at or after `at`, or the length of the text. `find` searches the rest of
    /// the text, and must find the same one from any position before it.
    pub(super) fn at(&mut self, text: &[u8], at: usize, find: impl Fn(&[u8]) -> Option<usize>) -> usize {
        match self.place {
            Some(place) if (self.from..=place).contains(&at) => place,
            _ => {
                let found = find(text.get(at..).unwrap_or_default());
                let place = found.map_or(text.len(), |offset| at + offset);
                *self = Next { from: at, place: Some(place) };
                place
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn each_byte_is_looked_at_once() {
        let text = "ab".repeat(1_000) + " " + &"cd".repeat(1_000);
        let looked = Cell::new(0);
        let find = |rest: &[u8]| {
            let found = rest.iter().position(|&byte| byte == b' ');
            looked.set(looked.get() + found.unwrap_or(rest.len()));
            found
        };
        let mut next = Next::default();
        for at in 0..text.len() {
            let expected = if at <= 2_000 { 2_000 } else { text.len() };
            assert_eq!(next.at(text.as_bytes(), at, find), expected);
        }
        assert!(looked.get() <= text.len());
    }
}
