//! Splits the turns of a session into chunks that the page reads one at a time.

use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::ops::Range;

use crate::Error;
use crate::chunk::Chunk;
use retro::views::readable::Rest;
use retro::views::session::item::Item;
use retro::views::session::turns::{Turn, TurnHead};

/// A chunk ends after this many bytes of JSON.
const PART_BYTES: usize = 384 * 1024;

/// Some items of a turn: its index in the head, and the range of items.
type Piece = (usize, Range<usize>);

/// The chunks of a session's turns.
pub struct Cut {
    /// The summary of each turn, with its chunks.
    pub heads: Vec<TurnHead>,
    /// One chunk per part.
    pub chunks: Vec<Chunk>,
    /// The rests of long outputs, one chunk for each part that has any.
    pub rests: Vec<Chunk>,
}

/// Splits turns into chunks of sufficient size. A very long turn is split between two items.
pub fn cut(name: &str, turns: Vec<Turn>, mut rests: HashMap<String, Rest>) -> Result<Cut, Error> {
    let mut heads = Vec::with_capacity(turns.len());
    let mut parts: Vec<Vec<Piece>> = vec![Vec::new()];
    let mut size = 0;
    let packed = |turn: &Turn| turn.items.iter().map(serde_json::to_vec).collect::<Result<Vec<_>, _>>();
    let json: Vec<Vec<Vec<u8>>> =
        turns.par_iter().map(packed).collect::<Result<_, _>>().map_err(|e| Error::Json(e.to_string()))?;
    for (number, (turn, json)) in turns.iter().zip(&json).enumerate() {
        let mut head = turn.head.clone();
        head.part = parts.len() - 1;
        let mut from = 0;
        for (at, item) in json.iter().enumerate() {
            let bytes = item.len();
            if size > 0 && size + bytes > PART_BYTES {
                if at > from
                    && let Some(part) = parts.last_mut()
                {
                    part.push((number, from..at));
                }
                parts.push(Vec::new());
                (size, from) = (0, at);
                if at == 0 {
                    head.part = parts.len() - 1;
                }
            }
            size += bytes;
        }
        if let Some(part) = parts.last_mut() {
            part.push((number, from..turn.items.len()));
        }
        head.last_part = parts.len() - 1;
        heads.push(head);
    }
    let mut chunks = Vec::new();
    let mut rest_chunks = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        chunks.push(Chunk { name: format!("{name}.{at}"), json: chunk(part, &json)? });
        let mut apart: BTreeMap<String, Rest> = BTreeMap::new();
        for (number, range) in part {
            let items = turns.get(*number).and_then(|turn| turn.items.get(range.clone()));
            items.into_iter().flatten().for_each(|item| take_rests(item, &mut rests, &mut apart));
        }
        if !apart.is_empty() {
            rest_chunks.push(Chunk::of(format!("{name}.x{at}"), &apart)?);
        }
    }
    Ok(Cut { heads, chunks, rests: rest_chunks })
}

/// The JSON of a chunk: `[{"turn": …, "items": […]}, …]`.
fn chunk(part: &[Piece], json: &[Vec<Vec<u8>>]) -> Result<Vec<u8>, Error> {
    let mut text = vec![b'['];
    for (at, (number, range)) in part.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        write!(text, "{comma}{{\"turn\":{number},\"items\":[")?;
        let items = json.get(*number).and_then(|items| items.get(range.clone())).unwrap_or_default();
        text.extend_from_slice(&items.join(&b","[..]));
        text.extend_from_slice(b"]}");
    }
    text.push(b']');
    Ok(text)
}

/// Moves the rests of an item's outputs into their chunk, under the item's name.
fn take_rests(item: &Item, rests: &mut HashMap<String, Rest>, apart: &mut BTreeMap<String, Rest>) {
    let mut take = |id: &str, under: &str| {
        if let Some(rest) = rests.remove(id) {
            apart.insert(under.to_owned(), rest);
        }
    };
    match item {
        Item::Call(call) => {
            if let Some(result) = &call.result {
                take(result, &call.id);
            }
        }
        Item::Run { items, .. } => items.iter().for_each(|item| take_rests(item, rests, apart)),
        // The output of a typed command is in a result that only the prompt refers to.
        Item::Prompt { .. } => {}
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_a_list_of_turns_with_their_items() {
        let json = [vec![b"{\"a\":1}".to_vec(), b"2".to_vec()], vec![b"3".to_vec()]];
        let read = |part: &[Piece]| {
            serde_json::from_slice::<serde_json::Value>(&chunk(part, &json).unwrap()).unwrap()
        };
        assert_eq!(read(&[]), serde_json::json!([]));
        let both = [(0, 1..2), (1, 0..1)];
        assert_eq!(read(&both), serde_json::json!([{"turn": 0, "items": [2]}, {"turn": 1, "items": [3]}]));
        assert_eq!(read(&[(0, 0..2)]), serde_json::json!([{"turn": 0, "items": [{"a": 1}, 2]}]));
    }
}
