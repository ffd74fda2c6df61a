use retro::model::{SessionKey, SourceKey};
use retro::store::{Slot, Store};
use retro::views::{self, RawPart};

use super::WhichSession;
use retro::views::answers::{Answer, RawSource, RawSources};

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
  retro raw 3f2a --file agent-1b2c
  retro raw 3f2a --file tool-results/b1.txt")]
pub struct Args {
    #[command(flatten)]
    session: WhichSession,

    /// This revision instead of the newest
    #[arg(long, value_name = "N")]
    revision: Option<u32>,

    /// This source instead of the main one, or this file of a folder; --list names them
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
    let parts = match &args.file {
        Some(name) => vec![views::raw_part(&store, &key, name, args.revision)?],
        None if args.all => views::raw_parts(&store, &key, args.revision)?,
        None => vec![views::raw_part(&store, &key, SourceKey::MAIN, args.revision)?],
    };
    match (args.line, parts.first()) {
        (Some(line), Some(part)) => print_line(context, &store, part, line)?,
        _ => {
            let head = |part: &RawPart| match args.all {
                true => context.print(&format!("==> {} <==", title(part))),
                false => Ok(()),
            };
            views::feed_parts(&store, &parts, head, |bytes| context.print_bytes(bytes))?;
        }
    }
    Ok(Exit::Done)
}

/// The name of a part behind that of its session.
fn title(part: &RawPart) -> String {
    let slot = part.slot.to_string();
    let Slot::Session { source, .. } = &part.slot else { return slot };
    format!("{slot}{}", part.name.strip_prefix(source.as_str()).unwrap_or_default())
}

fn print_line(context: &Context, store: &Store, part: &RawPart, line: u64) -> Result<(), Failure> {
    let mut at = 1;
    let mut found = Vec::new();
    let take = |bytes: &[u8]| {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if at == line {
                found.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                at += 1;
            }
        }
        Ok::<(), Failure>(())
    };
    views::feed_parts(store, std::slice::from_ref(part), |_| Ok(()), take)?;
    if found.is_empty() {
        let what = format!("{} has no line {line}; it ends at line {}", title(part), at - 1);
        return Err(Failure::NotFound(what));
    }
    context.print_bytes(&found)?;
    if !found.ends_with(b"\n") {
        context.print_bytes(b"\n")?;
    }
    Ok(())
}

fn list(context: &Context, store: &Store, key: &SessionKey) -> Outcome {
    let parts = views::raw_parts(store, key, None)?;
    if context.global.json {
        let sources: Vec<_> = parts
            .iter()
            .map(|part| RawSource {
                source: part.name.clone(),
                revision: part.revision,
                bytes: part.bytes,
                places: part.places.clone(),
                path: store.slot_path(&part.slot).display().to_string(),
            })
            .collect();
        context.print_json(&Answer::of(RawSources { sources }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = parts
        .into_iter()
        .map(|part| {
            vec![part.name, part.revision.to_string(), format::bytes(part.bytes), part.places.join(", ")]
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
