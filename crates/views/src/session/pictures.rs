//! Pictures in a session, as files beside the page.
//!
//! An event only names a picture; the bytes stay in the raw record. This module reads such records
//! again. Only bytes with the signature of an image format become a file. An SVG drawing remains
//! text.

use crate::source_slots;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use retro_engine::read::feed_raw;
use retro_model::{Event, Kind, SessionKey};
use retro_store::Store;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum bytes of a picture, and of a record that holds pictures.
const PICTURE_BYTES_MAX: usize = 10 << 20;
const RECORD_BYTES_MAX: usize = 40 << 20;

/// Maximum pictures of a session.
const PICTURES_MAX: usize = 200;

/// A picture file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file name: `<hash>.png`.
    pub name: String,
    /// The file's bytes.
    pub bytes: Vec<u8>,
}

/// Names of the pictures of each record, by source, revision and number.
pub type Shown = HashMap<(String, u32, u64), Vec<String>>;

/// The pictures of a session. Skips unreadable ones.
pub fn pictures(store: &Store, key: &SessionKey, events: &[Event]) -> (Shown, Vec<Picture>) {
    let mut wanted: BTreeMap<(&str, u32), BTreeSet<u64>> = BTreeMap::new();
    for event in events.iter().filter(|event| may_have_one(event)) {
        let id = &event.id;
        wanted.entry((id.source.as_str(), id.revision)).or_default().insert(id.record);
    }
    let (mut shown, mut found) = (Shown::new(), Vec::new());
    for ((source, revision), records) in wanted {
        let Some(slot) =
            source_slots(store, key, Some(source), Some(revision)).ok().and_then(|mut all| all.pop())
        else {
            continue;
        };
        let mut lines = Lines { wanted: &records, at: 1, line: Vec::new(), found: Vec::new() };
        if feed_raw(store, &slot, &mut |bytes| lines.take(bytes)).is_err() {
            continue;
        }
        lines.end();
        for (record, pictures) in lines.found {
            if found.len() + pictures.len() > PICTURES_MAX {
                break;
            }
            let names = pictures.iter().map(|picture: &Picture| picture.name.clone()).collect();
            shown.insert((source.to_owned(), revision, record), names);
            found.extend(pictures);
        }
    }
    (shown, found)
}

fn may_have_one(event: &Event) -> bool {
    let says = |text: &str| text.contains("[image");
    match event.kind {
        Kind::Attachment => true,
        Kind::ToolResult => event.text.as_ref().is_some_and(|text| says(text)),
        _ => false,
    }
}

/// Splits bytes into lines and collects the pictures of the wanted ones.
struct Lines<'a> {
    wanted: &'a BTreeSet<u64>,
    at: u64,
    line: Vec<u8>,
    found: Vec<(u64, Vec<Picture>)>,
}

impl Lines<'_> {
    fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.wanted.contains(&self.at) && self.line.len() + piece.len() <= RECORD_BYTES_MAX {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        if !self.line.is_empty() {
            let pictures = of_record(&self.line);
            if !pictures.is_empty() {
                self.found.push((self.at, pictures));
            }
            self.line.clear();
        }
        self.at += 1;
    }
}

fn of_record(line: &[u8]) -> Vec<Picture> {
    let Ok(value) = serde_json::from_slice::<Value>(line) else { return Vec::new() };
    let mut found: Vec<Picture> = Vec::new();
    walk(&value, &mut |data| {
        if data.len() / 4 * 3 > PICTURE_BYTES_MAX {
            return;
        }
        let Some(bytes) = STANDARD.decode(data).ok() else { return };
        let Some(ending) = ending(&bytes) else { return };
        let hash = blake3::hash(&bytes).to_hex();
        let name = format!("{}.{ending}", hash.as_str().get(..32).unwrap_or_default());
        if !found.iter().any(|known| known.name == name) {
            found.push(Picture { name, bytes });
        }
    });
    found
}

/// Passes on every text that is labelled as a picture.
fn walk(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => {
            if let Some((_, data)) =
                text.strip_prefix("data:image/").and_then(|rest| rest.split_once(";base64,"))
            {
                take(data);
            }
        }
        Value::Array(list) => list.iter().for_each(|one| walk(one, take)),
        Value::Object(fields) => {
            let kinds = ["media_type", "mime_type", "mimeType"];
            let kind = kinds.iter().find_map(|name| fields.get(*name)?.as_str());
            match (kind, fields.get("data").and_then(Value::as_str)) {
                (Some(kind), Some(data)) if kind.starts_with("image/") => take(data),
                _ => fields.values().for_each(|one| walk(one, take)),
            }
        }
        _ => {}
    }
}

/// The extension of a picture's file, from its first bytes.
fn ending(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("png"),
        [0xff, 0xd8, 0xff, ..] => Some("jpg"),
        [b'G', b'I', b'F', b'8', ..] => Some("gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(value: &Value) -> Vec<String> {
        of_record(value.to_string().as_bytes()).into_iter().map(|picture| picture.name).collect()
    }

    #[test]
    fn a_picture_is_known_by_its_bytes() {
        let png = STANDARD.encode([0x89, b'P', b'N', b'G', 1, 2]);
        let given = json!({"content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}]});
        let linked = json!({"image_url": format!("data:image/png;base64,{png}"), "again": [format!("data:image/png;base64,{png}")]});
        assert!(names(&given)[0].ends_with(".png"));
        assert_eq!(names(&given), names(&linked));
        let svg = STANDARD.encode("<svg onload=alert(1)>");
        assert_eq!(names(&json!({"media_type": "image/svg+xml", "data": svg})), [""; 0]);
        assert_eq!(names(&json!({"media_type": "image/png", "data": svg})), [""; 0]);
        assert_eq!(names(&json!({"media_type": "image/png", "data": "not base64!"})), [""; 0]);
    }

    #[test]
    fn only_wanted_records_are_kept() {
        let png = STANDARD.encode([0x89, b'P', b'N', b'G', 1, 2]);
        let line = format!("{}\n", json!({"media_type": "image/png", "data": png}));
        let wanted = BTreeSet::from([2]);
        let mut lines = Lines { wanted: &wanted, at: 1, line: Vec::new(), found: Vec::new() };
        let (head, tail) = line.split_at(9);
        for piece in [line.as_str(), head, tail, line.as_str()] {
            lines.take(piece.as_bytes());
        }
        lines.end();
        assert_eq!(lines.found.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2]);
    }
}
