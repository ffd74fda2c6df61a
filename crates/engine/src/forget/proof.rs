//! Looking for what was forgotten: names and words of it, in every file of the store.

use regex::bytes::Regex;
use retro_model::SessionKey;
use retro_store::{Index, Store};
use std::collections::BTreeSet;
use std::path::Path;

use crate::Error;

/// Bytes of a text that is looked for: shorter ones may be anybody's.
const TEXT_BYTES: std::ops::RangeInclusive<usize> = 24..=80;

/// Texts of one session, and of all.
const TEXTS_MAX: usize = 8;
const ALL_MAX: usize = 400;

/// What is looked for.
pub(super) struct Sought {
    texts: Option<Regex>,
}

impl Sought {
    /// Ids, titles, and some of the longest words of each session.
    pub(super) fn of(store: &Store, index: &Index, keys: &[SessionKey]) -> Result<Sought, Error> {
        let mut texts = BTreeSet::new();
        for key in keys {
            let mut of_session = BTreeSet::new();
            for row in index.passages_of_session(key)? {
                for piece in &row.passage.pieces {
                    of_session.extend(plain_parts(&piece.text).map(str::to_owned));
                }
            }
            if let Some(title) = store.session(key).ok().flatten().and_then(|file| file.facts.own_title()) {
                of_session.extend(plain_parts(&title.text).map(str::to_owned));
            }
            let mut longest: Vec<String> = of_session.into_iter().collect();
            longest.sort_by_key(|text| (std::cmp::Reverse(text.len()), text.clone()));
            texts.extend(longest.into_iter().take(TEXTS_MAX));
            if texts.len() >= ALL_MAX {
                break;
            }
        }
        let ids = keys.iter().map(|key| key.id.as_str()).filter(|id| id.len() >= 8).take(ALL_MAX);
        let all: Vec<String> = texts.iter().map(String::as_str).chain(ids).map(regex::escape).collect();
        let texts = if all.is_empty() { None } else { Regex::new(&all.join("|")).ok() };
        Ok(Sought { texts })
    }

    /// The places that hold any of it: files of the root, and sessions whose words do.
    pub(super) fn places(&self, store: &Store, index: &Index) -> Result<Vec<String>, Error> {
        let Some(texts) = &self.texts else { return Ok(Vec::new()) };
        let holds = |bytes: &[u8]| texts.is_match(bytes);
        // What a person wrote is theirs.
        let is_written =
            |path: &Path| path.starts_with("memories/authored") || path == Path::new("config.toml");
        let files = store.files_with(&holds, &is_written)?;
        let mut places: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        places
            .extend(index.sessions_with(&holds)?.into_iter().map(|key| format!("the index: words of {key}")));
        Ok(places)
    }
}

/// Parts of a text that are written the same in JSON and elsewhere.
fn plain_parts(text: &str) -> impl Iterator<Item = &str> {
    let is_escaped =
        |c: char| c.is_control() || matches!(c, '"' | '\\' | '/' | '<' | '>' | '&') || !c.is_ascii();
    text.split(is_escaped).map(str::trim).filter_map(|part| {
        let end = part.floor_char_boundary(part.len().min(*TEXT_BYTES.end()));
        let part = part.get(..end)?;
        (part.len() >= *TEXT_BYTES.start() && part.contains(' ')).then_some(part)
    })
}
