//! Names that indicate a secret beside them.

use std::ops::Range;

use crate::secrets::scan::is_word;

/// How the names of a rule are made.
#[derive(Debug, Clone, Copy)]
pub(in crate::secrets) struct Names {
    /// Words that may follow the keyword, up to two of them.
    pub(in crate::secrets) tails: &'static [&'static str],
    /// Keywords that are also ordinary words: no prefix may precede them, and the value must be
    /// certain.
    pub(in crate::secrets) weak: &'static [&'static str],
    /// True for an option of a command, which is separated from its value by a blank.
    pub(in crate::secrets) is_option: bool,
}

/// Bytes before a keyword that may belong to its name.
const FRONT_BYTES_MAX: usize = 48;

impl Names {
    /// The whole name around a keyword, if a name ends there.
    pub(in crate::secrets) fn whole(&self, text: &[u8], keyword: &Range<usize>) -> Option<Range<usize>> {
        let mut end = keyword.end;
        for _ in 0..2 {
            let skip = usize::from(matches!(text.get(end), Some(b'_' | b'-')));
            let rest = text.get(end + skip..)?;
            let begins = |tail: &&&str| {
                rest.get(..tail.len()).is_some_and(|word| word.eq_ignore_ascii_case(tail.as_bytes()))
            };
            match self.tails.iter().find(begins) {
                Some(tail) => end += skip + tail.len(),
                None => break,
            }
        }
        end += usize::from(text.get(end).is_some_and(u8::is_ascii_digit));
        if text.get(end).is_some_and(|&byte| is_word(byte)) {
            return None;
        }
        let front = text.get(keyword.start.saturating_sub(FRONT_BYTES_MAX)..keyword.start)?;
        let length =
            front.iter().rev().take_while(|&&byte| is_word(byte) || byte == b'-' || byte == b'.').count();
        // The letter of an escaped line end is not part of the name.
        let start = keyword.start - length;
        let is_escape = length > 0 && start > 0 && text.get(start - 1) == Some(&b'\\');
        let start = start + usize::from(is_escape && matches!(text.get(start), Some(b'n' | b'r' | b't')));
        if self.is_weak(text, keyword) && start != keyword.start {
            return None;
        }
        Some(start..end)
    }

    /// True if the keyword is also an ordinary word.
    pub(in crate::secrets) fn is_weak(&self, text: &[u8], keyword: &Range<usize>) -> bool {
        let word = text.get(keyword.clone()).unwrap_or_default();
        self.weak.iter().any(|weak| word.eq_ignore_ascii_case(weak.as_bytes()))
    }
}
