//! Keeps a digest small: the lists of a long session are shortened, and removed entries are
//! counted.

use serde::Serialize;
use serde_json::Value;

use super::Digest;

/// The most bytes of a serialized digest.
const BYTES_MAX: usize = 15 * 1024;
/// Entries that every list keeps.
const LIST_MIN: usize = 5;
/// Events and list entries that a reading keeps, at first and if that is not enough. Its value is
/// their full number.
const READING_FEW: (usize, usize) = (4, 8);
const READING_FEWER: (usize, usize) = (2, 3);

impl Digest {
    /// Shortens a digest that is too large. Commits are needed to query git, so they are shortened
    /// last.
    pub(super) fn fit(&mut self) {
        let steps: [fn(&mut Digest); 4] = [
            |digest| digest.shorten_readings(READING_FEW),
            Digest::shorten_lists,
            |digest| digest.shorten_readings(READING_FEWER),
            Digest::shorten_commits,
        ];
        for step in steps {
            if bytes(self) <= BYTES_MAX {
                return;
            }
            step(self);
        }
    }

    fn shorten_readings(&mut self, (events, things): (usize, usize)) {
        for reading in self.readings.values_mut() {
            reading.evidence.truncate(events);
            for value in reading.metadata.values_mut() {
                if let Value::Array(list) = value {
                    list.truncate(things);
                }
            }
        }
    }

    /// Shortens the longest list until the digest is small enough or no list can be shortened.
    fn shorten_lists(&mut self) {
        let mut over = bytes(self).saturating_sub(BYTES_MAX);
        while over > 0 {
            let lists = [
                (bytes(&self.children), self.children.len(), "children"),
                (bytes(&self.commands), self.commands.len(), "commands"),
                (bytes(&self.corrections), self.corrections.len(), "corrections"),
                (bytes(&self.errors), self.errors.len(), "errors"),
                (bytes(&self.files), self.files.len(), "files"),
            ];
            let longest = lists.into_iter().filter(|(_, entries, _)| *entries > LIST_MIN).max();
            let Some((_, _, name)) = longest else { return };
            let (cut, freed) = match name {
                "children" => shorten(&mut self.children),
                "commands" => shorten(&mut self.commands),
                "corrections" => shorten(&mut self.corrections),
                "errors" => shorten(&mut self.errors),
                _ => shorten(&mut self.files),
            };
            *self.left_out.entry(name.to_owned()).or_default() += cut;
            over = over.saturating_sub(freed);
        }
    }

    fn shorten_commits(&mut self) {
        let mut over = bytes(self).saturating_sub(BYTES_MAX);
        while over > 0 && self.commits.len() > LIST_MIN {
            let (cut, freed) = shorten(&mut self.commits);
            *self.left_out.entry("commits".to_owned()).or_default() += cut;
            over = over.saturating_sub(freed);
        }
    }
}

/// Serialized size of a value in bytes.
fn bytes(value: &impl Serialize) -> usize {
    serde_json::to_string_pretty(value).map_or(0, |text| text.len())
}

/// Removes a quarter of a list. Returns the number of entries, and a lower bound of their bytes.
fn shorten<T: Serialize>(list: &mut Vec<T>) -> (u64, usize) {
    let (entries, room) = (list.len(), bytes(list));
    list.truncate((entries * 3 / 4).max(LIST_MIN));
    ((entries - list.len()) as u64, room.saturating_sub(bytes(list)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CommitDigest, FileDigest, Identity, Reading, Settings, Trace};

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

    #[test]
    fn commits_and_readings_of_a_long_session_fit_too() {
        let key = retro_model::SessionKey::new("claude", "s");
        let mut digest = Digest::of(&Trace::new(key), Identity::default(), &Settings::default(), None);
        let ids: Vec<String> = (0..8).map(|at| format!("m:{}", 1000 + at)).collect();
        for reading in digest.readings.values_mut().take(40) {
            let files: Vec<String> = (0..4).map(|at| format!("/home/dev/code/shop/{at}.rs")).collect();
            *reading = Reading::count(ids.iter().map(String::as_str)).with("files", files);
        }
        digest.commits =
            (0..40).map(|at| CommitDigest { hash: format!("{at:07}"), subject: "x".repeat(80) }).collect();
        digest.fit();
        assert!(bytes(&digest) <= 16 * 1024, "{}", bytes(&digest));
        let left_out = digest.left_out.get("commits").copied().unwrap_or(0);
        assert_eq!(digest.commits.len() as u64 + left_out, 40);
        assert!(digest.readings.values().take(40).all(|reading| reading.value == 8), "the counts stay");
    }
}
