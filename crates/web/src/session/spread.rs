//! Splits the head of a session, so that the page reads the first screen first.
//!
//! The head itself has the layout data of every turn, in columns, and the facts of the first turns.
//! The facts of all others are in chunks that the page reads when these turns come into view. Data
//! for the panels and the ribbon has a separate chunk, unless it is small.

use serde::Serialize;

use super::head::Head;
use super::ribbon::Ribbon;
use crate::Error;
use crate::chunk::Chunk;
use retro::views::session::context::Context;
use retro::views::session::files::FileRow;
use retro::views::session::moments::Moment;
use retro::views::session::money::{Kinds, ModelSum, Sum};
use retro::views::session::turns::{OutlineRow, TurnHead};

/// Turns per chunk of facts. The page gets this number from the head.
const TURNS_A_CHUNK: usize = 128;

/// Up to this many bytes of JSON, panels and ribbon are in the head.
const SIDE_BYTES: usize = 48 * 1024;

/// Maximum turns listed as most expensive.
const DEAR_MAX: usize = 12;

/// The chunks of a head: `h`, `t1`, `t2`, and so on, and `p`.
pub fn chunks(name: &str, head: &Head<'_>) -> Result<Vec<Chunk>, Error> {
    let mut pages = head.turns.chunks(TURNS_A_CHUNK).map(facts);
    let side = side(head);
    let apart = Chunk::of(format!("{name}.p"), &side)?;
    let is_small = apart.json.len() <= SIDE_BYTES;
    let first = First {
        head,
        turns: Columns::of(&head.turns),
        facts: pages.next().unwrap_or_default(),
        facts_a_chunk: TURNS_A_CHUNK,
        side: is_small.then_some(&side),
    };
    let mut chunks = vec![Chunk::of(format!("{name}.h"), &first)?];
    for (at, page) in pages.enumerate() {
        chunks.push(Chunk::of(format!("{name}.t{}", at + 1), &page)?);
    }
    if !is_small {
        chunks.push(apart);
    }
    Ok(chunks)
}

#[derive(Serialize)]
struct First<'h> {
    #[serde(flatten)]
    head: &'h Head<'h>,
    turns: Columns<'h>,
    facts: Vec<Facts<'h>>,
    facts_a_chunk: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'h Side<'h>>,
}

/// Layout data of every turn.
#[derive(Default, Serialize)]
struct Columns<'h> {
    line: Vec<usize>,
    n: Vec<u32>,
    id: Vec<&'h str>,
    who: Vec<&'static str>,
    live: Vec<u8>,
    lines: Vec<u64>,
    part: Vec<usize>,
    last_part: Vec<usize>,
}

impl<'h> Columns<'h> {
    fn of(turns: &'h [TurnHead]) -> Columns<'h> {
        let mut columns = Columns::default();
        for turn in turns {
            columns.line.push(turn.line);
            columns.n.push(turn.n);
            columns.id.push(&turn.id);
            columns.who.push(turn.who);
            columns.live.push(u8::from(turn.live));
            columns.lines.push(turn.lines);
            columns.part.push(turn.part);
            columns.last_part.push(turn.last_part);
        }
        columns
    }
}

/// Facts shown on a turn.
#[derive(Serialize)]
struct Facts<'h> {
    ts: Option<i64>,
    end: Option<i64>,
    text: &'h str,
    active_ms: i64,
    sum: Sum,
    calls: u64,
    failed: u64,
    denied: u64,
    added: u64,
    removed: u64,
    rows: &'h [OutlineRow],
}

fn facts(turns: &[TurnHead]) -> Vec<Facts<'_>> {
    turns.iter().map(Facts::of).collect()
}

impl<'h> Facts<'h> {
    fn of(turn: &'h TurnHead) -> Facts<'h> {
        Facts {
            ts: turn.ts,
            end: turn.end,
            text: &turn.text,
            active_ms: turn.active_ms,
            sum: turn.sum,
            calls: turn.calls,
            failed: turn.failed,
            denied: turn.denied,
            added: turn.added,
            removed: turn.removed,
            rows: &turn.rows,
        }
    }
}

/// Data of the panels and the ribbon.
#[derive(Serialize)]
struct Side<'h> {
    moments: &'h [Moment],
    context: &'h Context,
    files: &'h [FileRow],
    ribbon: &'h Ribbon,
    kinds: &'h Kinds,
    by_model: &'h [ModelSum],
    dear: Vec<Dear<'h>>,
}

/// An expensive turn.
#[derive(Serialize)]
struct Dear<'h> {
    /// The turn's index in the head.
    turn: usize,
    text: &'h str,
    sum: Sum,
}

fn side<'h>(head: &'h Head<'_>) -> Side<'h> {
    let cost = |turn: &TurnHead| turn.sum.nano.unwrap_or(0);
    let mut order: Vec<usize> = (0..head.turns.len()).collect();
    order.sort_by_key(|at| std::cmp::Reverse(head.turns.get(*at).map_or(0, cost)));
    let dear = order.into_iter().filter_map(|at| Some((at, head.turns.get(at)?)));
    let dear = dear.filter(|(_, turn)| cost(turn) > 0).take(DEAR_MAX);
    Side {
        moments: &head.moments,
        context: &head.context,
        files: &head.files,
        ribbon: &head.ribbon,
        kinds: &head.kinds,
        by_model: &head.by_model,
        dear: dear.map(|(turn, one)| Dear { turn, text: &one.text, sum: one.sum }).collect(),
    }
}
