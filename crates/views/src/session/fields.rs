//! Reads fields of events that only some agents log.

use crate::Attached;
use retro_model::{Event, EventId};
use serde_json::Value;

use crate::readable::plain;

/// The record of an event, as a lookup key.
pub fn record(id: &EventId) -> (&str, u32, u64) {
    (id.source.as_str(), id.revision, id.record)
}

/// A field that only this event's agent logs.
pub fn data<'e>(event: &'e Event, name: &str) -> Option<&'e Value> {
    event.data.as_ref()?.get(name)
}

/// The arguments of a slash command.
pub fn command_args(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("<command-args>")?;
    Some(rest.split_once("</command-args>").map_or(rest, |(args, _)| args).trim())
}

/// The name and size of a picture or file.
pub fn attached(event: &Event) -> Attached {
    let text = |name: &str| data(event, name).and_then(Value::as_str).map(plain);
    let number = |name: &str| data(event, name).and_then(Value::as_u64);
    let names =
        ["title", "displayPath", "filename", "name", "path", "image", "media_type", "mime_type", "type"];
    Attached {
        name: names.iter().find_map(|name| text(name)).unwrap_or_else(|| "a file".to_owned()),
        bytes: number("bytes").or_else(|| number("base64_bytes").map(|length| length / 4 * 3)),
    }
}
