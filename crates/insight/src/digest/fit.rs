//! Keeping a digest small: the lists of a long session give way, and what is cut is counted.

use serde::Serialize;

use super::Digest;

/// Bytes of a digest as it is written.
const BYTES_MAX: usize = 15 * 1024;
/// Entries that every list keeps.
const LIST_MIN: usize = 5;

impl Digest {
    /// Shortens the lists of a digest that is too large, the longest first.
    pub(super) fn fit(&mut self) {
        while bytes(self) > BYTES_MAX {
            let lists = [
                (bytes(&self.commands), self.commands.len(), "commands"),
                (bytes(&self.corrections), self.corrections.len(), "corrections"),
                (bytes(&self.errors), self.errors.len(), "errors"),
                (bytes(&self.files), self.files.len(), "files"),
            ];
            let longest = lists.into_iter().filter(|(_, entries, _)| *entries > LIST_MIN).max();
            let Some((_, _, name)) = longest else { return };
            let cut = match name {
                "commands" => shorten(&mut self.commands),
                "corrections" => shorten(&mut self.corrections),
                "errors" => shorten(&mut self.errors),
                _ => shorten(&mut self.files),
            };
            *self.left_out.entry(name.to_owned()).or_default() += cut;
        }
    }
}

/// Room that something takes in a file.
fn bytes(value: &impl Serialize) -> usize {
    serde_json::to_string_pretty(value).map_or(0, |text| text.len())
}

/// Takes a quarter off a list; how many entries that is.
fn shorten<T>(list: &mut Vec<T>) -> u64 {
    let before = list.len();
    list.truncate((before * 3 / 4).max(LIST_MIN));
    (before - list.len()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileDigest, Identity, Settings, Trace};

    #[test]
    fn what_does_not_fit_is_cut_and_counted() {
        let key = retro_model::SessionKey::new("claude", "s");
        let mut digest = Digest::of(&Trace::new(key), Identity::default(), &Settings::default(), None);
        let file = |at: u64| FileDigest {
            path: format!("{at}/{}", "x".repeat(400)),
            edits: at,
            added: 1,
            removed: 0,
        };
        digest.files = (0..40).map(file).collect();
        digest.fit();
        assert!(bytes(&digest) <= BYTES_MAX, "{}", bytes(&digest));
        assert_eq!(digest.files.len() as u64 + digest.left_out["files"], 40);
        assert_eq!(digest.files.first().map(|file| file.edits), Some(0), "the first stay");
    }
}
