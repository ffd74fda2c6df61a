use retro::engine::read::feed_raw;
use retro::model::{SessionKey, SourceKey};
use retro::store::{Slot, Store};
use serde_json::json;

use super::WhichSession;
use crate::context::{Context, Exit, Failure, Outcome};
use crate::format;
use crate::table::{Column, Table};

/// Print the captured bytes of a session, exactly as the agent wrote them
///
/// Without options: the newest revision of the main source and nothing else.
/// This is the one command that prints unredacted text.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  retro raw 3f2a > session.jsonl
  retro raw 3f2a --line 42 | jq
  retro raw claude latest --list
  retro raw 3f2a --file agent-1b2c")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// This revision instead of the newest
    #[arg(long, value_name = "N")]
    revision: Option<u32>,

    /// This source instead of the main one; --list names them
    #[arg(long, value_name = "NAME", conflicts_with_all = ["list", "all"])]
    file: Option<String>,

    /// List the sources instead
    #[arg(long, conflicts_with = "all")]
    list: bool,

    /// Every source, each behind a line with its name
    #[arg(long)]
    all: bool,

    /// Only this record, counted from 1
    #[arg(long, value_name = "N", conflicts_with_all = ["list", "all"])]
    line: Option<u64>,
}

pub fn run(args: &Args, context: &Context) -> Outcome {
    let store = context.store(&context.config()?)?;
    let key = args.session.find(&store, context)?;
    if args.list {
        return list(context, &store, &key);
    }
    if args.all {
        for slot in retro::views::source_slots(&store, &key, None, args.revision)? {
            context.print(&format!("==> {slot} <=="))?;
            print(context, &store, &slot)?;
        }
        return Ok(Exit::Done);
    }
    let source = args.file.as_deref().unwrap_or(SourceKey::MAIN);
    let slots = retro::views::source_slots(&store, &key, Some(source), args.revision)?;
    let Some(slot) = slots.last() else { return Ok(Exit::Findings) };
    match args.line {
        None => print(context, &store, slot)?,
        Some(line) => print_line(context, &store, slot, line)?,
    }
    Ok(Exit::Done)
}

fn print(context: &Context, store: &Store, slot: &Slot) -> Result<(), Failure> {
    let mut result = Ok(());
    feed_raw(store, slot, &mut |bytes| {
        if result.is_ok() {
            result = context.print_bytes(bytes);
        }
    })?;
    result
}

fn print_line(context: &Context, store: &Store, slot: &Slot, line: u64) -> Result<(), Failure> {
    let mut at = 1;
    let mut found = Vec::new();
    feed_raw(store, slot, &mut |bytes| {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if at == line {
                found.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                at += 1;
            }
        }
    })?;
    if found.is_empty() {
        return Err(Failure::NotFound(format!("{slot} has no line {line}; it ends at line {}", at - 1)));
    }
    context.print_bytes(&found)?;
    if !found.ends_with(b"\n") {
        context.print_bytes(b"\n")?;
    }
    Ok(())
}

fn list(context: &Context, store: &Store, key: &SessionKey) -> Outcome {
    let file = store.session(key)?;
    let mut sources = Vec::new();
    for slot in retro::views::source_slots(store, key, None, None)? {
        let Slot::Session { source, revision, .. } = &slot else { continue };
        let bytes = store.archive(&slot).tail()?.map_or(0, |commit| commit.end);
        let entry = file.as_ref().and_then(|file| file.sources.get(source));
        let places: Vec<String> = entry.map_or(Vec::new(), |entry| entry.places.iter().cloned().collect());
        sources.push((source.to_string(), *revision, bytes, places, store.slot_path(&slot)));
    }
    if context.global.json {
        let sources: Vec<_> = sources
            .iter()
            .map(|(source, revision, bytes, places, path)| {
                json!({"source": source, "revision": revision, "bytes": bytes,
                       "places": places, "path": path.display().to_string()})
            })
            .collect();
        context.print_json(&json!({"schema": "retro.raw/1", "sources": sources}))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = sources
        .into_iter()
        .map(|(source, revision, bytes, places, _)| {
            vec![source, revision.to_string(), format::bytes(bytes), places.join(", ")]
        })
        .collect();
    let columns = [
        Column::left("source").shrinks_inside(16),
        Column::right("revision").spare(1),
        Column::right("size"),
        Column::left("found at").wraps(24),
    ];
    context.table(&Table::new(columns).rows(rows))?;
    Ok(Exit::Done)
}
