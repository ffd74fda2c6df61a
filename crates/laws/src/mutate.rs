//! Changes the records of a session as a fuzzer selects: lines are removed, repeated and swapped,
//! and values inside a record are replaced.

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};

use crate::session::Source;

/// More changes would leave nothing of the story.
const CHANGES_MAX: usize = 24;

/// The greatest size of a source in bytes. Inserting a record into itself again and again would
/// exceed it.
const BYTES_MAX: usize = 64 * 1024;

/// Changes the sources until the choices run out.
pub(crate) fn mutate(sources: &mut [Source], words: &[String], choices: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..CHANGES_MAX {
        if choices.is_empty() || sources.is_empty() {
            break;
        }
        let last = sources.len() - 1;
        let Some(source) = sources.get_mut(choices.int_in_range(0..=last)?) else { break };
        let mut lines: Vec<Vec<u8>> =
            source.bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        change(&mut lines, words, choices)?;
        let bytes = lines.concat();
        if bytes.len() <= BYTES_MAX {
            source.bytes = bytes;
        }
    }
    Ok(())
}

/// One change to one source.
fn change(lines: &mut Vec<Vec<u8>>, words: &[String], choices: &mut Unstructured<'_>) -> Result<()> {
    let Some(last) = lines.len().checked_sub(1) else {
        lines.push(format!("{}\n", odd(words, choices)?).into_bytes());
        return Ok(());
    };
    let at = choices.int_in_range(0..=last)?;
    let other = choices.int_in_range(0..=last)?;
    match choices.int_in_range(0..=12u8)? {
        0 => drop(lines.remove(at)),
        1 => lines.insert(other, lines.get(at).cloned().unwrap_or_default()),
        2 => lines.swap(at, other),
        3 => lines.truncate(at),
        4 => {
            let Some(line) = lines.get_mut(at) else { return Ok(()) };
            // May also remove the line end, so that two records share a line.
            let length = choices.int_in_range(0..=line.len())?;
            line.truncate(length);
        }
        5 => {
            let Some(line) = lines.get_mut(at) else { return Ok(()) };
            let place = choices.int_in_range(0..=line.len())?;
            let bytes: [u8; 2] = choices.arbitrary()?;
            line.splice(place..place, bytes);
        }
        6 => lines.insert(
            at,
            choices.choose(&[&b"\n"[..], b"\0\0\0\n", b"null\n", b"[]\n", b"\xff\n", b"{}\n"])?.to_vec(),
        ),
        _ => {
            let graft = lines.get(other).and_then(|line| serde_json::from_slice::<Value>(line).ok());
            let Some(line) = lines.get_mut(at) else { return Ok(()) };
            if let Ok(mut record) = serde_json::from_slice::<Value>(line) {
                edit(&mut record, graft.as_ref(), words, choices)?;
                *line = format!("{record}\n").into_bytes();
            }
        }
    }
    Ok(())
}

/// Changes one value of a record. `graft` is another record to copy from.
fn edit(
    record: &mut Value,
    graft: Option<&Value>,
    words: &[String],
    choices: &mut Unstructured<'_>,
) -> Result<()> {
    let mut place = record;
    loop {
        let count = length(place);
        let child = choices.int_in_range(0..=count)?;
        if child == count {
            break;
        }
        let next = match place {
            Value::Object(fields) => fields.values_mut().nth(child),
            Value::Array(items) => items.get_mut(child),
            _ => None,
        };
        let Some(next) = next else { return Ok(()) };
        place = next;
    }
    let new = match graft {
        Some(graft) if choices.ratio(1, 3u8)? => part(graft, choices)?,
        _ => odd(words, choices)?,
    };
    let count = length(place);
    let child = choices.int_in_range(0..=count)?;
    match (place, choices.int_in_range(0..=3u8)?) {
        (Value::Object(fields), 1) => {
            let key = fields.keys().nth(child).cloned();
            key.and_then(|key| fields.remove(&key));
        }
        (Value::Object(fields), 2) => {
            let key = fields.keys().nth(child).cloned();
            let old = key.and_then(|key| fields.remove(&key)).unwrap_or(new);
            fields.insert(word(words, choices)?, old);
        }
        (Value::Object(fields), 3) => drop(fields.insert(word(words, choices)?, new)),
        (Value::Array(items), 1) if child < items.len() => drop(items.remove(child)),
        (Value::Array(items), 2) => items.insert(child, new),
        (Value::Array(items), 3) => {
            let again = items.get(child).cloned().unwrap_or(new);
            items.push(again);
        }
        (place, _) => *place = new,
    }
    Ok(())
}

fn length(value: &Value) -> usize {
    match value {
        Value::Object(fields) => fields.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// A random part of a record.
fn part(record: &Value, choices: &mut Unstructured<'_>) -> Result<Value> {
    let mut place = record;
    loop {
        let child = choices.int_in_range(0..=length(place))?;
        let next = match place {
            Value::Object(fields) => fields.values().nth(child),
            Value::Array(items) => items.get(child),
            _ => None,
        };
        let Some(next) = next else { return Ok(place.clone()) };
        place = next;
    }
}

fn word(words: &[String], choices: &mut Unstructured<'_>) -> Result<String> {
    if words.is_empty() { Ok(String::new()) } else { choices.choose(words).cloned() }
}

/// A value of an unexpected type.
fn odd(words: &[String], choices: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match choices.int_in_range(0..=16u8)? {
        0 => Value::Null,
        1 => json!(choices.arbitrary::<bool>()?),
        2 => json!(choices.arbitrary::<i8>()?),
        3 => json!(choices.choose(&[i64::MIN, i64::MAX, -1, 1 << 53])?),
        4 => json!(u64::MAX),
        5 => json!(choices.choose(&[1e300, -0.5, 1e-9, 1e18])?),
        6 => json!(""),
        7 => json!(choices.arbitrary::<String>()?),
        8 => json!([]),
        9 => json!({}),
        10 => json!([{ "type": word(words, choices)?, word(words, choices)?: word(words, choices)? }]),
        11 => json!({ word(words, choices)?: word(words, choices)? }),
        12 => json!(json!({ word(words, choices)?: word(words, choices)? }).to_string()),
        13 => json!("long \u{1f600}\n".repeat(usize::from(choices.arbitrary::<u8>()?) * 4)),
        14 => json!(choices.choose(&["2026-03-01T10:00:00.000Z", "9999-99-99", "-1"])?),
        _ => json!(word(words, choices)?),
    })
}
