//! Cuts the turns of a session into chunks that are read one at a time.

use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

use super::item::Item;
use super::turns::{Turn, TurnHead};
use crate::Error;
use crate::chunk::Chunk;
use crate::text::Rest;

/// Bytes of JSON after which a chunk ends.
const PART_BYTES: usize = 384 * 1024;

/// Some items of a turn.
#[derive(Serialize)]
struct Piece<'t> {
    /// The number of the turn in the head.
    turn: usize,
    items: &'t [Item],
}

/// The chunks of a session's turns.
pub struct Cut {
    /// What is said of each turn, with its chunks.
    pub heads: Vec<TurnHead>,
    /// One chunk a part.
    pub chunks: Vec<Chunk>,
    /// The rests of long outputs, a chunk for each part that has some.
    pub rests: Vec<Chunk>,
}

/// Cuts turns where they are long enough, and a very long turn between two items.
pub fn cut(name: &str, turns: Vec<Turn>, mut rests: HashMap<String, Rest>) -> Result<Cut, Error> {
    let mut heads = Vec::with_capacity(turns.len());
    let mut parts: Vec<Vec<(usize, std::ops::Range<usize>)>> = vec![Vec::new()];
    let mut size = 0;
    for (number, turn) in turns.iter().enumerate() {
        let mut head = turn.head.clone();
        head.part = parts.len() - 1;
        let mut from = 0;
        for (at, item) in turn.items.iter().enumerate() {
            let bytes = serde_json::to_vec(item).map_or(0, |json| json.len());
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
        let items = |(number, range): &(usize, std::ops::Range<usize>)| {
            let turn: &Turn = turns.get(*number)?;
            Some(Piece { turn: *number, items: turn.items.get(range.clone())? })
        };
        let pieces: Vec<Piece<'_>> = part.iter().filter_map(items).collect();
        chunks.push(Chunk::of(format!("{name}.{at}"), &pieces)?);
        let mut apart: BTreeMap<String, Rest> = BTreeMap::new();
        pieces.iter().flat_map(|piece| piece.items).for_each(|item| take_rests(item, &mut rests, &mut apart));
        if !apart.is_empty() {
            rest_chunks.push(Chunk::of(format!("{name}.x{at}"), &apart)?);
        }
    }
    Ok(Cut { heads, chunks, rests: rest_chunks })
}

/// Moves the rests of an item's outputs into their chunk, under the name of the item.
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
        // What a typed command printed is in a result that only the prompt knows.
        Item::Prompt { .. } => {}
        _ => {}
    }
}
