//! The rows of a ledger as bytes, and a head that names their responses.
//!
//! A ledger is written and read as a whole, so it is one value and not a database row for each
//! response. The *head* is enough to decide whether any of its rows are needed. Both are sealed, so
//! that damage on the disk cannot give wrong figures.

use hashbrown::HashMap;
use retro_model::{EventId, Exactness, LedgerRow, RowKind, Thread, Timestamp, Tokens};
use serde::{Deserialize, Serialize};
use std::borrow::Borrow;
use xxhash_rust::xxh3::xxh3_64;

use super::super::sealed::{seal, unseal};

/// The responses of some rows, as far as they can be known without reading the rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// The time of the last response, if any has one.
    pub last: Option<i64>,
    /// A hash of each key, in no particular order.
    pub keys: Vec<u64>,
}

/// The hash of a response's key in a head.
pub(super) fn key_hash(key: &str) -> u64 {
    xxh3_64(key.as_bytes())
}

impl Head {
    pub(super) fn of<R: Borrow<LedgerRow>>(rows: &[R]) -> Head {
        let rows = rows.iter().map(R::borrow);
        Head {
            last: rows.clone().filter_map(|row| row.ts).map(Timestamp::as_millis).max(),
            keys: rows.map(|row| key_hash(&row.key)).collect(),
        }
    }

    pub(super) fn pack(&self) -> Vec<u8> {
        // A missing time is stored as the smallest number, before every real time.
        let last = self.last.unwrap_or(i64::MIN);
        let numbers = [last.cast_unsigned()].into_iter().chain(self.keys.iter().copied());
        seal(&numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }

    /// Decodes a head. `None` if the bytes are invalid.
    pub(super) fn unpack(bytes: &[u8]) -> Option<Head> {
        let (numbers, []) = unseal(bytes)?.as_chunks() else { return None };
        let mut numbers = numbers.iter().copied().map(u64::from_le_bytes);
        let last = Some(numbers.next()?.cast_signed()).filter(|last| *last != i64::MIN);
        Some(Head { last, keys: numbers.collect() })
    }
}

/// Rows of one session, with the names that many of them share.
#[derive(Serialize, Deserialize)]
struct Packed<'a> {
    #[serde(borrow)]
    names: Vec<&'a str>,
    rows: Vec<Row<'a>>,
}

/// Index of a name in the shared list.
type Name = u32;

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    key: &'a str,
    own: u8,
    event: EventId,
    thread: Name,
    ts: Option<i64>,
    cwd: Option<Name>,
    provider: Option<Name>,
    model: Option<Name>,
    tier: Option<Name>,
    tokens: Tokens,
    calls: u64,
    #[serde(borrow)]
    includes: Vec<&'a str>,
    kind: RowKind,
    exactness: Exactness,
    text_bytes: u64,
    reported_cost_nano: Option<i64>,
}

#[derive(Default)]
struct Names<'a> {
    all: Vec<&'a str>,
    places: HashMap<&'a str, Name>,
}

impl<'a> Names<'a> {
    fn place(&mut self, name: &'a str) -> Name {
        *self.places.entry(name).or_insert_with(|| {
            self.all.push(name);
            Name::try_from(self.all.len() - 1).unwrap_or(Name::MAX)
        })
    }

    fn maybe(&mut self, name: &'a Option<String>) -> Option<Name> {
        name.as_deref().map(|name| self.place(name))
    }
}

/// Encodes the rows.
pub(super) fn pack<R: Borrow<LedgerRow>>(rows: &[R]) -> Result<Vec<u8>, postcard::Error> {
    let mut names = Names::default();
    let rows: Vec<Row<'_>> = rows
        .iter()
        .map(R::borrow)
        .map(|row| Row {
            key: &row.key,
            own: row.own,
            event: row.event.clone(),
            thread: names.place(row.thread.as_str()),
            ts: row.ts.map(Timestamp::as_millis),
            cwd: names.maybe(&row.cwd),
            provider: names.maybe(&row.provider),
            model: names.maybe(&row.model),
            tier: names.maybe(&row.tier),
            tokens: row.tokens,
            calls: row.calls,
            includes: row.includes.iter().map(String::as_str).collect(),
            kind: row.kind,
            exactness: row.exactness,
            text_bytes: row.text_bytes,
            reported_cost_nano: row.reported_cost_nano,
        })
        .collect();
    let packed = Packed { names: names.all, rows };
    Ok(seal(&postcard::to_stdvec(&packed)?))
}

