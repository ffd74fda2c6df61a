//! The turns of every line of work, with their items and figures.

use retro_model::{Event, Origin, Outcome};
use serde::Serialize;
use std::collections::HashMap;

use super::family::{Family, Line};
use super::files::{FileRow, Files};
use super::fold::fold;
use super::item::{Call, Item};
use super::items::{Lookup, Maker};
use super::money::{Ledger, Sum, by_turn};
use super::time::{Span, active_ms, spans};
use crate::readable::{Rest, line};
use crate::transcript::is_of_work;

/// Characters of a prompt shown in the outline.
const TITLE_CHARS: usize = 140;

/// Maximum rows of a turn in the outline.
const OUTLINE_ROWS_MAX: usize = 12;

/// The summary of a turn, shown before it is opened.
#[derive(Debug, Clone, Serialize)]
pub struct TurnHead {
    /// Its line of work.
    pub line: usize,
    /// Its number on that line. 0 is the part before the first message.
    pub n: u32,
    /// The event that opens it.
    pub id: String,
    /// First timestamp, in milliseconds since 1970.
    pub ts: Option<i64>,
    /// Time of the last work or word on it.
    pub end: Option<i64>,
    /// `you`, `task`, `message`, `plan`, `start`.
    pub who: &'static str,
    /// The beginning of its message.
    pub text: String,
    /// False on an abandoned branch.
    pub live: bool,
    /// Time in which the model or a tool was working.
    pub active_ms: i64,
    /// Usage and cost of its responses.
    pub sum: Sum,
    /// Number of calls.
    pub calls: u64,
    /// Calls that failed.
    pub failed: u64,
    /// Calls that were denied.
    pub denied: u64,
    /// Lines added in total.
    pub added: u64,
    /// Lines removed in total.
    pub removed: u64,
    /// Estimated height of its text, in lines.
    pub lines: u64,
    /// The chunk with its first item.
    pub part: usize,
    /// The chunk with its last item.
    pub last_part: usize,
    /// Its rows in the outline.
    pub rows: Vec<OutlineRow>,
}

/// A row of the outline below a turn.
#[derive(Debug, Clone, Serialize)]
pub struct OutlineRow {
    /// `failed`, `denied`, `interrupted`, `child`, `mark`.
    pub kind: &'static str,
    /// The event's name.
    pub id: String,
    /// The row's text.
    pub text: String,
    /// The line of work that it opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub child: Option<usize>,
}

/// A turn under construction.
pub struct Turn {
    /// Its summary and figures.
    pub head: TurnHead,
    /// The turn's items.
    pub items: Vec<Item>,
}

/// All turns of a family.
pub struct Turns {
    /// Turns of the session's main line first, then those of each other line.
    pub turns: Vec<Turn>,
    /// The rest of each output after its first lines, by event.
    pub rests: HashMap<String, Rest>,
    /// The stretches of time of each line.
    pub spans: Vec<Vec<Span>>,
    /// Files changed on disk.
    pub files: Vec<FileRow>,
    /// For each line of work, the index of the turn whose call started it.
    pub callers: HashMap<usize, usize>,
}

/// Line and turn of every event of a family.
pub fn places(family: &Family, lines: &[Line<'_>]) -> HashMap<String, (usize, u32)> {
    let mut places = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        for event in &line.events {
            places.insert(family.name(line.member, &event.id), (number, event.turn));
        }
    }
    places
}

/// Builds all turns.
pub fn turns(
    family: &Family,
    lines: &[Line<'_>],
    cwd: Option<&str>,
    is_strict: bool,
    ledger: &Ledger,
) -> Turns {
    let sums = by_turn(ledger);
    let mut made = Turns {
        turns: Vec::new(),
        rests: HashMap::new(),
        spans: Vec::new(),
        files: Vec::new(),
        callers: HashMap::new(),
    };
    let mut files = Files::default();
    let mut makers: HashMap<usize, Maker<'_>> = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        let maker = makers.entry(line.member).or_insert_with(|| Maker {
            family,
            member: line.member,
            lookup: Lookup::of(family, line.member, lines),
            cwd,
            is_strict,
            rests: Vec::new(),
        });
        let spans = spans(&line.events);
        let mut spans_of_turn: HashMap<u32, Vec<Span>> = HashMap::new();
        spans.iter().for_each(|span| spans_of_turn.entry(span.turn).or_default().push(*span));
        for events in by_number(line) {
            let items = maker.items(&events);
            if items.is_empty() {
                continue;
            }
            let mut turn = Turn { head: head(family, line, number, &events, &items), items: fold(items) };
            turn.head.sum = sums.get(&(number, turn.head.n)).copied().unwrap_or_default();
            turn.head.active_ms = spans_of_turn.get(&turn.head.n).map_or(0, |own| active_ms(own));
            files.take(&turn.items, cwd);
            let children = turn.items.iter().filter_map(|item| match item {
                Item::Call(call) => call.child,
                _ => None,
            });
            children.for_each(|child| {
                made.callers.entry(child).or_insert(made.turns.len());
            });
            made.turns.push(turn);
        }
        made.spans.push(spans);
    }
    made.rests = makers.into_values().flat_map(|maker| maker.rests).collect();
    made.files = files.rows();
    made
}

