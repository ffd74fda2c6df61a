//! Looking for what was forgotten: names and words of it, in every file of the store, as they are
//! and decoded.

use regex::Regex;
use retro_model::SessionKey;
use retro_store::{Holds, Index, Masks, Store};
use retro_text::forms::forms;
use std::collections::BTreeSet;
use std::path::Path;

use crate::Error;

/// Bytes of a long text of a session, and of a shorter one.
const LONG_BYTES: std::ops::RangeInclusive<usize> = 24..=120;
const SHORT_BYTES_MIN: usize = 10;

/// Texts of each sort of one session, and of all.
const TEXTS_MAX: usize = 8;
const ALL_MAX: usize = 400;

/// What is looked for.
pub(super) struct Sought {
    texts: Masks,
}

impl Sought {
    /// Ids, titles, and words of each session that no other has, in whatever script: some of the
    /// longest, and some short ones.
    pub(super) fn of(store: &Store, index: &Index, keys: &[SessionKey]) -> Result<Sought, Error> {
        let mut words = BTreeSet::new();
        for key in keys {
            let mut of_session = BTreeSet::new();
            for row in index.passages_of_session(key)? {
                for piece in &row.passage.pieces {
                    of_session.extend(parts(&piece.text).map(str::to_owned));
                }
            }
            if let Some(title) = store.session(key).ok().flatten().and_then(|file| file.facts.own_title()) {
                of_session.extend(parts(&title.text).map(str::to_owned));
            }
            let mut longest: Vec<String> = of_session.into_iter().collect();
            longest.sort_by_key(|text| (std::cmp::Reverse(text.len()), text.clone()));
            let is_long = |text: &String| text.len() >= *LONG_BYTES.start();
            let (long, others): (Vec<String>, Vec<String>) = longest.into_iter().partition(is_long);
            words.extend(long.into_iter().take(TEXTS_MAX).chain(others.into_iter().take(TEXTS_MAX)));
            if words.len() >= ALL_MAX {
                break;
            }
        }
        let mut texts = own(index, keys, words)?;
        texts.extend(keys.iter().map(|key| key.id.clone()).filter(|id| id.len() >= 8).take(ALL_MAX));
        let masks = store.masks()?;
        let at = retro_model::Timestamp::from_millis(0).unwrap_or_else(|| jiff::Timestamp::UNIX_EPOCH.into());
        let lines = texts.iter().map(|text| masks.line(text, &forms(text), at)).collect();
        Ok(Sought { texts: masks.only(lines) })
    }

    /// The places that hold any of it.
    pub(super) fn places(&self, store: &Store, index: &Index) -> Result<Vec<String>, Error> {
        if self.texts.is_empty() {
            return Ok(Vec::new());
        }
        // What a person wrote is theirs.
        let is_written =
            |path: &Path| path.starts_with("memories/authored") || path == Path::new("config.toml");
        places(store, index, &|bytes| self.texts.has(bytes), &is_written)
    }
}

/// The texts that no session but these has.
fn own(index: &Index, keys: &[SessionKey], mut texts: BTreeSet<String>) -> Result<BTreeSet<String>, Error> {
    let all: Vec<String> = texts.iter().take(ALL_MAX).map(|text| regex::escape(text)).collect();
    let Some(any) = (!all.is_empty()).then(|| Regex::new(&all.join("|")).ok()).flatten() else {
        return Ok(BTreeSet::new());
    };
    let mut numbers = BTreeSet::new();
    for key in keys {
        numbers.extend(index.passages_of_session(key)?.into_iter().map(|row| row.session));
    }
    index.each_passage(|row| {
        if !numbers.contains(&row.session) {
            for piece in &row.passage.pieces {
                for found in any.find_iter(&piece.text) {
                    texts.remove(found.as_str());
                }
            }
        }
    })?;
    Ok(texts)
}

/// The places of a store that hold something: files of the root, decompressed where they are
/// compressed, documents as they are decoded, and values of the index, unpacked.
pub(super) fn places(
    store: &Store,
    index: &Index,
    holds: &Holds<'_>,
    skip: &dyn Fn(&Path) -> bool,
) -> Result<Vec<String>, Error> {
    let files = store.files_with(holds, skip)?;
    let is_known = |document: &String| {
        let folder = document.split('/').next().unwrap_or_default();
        files.iter().any(|file| file.starts_with(folder))
    };
    let documents: Vec<String> =
        store.documents_with(holds)?.into_iter().filter(|document| !is_known(document)).collect();
    let mut places: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    places.extend(documents);
    places.extend(
        index.columns_with(holds)?.into_iter().map(|column| format!("the index: values of {column}")),
    );
    places.extend(index.sessions_with(holds)?.into_iter().map(|key| format!("the index: words of {key}")));
    Ok(places)
}

/// Lines of a text that are no single word, cut to the bytes of a long one.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(char::is_control).map(str::trim).filter_map(|part| {
        let end = part.floor_char_boundary(part.len().min(*LONG_BYTES.end()));
        let part = part.get(..end)?;
        let is_phrase = part.contains(' ') || !part.is_ascii();
        (part.len() >= SHORT_BYTES_MIN && is_phrase).then_some(part)
    })
}