/// Decodes the rows. `None` if the bytes are invalid.
pub(super) fn unpack(bytes: &[u8]) -> Option<Vec<LedgerRow>> {
    let Packed { names, rows } = postcard::from_bytes(unseal(bytes)?).ok()?;
    // Most rows of a ledger have one of a few threads.
    let threads: Vec<Thread> = names.iter().map(|name| Thread::sub(*name)).collect();
    let name = |at: Option<Name>| match at {
        Some(at) => names.get(at as usize).map(|name| Some((*name).to_owned())),
        None => Some(None),
    };
    rows.into_iter()
        .map(|row| {
            Some(LedgerRow {
                key: row.key.to_owned(),
                own: row.own,
                event: row.event,
                thread: threads.get(row.thread as usize)?.clone(),
                ts: row.ts.and_then(Timestamp::from_millis),
                cwd: name(row.cwd)?,
                provider: name(row.provider)?,
                model: name(row.model)?,
                tier: name(row.tier)?,
                tokens: row.tokens,
                calls: row.calls,
                includes: row.includes.into_iter().map(str::to_owned).collect(),
                kind: row.kind,
                exactness: row.exactness,
                text_bytes: row.text_bytes,
                reported_cost_nano: row.reported_cost_nano,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use retro_model::Usage;

    fn row(key: &str, numbers: [u64; 8], words: [Option<String>; 3], includes: Vec<String>) -> LedgerRow {
        let event = format!("agent-1~2:{}.usage", numbers[0] % 1000 + 1).parse().unwrap();
        let [cwd, model, tier] = words;
        LedgerRow {
            cwd,
            model,
            tier,
            includes,
            ts: Timestamp::from_millis((numbers[1] % 4_000_000_000_000).cast_signed()),
            tokens: Tokens {
                input: numbers[0],
                output: numbers[2],
                web_searches: numbers[7],
                ..Tokens::default()
            },
            kind: RowKind::Compaction,
            reported_cost_nano: Some(numbers[3].cast_signed()),
            ..LedgerRow::of(key.to_owned(), event, Thread::sub("child"), &Usage::default())
        }
    }

    proptest! {
        #[test]
        fn rows_come_back_as_they_were(
            keys in proptest::collection::vec(".{0,12}", 0..5),
            numbers: [u64; 8],
            words in proptest::array::uniform3(proptest::option::of("[ab]{0,2}")),
            includes in proptest::collection::vec(".{0,5}", 0..3),
        ) {
            let rows: Vec<_> =
                keys.iter().map(|key| row(key, numbers, words.clone(), includes.clone())).collect();
            prop_assert_eq!(unpack(&pack(&rows).unwrap()), Some(rows.clone()));
            let head = Head::of(&rows);
            prop_assert_eq!(Head::unpack(&head.pack()), Some(head));
        }

        #[test]
        fn no_flipped_bit_is_believed(numbers: [u64; 8], at: prop::sample::Index, bit in 0u32..8) {
            let rows = [row("claude:a", numbers, [None, None, None], Vec::new())];
            let mut bytes = pack(&rows).unwrap();
            let at_byte = at.index(bytes.len());
            bytes[at_byte] ^= 1u8 << bit;
            prop_assert_eq!(unpack(&bytes), None);
            let mut head = Head::of(&rows).pack();
            let at_byte = at.index(head.len());
            head[at_byte] ^= 1u8 << bit;
            prop_assert_eq!(Head::unpack(&head), None);
        }
    }
}