/// The events of a line grouped by turn, in order of the turns' first events.
fn by_number<'f>(line: &Line<'f>) -> Vec<Vec<&'f Event>> {
    let mut turns: Vec<Vec<&Event>> = Vec::new();
    let mut places: HashMap<u32, usize> = HashMap::new();
    for event in &line.events {
        let at = *places.entry(event.turn).or_insert_with(|| {
            turns.push(Vec::new());
            turns.len() - 1
        });
        if let Some(turn) = turns.get_mut(at) {
            turn.push(event);
        }
    }
    turns
}

fn head(family: &Family, work: &Line<'_>, number: usize, events: &[&Event], items: &[Item]) -> TurnHead {
    let first = events.first();
    let opener = items.iter().find_map(|item| match item {
        Item::Prompt { id, origin, said, text, live, .. } => Some((id, *origin, said, text, *live)),
        _ => None,
    });
    let times = || events.iter().filter(|event| event.copy_of.is_none()).filter_map(|event| event.ts);
    let worked = events.iter().filter(|event| event.copy_of.is_none() && is_of_work(event));
    let worked = worked.filter_map(|event| event.ts);
    let n = first.map_or(0, |event| event.turn);
    let (who, text) = match opener {
        Some((_, Origin::User, said, text, _)) => ("you", titled(said, text)),
        Some((_, Origin::Agent, said, text, _)) => ("task", titled(said, text)),
        Some((.., said, text, _)) => ("message", titled(said, text)),
        None if n == 0 => ("start", String::new()),
        None => ("message", first_words(items)),
    };
    let mut head = TurnHead {
        line: number,
        n,
        id: opener
            .map(|(id, ..)| id.clone())
            .or_else(|| first.map(|e| family.name(work.member, &e.id)))
            .unwrap_or_default(),
        ts: times().min().map(|ts| ts.as_millis()),
        end: worked.max().or_else(|| times().min()).map(|ts| ts.as_millis()),
        who,
        text,
        live: opener.is_none_or(|(.., live)| live),
        active_ms: 0,
        sum: Sum::default(),
        calls: 0,
        failed: 0,
        denied: 0,
        added: 0,
        removed: 0,
        lines: 0,
        part: 0,
        last_part: 0,
        rows: Vec::new(),
    };
    items.iter().for_each(|item| count(item, &mut head));
    head.rows.truncate(OUTLINE_ROWS_MAX);
    head
}

fn titled(said: &str, text: &str) -> String {
    match said.starts_with('/') {
        true => line(&format!("{said} {text}"), TITLE_CHARS),
        false => line(text, TITLE_CHARS),
    }
}

fn first_words(items: &[Item]) -> String {
    let found = items.iter().find_map(|item| match item {
        Item::Mark { text, .. } if !text.is_empty() => Some(line(text, TITLE_CHARS)),
        Item::Call(call) => Some(line(&call.what, TITLE_CHARS)),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Adds an item to the figures of its turn.
fn count(item: &Item, head: &mut TurnHead) {
    let text_lines = |text: &str| (text.lines().count() + text.len() / 90) as u64;
    match item {
        Item::Call(call) => count_call(call, head),
        Item::Prompt { text, .. } => head.lines += text_lines(text) + 2,
        Item::Answer { body, .. } => {
            let bytes: usize = body.iter().map(|node| node.to_string().len()).sum();
            head.lines += (bytes / 70) as u64 + 2;
        }
        Item::Mark { id, text, kind, .. } => {
            head.lines += 1;
            let name = super::time::word(kind);
            head.rows.push(OutlineRow {
                kind: "mark",
                id: id.clone(),
                text: line(&format!("{name} {text}"), TITLE_CHARS),
                child: None,
            });
        }
        Item::Note { .. } => {}
        _ => head.lines += 1,
    }
}

fn count_call(call: &Call, head: &mut TurnHead) {
    head.calls += 1;
    head.lines += 1 + call.trouble.as_ref().map_or(0, |text| text.lines().count() as u64);
    head.lines += call.diffs.iter().map(|file| file.rows.len().min(40) as u64).sum::<u64>();
    head.added += call.edits.iter().filter_map(|edit| edit.added).sum::<u64>();
    head.removed += call.edits.iter().filter_map(|edit| edit.removed).sum::<u64>();
    let kind = match call.outcome {
        Some(Outcome::Failed) => {
            head.failed += 1;
            Some("failed")
        }
        Some(Outcome::Denied) => {
            head.denied += 1;
            Some("denied")
        }
        Some(Outcome::Interrupted) => Some("interrupted"),
        _ => call.child.map(|_| "child"),
    };
    if let Some(kind) = kind {
        let text = line(&call.what, TITLE_CHARS);
        head.rows.push(OutlineRow { kind, id: call.id.clone(), text, child: call.child });
    }
}
